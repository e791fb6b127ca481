"""The kernel of the binary grammar against all strings, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.search.binary_kernel import (
    Lefts,
    Rights,
    expand_set,
    find_ends,
    find_rules,
    join_rules,
    new_scratch,
)
from gyro.search.binary_scores import new_scores
from tests.gyro.search.string_problems import Problem, Strings, strings_of_two


@settings(max_examples=50, deadline=None)
@given(strings_of_two, st.integers(0, 99), st.integers(0, 3))
def test_the_ends_of_a_set(strings: Strings, seed: int, state: int) -> None:
    problem = Problem(seed)
    found, offset = problem.sets.of_strings(strings.items())
    scores = new_scores(np.zeros(4))
    columns = (np.array([state]), np.array([found]), np.array([offset]))
    number, states, costs, _ = find_ends(problem.sets.store, problem.model, scores, *columns, new_scratch(), 0)
    least: dict[int, float] = {}
    for string, grains in strings.items():
        cost, after = problem.walk(string, state)
        least[after] = min(cost + problem.model.grain * grains, least.get(after, np.inf))
    assert number.tolist() == [len(least)]
    assert dict(zip(states.tolist(), costs.tolist(), strict=True)) == pytest.approx(least)


@settings(max_examples=50, deadline=None)
@given(strings_of_two, strings_of_two, st.integers(0, 99), st.sampled_from([0.0, 1.0, 100.0]))
def test_a_pair_is_found_and_joined(left: Strings, right: Strings, seed: int, beta: float) -> None:
    """Two cells of one pair: its cheapest string is the rule's cost, and within β all strings are left."""
    problem = Problem(seed)
    store, start = problem.sets.store, problem.automaton.start
    (a, a_offset), (b, b_offset) = problem.sets.of_strings(left.items()), problem.sets.of_strings(right.items())
    inner, last = new_scores(np.zeros(4)), new_scores(problem.automaton.end_cost)
    _, states, costs, _ = find_ends(
        store, problem.model, inner, np.array([start]), np.array([a]), np.array([a_offset]), new_scratch(), 0
    )
    one = np.array([1], np.uint64)
    lefts = Lefts(one, costs.min(keepdims=True), np.array([0, len(states)]), states, costs)
    rights = Rights(one << np.uint64(1), np.zeros(1), np.array([b]), np.array([b_offset]))
    checks = (np.uint64(3), np.uint64(0), np.uint64(0))
    arguments = (store, problem.model, last, lefts, rights, checks, np.empty(0, np.uint64), 0, np.inf, beta)
    found, cost, at, best, _ = find_rules(*arguments)
    every = {
        (s + t): problem.cost(s + t, g + h, start, problem.automaton.end_cost)
        for s, g in left.items()
        for t, h in right.items()
    }
    assert (found.tolist(), at) == ([[0, 0]], 1)
    assert cost[0] == best == pytest.approx(min(every.values()))
    cells = np.zeros((1, 2), np.int64)
    sides, limit = np.array([[a, a_offset, b, b_offset]]), best + beta + 1e-6
    rule = (np.array([start]), np.array([0, 1]), sides, np.zeros(1), limit, new_scratch(), cells, 0, 1)
    at, _ = join_rules(store, problem.model, inner, last, *rule)
    assert at == 1
    kept = {string for string, _ in problem.sets.strings(*cells[0].tolist())}
    assert kept <= every.keys()
    assert kept >= {string for string, cost in every.items() if cost <= best + beta}


def test_too_little_room_is_told() -> None:
    problem = Problem(0)
    strings = {(i, j, k): 0 for i in range(3) for j in range(3) for k in range(3)}
    found, offset = problem.sets.of_strings(strings.items())
    last = new_scores(problem.automaton.end_cost)
    scratch = new_scratch(2)
    expand_set(problem.sets.store, problem.model, last, 0, found, offset, np.inf, scratch)
    assert scratch.is_full[0]
