"""Small ordering problems for tests of the exact search, and all of their answers.

problems          an automaton and the counts of its words, for hypothesis
random_automaton  random next states and costs
all_orders        brute force
same              compare what a search found with it
prepare           the part of an automaton that a bag can reach, and a machine over it
make_rows         the rows of a search, in plain Python
many              so many examples
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.lattice import Hypothesis
from gyro.search.exact_bound import Space, feasible_part, find_prices, make_machine
from gyro.search.exact_kernel import NO_CUT, Machine

INFINITY = float("inf")
many = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def random_automaton(seed: int, words: int, states: int, missing: float) -> WordAutomaton:
    """Random next states and costs; each arc is left out with probability `missing`, each end with half of it."""
    rng = np.random.default_rng(seed)
    next_state = rng.integers(0, states, size=(states, words)).astype(np.int32)
    next_state[rng.random((states, words)) < missing] = -1
    cost = np.where(next_state >= 0, rng.gamma(2.0, 2.0, size=(states, words)), np.inf)
    end_cost = np.where(rng.random(states) < missing / 2, np.inf, rng.gamma(2.0, 2.0, size=states))
    return WordAutomaton(tuple("abcdefghij"[:words]), 0, next_state, cost, end_cost)


@st.composite
def problems(draw: st.DrawFn) -> tuple[WordAutomaton, tuple[int, ...]]:
    counts = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=5).filter(lambda c: sum(c) <= 7)))
    states = draw(st.integers(1, 8))
    missing = draw(st.sampled_from([0.0, 0.3, 0.6]))
    return random_automaton(draw(st.integers(0, 10**6)), len(counts), states, missing), counts


def all_orders(automaton: WordAutomaton, counts: tuple[int, ...]) -> list[Hypothesis]:
    """Every accepted order with its cost, the cheapest first."""
    tokens = [word for word, count in zip(automaton.words, counts, strict=True) for _ in range(count)]
    scored = (Hypothesis(order, automaton.score(order)) for order in set(itertools.permutations(tokens)))
    return sorted((h for h in scored if h.cost < INFINITY), key=lambda h: (round(h.cost, 9), h.tokens))


def same(found: list[Hypothesis], expected: list[Hypothesis]) -> None:
    assert [h.tokens for h in found] == [h.tokens for h in expected]
    assert [h.cost for h in found] == pytest.approx([h.cost for h in expected])


def prepare(problem: tuple[WordAutomaton, tuple[int, ...]], track: int = 1) -> tuple[Space, Machine]:
    """The space, and a machine whose table tracks so many words."""
    space = feasible_part(problem[0], np.array(problem[1]))
    prices = find_prices(space, 5)
    return space, make_machine(space, prices.price, prices.order[:track])


class Rows(NamedTuple):
    """Nodes (counts used, state) and their cheapest costs by row; the arcs; the lowest estimate that was dropped."""

    nodes: list[dict[tuple[tuple[int, ...], int], float]]
    arcs: int
    dropped: float

    def states_and_costs(self) -> list[list[tuple[int, float]]]:
        return [sorted((state, cost) for (_, state), cost in row.items()) for row in self.nodes]


def make_rows(machine: Machine, counts: tuple[int, ...], cut: float = NO_CUT, width: int = 10**9) -> Rows:
    """Each row is made of the one before, under the cut, and cut down to the `width` nodes of the lowest estimates."""
    rows, arcs, dropped = [{((0,) * len(counts), machine.start): 0.0}], 0, INFINITY
    for _ in range(sum(counts)):
        following: dict[tuple[tuple[int, ...], int], float] = {}
        bound: dict[tuple[tuple[int, ...], int], float] = {}
        for (used, state), so_far in rows[-1].items():
            for word, target in enumerate(machine.next_state[state].tolist()):
                if target < 0 or used[word] == counts[word]:
                    continue
                node = (tuple(n + (w == word) for w, n in enumerate(used)), target)
                cost = so_far + float(machine.cost[state, word])
                bound[node] = float(machine.table[int(machine.step @ np.array(node[0])), target])
                if cost + bound[node] > cut:
                    dropped = min(dropped, cost + bound[node])
                    continue
                arcs += 1
                following[node] = min(cost, following.get(node, INFINITY))
        # Among equal estimates the first, and nodes stay in the order in which they were made: so it is in the kernel.
        chosen = set(sorted(following, key=lambda node: following[node] + bound[node])[:width])
        rows.append({node: cost for node, cost in following.items() if node in chosen})
    return Rows(rows, arcs, dropped)
