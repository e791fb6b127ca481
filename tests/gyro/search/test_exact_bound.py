"""The bound of the exact search against the cheapest completions, one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.lattice.automaton import WordAutomaton
from gyro.search.exact_bound import Space, choose_tracked, feasible_part, find_prices, make_machine, table_rows
from tests.gyro.search.problems import INFINITY, all_orders, many, problems, random_automaton


@many
@given(problems(), st.integers(0, 5), st.integers(0, 30))
def test_never_above_the_cheapest_completion(
    problem: tuple[WordAutomaton, tuple[int, ...]], track: int, rounds: int
) -> None:
    automaton, counts = problem
    space = feasible_part(automaton, np.array(counts))
    prices = find_prices(space, rounds)
    machine = make_machine(space, prices.price, prices.order[:track])
    nodes = {(tuple([0] * len(counts)), space.start)}
    while nodes:
        following = set()
        for used, state in nodes:
            left = np.array(counts) - used
            bound = machine.table[int(machine.step @ np.array(used)), state] + left @ prices.price
            truth = cheapest_completion(space, tuple(left.tolist()), state)
            assert bound <= truth + 1e-9
            if track >= len(counts):
                assert bound == pytest.approx(truth, abs=1e-2)
            for word, target in enumerate(space.next_state[state].tolist()):
                if left[word] and target >= 0:
                    following.add((tuple(n + (w == word) for w, n in enumerate(used)), target))
        nodes = following


def cheapest_completion(space: Space, left: tuple[int, ...], state: int) -> float:
    if not any(left):
        return float(space.end_cost[state])
    best = INFINITY
    for word, target in enumerate(space.next_state[state].tolist()):
        if left[word] and target >= 0:
            rest = tuple(n - (w == word) for w, n in enumerate(left))
            best = min(best, float(space.cost[state, word]) + cheapest_completion(space, rest, target))
    return best


@many
@given(problems())
def test_feasible_part_keeps_every_order(problem: tuple[WordAutomaton, tuple[int, ...]]) -> None:
    automaton, counts = problem
    space = feasible_part(automaton, np.array(counts))
    part = WordAutomaton(automaton.words, space.start, space.next_state, space.cost, space.end_cost)
    assert all_orders(part, counts) == all_orders(automaton, counts)


def test_tracks_as_many_words_as_the_budget_holds() -> None:
    space = feasible_part(random_automaton(1, 6, 5, 0.0), np.array([1] * 6))
    prices = find_prices(space, 10)
    sizes = [len(choose_tracked(space, prices, budget)) for budget in (0, 500, 1000, 10**6)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (0, 6)


@many
@given(problems(), st.integers(1, 30))
def test_the_value_of_prices_is_the_optimum_of_the_relaxed_bag(
    problem: tuple[WordAutomaton, tuple[int, ...]], rounds: int
) -> None:
    space = feasible_part(problem[0], np.array(problem[1]))
    prices = find_prices(space, rounds)
    best = space.end_cost  # of each state, with none of the tokens left
    for _ in range(space.tokens):
        through = space.cost - prices.price + np.where(space.next_state >= 0, best[space.next_state], INFINITY)
        best = through.min(axis=1)
    relaxed = best[space.start] + prices.price @ space.counts
    assert prices.value == pytest.approx(relaxed, rel=1e-4, abs=1e-3)
    assert prices.value <= min((h.cost for h in all_orders(*problem)), default=INFINITY) + 1e-3
    assert sorted(prices.order.tolist()) == list(range(len(space.counts)))


@many
@given(problems(), st.integers(0, 5))
def test_a_place_of_the_table_is_the_tracked_counts_and_the_total_of_the_others(
    problem: tuple[WordAutomaton, tuple[int, ...]], track: int
) -> None:
    space = feasible_part(problem[0], np.array(problem[1]))
    tracked = np.arange(len(space.counts))[::-1][:track].copy()
    machine = make_machine(space, np.zeros(len(space.counts)), tracked)
    coverage_at: dict[int, tuple[list[int], int]] = {}
    for used in itertools.product(*(range(count + 1) for count in problem[1])):
        relaxed = ([used[word] for word in tracked], sum(used))
        assert coverage_at.setdefault(int(machine.step @ np.array(used)), relaxed) == relaxed
    assert len(coverage_at) == len(machine.table) == table_rows(space, tracked)
    assert sorted(coverage_at) == list(range(len(machine.table)))
