"""Lattices of strings of one length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison.ngram_beam.prefix_tree import strings_to_lattice
from gyro.lattice.automaton import WordAutomaton

WORDS = ("a", "b", "c")
AUTOMATON = WordAutomaton(
    WORDS,
    1,
    np.array([[0, 1, 0], [1, 0, 0]], np.int32),
    np.array([[0.5, 1.0, 2.25], [0.25, 0.0, 4.0]]),
    np.array([0.125, 8.0]),
)


@given(st.integers(0, 5).flatmap(lambda n: st.lists(st.lists(st.integers(0, 2), min_size=n, max_size=n), max_size=9)))
def test_a_lattice_has_the_strings_and_their_costs(rows: list[list[int]]) -> None:
    length = len(rows[0]) if rows else 0
    lattice = strings_to_lattice(np.array(rows, np.int64).reshape(len(rows), length), AUTOMATON)
    strings = {tuple(WORDS[word] for word in row) for row in rows}
    found = dict(lattice.strings())
    assert found == {string: pytest.approx(AUTOMATON.score(string)) for string in strings}
    assert lattice.empty() == (not rows)
    assert lattice.num_states <= 1 + len({string[: n + 1] for string in strings for n in range(length)})


def test_costs_stand_on_the_words() -> None:
    lattice = strings_to_lattice(np.array([[2, 0], [2, 1]]), AUTOMATON)
    source, word, target, cost, final_states, final_costs = lattice.to_arrays()
    assert source.tolist() == [0, 1, 1]
    assert word.tolist() == [2, 0, 1]
    assert cost.tolist() == [4.0, 0.5, 1.0]
    assert dict(zip(final_states.tolist(), final_costs.tolist(), strict=True)) == {
        target[1]: 0.125,
        target[2]: 8.0,
    }
