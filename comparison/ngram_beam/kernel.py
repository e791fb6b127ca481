"""The beam search, compiled with numba.

Machine   the automaton that costs come from
Settings  how the search goes
run_beam  the best hypotheses that use all units, as rows of word numbers, and their costs

Row k holds hypotheses of k words: the first `beam` of all that come from the rows before by one unit more, in the order
of what they cost so far and will cost. Of equals that comes first whose source comes first (of sources, those of
shorter rows, and in a row the better ones), then the type with the lower number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.row_table import slot_of

ROOM = 1024  # of a row's candidates at first
FULL = 4  # candidates are thinned when there are so many times the beam


class Machine(NamedTuple):
    """An automaton's tables."""

    start: int
    next_state: NDArray[np.int32]
    cost: NDArray[np.float64]
    end_cost: NDArray[np.float64]  # zeros: the end costs nothing


class Settings(NamedTuple):
    """Hypotheses a row; whether those with equal units left and equal states are joined: of these the first stays."""

    beam: int
    recombine: bool


class _Nodes(NamedTuple):
    """Hypotheses of all rows: the one before, the last unit, the cost so far, that of the words left; the bits of the
    units left in lanes, and in the last column the state."""

    parent: NDArray[np.int64]
    type: NDArray[np.int64]
    score: NDArray[np.float64]
    rest: NDArray[np.float64]
    key: NDArray[np.uint64]


class _Candidates(NamedTuple):
    """Hypotheses that may come into a row, in the order in which equals are ranked."""

    parent: NDArray[np.int64]
    type: NDArray[np.int64]
    state: NDArray[np.int64]
    score: NDArray[np.float64]
    rank: NDArray[np.float64]


@compiled
def run_beam(machine: Any, types: Any, size: Any, total_future: Any, settings: Any) -> Any:
    """Order all units, of `size` words: the strings of the last row, best first, and what they cost."""
    lanes = len(types.full)
    nodes = _new_nodes(2 * ROOM, lanes + 1)
    nodes.parent[0], nodes.type[0], nodes.score[0], nodes.rest[0] = -1, -1, 0.0, total_future
    for lane in range(lanes):
        nodes.key[0, lane] = types.full[lane]
    nodes.key[0, lanes] = np.uint64(machine.start)
    if size == 0:
        nodes.score[0] += machine.end_cost[machine.start]
    first = np.zeros(size + 2, np.int64)  # of each row's nodes
    first[1] = 1
    candidates = _new_candidates(ROOM)
    for row in range(1, size + 1):
        candidates, found = _candidates_of_row(machine, types, nodes, first, row, candidates, settings)
        wanted = min(found, settings.beam)
        if first[row] + wanted > len(nodes.parent):
            nodes = _grown_nodes(nodes, first[row], 2 * (first[row] + wanted))
        order = np.argsort(candidates.rank[:found], kind="mergesort")
        first[row + 1] = _add_row(types, nodes, first[row], candidates, order, wanted, settings.recombine)
    return _strings(types, nodes, first[size], first[size + 1], size)


@compiled
def _candidates_of_row(
    machine: Any, types: Any, nodes: Any, first: Any, row: Any, candidates: Any, settings: Any
) -> Any:  # fmt: skip
    """All hypotheses that may come into a row, without recombination only those that may be among the best."""
    lanes, is_last = nodes.key.shape[1] - 1, row == len(first) - 2
    found, cut = 0, np.inf
    for length in range(min(row, len(types.of_length) - 2), 0, -1):
        if types.of_length[length] == types.of_length[length + 1]:
            continue
        for node in range(first[row - length], first[row - length + 1]):
            for type in range(types.of_length[length], types.of_length[length + 1]):
                if nodes.key[node, types.lane[type]] & types.field[type] == 0:
                    continue
                state, score = np.int64(nodes.key[node, lanes]), nodes.score[node]
                for at in range(types.begin[type], types.begin[type + 1]):
                    score += machine.cost[state, types.word[at]]
                    state = np.int64(machine.next_state[state, types.word[at]])
                    if state < 0:
                        break
                if state < 0:
                    continue
                if is_last:
                    score += machine.end_cost[state]
                rank = score + (nodes.rest[node] - types.future[type])
                if not rank < cut:
                    continue
                if found == len(candidates.parent):
                    if not settings.recombine and found >= FULL * settings.beam:
                        found, cut = _thin(candidates, found, settings.beam)
                        if not rank < cut:
                            continue
                    else:
                        candidates = _grown_candidates(candidates)
                candidates.parent[found] = node
                candidates.type[found] = type
                candidates.state[found] = state
                candidates.score[found] = score
                candidates.rank[found] = rank
                found += 1
    if not settings.recombine and found > settings.beam:
        found, cut = _thin(candidates, found, settings.beam)
    return candidates, found


