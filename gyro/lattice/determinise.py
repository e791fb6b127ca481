"""One path for each string.

determinise  join the paths of an acyclic automaton that have the same words, at the cost of the cheapest of them

A state of the result is a set of states that one string leads to, each with what it costs more than the cheapest of
them (Mohri 1997). There can be exponentially many, so the steps are counted, and more than allowed are not taken.
OpenFst's determinisation has no such limit that stops in time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gyro.lattice.minimal import GRAIN, Arcs, mix


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


@njit(cache=True)
def _determinise(first: Any, word: Any, target: Any, cost: Any, final: Any, most_steps: int) -> Any:
    """Set by set, in the order in which they are found. No end at all: too many steps."""
    # The members of set k, and what each costs more than the cheapest, go from begin[k] to begin[k + 1].
    begin = np.array([0, 1])
    member, extra = np.zeros(1, np.int64), np.zeros(1, np.float64)
    hashes, ends = np.array([_hash_of(member, extra)]), np.full(1, np.inf)
    slots = _slots_of(hashes, 1, 256)
    out_source, out_word, out_target = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    out_cost = np.empty(64, np.float64)
    sets, arcs, at, steps = 1, 0, 0, 0
    while at < sets:
        members, extras = member[begin[at] : begin[at + 1]], extra[begin[at] : begin[at + 1]]
        ends[at] = (extras + final[members]).min()
        steps += (first[members + 1] - first[members]).sum()
        if steps > most_steps:
            return out_source[:0], out_word[:0], out_target[:0], out_cost[:0], ends[:0]
        words, states, prices = _arcs_of(members, extras, first, word, target, cost)
        place = 0
        while place < len(words):
            stop = place + 1
            while stop < len(words) and words[stop] == words[place]:
                stop += 1
            lowest = prices[place:stop].min()
            reached, more = states[place:stop], prices[place:stop] - lowest
            mixed = _hash_of(reached, more)
            slot = _slot_of(slots, hashes, mixed, begin, member, extra, reached, more)
            if slots[slot] < 0:
                slots[slot], used = sets, begin[sets]
                begin, hashes, ends = _grown(begin, sets + 2), _grown(hashes, sets + 1), _grown(ends, sets + 1)
                member, extra = _grown(member, used + len(reached)), _grown(extra, used + len(reached))
                begin[sets + 1], hashes[sets], ends[sets] = used + len(reached), mixed, np.inf
                member[used : begin[sets + 1]], extra[used : begin[sets + 1]] = reached, more
                sets += 1
            out_source, out_word = _grown(out_source, arcs + 1), _grown(out_word, arcs + 1)
            out_target, out_cost = _grown(out_target, arcs + 1), _grown(out_cost, arcs + 1)
            out_source[arcs], out_word[arcs] = at, words[place]
            out_target[arcs], out_cost[arcs] = slots[slot], lowest
            arcs += 1
            place = stop
            if 2 * sets > len(slots):
                slots = _slots_of(hashes, sets, 4 * len(slots))
        at += 1
    return out_source[:arcs], out_word[:arcs], out_target[:arcs], out_cost[:arcs], ends[:sets]


@njit(cache=True)
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


@njit(cache=True)
def _hash_of(reached: Any, prices: Any) -> Any:
    mixed = np.uint64(len(reached))
    for k in range(len(reached)):
        mixed = mix(mix(mixed, reached[k]), np.int64(np.rint(prices[k] / GRAIN)))
    return mixed ^ (mixed >> np.uint64(32))


@njit(cache=True)
def _slot_of(
    slots: Any, hashes: Any, mixed: Any, begin: Any, member: Any, extra: Any, reached: Any, prices: Any
) -> Any:
    """The slot that holds the number of a set, or the free one where it belongs."""
    last_slot = np.uint64(len(slots) - 1)
    slot = mixed & last_slot
    while slots[slot] >= 0:
        number = slots[slot]
        if hashes[number] == mixed and _same_set(number, begin, member, extra, reached, prices):
            break
        slot = (slot + np.uint64(1)) & last_slot
    return slot


@njit(cache=True)
def _same_set(number: int, begin: Any, member: Any, extra: Any, reached: Any, prices: Any) -> Any:
    """Whether a set has these members at these prices, give or take the grain."""
    if begin[number + 1] - begin[number] != len(reached):
        return False
    for k in range(len(reached)):
        if member[begin[number] + k] != reached[k]:
            return False
        if np.rint(extra[begin[number] + k] / GRAIN) != np.rint(prices[k] / GRAIN):
            return False
    return True


@njit(cache=True)
def _slots_of(hashes: Any, count: int, size: int) -> Any:
    """A table of slots, a power of two of them, for the sets with these hashes."""
    slots = np.full(size, -1, np.int64)
    last_slot = np.uint64(size - 1)
    for number in range(count):
        slot = hashes[number] & last_slot
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & last_slot
        slots[slot] = number
    return slots


@njit(cache=True)
def _grown(array: Any, needed: int) -> Any:
    """The array, or a longer one that begins with it."""
    if needed <= len(array):
        return array
    more = np.empty(2 * needed, array.dtype)
    more[: len(array)] = array
    return more
