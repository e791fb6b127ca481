"""Minimum trees against all trees, and against the textbook's recursion."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison.wan.arborescence import best_tree, find_arborescence
from tests.comparison.wan.twin import plain_tree, tree_cost


def is_tree(heads: dict[int, int]) -> bool:
    for node in heads:
        for _ in heads:
            node = heads.get(node, 0)
        if node != 0:
            return False
    return True


def all_trees(size: int) -> list[dict[int, int]]:
    """Every tree over nodes 0 to size − 1 that hangs on 0."""
    choices = (dict(enumerate(heads, 1)) for heads in product(range(size), repeat=size - 1))
    return [heads for heads in choices if is_tree(heads)]


TREES = {size: all_trees(size) for size in range(2, 7)}


def test_all_trees_are_as_many_as_cayley_says() -> None:
    assert [len(TREES[size]) for size in range(2, 7)] == [1, 3, 16, 125, 1296]


def sides_of(arcs: np.ndarray) -> np.ndarray:
    """The cheaper side of every arc; the root has no words before it."""
    cheaper = arcs.min(axis=2)
    cheaper[0] = arcs[0, :, 0]
    return cheaper


@pytest.mark.parametrize("size", range(2, 7))
@pytest.mark.parametrize("most", [3, 1000])  # many equal costs, and few
def test_the_tree_is_the_cheapest_of_all(size: int, most: int) -> None:
    dice = np.random.default_rng(size * most)
    for _ in range(40 if size < 6 else 8):
        arcs = dice.integers(0, most, (size, size, 2)).astype(float)
        cost = sides_of(arcs)
        for single in (False, True):
            allowed = [tree for tree in TREES[size] if not single or list(tree.values()).count(0) == 1]
            found = best_tree(arcs, single_root=single)
            heads = dict(enumerate(found.heads.tolist()[1:], 1))
            assert is_tree(heads)
            assert not single or list(heads.values()).count(0) == 1
            assert found.cost == pytest.approx(min(tree_cost(tree, cost) for tree in allowed))
            assert found.cost == pytest.approx(sum(arcs[heads[v], v, found.sides[v]] for v in heads))


@given(st.data())
def test_large_trees_cost_what_the_recursion_finds(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 25))
    seed = data.draw(st.integers(0, 10**6))
    cost = (
        np.random.default_rng(seed).integers(0, data.draw(st.sampled_from([4, 50, 10**6])), (size, size)).astype(float)
    )
    heads = dict(enumerate(find_arborescence(cost).tolist()[1:], 1))
    assert is_tree(heads)
    assert tree_cost(heads, cost) == pytest.approx(tree_cost(plain_tree(cost, size), cost))


def test_no_words() -> None:
    assert best_tree(np.zeros((1, 1, 2))).cost == 0
