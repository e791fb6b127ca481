"""Sets of strings with costs, as minimal acceptors that share what they have in common.

StringSets   the store: sets of strings over word numbers, each string with a cost; equal sets have equal numbers
Store        its arrays, for compiled code
put_first    for compiled code: the strings that begin with a word, and others that begin with later ones
unite        for compiled code: all strings of two sets, each at its lower cost
EMPTY, ENDED the set of no string, and the set of the empty string

A set is a decision list: does the string begin with this word? Then the set `after` holds what may follow, else the
set `other`, whose first words are greater. Equal lists are stored once, so a set is its number, and the number stands
for a minimal deterministic acceptor. Costs are whole numbers of grains. Each branch has one, and the cheaper of the two
is 0: what all strings have in common is given back as an offset. Sets of free strings have none.

The arrays have fixed room. Where it does not suffice, `is_full` is set, what is returned means nothing, and the work is
done again after `StringSets.grow`. The compiled functions keep stacks of their own: numba's cache does not bear
functions that call themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.row_table import fill_slots, make_table, slot_of

EMPTY, ENDED = 0, 1
WORD, AFTER_COST, AFTER, OTHER_COST, OTHER = range(5)  # the columns of a set
FIRST_ROOM = 1 << 12
MEMORY = 1 << 16  # unions that are remembered; a new one takes the place of an old one
DEEPEST = 1 << 13  # calls within each other; a string of n out of w words takes n · w at most

Pair = tuple[int, int]  # a set and the offset of its costs


class Store(NamedTuple):
    """`sets` has the columns above, `size[0]` of its rows are in use; `slots` finds them."""

    sets: NDArray[np.int64]
    slots: NDArray[np.int64]
    size: NDArray[np.int64]
    is_full: NDArray[np.bool_]
    united: NDArray[np.int64]  # rows of two sets, the offset between them, their union, its offset
    stack: NDArray[np.int64]


class StringSets:
    """A store that grows.

    >>> sets = StringSets()
    >>> a, b = sets.of_strings([((0, 1), 3), ((1, 0), 5)]), sets.of_strings([((1, 0), 4)])
    >>> list(sets.strings(*sets.union(a, b)))
    [((0, 1), 3), ((1, 0), 4)]
    """

    def __init__(self) -> None:
        sets, slots = make_table(FIRST_ROOM, 5)
        sets[EMPTY], sets[ENDED] = (-1, 0, 0, 0, 0), (-2, 0, 0, 0, 0)
        fill_slots(sets, 2, slots)
        united = np.full((MEMORY, 5), -1, np.int64)
        stack = np.empty((DEEPEST, 7), np.int64)
        self.store = Store(sets, slots, np.array([2]), np.zeros(1, np.bool_), united, stack)

    def __len__(self) -> int:
        return int(self.store.size[0])

    def grow(self) -> None:
        """Twice the room."""
        old, count = self.store, len(self)
        sets, slots = make_table(2 * len(old.sets), 5)
        sets[:count] = old.sets[:count]
        fill_slots(sets, count, slots)
        self.store = old._replace(sets=sets, slots=slots)
        self.store.is_full[0] = False

    def of_strings(self, strings: Iterable[tuple[Sequence[int], int]]) -> Pair:
        """The set of these strings of word numbers and their costs."""
        whole: Pair = (EMPTY, 0)
        for string, cost in strings:
            one: Pair = (ENDED, 0)
            for word in reversed(string):
                one = self._sure(put_first, word, one[1], one[0], 0, EMPTY)
            whole = self.union(whole, (one[0], one[1] + cost))
        return whole

    def union(self, a: Pair, b: Pair) -> Pair:
        """All strings of both; one that both have, at its lower cost."""
        return self._sure(unite, *a, *b)

    def ending_with(self, pair: Pair, length: int, ending: Sequence[int]) -> Pair:
        """The strings of a set, all of one length, that end with these words."""
        words = np.array(ending, np.int64)
        known = np.full((1 << 10, 3), -1, np.int64)
        found, offset = self._sure(keep_ending, pair[0], length, words, known)
        return found, offset + pair[1]

    def _sure(self, operation: Any, *arguments: Any) -> Pair:
        while True:
            found, offset = operation(self.store, *arguments)
            if not self.store.is_full[0]:
                return int(found), int(offset)
            self.grow()

    def strings(self, found: int, offset: int = 0) -> Iterator[tuple[tuple[int, ...], int]]:
        """All strings of a set with their costs, in the order of their words."""
        if found == ENDED:
            yield (), offset
        while found > ENDED:
            word, after_cost, after, other_cost, other = self.store.sets[found].tolist()
            for rest, cost in self.strings(after, offset + after_cost):
                yield (word, *rest), cost
            found, offset = other, offset + other_cost


@compiled
def _add(store: Any, word: Any, after_cost: Any, after: Any, other_cost: Any, other: Any) -> Any:
    row = (np.int64(word), np.int64(after_cost), np.int64(after), np.int64(other_cost), np.int64(other))
    slot = slot_of(store.slots, store.sets, row)
    number = store.slots[slot]
    if number >= 0:
        return number
    number = store.size[0]
    if number == len(store.sets):
        store.is_full[0] = True
        return np.int64(0)
    for column in range(5):
        store.sets[number, column] = row[column]
    store.slots[slot] = number
    store.size[0] = number + 1
    return number


@compiled
def put_first(store: Any, word: Any, after_cost: Any, after: Any, other_cost: Any, other: Any) -> Any:
    """The strings of `after` with a word before them, and those of `other`, which begin with greater words."""
    if after == 0:
        return np.int64(other), np.int64(other_cost)
    if other == 0:
        return _add(store, word, 0, after, 0, 0), np.int64(after_cost)
    least = min(after_cost, other_cost)
    return _add(store, word, after_cost - least, after, other_cost - least, other), np.int64(least)


@compiled
def _place_of_union(store: Any, a: Any, b: Any, gap: Any) -> Any:
    mixed = (np.uint64(a) * np.uint64(0x9E3779B97F4A7C15)) ^ (np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F))
    mixed ^= np.uint64(gap) * np.uint64(0x165667B19E3779F9)
    return np.int64((mixed ^ (mixed >> np.uint64(31))) & np.uint64(len(store.united) - 1))


@compiled
def unite(store: Any, a: Any, a_cost: Any, b: Any, b_cost: Any) -> Any:
    """The union of two sets and their offsets, and its offset.

    The stack has the unions that wait for others: both sets, the gap between their offsets, the first offset, the word
    (-1: both have it, and its union is not there yet), and what follows the word.
    """
    sets, stack, depth = store.sets, store.stack, 0
    found, offset = np.int64(0), np.int64(0)
    while not store.is_full[0]:
        # Go down, to a union that is known at once.
        if a == b or b == 0:
            found, offset = np.int64(a), np.int64(a_cost if b == 0 else min(a_cost, b_cost))
        elif a == 0:
            found, offset = np.int64(b), np.int64(b_cost)
        else:
            if a > b:
                a, b, a_cost, b_cost = b, a, b_cost, a_cost
            gap = np.int64(b_cost - a_cost)
            known = store.united[_place_of_union(store, a, b, gap)]
            if known[0] == a and known[1] == b and known[2] == gap:
                found, offset = known[3], known[4] + a_cost
            else:
                if depth == len(stack):
                    raise ValueError("strings of too many words")
                top = stack[depth]
                depth += 1
                top[0], top[1], top[2], top[3], top[4] = a, b, gap, a_cost, -1
                if sets[a, 0] == sets[b, 0]:
                    a, a_cost, b, b_cost = sets[a, 2], sets[a, 1], sets[b, 2], sets[b, 1] + gap
                elif sets[a, 0] < sets[b, 0]:
                    top[4], top[5], top[6] = sets[a, 0], sets[a, 2], sets[a, 1]
                    a, a_cost, b_cost = sets[a, 4], sets[a, 3], gap
                else:
                    top[4], top[5], top[6] = sets[b, 0], sets[b, 2], sets[b, 1] + gap
                    a_cost, b, b_cost = np.int64(0), sets[b, 4], sets[b, 3] + gap
                continue
        # Go up, as long as that ends a union that waited.
        while depth and stack[depth - 1, 4] >= 0:
            depth -= 1
            top = stack[depth]
            found, offset = put_first(store, top[4], top[6], top[5], offset, found)
            if not store.is_full[0]:
                known = store.united[_place_of_union(store, top[0], top[1], top[2])]
                known[0], known[1], known[2], known[3], known[4] = top[0], top[1], top[2], found, offset
            offset += top[3]
        if not depth:
            break
        # What follows the word that both have is there; now the other words.
        top = stack[depth - 1]
        one, other = top[0], top[1]
        top[4], top[5], top[6] = sets[one, 0], found, offset
        a, a_cost, b, b_cost = sets[one, 4], sets[one, 3], sets[other, 4], sets[other, 3] + top[2]
    return found, offset


@compiled
def keep_ending(store: Any, strings: Any, length: Any, ending: Any, known: Any) -> Any:
    """The strings of one length that end with given words, and the offset of their costs; `known` remembers some.

    The stack has the sets that wait for others: the set, its length, whether its other words are there, and these.
    """
    sets, stack, depth = store.sets, store.stack, 0
    found, offset = np.int64(0), np.int64(0)
    while not store.is_full[0]:
        if strings <= 1:
            found, offset = np.int64(strings), np.int64(0)
        else:
            place = known[strings & (len(known) - 1)]
            if place[0] == strings:
                found, offset = place[1], place[2]
            else:
                if depth == len(stack):
                    raise ValueError("strings of too many words")
                top = stack[depth]
                depth += 1
                top[0], top[1], top[2] = strings, length, 0
                strings = sets[strings, 4]
                continue
        while depth:
            top = stack[depth - 1]
            one = top[0]
            if top[2] == 0:
                top[2], top[3], top[4] = 1, found, offset + sets[one, 3]
                if top[1] > len(ending) or ending[len(ending) - top[1]] == sets[one, 0]:
                    strings, length = sets[one, 2], top[1] - 1
                    break
                found, offset = top[3], top[4]
            else:
                found, offset = put_first(store, sets[one, 0], sets[one, 1] + offset, found, top[4], top[3])
            depth -= 1
            if not store.is_full[0]:
                place = known[one & (len(known) - 1)]
                place[0], place[1], place[2] = one, found, offset
        if not depth:
            break
    return found, offset
