"""Numbers for distinct rows of whole numbers.

RowTable  gives each distinct row the next number, 0, 1, …, in bulk
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Rows = NDArray[np.int64]


class RowTable:
    """Rows of one width and their numbers; a row that is there already keeps its number.

    >>> table = RowTable(2)
    >>> table.number(np.array([[3, 4], [5, 6], [3, 4]])).tolist(), len(table)
    ([0, 1, 0], 2)
    """

    def __init__(self, width: int) -> None:
        self._stored = np.empty((64, width), np.int64)
        self._slots = np.full(256, -1, np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> Rows:
        """The rows in the order of their numbers; a view that the next call of `number` may leave behind."""
        return self._stored[: self._count]

    def number(self, rows: Rows) -> NDArray[np.int64]:
        """The numbers of these rows; new ones get the next, in the order in which they come."""
        most = self._count + len(rows)
        if most > len(self._stored):
            stored = np.empty((2 * most, self._stored.shape[1]), np.int64)
            stored[: self._count] = self.rows
            self._stored = stored
            self._slots = np.full(1 << (4 * most).bit_length(), -1, np.int64)
            _place(self._stored, self._count, self._slots)
        numbers, self._count = _number(np.ascontiguousarray(rows), self._stored, self._count, self._slots)
        return np.asarray(numbers)


@njit(cache=True)
def _slot_of(slots: Any, stored: Any, row: Any) -> Any:
    """Where the hash table holds a row, or has room for it."""
    mixed = np.uint64(0)
    for value in row:
        mixed = (mixed ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    last = np.uint64(len(slots) - 1)
    slot = mixed & last
    while slots[slot] >= 0:
        known = stored[slots[slot]]
        same = True
        for i in range(len(row)):
            same &= known[i] == row[i]
        if same:
            break
        slot = (slot + np.uint64(1)) & last
    return slot


@njit(cache=True)
def _place(stored: Any, count: Any, slots: Any) -> None:
    for number in range(count):
        slots[_slot_of(slots, stored, stored[number])] = number


@njit(cache=True)
def _number(rows: Any, stored: Any, count: Any, slots: Any) -> Any:
    numbers = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        slot = _slot_of(slots, stored, rows[i])
        if slots[slot] < 0:
            slots[slot] = count
            for column in range(rows.shape[1]):
                stored[count, column] = rows[i, column]
            count += 1
        numbers[i] = slots[slot]
    return numbers, count
