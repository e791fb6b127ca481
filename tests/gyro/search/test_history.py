"""Automata that remember contexts, against the words themselves."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.search.history import remember_contexts
from tests.gyro.search.phrase_problems import random_automaton

WORDS = ("a", "b", "c")
contexts = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=3).map(tuple), unique=True, max_size=5)


@settings(max_examples=60, deadline=None)
@given(contexts, st.integers(0, 10**6))
def test_states_know_what_their_strings_end_with(wanted: list[tuple[int, ...]], seed: int) -> None:
    automaton = random_automaton(WORDS, 3, seed, total=True)
    every = ((), *wanted)
    found, matches = remember_contexts(automaton, every)
    for length in range(5):
        for string in itertools.product(range(3), repeat=length):
            state = found.start
            for word in string:
                state = int(found.next_state[state, word])
            tokens = [WORDS[word] for word in string]
            assert found.score(tokens) == pytest.approx(automaton.score(tokens))
            assert matches[state].tolist() == [string[len(string) - len(c) :] == c for c in every]


def test_without_contexts_nothing_changes() -> None:
    automaton = random_automaton(WORDS, 3, 0, total=True)
    found, matches = remember_contexts(automaton, ((),))
    assert found is automaton
    assert matches.all()
