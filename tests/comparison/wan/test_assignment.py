"""Assignments against all injections, and trees by assignment against the published algorithm in plain Python."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison.wan import assignment
from comparison.wan.assignment import Positions, assign_tree, best_assignment, data_positions, wan_positions
from comparison.wan.count import AFTER, BEFORE
from comparison.wan.model import BagCosts, WanModel
from tests.comparison.wan.test_arborescence import is_tree
from tests.comparison.wan.test_model import model
from tests.comparison.wan.twin import plain_assign_tree, plain_assignment

__all__ = ["model"]
POSITIONS = [Positions(a, b) for a in (0, 1, math.inf) for b in (0, 1, math.inf)]


def random_costs(size: int, seed: int) -> BagCosts:
    dice = np.random.default_rng(seed)
    return BagCosts(dice.random((size + 1, size + 1, 2)) * 9, dice.random((size + 1, 2, 8)) * 3)


@pytest.mark.parametrize("rows", range(1, 6))
@pytest.mark.parametrize("columns", range(1, 6))
def test_an_assignment_is_the_cheapest_injection(rows: int, columns: int) -> None:
    for seed in range(5):
        cost = np.random.default_rng(seed).integers(0, 9, (rows, columns)).astype(float)
        found = dict(zip(*(places.tolist() for places in best_assignment(cost)), strict=True))
        assert len(found) == len(set(found.values())) == min(rows, columns)
        expected = plain_assignment(cost.tolist())
        assert sum(cost[r, c] for r, c in found.items()) == sum(cost[r, c] for r, c in expected.items())


@given(st.integers(0, 5), st.integers(0, 10**6), st.data())
def test_trees_are_those_of_the_published_algorithm(size: int, seed: int, data: st.DataObject) -> None:
    costs = random_costs(size, seed)
    positions = data.draw(st.lists(st.sampled_from(POSITIONS), min_size=size, max_size=size))
    found = assign_tree(costs, positions)
    heads, sides, total = plain_assign_tree(costs.arcs.tolist(), costs.arguments.tolist(), positions)
    assert dict(enumerate(found.heads.tolist()[1:], 1)) == heads
    assert dict(enumerate(found.sides.tolist()[1:], 1)) == sides
    assert found.cost == pytest.approx(total)


@given(st.integers(1, 30), st.integers(0, 10**6), st.booleans(), st.data())
def test_every_word_is_in_the_tree(size: int, seed: int, may_stay_empty: bool, data: st.DataObject) -> None:
    costs = random_costs(size, seed)
    positions = data.draw(st.lists(st.sampled_from(POSITIONS), min_size=size, max_size=size))
    found = assign_tree(costs, positions, may_stay_empty=may_stay_empty)
    heads = dict(enumerate(found.heads.tolist()[1:], 1))
    assert is_tree(heads)
    assert list(heads.values()).count(0) == 1
    assert set(found.sides.tolist()) <= {AFTER, BEFORE}


def test_without_rest_no_head_has_more_modifiers_than_positions() -> None:
    costs = random_costs(12, 5)
    found = assign_tree(costs, [Positions(2, 1)] * 12)
    for head in range(1, 13):
        for side, most in ((AFTER, 2), (BEFORE, 1)):
            assert sum(found.heads[v] == head and found.sides[v] == side for v in range(1, 13)) <= most


@pytest.mark.parametrize("seed", range(20))
def test_positions_stay_empty_where_that_is_cheaper(seed: int) -> None:
    """Against every way to give some of the rows a column each."""
    dice = np.random.default_rng(seed)
    probability = dice.uniform(0.05, 0.95, 3)
    cost = dice.random((3, 3)) * 2 - np.log(probability)[:, None]
    rows, columns = assignment._assign_some(cost, -np.log(probability))
    without = -np.log(1 - probability)
    prices = {}
    for chosen in permutations([0, 1, 2, None, None, None], 3):
        if any(column is not None for column in chosen):
            prices[chosen] = sum(without[r] if c is None else cost[r, c] for r, c in enumerate(chosen))
    found: list[int | None] = [None] * 3
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        found[row] = column
    empty = sum(without)
    if min(prices.values()) < empty:
        assert prices[tuple(found)] == pytest.approx(min(prices.values()))
    else:
        assert cost[rows, columns].tolist() == [cost.min()]


def test_positions_of_the_paper() -> None:
    assert wan_positions("IN") == wan_positions("ADP") == (1, 0)
    assert wan_positions("VBD") == wan_positions("AUX") == (math.inf, math.inf)
    assert wan_positions("NN") == (math.inf, 0)


def test_positions_of_the_data(model: WanModel) -> None:
    positions = data_positions(model)
    assert positions("VBP") == positions("never seen") == (math.inf, math.inf)
    assert positions("NNS") == (0, 0)
    assert data_positions(model, 0.7)("VBP") == (0, math.inf)  # two of three have a modifier after them, all before
