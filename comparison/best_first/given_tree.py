"""Bags whose heads are all given: the unordered tree over their slots, laid out for the search from its leaves up.

GivenTree   the tree as arrays
TreeBeams   how widely its orders are searched
given_tree  the tree of a prepared bag, or None when its given heads make none
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.best_first.edge import ANY_HEAD, HEAD_SLOT, IS_ROOT, Integers, Problem
from comparison.best_first.problem import Prepared


class GivenTree(NamedTuple):
    """A tree of slots; with several roots a forest, whose trees are built but are no sentence."""

    slots: Integers  # all slots, dependents before their heads
    roots: Integers  # the last of these
    first: Integers  # slot → where its dependents begin in `dependents`; one more at the end
    dependents: Integers  # slots
    copies: Integers  # slot → how many equal words it stands for
    first_leaf: Integers  # slot → its first leaf; one more at the end
    # Where words have an order: row i of a slot's table has the dependents that come after dependent i, in a whole
    # sentence; the last row and column are the slot's own. Else there are no tables.
    first_cell: Integers  # slot → where its table begins in `precedes`
    precedes: NDArray[np.bool_]


class TreeBeams(NamedTuple):
    """Where all heads are given: partial trees kept after each step, and subtrees tried of a dependent."""

    size: int = 32
    best: int = 8


def given_tree(prepared: Prepared) -> GivenTree | None:
    """The tree over the slots; None if heads are missing or make no forest, or an order of words contradicts them.

    Words that may be left out or used again can be parts of more than one tree: None as well.
    """
    problem, heads = prepared.problem, prepared.problem.given_head
    if problem.selection or np.any(heads == ANY_HEAD):
        return None
    if int(np.bitwise_count(problem.dependents_guard).sum()) != int(np.sum(heads != IS_ROOT)):
        return None  # a unit that has two heads
    below: list[list[int]] = [[] for _ in heads]
    for slot, head in enumerate(heads.tolist()):
        if head != IS_ROOT:
            below[head].append(slot)
    roots = np.flatnonzero(heads == IS_ROOT)
    downwards = roots.tolist()
    for slot in downwards:  # it grows
        downwards += below[slot]
    if len(downwards) < len(heads):
        return None  # a circle
    upwards = downwards[::-1]
    tables = _order_tables(prepared, upwards, below)
    if tables is None:
        return None
    first = np.cumsum([0, *map(len, below)])
    owners = [leaf.slot for leaf in prepared.leaves]
    return GivenTree(
        slots=np.array(upwards, dtype=np.int64),
        roots=roots.astype(np.int64),
        first=first.astype(np.int64),
        dependents=np.array([slot for row in below for slot in row], dtype=np.int64),
        copies=np.array([len(groups) for groups in prepared.slots], dtype=np.int64),
        first_leaf=np.searchsorted(owners, np.arange(len(heads) + 1)).astype(np.int64),
        first_cell=np.cumsum([0, *(len(table) ** 2 for table in tables)]).astype(np.int64),
        precedes=np.concatenate([table.ravel() for table in tables] or [np.zeros(0, dtype=np.bool_)]),
    )


def _order_tables(
    prepared: Prepared, upwards: Sequence[int], below: Sequence[Sequence[int]]
) -> list[NDArray[np.bool_]] | None:
    """For each slot what of its dependents and itself comes before what; [] without an order, None if there is none.

    Each dependent has its words in one piece, so it is before another if any word of it is.
    """
    problem = prepared.problem
    if not np.any(problem.leaf_before):
        return []
    own, own_before = _by_slot(problem, len(below))
    words, before = own.copy(), own_before.copy()
    tables: list[NDArray[np.bool_]] = [np.zeros((1, 1), dtype=np.bool_)] * len(below)
    for slot in upwards:
        items = below[slot]
        has = np.concatenate([words[items], own[slot : slot + 1]])
        needs = np.concatenate([before[items], own_before[slot : slot + 1]])
        table = np.any(has[:, None, :] & needs[None, :, :], axis=2)
        np.fill_diagonal(table, False)
        for middle in range(len(table)):  # and what follows from that
            table |= table[:, middle, None] & table[None, middle, :]
        if np.any(np.diagonal(table)):
            return None
        tables[slot] = table
        words[slot], before[slot] = np.bitwise_or.reduce(has), np.bitwise_or.reduce(needs)
    return tables


def _by_slot(problem: Problem, slots: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """For each slot its bit in coverages, and those of the slots that have to come before it."""
    found = np.zeros((2, slots, problem.bias.size), dtype=np.uint64)
    owners = problem.leaf_columns[:, HEAD_SLOT]
    found[0, owners], found[1, owners] = problem.leaf_coverage, problem.leaf_before
    return found[0], found[1]
