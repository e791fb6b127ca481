"""Bags as the beam search takes them: kinds of units, how many of each, and what each will cost.

KNOWN              the constraints of annotated bags that the search keeps to
UnitTypes          the units of a bag in the form that compiled functions take
Problem            these with the words that their numbers stand for
bag_to_problem     the problem of a bag

A unit is a phrase that the bag keeps whole, or a token that is in none; equal ones are one type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.run.constraint import check_constraints
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag

SYSTEM = "ngram-beam"
KNOWN = frozenset({"units"})  # constraints of bags
LANE = 64  # bits

Integers = NDArray[np.int64]
Bits = NDArray[np.uint64]
Costs = NDArray[np.float64]


class UnitTypes(NamedTuple):
    """The types of units, by length and then by their words.

    Type t has the words `word[begin[t]:begin[t + 1]]`; those of m words are the types from `of_length[m]` to
    `of_length[m + 1]`. How many are left is kept in bits: of lane[t] those of field[t]; `one` is one unit, `full` all.
    """

    word: Integers
    begin: Integers
    of_length: Integers
    future: Costs  # of all words of one unit
    lane: Integers
    field: Bits
    one: Bits
    full: Bits  # a number for each lane: the counts of all its types


class Problem(NamedTuple):
    """A bag: its distinct words, which the types' words are numbers of, its number of words, and its units."""

    words: tuple[str, ...]
    size: int
    types: UnitTypes
    total_future: float


def bag_to_problem(bag: Bag, word_cost: Callable[[str], float] | None = None) -> Problem:
    """The problem of a bag; `word_cost` is what a word that is left is expected to cost, None: nothing."""
    counts = Counter(_units(check_constraints(bag, SYSTEM, KNOWN)))
    units = sorted(counts, key=lambda unit: (len(unit), unit))
    number = {word: i for i, word in enumerate(bag.words)}
    lengths = [len(unit) for unit in units]
    longest = max(lengths, default=0)
    future = np.array([0.0 if word_cost is None else sum(map(word_cost, unit)) for unit in units], np.float64)
    lane, field, one, full = _packed([counts[unit] for unit in units])
    types = UnitTypes(
        word=np.array([number[word] for unit in units for word in unit], np.int64),
        begin=np.cumsum([0, *lengths], dtype=np.int64),
        of_length=np.searchsorted(np.array(lengths, np.int64), np.arange(longest + 2)).astype(np.int64),
        future=future,
        lane=lane,
        field=field,
        one=one,
        full=full,
    )
    left = sum(cost * counts[unit] for unit, cost in zip(units, future.tolist(), strict=True))
    return Problem(bag.words, len(bag), types, left)


def _units(bag: Bag) -> list[tuple[str, ...]]:
    """The phrases, and the tokens that are in none."""
    phrases = bag.units if isinstance(bag, AnnotatedBag) else ()
    inside = {place for phrase in phrases for place in phrase}
    found = [tuple(bag.tokens[place] for place in phrase) for phrase in phrases]
    return found + [(token,) for place, token in enumerate(bag.tokens) if place not in inside]


def _packed(counts: Sequence[int]) -> tuple[Integers, Bits, Bits, Bits]:
    """Give each type the bits that its count needs; a field never crosses a lane."""
    lane, field, one, full = [], [], [], [0]
    at_bit = 0
    for count in counts:
        width = count.bit_length()
        if at_bit + width > LANE:
            full.append(0)
            at_bit = 0
        lane.append(len(full) - 1)
        field.append(((1 << width) - 1) << at_bit)
        one.append(1 << at_bit)
        full[-1] += count << at_bit
        at_bit += width
    return np.array(lane, np.int64), np.array(field, np.uint64), np.array(one, np.uint64), np.array(full, np.uint64)
