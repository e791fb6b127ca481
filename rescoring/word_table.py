"""What a neural model said about the next word, pooled over the last three words: an n-gram model of one bag.

WordTable     takes in the costs of next words at prefixes, and estimates those at others
TableArrays   its arrays, for compiled code
estimate      for compiled code: the cost of a word after three others
shift         for compiled code: a context of three places, one word later

At a prefix the model gives the cost of every word that is left. Their sums and counts are kept for the last three, two,
one and no words of the prefix. An estimate goes from short contexts to long ones: each that was met takes the mean of
its own observations and of `STRENGTH` observations of the estimate so far; the shortest starts from the prior.

A context is three digits: NOWHERE for each place before the sentence, word number + FIRST_WORD otherwise. Shorter
contexts have ANYTHING in front.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.row_table import add_row, fill_slots, slot_of

ANYTHING, NOWHERE, FIRST_WORD = 0, 1, 2
CONTEXT = 3
# By how many observations a shorter context speaks in the estimate of one with one, two and three words.
STRENGTH = (1.0, 1.0, 2.0)
PRIOR_COST, PRIOR_STRENGTH = 9.0, 0.5
MOST_CELLS = 40_000_000  # of 8 bytes; contexts beyond are not remembered, only their shorter ones


class TableArrays(NamedTuple):
    """Row r belongs to the context `stored[r]`, which `slots` find; row 0 is the one of no words.

    The sum and the number of observations have a column for each word and a last one for the end.
    """

    stored: NDArray[np.int64]
    slots: NDArray[np.int64]
    sums: NDArray[np.float32]
    counts: NDArray[np.float32]


class WordTable:
    """The table over the words 0 … `words` - 1 of a bag.

    >>> table = WordTable(2)
    >>> table.teach([(), (0,)], np.array([[1.0, 5.0, np.nan], [np.nan, 2.0, np.nan]], np.float32))
    >>> round(table.estimate((0,), 1), 3)  # what was met after 0, then after anything, then the prior
    2.433
    """

    def __init__(self, words: int) -> None:
        self._columns = words + 1
        self._most_rows = max(1 + CONTEXT, MOST_CELLS // self._columns)
        self.arrays = self._empty_arrays(min(64, self._most_rows))
        self._rows = int(_add_first(self.arrays))

    def __len__(self) -> int:
        """How many contexts have been met, that of no words included."""
        return self._rows

    def teach(self, prefixes: Sequence[tuple[int, ...]], next_cost: NDArray[np.float32]) -> None:
        """Take in what the model says after these words: a row for each prefix, a column for each word and the end.

        NaN: nothing is known. Each prefix comes once.
        """
        if next_cost.shape != (len(prefixes), self._columns):
            raise ValueError(f"found costs of {next_cost.shape}; {(len(prefixes), self._columns)} are allowed")
        if not prefixes:
            return
        most = min(self._most_rows, self._rows + CONTEXT * len(prefixes))
        if most > len(self.arrays.stored):
            self._grow(min(self._most_rows, 2 * most))
        contexts = np.array([context_of(prefix) for prefix in prefixes], np.int64)
        self._rows = int(_teach(self.arrays, self._rows, contexts, np.ascontiguousarray(next_cost, np.float32)))

    def estimate(self, prefix: tuple[int, ...], word: int) -> float:
        """The cost of a word after these; `word` is the number of words for the end."""
        first, second, third = context_of(prefix)
        return float(estimate(self.arrays, first, second, third, word))

    def _empty_arrays(self, rows: int) -> TableArrays:
        stored, slots = np.zeros((rows, CONTEXT), np.int64), np.full(1 << (2 * rows).bit_length(), -1, np.int64)
        cells = (rows, self._columns)
        return TableArrays(stored, slots, np.zeros(cells, np.float32), np.zeros(cells, np.float32))

    def _grow(self, rows: int) -> None:
        old, larger = self.arrays, self._empty_arrays(rows)
        for name in ("stored", "sums", "counts"):
            getattr(larger, name)[: self._rows] = getattr(old, name)[: self._rows]
        fill_slots(larger.stored, self._rows, larger.slots)
        self.arrays = larger


def context_of(prefix: tuple[int, ...]) -> tuple[int, int, int]:
    """The digits of the last three words of a prefix.

    >>> context_of((7, 5, 0)), context_of((4,))
    ((9, 7, 2), (1, 1, 6))
    """
    first, second, third = (-1, -1, -1, *prefix[-CONTEXT:])[-CONTEXT:]
    return first + FIRST_WORD, second + FIRST_WORD, third + FIRST_WORD


@compiled
def estimate(table: Any, first: Any, second: Any, third: Any, column: Any) -> Any:
    """The cost of the word of a column after the context of three digits."""
    sums, counts = table.sums, table.counts
    cost = (sums[0, column] + PRIOR_COST * PRIOR_STRENGTH) / (counts[0, column] + PRIOR_STRENGTH)
    # A longer context was met only if the shorter one was.
    row = table.slots[slot_of(table.slots, table.stored, (ANYTHING, ANYTHING, third))]
    if row < 0:
        return cost
    cost = (sums[row, column] + STRENGTH[0] * cost) / (counts[row, column] + STRENGTH[0])
    row = table.slots[slot_of(table.slots, table.stored, (ANYTHING, second, third))]
    if row < 0:
        return cost
    cost = (sums[row, column] + STRENGTH[1] * cost) / (counts[row, column] + STRENGTH[1])
    row = table.slots[slot_of(table.slots, table.stored, (first, second, third))]
    if row < 0:
        return cost
    return (sums[row, column] + STRENGTH[2] * cost) / (counts[row, column] + STRENGTH[2])


@compiled
def shift(context: Any, word: Any) -> Any:
    """The context after one more word."""
    return context[1], context[2], word + FIRST_WORD


@compiled
def _add_first(table: Any) -> Any:
    return add_row(table.stored, table.slots, 0, (ANYTHING, ANYTHING, ANYTHING))[1]


@compiled
def _teach(table: Any, rows: Any, contexts: Any, next_cost: Any) -> Any:
    """Add the observations to the contexts of every length; returns how many contexts there are then."""
    digits = np.empty(CONTEXT, np.int64)
    for observed in range(len(contexts)):
        for length in range(CONTEXT + 1):
            for place in range(CONTEXT):
                digits[place] = contexts[observed, place] if place >= CONTEXT - length else ANYTHING
            if rows == len(table.stored) and table.slots[slot_of(table.slots, table.stored, digits)] < 0:
                break  # no room for this one, and so none of the longer ones is there
            row, rows = add_row(table.stored, table.slots, rows, digits)
            for column in range(next_cost.shape[1]):
                cost = next_cost[observed, column]
                if not np.isnan(cost):
                    table.sums[row, column] += cost
                    table.counts[row, column] += 1
    return rows
