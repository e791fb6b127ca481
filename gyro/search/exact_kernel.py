"""The inner loops of the exact search, compiled with numba.

pack_bag     where each word's count lives in the bits of a coverage
pack_rules   the conditions on coverage that constraints are, as masks of these bits
expand       extend the nodes of one row by one word each, joining equal nodes, while they stay under the cut
run_beam     all rows at once, keeping the most promising nodes of each
estimates    cost so far + bound of the nodes of a row
keep_nodes   close up a row to some of its nodes
complete     the cheapest completion of every node
through_arcs the cost of the cheapest path through each arc

A row holds the nodes with one number of words used. Nodes are numbered through all rows; the arcs are grouped by row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.row_table import slot_of
from gyro.search.work import read_clock

# Above every finite cost, below infinity: a cut that drops only what can never be completed.
NO_CUT = float(np.finfo(np.float64).max)


class PackedBag(NamedTuple):
    """The counts of the bag's words as bit fields: that of column c has the bits `field[c]` of lane `lane[c]`.

    One copy of it is `unit[c]`, all copies are `full[c]`. Columns of the same word have the same bits.
    """

    lane: NDArray[np.int64]
    field: NDArray[np.uint64]
    unit: NDArray[np.uint64]
    full: NDArray[np.uint64]

    @property
    def lanes(self) -> int:
        return int(self.lane.max(initial=0)) + 1


class Machine(NamedTuple):
    """What a search walks: the automaton, costs perhaps shifted by a constant per word, and the bound over it.

    `table[place, state]` is never above the cheapest completion; the word of column c moves the place by `step[c]`.
    """

    start: int
    next_state: NDArray[np.int32]
    cost: NDArray[np.float64]
    end_cost: NDArray[np.float64]
    table: NDArray[np.float32]
    step: NDArray[np.int64]


class Row(NamedTuple):
    """The nodes of one row, with room for more: what they are, their cost so far and their place in the table.

    Nodes are the same when their keys are: the lanes of the coverage and, in the last column, the state.
    """

    key: NDArray[np.uint64]
    cost: NDArray[np.float64]
    place: NDArray[np.int32]


class Arcs(NamedTuple):
    """Arcs between nodes, perhaps with room for more; `column` tells the word, and which way with it."""

    source: NDArray[np.int32]
    column: NDArray[np.uint16]
    target: NDArray[np.int32]


class Graph(NamedTuple):
    """All rows of a search: the state and cost so far of each node, the arcs, and where the last row begins."""

    state: NDArray[np.int32]
    cost: NDArray[np.float64]
    arcs: Arcs
    last_row: int


def pack_bag(counts: NDArray[np.int64], word_of: NDArray[np.int64]) -> PackedBag:
    """Give each word the bits that its count needs; a field never crosses a lane of 64 bits.

    >>> pack_bag(np.array([1, 3, 1]), np.arange(3)).full.tolist()
    [1, 6, 8]
    """
    lane, field, unit, full = [], [], [], []
    at_lane, at_bit = 0, 0
    for count in counts.tolist():
        width = count.bit_length()
        if at_bit + width > 64:
            at_lane, at_bit = at_lane + 1, 0
        lane.append(at_lane)
        field.append(((1 << width) - 1) << at_bit)
        unit.append((1 << at_bit) if width else 0)
        full.append(count << at_bit)
        at_bit += width
    columns = (np.array(column, dtype=np.uint64)[word_of] for column in (field, unit, full))
    return PackedBag(np.array(lane, dtype=np.int64)[word_of], *columns)


class PackedRules(NamedTuple):
    """Conditions on coverage: by column the bits that matter of each lane, and what they must be; and by row and column
    what the bits of its own word must be below.
    """

    mask: NDArray[np.uint64]
    value: NDArray[np.uint64]
    below: NDArray[np.uint64]


def pack_rules(
    bag: PackedBag,
    word_of: NDArray[np.int64],
    limit: NDArray[np.int64],
    full: NDArray[np.bool_],
    empty: NDArray[np.bool_],
) -> PackedRules:
    """The rules of gyro.search.exact_bound in bits."""
    mask = np.zeros((len(word_of), bag.lanes), dtype=np.uint64)
    value = mask.copy()
    first = np.unique(word_of, return_index=True)[1]  # a column of each word
    for word, column in zip(word_of[first], first, strict=True):
        lane = bag.lane[column]
        mask[full[:, word] | empty[:, word], lane] |= bag.field[column]
        value[full[:, word], lane] |= bag.full[column]
    # Uses count in units of the word's lowest bit; a limit that no count reaches is none.
    unit = np.where(bag.unit > 0, bag.unit, np.uint64(1))
    most = (bag.field // unit).astype(np.int64)
    below = np.minimum(limit, most + 1).astype(np.uint64)
    is_limited = limit <= most
    return PackedRules(mask, value, np.where(is_limited, below * unit, np.uint64(2**64 - 1)))


@compiled
def _is_barred(rules: Any, keys: Any, position: int, lanes: int, row: int, column: int, covered: Any) -> bool:
    """Whether the conditions on coverage forbid to extend a node by a column; `covered` are the bits of its word."""
    barred = covered >= rules.below[row, column]
    for lane in range(lanes):
        barred |= keys[position, lane] & rules.mask[column, lane] != rules.value[column, lane]
    return barred  # type: ignore[no-any-return]


@compiled
def make_row(capacity: int, lanes: int) -> Any:
    """An empty row with room for `capacity` nodes."""
    return Row(
        np.zeros((capacity, lanes + 1), dtype=np.uint64),
        np.zeros(capacity, dtype=np.float64),
        np.zeros(capacity, dtype=np.int32),
    )


@compiled
def make_arcs(capacity: int) -> Any:
    """Room for `capacity` arcs."""
    return Arcs(
        np.zeros(capacity, dtype=np.int32), np.zeros(capacity, dtype=np.uint16), np.zeros(capacity, dtype=np.int32)
    )


@compiled
def expand(
    source: Any, begin: int, end: int, bag: Any, machine: Any, cut: float, target: Any, nodes: int, slots: Any,
    arcs: Any, num_arcs: int, rules: Any = None, row: int = 0,
) -> Any:  # fmt: skip
    """Extend source nodes begin..end of a row by every word that is left; keep what cost + bound leaves under the cut.

    Stops before a node whose extensions might not fit. Returns that position, the nodes and arcs so far, and the
    cheapest cost + bound that the cut dropped.
    """
    columns, lanes = machine.step.shape[0], source.key.shape[1] - 1
    room = min(target.cost.shape[0], slots.shape[0] // 2)
    key = np.empty(lanes + 1, dtype=np.uint64)
    dropped = np.inf
    for position in range(begin, end):
        if nodes + columns > room or num_arcs + columns > arcs.source.shape[0]:
            return position, nodes, num_arcs, dropped
        state, so_far, place = source.key[position, lanes], source.cost[position], source.place[position]
        lane_of_all = source.key[position, 0]
        for column in range(columns):
            covered = lane_of_all if lanes == 1 else source.key[position, bag.lane[column]]
            after = machine.next_state[state, column]
            own = covered & bag.field[column]
            if after < 0 or own == bag.full[column]:
                continue
            if rules is not None and _is_barred(rules, source.key, position, lanes, row, column, own):
                continue
            cost = so_far + machine.cost[state, column]
            estimate = cost + machine.table[place + machine.step[column], after]
            if not estimate <= cut:
                dropped = min(dropped, estimate)
                continue
            for lane in range(lanes):
                key[lane] = source.key[position, lane]
            key[bag.lane[column]] += bag.unit[column]
            key[lanes] = after
            slot = slot_of(slots, target.key, key)
            node = slots[slot]
            if node < 0:
                node = nodes
                slots[slot] = node
                for lane in range(lanes + 1):
                    target.key[node, lane] = key[lane]
                target.cost[node] = cost
                target.place[node] = place + machine.step[column]
                nodes += 1
            elif cost < target.cost[node]:
                target.cost[node] = cost
            arcs.source[num_arcs] = position
            arcs.column[num_arcs] = column
            arcs.target[num_arcs] = node
            num_arcs += 1
    return end, nodes, num_arcs, dropped


@compiled
def _likely_cut(source: Any, nodes: int, bag: Any, machine: Any, width: int, rules: Any, row: int) -> Any:
    """A cut that some two `width` extensions of the row's nodes pass, judged by every eighth node."""
    columns, lanes = machine.step.shape[0], source.key.shape[1] - 1
    score = np.empty((nodes + 7) // 8 * columns)
    found = 0
    for position in range(0, nodes, 8):
        state = source.key[position, lanes]
        for column in range(columns):
            after = machine.next_state[state, column]
            covered = source.key[position, bag.lane[column]] & bag.field[column]
            if after < 0 or covered == bag.full[column]:
                continue
            if rules is not None and _is_barred(rules, source.key, position, lanes, row, column, covered):
                continue
            estimate = machine.table[source.place[position] + machine.step[column], after]
            estimate += source.cost[position] + machine.cost[state, column]
            if estimate < np.inf:
                score[found] = estimate
                found += 1
    wanted = width // 4 + 2
    return np.partition(score[:found], wanted)[wanted] if found > wanted else NO_CUT


@compiled
def estimates(row: Any, nodes: int, machine: Any) -> Any:
    """Cost so far + bound of each node."""
    result = np.empty(nodes)
    for node in range(nodes):
        result[node] = row.cost[node] + machine.table[row.place[node], row.key[node, -1]]
    return result


@compiled
def keep_nodes(row: Any, nodes: int, keep: Any, arcs: Any, num_arcs: int) -> Any:
    """Close up a row to the nodes marked in `keep`, and the arcs to those that lead to them; returns both numbers."""
    number = np.full(nodes, -1, dtype=np.int32)
    kept = 0
    for node in range(nodes):
        if keep[node]:
            number[node] = kept
            row.key[kept] = row.key[node]
            row.cost[kept] = row.cost[node]
            row.place[kept] = row.place[node]
            kept += 1
    kept_arcs = 0
    for arc in range(num_arcs):
        target = number[arcs.target[arc]]
        if target >= 0:
            arcs.source[kept_arcs] = arcs.source[arc]
            arcs.column[kept_arcs] = arcs.column[arc]
            arcs.target[kept_arcs] = target
            kept_arcs += 1
    return kept, kept_arcs


@compiled
def _best_of_row(score: Any, width: int) -> Any:
    """Mark the `width` lowest scores; among equal ones the first."""
    limit = np.partition(score, width - 1)[width - 1]
    keep = score < limit
    ties = width - keep.sum()
    for node in range(score.shape[0]):
        if ties > 0 and score[node] == limit:
            keep[node] = True
            ties -= 1
    return keep


@compiled
def _append(all_arcs: Any, total: int, arcs: Any, num_arcs: int, source_shift: int, target_shift: int) -> Any:
    """Add a row's arcs to those of all rows, numbered through; returns the arrays, grown when they were full."""
    if total + num_arcs > all_arcs.source.shape[0]:
        grown = make_arcs(2 * (total + num_arcs))
        grown.source[:total] = all_arcs.source[:total]
        grown.column[:total] = all_arcs.column[:total]
        grown.target[:total] = all_arcs.target[:total]
        all_arcs = grown
    for arc in range(num_arcs):
        all_arcs.source[total + arc] = arcs.source[arc] + source_shift
        all_arcs.column[total + arc] = arcs.column[arc]
        all_arcs.target[total + arc] = arcs.target[arc] + target_shift
    return all_arcs


@compiled
def run_beam(bag: Any, lanes: int, machine: Any, tokens: int, width: int, deadline: float, rules: Any = None) -> Any:
    """Keep `width` nodes of each row, by cost + bound. Returns the graph and whether a node was left out.

    A graph without nodes in its last row says that every node kept was a dead end, or that the deadline came: then it
    has the start alone.
    """
    columns = machine.step.shape[0]
    room = max(width * columns, 1)
    source, target, arcs = make_row(room, lanes), make_row(room, lanes), make_arcs(room)
    size = 2
    while size < 2 * room:
        size *= 2
    slots = np.empty(size, dtype=np.int32)
    state = np.empty(1 + tokens * width, dtype=np.int32)
    cost = np.empty(1 + tokens * width)
    all_arcs, total = make_arcs(2 * tokens * width), 0
    state[0], cost[0] = machine.start, 0.0
    source.key[0, lanes] = machine.start
    previous, first, nodes, left_out = 0, 0, 1, False
    for row in range(tokens):
        if read_clock() > deadline:
            return Graph(state[:1], cost[:1], make_arcs(0), 1), True
        cut = _likely_cut(source, nodes, bag, machine, width, rules, row)
        while True:
            slots[:] = -1
            _, found, num_arcs, dropped = expand(
                source, 0, nodes, bag, machine, cut, target, 0, slots, arcs, 0, rules, row
            )
            if found >= width or dropped == np.inf:
                break
            cut = NO_CUT
        left_out |= dropped < np.inf
        if found > width:
            left_out = True
            keep = _best_of_row(estimates(target, found, machine), width)
            found, num_arcs = keep_nodes(target, found, keep, arcs, num_arcs)
        previous, first = first, first + nodes
        all_arcs = _append(all_arcs, total, arcs, num_arcs, previous, first)
        total += num_arcs
        for node in range(found):
            state[first + node] = target.key[node, lanes]
        cost[first : first + found] = target.cost[:found]
        nodes = found
        source, target = target, source
    end = first + nodes
    kept = Arcs(all_arcs.source[:total], all_arcs.column[:total], all_arcs.target[:total])
    return Graph(state[:end], cost[:end], kept, first), left_out


@compiled
def complete(graph: Any, machine: Any) -> Any:
    """The cheapest completion of every node, its end included; infinity for a dead end."""
    result = np.full(graph.state.shape[0], np.inf)
    for node in range(graph.last_row, graph.state.shape[0]):
        result[node] = machine.end_cost[graph.state[node]]
    for arc in range(graph.arcs.source.shape[0] - 1, -1, -1):
        source = graph.arcs.source[arc]
        through = machine.cost[graph.state[source], graph.arcs.column[arc]] + result[graph.arcs.target[arc]]
        if through < result[source]:
            result[source] = through
    return result


@compiled
def through_arcs(graph: Any, machine: Any, completion: Any) -> Any:
    """The cost of the cheapest whole path through each arc."""
    result = np.empty(graph.arcs.source.shape[0])
    for arc in range(result.shape[0]):
        source = graph.arcs.source[arc]
        cost = machine.cost[graph.state[source], graph.arcs.column[arc]]
        result[arc] = graph.cost[source] + cost + completion[graph.arcs.target[arc]]
    return result