@compiled
def _thin(candidates: Any, found: Any, beam: Any) -> Any:
    """Keep the best, in the order that they have; returns how many, and the rank that no later one may have."""
    limit = np.partition(candidates.rank[:found], beam - 1)[beam - 1]
    better = 0
    for i in range(found):
        better += candidates.rank[i] < limit
    ties, kept = beam - better, 0
    for i in range(found):
        if candidates.rank[i] > limit or (candidates.rank[i] == limit and ties == 0):
            continue
        ties -= candidates.rank[i] == limit
        candidates.parent[kept] = candidates.parent[i]
        candidates.type[kept] = candidates.type[i]
        candidates.state[kept] = candidates.state[i]
        candidates.score[kept] = candidates.score[i]
        candidates.rank[kept] = candidates.rank[i]
        kept += 1
    return kept, limit


@compiled
def _add_row(
    types: Any, nodes: Any, begin: Any, candidates: Any, order: Any, wanted: Any, recombine: Any
) -> Any:  # fmt: skip
    """Add the first `wanted` candidates as nodes from `begin` on; returns where the row ends."""
    lanes, end = nodes.key.shape[1] - 1, begin
    slots = np.empty(0, np.int64)
    if recombine:
        room = 2
        while room < 2 * wanted + 2:
            room *= 2
        slots = np.full(room, -1, np.int64)
    for candidate in order:
        if end == begin + wanted:
            break
        parent, type = candidates.parent[candidate], candidates.type[candidate]
        for lane in range(lanes):
            nodes.key[end, lane] = nodes.key[parent, lane]
        nodes.key[end, types.lane[type]] -= types.one[type]
        nodes.key[end, lanes] = np.uint64(candidates.state[candidate])
        if recombine:
            slot = slot_of(slots, nodes.key, nodes.key[end])
            if slots[slot] >= 0:
                continue
            slots[slot] = end
        nodes.parent[end] = parent
        nodes.type[end] = type
        nodes.score[end] = candidates.score[candidate]
        nodes.rest[end] = nodes.rest[parent] - types.future[type]
        end += 1
    return end


@compiled
def _strings(types: Any, nodes: Any, begin: Any, end: Any, size: Any) -> Any:
    """The words of these nodes, and their costs."""
    words = np.empty((end - begin, size), np.int64)
    for node in range(begin, end):
        at, place = node, size
        while nodes.parent[at] >= 0:
            type = nodes.type[at]
            for word in range(types.begin[type + 1] - 1, types.begin[type] - 1, -1):
                place -= 1
                words[node - begin, place] = types.word[word]
            at = nodes.parent[at]
    return words, nodes.score[begin:end].copy()


@compiled
def _new_nodes(room: Any, columns: Any) -> Any:
    return _Nodes(
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.float64),
        np.empty(room, np.float64),
        np.empty((room, columns), np.uint64),
    )


@compiled
def _grown_nodes(old: Any, count: Any, room: Any) -> Any:
    """A copy with more room; in loops, because slices take numba seconds to compile."""
    new = _new_nodes(room, old.key.shape[1])
    for node in range(count):
        new.parent[node] = old.parent[node]
        new.type[node] = old.type[node]
        new.score[node] = old.score[node]
        new.rest[node] = old.rest[node]
        for column in range(old.key.shape[1]):
            new.key[node, column] = old.key[node, column]
    return new


@compiled
def _new_candidates(room: Any) -> Any:
    return _Candidates(
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.float64),
        np.empty(room, np.float64),
    )


@compiled
def _grown_candidates(old: Any) -> Any:
    new = _new_candidates(2 * len(old.parent))
    for i in range(len(old.parent)):
        new.parent[i] = old.parent[i]
        new.type[i] = old.type[i]
        new.state[i] = old.state[i]
        new.score[i] = old.score[i]
        new.rank[i] = old.rank[i]
    return new
