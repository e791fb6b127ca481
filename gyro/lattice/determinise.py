"""One path for each string.

determinise  join the paths of an acyclic automaton that have the same words, at the cost of the cheapest of them

A state of the result is a set of states that one string leads to, each with what it costs more than the cheapest of
them (Mohri 1997). There can be exponentially many, so the steps are counted, and more than allowed are not taken.
OpenFst's determinisation has no such limit that stops in time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.lattice.minimal import GRAIN, Arcs
from gyro.row_table import add_row, fill_slots, make_table


def determinise(
    source: NDArray[Any],
    word: NDArray[Any],
    target: NDArray[Any],
    cost: NDArray[Any],
    final: NDArray[Any],
    most_steps: int,
) -> Arcs | None:
    """Source, word, target and cost of the arcs, sorted by source and word; the cost of an end by state.

    The start is state 0 here and there; arcs are sorted by source. None when it takes more steps, which are the arcs
    of all states of all sets.

    >>> columns = (np.array([0, 0]), np.array([0, 0]), np.array([1, 2]), np.array([2.0, 1.0]))
    >>> found = determinise(*columns, np.array([np.inf, 0.0, 0.5]), 10)
    >>> [column.tolist() for column in found]
    [[0], [0], [1], [1.0], [inf, 0.5]]
    """
    if not len(final):
        return source, word, target, cost.astype(np.float64), final.astype(np.float64)
    first = np.searchsorted(source, np.arange(len(final) + 1))
    columns = (word.astype(np.int64), target.astype(np.int64), cost.astype(np.float64), final.astype(np.float64))
    found = _determinise(first, *columns, most_steps)
    return found if len(found[-1]) else None


@compiled
def _determinise(first: Any, word: Any, target: Any, cost: Any, final: Any, most_steps: int) -> Any:
    """Set by set, in the order in which they are found. No end at all: too many steps."""
    # The members of set k, and what each costs more than the cheapest, go from begin[k] to begin[k + 1].
    begin = np.array([0, 1])
    member, extra, ends = np.zeros(1, np.int64), np.zeros(1, np.float64), np.full(1, np.inf)
    # A set has the number of its last prefix; a prefix is the number of the one before it and one more member.
    prefixes, slots = make_table(64, 3)
    set_of = np.full(64, -1)
    out_source, out_word, out_target = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    out_cost = np.empty(64, np.float64)
    sets, arcs, at, steps, count = 1, 0, 0, 0, 0
    while at < sets:
        members, extras = member[begin[at] : begin[at + 1]], extra[begin[at] : begin[at + 1]]
        ends[at] = (extras + final[members]).min()
        steps += (first[members + 1] - first[members]).sum()
        if steps > most_steps:
            return out_source[:0], out_word[:0], out_target[:0], out_cost[:0], ends[:0]
        words, states, prices = _arcs_of(members, extras, first, word, target, cost)
        if count + len(words) > len(prefixes):
            prefixes, slots, set_of = _larger_table(prefixes, count, count + len(words), set_of)
        place = 0
        while place < len(words):
            stop = place + 1
            while stop < len(words) and words[stop] == words[place]:
                stop += 1
            lowest = prices[place:stop].min()
            number = np.int64(-1)
            for k in range(place, stop):
                row = (number, states[k], np.int64(np.rint((prices[k] - lowest) / GRAIN)))
                number, count = add_row(prefixes, slots, count, row)
            if set_of[number] < 0:
                set_of[number], used = sets, begin[sets]
                begin, ends = _grown(begin, sets + 2), _grown(ends, sets + 1)
                member, extra = _grown(member, used + stop - place), _grown(extra, used + stop - place)
                begin[sets + 1], ends[sets] = used + stop - place, np.inf
                member[used : begin[sets + 1]], extra[used : begin[sets + 1]] = states[place:stop], prices[place:stop]
                extra[used : begin[sets + 1]] -= lowest
                sets += 1
            out_source, out_word = _grown(out_source, arcs + 1), _grown(out_word, arcs + 1)
            out_target, out_cost = _grown(out_target, arcs + 1), _grown(out_cost, arcs + 1)
            out_source[arcs], out_word[arcs] = at, words[place]
            out_target[arcs], out_cost[arcs] = set_of[number], lowest
            arcs += 1
            place = stop
        at += 1
    return out_source[:arcs], out_word[:arcs], out_target[:arcs], out_cost[:arcs], ends[:sets]


@compiled
def _larger_table(prefixes: Any, count: int, needed: int, set_of: Any) -> Any:
    """The same prefixes with their sets in a table that has room for more than are needed."""
    more, slots = make_table(2 * needed, prefixes.shape[1])
    more[:count] = prefixes[:count]
    fill_slots(more, count, slots)
    sets = np.full(len(more), -1)
    sets[:count] = set_of[:count]
    return more, slots, sets


@compiled
def _arcs_of(members: Any, extras: Any, first: Any, word: Any, target: Any, cost: Any) -> Any:
    """The words that leave a set, sorted, and the states that they lead to, each at its lowest price."""
    count = (first[members + 1] - first[members]).sum()
    arc, price = np.empty(count, np.int64), np.empty(count, np.float64)
    filled = 0
    for k in range(len(members)):
        for number in range(first[members[k]], first[members[k] + 1]):
            arc[filled], price[filled] = number, extras[k] + cost[number]
            filled += 1
    order = np.argsort(word[arc] * np.int64(len(first)) + target[arc])
    arc, price = arc[order], price[order]
    size = min(count, 1)
    for k in range(1, count):
        if word[arc[k]] == word[arc[size - 1]] and target[arc[k]] == target[arc[size - 1]]:
            price[size - 1] = min(price[size - 1], price[k])
        else:
            arc[size], price[size] = arc[k], price[k]
            size += 1
    return word[arc[:size]], target[arc[:size]], price[:size]


@compiled
def _grown(array: Any, needed: int) -> Any:
    """The array, or a longer one that begins with it."""
    if needed <= len(array):
        return array
    more = np.empty(2 * needed, array.dtype)
    more[: len(array)] = array
    return more
