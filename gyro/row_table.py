"""Numbers for distinct rows of whole numbers: the one hash table of the program's compiled code.

RowTable       gives each distinct row the next number, 0, 1, …, in bulk
slots_of_rows  a table of slots over rows that do not change
slot_of        for compiled code: where a table of slots holds a row, or has room for it
fill_slots     for compiled code: put rows into an empty table of slots
move_slots     for compiled code: put all that one table of slots holds into an empty, larger one
make_table     for compiled code: room for rows and an empty table of slots over them
add_row        for compiled code: the number of a row, which gets the next one when it is new
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled

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
            fill_slots(self._stored, self._count, self._slots)
        numbers, self._count = _number(np.ascontiguousarray(rows), self._stored, self._count, self._slots)
        return np.asarray(numbers)


def slots_of_rows(rows: Any) -> NDArray[np.int64]:
    """A table of slots for `slot_of` that has all of these rows; equal ones have the number of the last of them."""
    slots = np.full(1 << (4 * len(rows) + 1).bit_length(), -1, np.int64)
    fill_slots(rows, len(rows), slots)
    return slots


@compiled
def slot_of(slots: Any, stored: Any, row: Any) -> Any:
    """The slot that holds the number of a row (an array or a tuple), or the free one where it belongs.

    Open addressing: `slots` is a power of two long, at least half of it -1; the others are numbers of rows of `stored`.
    """
    mixed = np.uint64(0)
    for value in row:
        mixed = (mixed ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    last = np.uint64(len(slots) - 1)
    slot = (mixed ^ (mixed >> np.uint64(32))) & last
    while slots[slot] >= 0 and not _holds(stored, slots[slot], row):
        slot = (slot + np.uint64(1)) & last
    return slot


@compiled
def _holds(stored: Any, number: Any, row: Any) -> Any:
    """Whether a row is stored under this number; a function of its own, for so it is compiled to much faster code."""
    for column in range(len(row)):  # noqa: SIM110 (numba has no all())
        if stored[number, column] != row[column]:
            return False
    return True


@compiled
def fill_slots(stored: Any, count: Any, slots: Any) -> None:
    """Put the first `count` rows into slots that are all -1."""
    for number in range(count):
        slots[slot_of(slots, stored, stored[number])] = number


@compiled
def move_slots(stored: Any, slots: Any, larger: Any) -> None:
    """Put the numbers of one table of slots into another over the same rows, which is all -1."""
    for number in slots:
        if number >= 0:
            larger[slot_of(larger, stored, stored[number])] = number


@compiled
def make_table(rows: Any, width: Any) -> Any:
    """Room for so many rows of whole numbers, and the table of slots over them, all -1."""
    size = 4
    while size < 2 * rows:
        size *= 2
    return np.empty((rows, width), np.int64), np.full(size, -1, np.int64)


@compiled
def add_row(stored: Any, slots: Any, count: Any, row: Any) -> Any:
    """The number of a row among the `count` that are stored, and how many there are then; there must be room for it."""
    slot = slot_of(slots, stored, row)
    number = slots[slot]
    if number < 0:
        number = slots[slot] = count
        for column in range(len(row)):
            stored[count, column] = row[column]
        count += 1
    return number, count


@compiled
def _number(rows: Any, stored: Any, count: Any, slots: Any) -> Any:
    numbers = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        numbers[i], count = add_row(stored, slots, count, rows[i])
    return numbers, count
