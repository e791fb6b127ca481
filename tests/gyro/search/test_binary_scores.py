"""The cheapest ways through sets of strings against all strings, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.search.binary_scores import Scale, cheapest, find_cheapest, new_scores
from tests.gyro.search.phrase_problems import random_automaton
from tests.gyro.search.string_problems import GRAIN, Problem, Strings, strings_of_two


@settings(max_examples=50, deadline=None)
@given(strings_of_two, st.integers(0, 99), st.integers(0, 3))
def test_the_cheapest_way_through_a_set(strings: Strings, seed: int, state: int) -> None:
    problem = Problem(seed)
    found, offset = problem.sets.of_strings(strings.items())
    end = problem.automaton.end_cost
    expected = min(problem.cost(s, grains, state, end) for s, grains in strings.items())
    # A table with room for next to nothing gives the same, and says that it is full.
    for room in (2, 1 << 10):
        scores = new_scores(end, room)
        one = cheapest(problem.sets.store, problem.model, scores, np.int64(found), np.int64(state))
        assert one + GRAIN * offset == pytest.approx(expected)
        assert cheapest(problem.sets.store, problem.model, scores, np.int64(found), np.int64(state)) == one
    many = find_cheapest(problem.sets.store, problem.model, scores, np.array([state]), np.array([found]))
    assert many.tolist() == [one]


@settings(max_examples=50, deadline=None)
@given(strings_of_two, st.integers(0, 99))
def test_the_coarse_model_is_never_dearer(strings: Strings, seed: int) -> None:
    problem = Problem(seed)
    scale = Scale(problem.automaton, with_end=False)
    found, _ = problem.sets.of_strings(strings.items())
    store = problem.sets.store
    bound = cheapest(store, scale.coarse, scale.coarse_scores, np.int64(found), np.int64(0))
    for state in range(problem.automaton.num_states):
        assert bound <= cheapest(store, scale.model, scale.inner, np.int64(found), np.int64(state)) + 1e-9


def test_a_cell_begins_after_its_context() -> None:
    automaton = random_automaton(("a", "b"), 4, 3, total=True)
    scale = Scale(automaton, with_end=False)
    assert scale.start_after(()) == automaton.start
    assert scale.start_after((1, 0)) == automaton.next_state[automaton.next_state[automaton.start, 1], 0]


def test_full_tables_grow() -> None:
    scale = Scale(random_automaton(("a", "b"), 4, 3, total=True), with_end=True)
    scale.last.is_full[0] = True
    room = len(scale.last.key)
    scale.grow()
    assert (len(scale.last.key), len(scale.inner.key)) == (4 * room, room)
