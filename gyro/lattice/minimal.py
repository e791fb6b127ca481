"""The smallest lattice of the same strings at the same costs.

minimise  join the states of an automaton from which the same strings follow at the same costs, but for a constant
GRAIN     costs are rounded to whole multiples of it

The costs count relative to the cheapest completion (they are *pushed*, as OpenFst calls it), so that the constant does
not matter. It is then paid on the arcs into the joined state, not at the start as OpenFst has it: single precision
rounds small costs on many arcs less than one large cost on the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.lattice.strings import rest_costs
from gyro.row_table import add_row, make_table

# n-gram models add in single precision, so costs that should be equal differ by about as much. Each word of a string
# moves its cost by half of it at most.
GRAIN = 2.0**-20

Arcs = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[np.float64], NDArray[np.float64]]


def minimise(
    source: NDArray[Any], word: NDArray[Any], target: NDArray[Any], cost: NDArray[Any], final: NDArray[Any]
) -> Arcs:
    """Source, word, target and cost of the arcs that remain, sorted by source and word; the cost of an end by state.

    The start is state 0, arcs are sorted by source and lead to higher states, and so they do in the result. When no
    state has two arcs of one word, and each is reached, no automaton of that kind has fewer states or arcs.

    >>> columns = (np.array([0, 0, 1, 2]), np.array([0, 1, 2, 2]), np.array([1, 2, 3, 3]), np.array([0.5, 1, 2, 3.0]))
    >>> [column.tolist() for column in minimise(*columns, np.array([np.inf, np.inf, np.inf, 0.0]))]
    [[0, 0, 1], [0, 1, 2], [1, 1, 2], [-0.5, 1.0, 3.0], [inf, inf, 0.0]]
    """
    cost, final = cost.astype(np.float64), final.astype(np.float64)
    rest = rest_costs(source, target, cost, final)
    if ((np.diff(source) == 0) & (np.diff(word.astype(np.int64)) <= 0)).any():
        order = np.lexsort((target, word, source))
        source, word, target, cost = source[order], word[order], target[order], cost[order]
    if not len(final) or rest[0] == np.inf:
        return source[:0], word[:0], target[:0], cost[:0], final[:0]
    alive = rest[target] != np.inf
    if not alive.all():
        source, word, target, cost = source[alive], word[alive], target[alive], cost[alive]
    # Whole grains: single precision holds those of one arc, and strings that cost the least all cost the same.
    residual = np.rint((cost + rest[target] - rest[source]) / GRAIN).astype(np.int64)
    at_end, ends = np.full(len(final), -1), final != np.inf
    at_end[ends] = np.rint((final[ends] - rest[ends]) / GRAIN)
    first = np.searchsorted(source, np.arange(len(final) + 1))
    joined = _join(first, word.astype(np.int64), target, residual, at_end)
    kept = joined == np.arange(len(final))
    number = (np.cumsum(kept) - 1).astype(np.int32)
    stays = kept[source]
    source, word, into = source[stays], word[stays], joined[target[stays]]
    grains = np.rint(np.where(rest == np.inf, 0.0, rest) / GRAIN).astype(np.int64)
    new_cost = (residual[stays] + grains[source] - grains[into]) * GRAIN
    return number[source], word, number[into], new_cost, np.where(ends, (at_end + grains) * GRAIN, np.inf)[kept]


@compiled
def _join(first: Any, word: Any, target: Any, residual: Any, at_end: Any) -> Any:
    """For each state the last one like it: with the same words at the same costs into states that are alike.

    From the last state on, so that what an arc leads to is known. The list of a state's arcs has the number of its last
    prefix; a prefix is the number of the one before it and one more arc.
    """
    states = len(at_end)
    prefixes, slots = make_table(states + len(word), 4)
    owner = np.full(states + len(word), -1, np.int32)
    joined, count = np.empty(states, np.int32), 0
    for state in range(states - 1, -1, -1):
        number, count = add_row(prefixes, slots, count, (-1, at_end[state], 0, 0))
        for arc in range(first[state], first[state + 1]):
            row = (number, word[arc], np.int64(joined[target[arc]]), residual[arc])
            number, count = add_row(prefixes, slots, count, row)
        if owner[number] < 0:
            owner[number] = state
        joined[state] = owner[number]
    return joined
