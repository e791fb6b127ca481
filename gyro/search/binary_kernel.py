"""The inner loops of the published grammar: which two cells make a cell within β, and what is left of their strings.

Lefts, Rights    cells as left and as right parts, by their least costs
find_rules       the pairs of cells that make a string within β of the cheapest
Scratch          room for the expansion of one rule
new_scratch      so much of it
find_ends        the model states in which the strings of sets end, at their least costs
expand_set       the states and arcs of one set under the model
join_rules       for each cell: its rules are expanded under the model and pruned, and what is left of them is joined

Cells are sets of strings (gyro.lattice.string_set), of one length each, with phrase costs in grains. All arrays have
fixed room: what runs out of it says so, and is done again with more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.lattice.string_set import put_first, unite
from gyro.row_table import make_table, slot_of
from gyro.search.binary_scores import cheapest

Ints = NDArray[np.int64]
Costs = NDArray[np.float64]

SLACK = 1e-6  # of double precision: what is at the limit stays


class Lefts(NamedTuple):
    """Cells as left parts: in which model states they end at which costs, sorted by the least of these."""

    coverage: NDArray[np.uint64]
    least: Costs
    first: Ints
    state: Ints
    cost: Costs


class Rights(NamedTuple):
    """Cells as right parts, sorted by a bound that no context brings them below."""

    coverage: NDArray[np.uint64]
    bound: Costs
    strings: Ints
    offset: Ints


@compiled
def find_rules(
    store: Any,
    model: Any,
    scores: Any,
    lefts: Any,
    rights: Any,
    checks: Any,
    allowed: Any,
    begin: Any,
    best: Any,
    beta: Any,
) -> Any:
    """The pairs of cells whose cheapest string is within beta of the best of all, as far as that is known by now.

    `checks` are singles, slack and guards of the coverage code; `allowed` the sorted coverages of results, all when it
    is empty. Begins with a left part, stops where room runs out. Gives left, right and cost of each, the next left
    part, the best, and how many pairs were looked at.
    """
    singles, slack, guards = checks
    room, count, looked = 1024, 0, 0
    found, cost = np.empty((room, 2), np.int64), np.empty(room)
    for left in range(begin, len(lefts.least)):
        if scores.is_full[0]:
            return found[:count].copy(), cost[:count].copy(), left, best, looked
        for right in range(len(rights.bound)):
            looked += 1
            if lefts.least[left] + rights.bound[right] > best + beta + SLACK:
                break
            one, other = lefts.coverage[left], rights.coverage[right]
            total = one + other
            if one & other & singles or (total + slack) & guards:
                continue
            if len(allowed):
                place = np.searchsorted(allowed, total)
                if place == len(allowed) or allowed[place] != total:
                    continue
            least = np.inf
            for end in range(lefts.first[left], lefts.first[left + 1]):
                if lefts.cost[end] + rights.bound[right] <= min(best + beta + SLACK, least):
                    rest = cheapest(store, model, scores, rights.strings[right], lefts.state[end])
                    least = min(least, lefts.cost[end] + model.grain * rights.offset[right] + rest)
            best = min(best, least)
            if least == np.inf or least > best + beta + SLACK:
                continue
            if count == room:
                found = np.concatenate((found, np.empty((room, 2), np.int64)))
                cost = np.concatenate((cost, np.empty(room)))
                room *= 2
            found[count, 0], found[count, 1], cost[count] = left, right, least
            count += 1
    return found[:count].copy(), cost[:count].copy(), len(lefts.least), best, looked


class Scratch(NamedTuple):
    """States (part, set, model state) of an expansion, and its arcs in the order of their sources."""

    states: Ints
    slots: Ints
    slot: Ints
    cost: Costs  # to reach a state
    rest: Costs  # from there to the end
    result: Ints  # the set that is left of it, and its offset
    arcs: Ints  # source, word, grains, target (-1: the end), model state after it
    arc_cost: Costs
    is_full: NDArray[np.bool_]


def new_scratch(room: int = 1 << 12) -> Scratch:
    states, slots = make_table(room, 3)
    arcs = 4 * room
    columns = (np.empty(room, np.int64), np.empty(room), np.empty(room), np.empty((room, 2), np.int64))
    return Scratch(states, slots, *columns, np.empty((arcs, 5), np.int64), np.empty(arcs), np.zeros(1, np.bool_))


@compiled
def _state(scratch: Any, count: Any, row: Any, cost: Any) -> Any:
    """The number of a state, reached at a cost, and how many there are then."""
    slot = slot_of(scratch.slots, scratch.states, row)
    number = scratch.slots[slot]
    if number >= 0:
        scratch.cost[number] = min(scratch.cost[number], cost)
        return number, count
    if count == len(scratch.states):
        scratch.is_full[0] = True
        return np.int64(0), count
    for column in range(3):
        scratch.states[count, column] = row[column]
    scratch.slots[slot], scratch.slot[count], scratch.cost[count] = count, slot, cost
    return np.int64(count), count + 1


@compiled
def _expand(
    store: Any,
    model: Any,
    inner: Any,
    last: Any,
    start: Any,
    left: Any,
    left_offset: Any,
    right: Any,
    right_offset: Any,
    bound: Any,
    limit: Any,
    scratch: Any,
) -> Any:
    """States and arcs of left · right under the model that may be within the limit; right 1: left alone.

    `inner` and `last` tell the cheapest ways on within the left and the right part; `bound` is that of the right part.
    """
    states, arcs, at = 0, 0, 0
    part = 0 if right > 1 else 1
    first = (np.int64(part), np.int64(left), np.int64(start))
    _, states = _state(scratch, states, first, model.grain * left_offset)
    while at < states and not scratch.is_full[0]:
        part, strings, state = scratch.states[at]
        offset = np.int64(0)
        while strings > 1:
            word = store.sets[strings, 0]
            after = np.int64(model.next_state[state, word])
            if after >= 0:
                grains, following = offset + store.sets[strings, 1], store.sets[strings, 2]
                step = model.grain * grains + model.cost[state, word]
                total = scratch.cost[at] + step
                if part == 0:
                    rest = cheapest(store, model, inner, following, after) + bound
                else:
                    rest = cheapest(store, model, last, following, after)
                if total + rest <= limit and rest < np.inf:
                    if arcs == len(scratch.arcs):
                        scratch.is_full[0] = True
                        break
                    target = np.int64(-1)
                    if following > 1:
                        target, states = _state(scratch, states, (part, following, after), total)
                    elif part == 0:
                        enter = total + model.grain * right_offset
                        step += model.grain * right_offset
                        grains += right_offset
                        target, states = _state(scratch, states, (np.int64(1), np.int64(right), after), enter)
                    scratch.arcs[arcs, 0], scratch.arcs[arcs, 1], scratch.arcs[arcs, 2] = at, word, grains
                    scratch.arcs[arcs, 3], scratch.arcs[arcs, 4] = target, after
                    scratch.arc_cost[arcs] = step
                    arcs += 1
            offset += store.sets[strings, 3]
            strings = store.sets[strings, 4]
        at += 1
    for number in range(states - 1, -1, -1):
        scratch.slots[scratch.slot[number]] = -1
    return states, arcs


@compiled
def find_ends(
    store: Any, model: Any, inner: Any, starts: Any, strings: Any, offsets: Any, scratch: Any, begin: Any
) -> Any:
    """For each set, from its start state: the model states after its strings, ascending, and the least cost in each.

    Begins with a set, stops where room runs out. Gives the number of ends of each, states, costs, and the arcs.
    """
    room, count, looked = 1024, 0, 0
    state, cost = np.empty(room, np.int64), np.empty(room)
    number = np.zeros(len(strings) - begin, np.int64)
    least = np.full(model.next_state.shape[0], np.inf)
    for i in range(begin, len(strings)):
        _, arcs = _expand(store, model, inner, inner, starts[i], strings[i], offsets[i], 1, 0, 0.0, np.inf, scratch)
        if scratch.is_full[0] or inner.is_full[0]:
            return number[: i - begin], state[:count].copy(), cost[:count].copy(), looked
        looked += arcs
        least[:] = np.inf
        for arc in range(arcs):
            if scratch.arcs[arc, 3] < 0:
                total = scratch.cost[scratch.arcs[arc, 0]] + scratch.arc_cost[arc]
                after = scratch.arcs[arc, 4]
                least[after] = min(least[after], total)
        ends = np.flatnonzero(least < np.inf)
        while count + len(ends) > room:
            state, cost = np.concatenate((state, np.empty(room, np.int64))), np.concatenate((cost, np.empty(room)))
            room *= 2
        state[count : count + len(ends)] = ends
        cost[count : count + len(ends)] = least[ends]
        number[i - begin] = len(ends)
        count += len(ends)
    return number, state[:count].copy(), cost[:count].copy(), looked


@compiled
def expand_set(
    store: Any, model: Any, last: Any, start: Any, strings: Any, offset: Any, beta: Any, scratch: Any
) -> Any:
    """Expand a set under the model, within beta of its cheapest string; the numbers of states and arcs in `scratch`."""
    limit = model.grain * offset + cheapest(store, model, last, strings, start) + beta + SLACK
    return _expand(store, model, last, last, start, strings, offset, 1, 0, 0.0, limit, scratch)


@compiled
def _left_over(store: Any, last: Any, states: Any, arcs: Any, limit: Any, offset: Any, scratch: Any) -> Any:
    """The set of the strings that are left when arcs on no path within the limit are taken out."""
    for number in range(states):
        scratch.rest[number] = np.inf
        scratch.result[number, 0] = scratch.result[number, 1] = 0
    # Arcs lead to later states, so that a state is complete when the first arc into it comes, from the end on; its arcs
    # stand together by ascending words, and so the list is made from its end.
    for arc in range(arcs - 1, -1, -1):
        source, word, grains, target, after = scratch.arcs[arc]
        rest = last.end[after] if target < 0 else scratch.rest[target]
        onward = scratch.arc_cost[arc] + rest
        scratch.rest[source] = min(scratch.rest[source], onward)
        if scratch.cost[source] + onward > limit or onward == np.inf:
            continue
        following, following_offset = np.int64(1), np.int64(0)
        if target >= 0:
            following, following_offset = scratch.result[target]
        others, others_offset = scratch.result[source]
        made = put_first(store, word, grains + following_offset, following, others_offset, others)
        scratch.result[source, 0], scratch.result[source, 1] = made
    return scratch.result[0, 0], scratch.result[0, 1] + offset


@compiled
def join_rules(
    store: Any,
    model: Any,
    inner: Any,
    last: Any,
    starts: Any,
    first: Any,
    sides: Any,
    bounds: Any,
    limit: Any,
    scratch: Any,
    cells: Any,
    at: Any,
    until: Any,
) -> Any:
    """Make cells `at` to `until` of their rules: write set and offset of each, stop where room runs out.

    Rules first[c] to first[c + 1] are those of cell c, which begins in model state starts[c]; `sides` has left, its
    offset, right and its offset. Gives the next cell, and the arcs of the expansions.
    """
    looked = 0
    while at < until:
        joined, joined_offset = np.int64(0), np.int64(0)
        for rule in range(first[at], first[at + 1]):
            left, left_cost, right, right_cost = sides[rule]
            bound = bounds[rule]
            states, arcs = _expand(
                store, model, inner, last, starts[at], left, left_cost, right, right_cost, bound, limit, scratch
            )
            looked += arcs
            if scratch.is_full[0]:
                return at, looked
            found, offset = _left_over(store, last, states, arcs, limit, left_cost, scratch)
            joined, joined_offset = unite(store, joined, joined_offset, found, offset)
            if store.is_full[0] or inner.is_full[0] or last.is_full[0]:
                return at, looked
        cells[at, 0], cells[at, 1] = joined, joined_offset
        at += 1
    return at, looked
