"""Orders by an n-gram model alone: a beam over covered words, in which equal futures are joined.

beam_order  the cheapest order of units that the beam finds, and its cost
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from comparison.learning.hashing import mix, text_hash
from gyro.compilation import compiled
from lm.model import LanguageModel

BEAM = 100


class Found(NamedTuple):
    """Numbers of units from left to right, and the cost of their words."""

    order: tuple[int, ...]
    cost: float


def beam_order(units: Sequence[tuple[str, ...]], model: LanguageModel, *, beam: int = BEAM, end: bool = False) -> Found:
    """Order units; row k of the beam has orders of k words. With `end` the sentence end counts too.

    Orders of the same units in the same state of the model are one: the published "last three words" are equal then, or
    differ in nothing that the model knows. Of equal costs the order of the better prefix is kept, then the lower unit.
    """
    if not units:
        return Found((), 0.0)
    kinds = sorted(set(units))
    number = {kind: place for place, kind in enumerate(kinds)}
    words = sorted({word for kind in kinds for word in kind})
    column = {word: place for place, word in enumerate(words)}
    flat = np.array([column[word] for kind in kinds for word in kind], np.int64)
    ends = np.cumsum([0, *map(len, kinds)])
    counts = np.bincount([number[unit] for unit in units], minlength=len(kinds))
    marks = np.array([text_hash(" ".join(kind)) for kind in kinds], np.uint64)
    automaton = model.acceptor(words, end=end)
    tables = (automaton.next_state, automaton.cost, automaton.end_cost, automaton.start)
    path, cost = _search(ends, flat, counts, marks, tables, beam, end)
    return Found(_own_units(path.tolist(), [number[unit] for unit in units]), float(cost))


def _own_units(path: Sequence[int], kinds: Sequence[int]) -> tuple[int, ...]:
    """Copies of a unit are used in turn."""
    copies: dict[int, list[int]] = {}
    for unit, kind in reversed(list(enumerate(kinds))):
        copies.setdefault(kind, []).append(unit)
    return tuple(copies[kind].pop() for kind in path)


class _Rows(NamedTuple):
    """Hypotheses by row and rank. Units left are kept of the last rows only, as far back as a unit reaches."""

    state: Any
    cost: Any
    mark: Any  # the sum of the marks of units used, a hash
    above: Any  # row · beam + rank of the hypothesis that was extended
    by: Any  # the unit that it was extended by
    left: Any  # rows modulo their number × rank × units
    filled: Any


@compiled
def _search(ends: Any, flat: Any, counts: Any, marks: Any, tables: Any, beam: Any, with_end: Any) -> Any:
    """The rows of the beam, one after the other; the last one is read off."""
    kinds = counts.shape[0]
    lengths = ends[1:] - ends[:-1]
    size = np.sum(counts * lengths)
    rows = _Rows(
        np.empty((size + 1, beam), np.int64),
        np.empty((size + 1, beam), np.float64),
        np.zeros((size + 1, beam), np.uint64),
        np.empty((size + 1, beam), np.int64),
        np.empty((size + 1, beam), np.int64),
        np.empty((np.max(lengths) + 1, beam, kinds), np.int32),
        np.zeros(size + 1, np.int64),
    )
    rows.state[0, 0], rows.cost[0, 0], rows.left[0, 0], rows.filled[0] = tables[3], 0.0, counts, 1
    room = beam * kinds
    new = _Rows(
        np.empty(room, np.int64), np.empty(room, np.float64), np.empty(room, np.uint64), np.empty(room, np.int64),
        np.empty(room, np.int64), 0, 0,
    )  # fmt: skip
    slots = 1
    while slots < 2 * beam:
        slots *= 2
    slot_table = np.empty(slots, np.int64)
    for row in range(1, size + 1):
        found = _extend(rows, row, new, ends, flat, marks, tables, with_end and row == size)
        _keep_best(rows, row, new, found, slot_table)
    path = np.empty(size, np.int64)
    steps, row, rank = 0, size, 0
    while row > 0:
        path[steps] = rows.by[row, rank]
        steps += 1
        row, rank = rows.above[row, rank] // beam, rows.above[row, rank] % beam
    return path[:steps][::-1].copy(), rows.cost[size, 0]


@compiled
def _extend(rows: Any, row: Any, new: Any, ends: Any, flat: Any, marks: Any, tables: Any, ends_here: Any) -> Any:
    """Every hypothesis of earlier rows with every unit that leads to this one; how many there are."""
    next_state, word_cost, end_cost, _ = tables
    depth, beam, kinds = rows.left.shape
    found = 0
    for length in range(1, min(depth - 1, row) + 1):
        before = row - length
        for rank in range(rows.filled[before]):
            for kind in range(kinds):
                if ends[kind + 1] - ends[kind] != length or rows.left[before % depth, rank, kind] == 0:
                    continue
                state, total = rows.state[before, rank], rows.cost[before, rank]
                for place in range(ends[kind], ends[kind + 1]):
                    total += word_cost[state, flat[place]]
                    state = next_state[state, flat[place]]
                new.state[found], new.cost[found] = state, total + end_cost[state] if ends_here else total
                new.mark[found] = rows.mark[before, rank] + marks[kind]
                new.above[found], new.by[found] = before * beam + rank, kind
                found += 1
    return found


@compiled
def _keep_best(rows: Any, row: Any, new: Any, found: Any, slot_table: Any) -> None:
    """Fill a row with the cheapest hypotheses, each future once."""
    depth, beam, _ = rows.left.shape
    left = rows.left[row % depth]
    slot_table[:] = -1
    kept = 0
    for candidate in np.argsort(new.cost[:found], kind="mergesort"):
        if kept == beam:
            break
        above, kind = new.above[candidate], new.by[candidate]
        left[kept] = rows.left[above // beam % depth, above % beam]
        left[kept, kind] -= 1
        rows.state[row, kept], rows.mark[row, kept] = new.state[candidate], new.mark[candidate]
        slot = mix(new.mark[candidate], np.uint64(new.state[candidate])) & np.uint64(slot_table.shape[0] - 1)
        slot = np.int64(slot)
        while slot_table[slot] >= 0 and not _is_same(rows.state[row], rows.mark[row], left, slot_table[slot], kept):
            slot = (slot + 1) & (slot_table.shape[0] - 1)
        if slot_table[slot] < 0:
            slot_table[slot] = kept
            rows.cost[row, kept], rows.above[row, kept], rows.by[row, kept] = new.cost[candidate], above, kind
            kept += 1
    rows.filled[row] = kept


@compiled
def _is_same(state: Any, mark: Any, left: Any, one: Any, other: Any) -> Any:
    """Whether two hypotheses of a row have the same state and the same units left."""
    if state[one] != state[other] or mark[one] != mark[other]:
        return False
    return bool(np.all(left[one] == left[other]))
