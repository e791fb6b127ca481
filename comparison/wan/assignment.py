"""Trees by assignment (Algorithm 3 of Wan et al., 2009): words and argument positions compete for each other.

Positions        how many argument positions a vertex has, after and before
wan_positions    by its tag, as published
data_positions   by what heads of its tag have in the data
assign_tree      the tree of a bag
best_assignment  the cheapest way to give positions words, each at most one; the only function that uses SciPy
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

from comparison.wan.arborescence import Tree
from comparison.wan.count import AFTER
from comparison.wan.model import FLOOR, BagCosts, Costs, WanModel
from gyro.compilation import compiled

Integers = NDArray[np.int64]

# The classes of the paper in Penn tags and in universal ones. Collins's heads, whose events the paper counts, have
# infinitives below "to" and verbs below modals.
VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD", "VERB", "AUX"})
PREPOSITIONS = frozenset({"IN", "TO", "ADP"})


class Positions(NamedTuple):
    """For each side the number of positions."""

    after: float
    before: float


def wan_positions(tag: str) -> Positions:
    """As published: prepositions have one position after, verbs any number on both sides, others any number after."""
    if tag in PREPOSITIONS:
        return Positions(1, 0)
    return Positions(math.inf, math.inf if tag in VERBS else 0)


def data_positions(model: WanModel, least_share: float = 0.0) -> Callable[[str], Positions]:
    """Any number on the sides where more than this share of the heads of a tag have modifiers.

    A tag that was not seen has them on both.
    """
    counts = model.counts.arguments
    shares = counts[:, :, 1:].sum(axis=2) / np.maximum(counts.sum(axis=2), 1)
    most = np.where(shares > least_share, math.inf, 0.0)
    known = {tag: Positions(*most[number].tolist()) for tag, number in model.symbols.tag_numbers.items()}
    return lambda tag: known.get(tag, Positions(math.inf, math.inf))


class _Open(NamedTuple):
    """Open positions: whose, on which side, and how many modifiers there are before."""

    owner: Integers
    side: Integers
    filled: Integers


def assign_tree(costs: BagCosts, positions: Sequence[Positions], *, may_stay_empty: bool = False) -> Tree:
    """The tree of a bag; `positions` are those of vertices 1, 2 and so on. The root has one child.

    Each round gives open positions words, each at most one. As published every position is filled as long as there are
    words enough, then every word is placed: with dummy words at any one cost it is the same. With `may_stay_empty` a
    position can stay empty for a round, at the cost of its head taking no more. Words that are left when no position is
    open take the cheapest arcs to words of the tree.
    """
    size = len(costs.arcs)
    heads, sides = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    heads[0] = 0
    total = 0.0
    left = np.arange(1, size)
    open_ones = _Open(np.array([0]), np.array([AFTER]), np.array([0]))
    room = np.array([Positions(1, 0), *positions])
    while len(left) and len(open_ones.owner):
        cost, argument = _round_costs(
            costs.arcs, costs.arguments, open_ones.owner, open_ones.side, open_ones.filled, left
        )
        rows, columns = (
            _assign_some(cost, argument) if may_stay_empty and len(left) < size - 1 else best_assignment(cost)
        )
        total += float(cost[rows, columns].sum())
        words = left[columns]
        heads[words], sides[words] = open_ones.owner[rows], open_ones.side[rows]
        open_ones = _Open(*_after_round(open_ones.owner, open_ones.side, open_ones.filled, rows, words, room))
        left = left[heads[left] < 0]
    return Tree(heads, sides, total + _attach_rest(costs.arcs, heads, sides, left))


@compiled
def _round_costs(arcs: Any, arguments: Any, owner: Any, side: Any, filled: Any, left: Any) -> Any:
    """The cost of each word in each position (equation 5), and that of one more argument alone."""
    cost = np.empty((owner.shape[0], left.shape[0]))
    argument = np.empty(owner.shape[0])
    for row in range(owner.shape[0]):
        argument[row] = arguments[owner[row], side[row], min(filled[row], arguments.shape[2] - 1)]
        for column in range(left.shape[0]):
            cost[row, column] = arcs[owner[row], left[column], side[row]] + argument[row]
    return cost, argument


def _assign_some(cost: Costs, argument: Costs) -> tuple[Integers, Integers]:
    """Rows with their columns where some rows may go without, at −log(1 − p) for the argument cost −log p."""
    without = -np.log(np.maximum(-np.expm1(-argument), FLOOR))
    dummies = np.full((len(cost), len(cost)), np.inf)
    np.fill_diagonal(dummies, without)
    rows, columns = best_assignment(np.concatenate([cost, dummies], axis=1))
    is_word = columns < cost.shape[1]
    if not is_word.any():  # it must go on
        row, column = np.unravel_index(cost.argmin(), cost.shape)
        return np.array([row]), np.array([column])
    return rows[is_word], columns[is_word]


def best_assignment(cost: Costs) -> tuple[Integers, Integers]:
    """Rows with their columns, as many as can be, so that the sum of costs is least (Kuhn and Munkres)."""
    rows, columns = linear_sum_assignment(cost)
    return rows.astype(np.int64), columns.astype(np.int64)


@compiled
def _after_round(owner: Any, side: Any, filled: Any, rows: Any, words: Any, room: Any) -> Any:
    """The positions that are open when these rows were filled and these words have come into the tree."""
    filled[rows] += 1
    most = owner.shape[0] + 2 * words.shape[0]
    new_owner, new_side, new_filled = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    count = 0
    for place in range(most):
        word, d, number = 0, 0, 0
        if place < owner.shape[0]:
            word, d, number = owner[place], side[place], filled[place]
        else:
            word, d = words[(place - owner.shape[0]) // 2], (place - owner.shape[0]) % 2
        if number < room[word, d]:
            new_owner[count], new_side[count], new_filled[count] = word, d, number
            count += 1
    return new_owner[:count], new_side[:count], new_filled[:count]


def _attach_rest(arcs: Costs, heads: Integers, sides: Integers, left: Integers) -> float:
    """Give the words that are left the cheapest arc into any of them, one after the other; the sum of the costs."""
    waiting = left.tolist()
    attached = sorted(set(range(1, len(heads))) - set(waiting))
    total = 0.0
    while waiting:
        block = arcs[np.ix_(attached, waiting)]
        u, v, d = (int(place) for place in np.unravel_index(block.argmin(), block.shape))
        total += float(block[u, v, d])
        heads[waiting[v]], sides[waiting[v]] = attached[u], d
        insort(attached, waiting.pop(v))
    return total
