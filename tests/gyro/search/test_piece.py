"""Cutting and joining."""

from __future__ import annotations

import pytest

from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.search.piece import cut, thin, without_model
from tests.gyro.search.phrase_problems import random_automaton

WORDS = ("a", "b")


def test_cut() -> None:
    assert cut(tuple("abcdefg"), 3) == [tuple("abc"), tuple("def"), tuple("g")]
    assert cut(tuple("abc"), 3) == [tuple("abc")]


def test_a_lattice_is_thinned_by_beta_and_then_by_arcs() -> None:
    strings = [Hypothesis(("a", "b"), 0.0), Hypothesis(("b", "a"), 2.0), Hypothesis(("b", "b"), 9.0)]
    lattice = Lattice.from_strings(WORDS, strings)
    assert [h.tokens for h in thin(lattice, 5.0, 100).strings()] == [("a", "b"), ("b", "a")]
    assert [h.tokens for h in thin(lattice, 5.0, 2).strings()] == [("a", "b")]


@pytest.mark.parametrize("phrase_cost", [0.0, 0.75])
def test_the_model_is_taken_off_and_other_costs_stay(phrase_cost: float) -> None:
    automaton = random_automaton(WORDS, 3, 5, total=True)
    tokens = ("b", "a")
    lattice = Lattice.from_strings(WORDS, [Hypothesis(tokens, automaton.score(tokens) + phrase_cost)])
    found = without_model(lattice, automaton, has_other_costs=phrase_cost > 0)
    assert [(h.tokens, round(h.cost, 4)) for h in found.strings()] == [(tokens, phrase_cost)]
