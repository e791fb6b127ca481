"""The strings of an automaton in order, against sorting all of its paths."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gyro.lattice.strings import Hypothesis, StringOrder

WORDS = ("a", "b", "c")


def sausage(costs: list[list[float]], *, in_billionths: bool = False) -> StringOrder:
    """A chain of states with an arc for each word between two neighbours."""
    source = np.repeat(np.arange(len(costs)), len(WORDS))
    word = np.tile(np.arange(len(WORDS)), len(costs))
    final = np.full(len(costs) + 1, np.inf)
    final[-1] = 0.0
    return StringOrder(WORDS, source, word, source + 1, np.ravel(costs), final, in_billionths=in_billionths)


COSTS = st.lists(st.lists(st.integers(-8, 8), min_size=3, max_size=3), min_size=1, max_size=4)


@given(COSTS, st.integers(1, 90))
def test_the_cheapest_strings_by_cost_and_then_by_tokens(costs: list[list[int]], n: int) -> None:
    paths = product(range(len(WORDS)), repeat=len(costs))
    every = [(sum(costs[i][w] / 8 for i, w in enumerate(path)), tuple(WORDS[w] for w in path)) for path in paths]
    wanted = [Hypothesis(tokens, cost) for cost, tokens in sorted(every)]
    for in_billionths in (False, True):
        order = sausage([[cost / 8 for cost in row] for row in costs], in_billionths=in_billionths)
        assert order.cheapest(n) == wanted[:n]
        assert order.cheapest() == wanted


def test_equal_costs_that_differ_in_their_last_bits() -> None:
    costs = [[0.1, 0.3, 9.0], [0.2, 0.2, 9.0], [0.3, 0.1, 9.0]]
    first = ("a", "a", "b"), ("a", "b", "b")
    assert tuple(h.tokens for h in sausage(costs, in_billionths=True).cheapest(2)) == first
    tied = [[0.1, 0.3, 9.0], [0.2, 9.0, 9.0], [0.3, 0.1, 9.0]]  # "a a a" and "b a b": 0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1
    middle = [h.tokens for h in sausage(tied, in_billionths=True).cheapest(3)][1:]
    assert sum([0.1, 0.2, 0.3]) > sum([0.3, 0.2, 0.1])
    assert middle == [("a", "a", "a"), ("b", "a", "b")]
    assert [h.tokens for h in sausage(tied).cheapest(3)][1:] == [("b", "a", "b"), ("a", "a", "a")]


def test_a_billionth_decides_where_sums_are_exact() -> None:
    costs = [[2.0**-31, 0.0, 1.0]]
    assert [h.tokens for h in sausage(costs).cheapest(2)] == [("b",), ("a",)]
    assert [h.tokens for h in sausage(costs, in_billionths=True).cheapest(2)] == [("a",), ("b",)]


def test_nothing_in_nothing() -> None:
    none, nothing = np.zeros(0, np.int32), np.zeros(0)
    assert StringOrder(WORDS, none, none, none, nothing, nothing).cheapest() == []


def test_dead_ends_do_not_put_strings_out_of_order() -> None:
    # b leads nowhere; c, d and e are strings, the dearest listed first.
    arcs = (np.zeros(4, np.int32), np.arange(4), np.array([1, 2, 2, 2], np.int32), np.array([0.0, 3.0, 2.0, 1.0]))
    ends = np.array([np.inf, np.inf, 0.0])
    found = StringOrder(("b", "c", "d", "e"), *arcs, ends, in_billionths=True).cheapest()
    assert [h.tokens for h in found] == [("e",), ("d",), ("c",)]
