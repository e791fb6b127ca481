"""The forward pass of the exact search: all nodes whose cost + bound stays under a cut, row by row, within limits.

PassLimits  how much memory and work a pass may take, and whether the cut may be lowered to stay within
Pass        what a pass found: the graph, or None when the limits were reached, and the cut that it kept to
walk_rows   run it
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gyro.row_table import fill_slots
from gyro.search.exact_kernel import (
    Arcs,
    Graph,
    Machine,
    PackedBag,
    PackedRules,
    Row,
    estimates,
    expand,
    make_arcs,
    make_row,
)
from gyro.search.work import EXTENSION, Work

_Scalar = TypeVar("_Scalar", bound=np.generic)

# Source nodes between two looks at what is left of the work: about 10 ms.
CHUNK = 1 << 15
# A row may take this share of the memory that is left: so the rows together never take more than all of it.
ROW_SHARE = 6


class PassLimits(NamedTuple):
    """Bytes and steps of a pass.

    When the memory is gone, or no more than `reserve` of the steps is left, and `floor` is below the cut, the cut is
    lowered, to `floor` at the least; a pass with `floor` = infinity gives up instead.
    """

    memory: float
    work: Work
    reserve: float
    floor: float


class Pass(NamedTuple):
    """The graph, None if the limits were reached; the cut kept to; the lowest cost + bound that the cut dropped."""

    graph: Graph | None
    cut: float
    dropped: float
    nodes: int


class _Store:
    """The rows and arcs made so far, and how many bytes they hold."""

    def __init__(self) -> None:
        self.states: list[NDArray[np.int32]] = []
        self.costs: list[NDArray[np.float64]] = []
        self.arcs: list[Arcs] = []
        self.nodes = 0
        self.bytes = 0

    def add(self, row: Row, nodes: int, arcs: Arcs | None, previous: int) -> None:
        first = self.nodes
        self.states.append(row.key[:nodes, -1].astype(np.int32))
        self.costs.append(row.cost[:nodes].copy())
        self.nodes += nodes
        self.bytes += 12 * nodes
        if arcs is not None:
            shifted = Arcs(arcs.source + np.int32(first - previous), arcs.column.copy(), arcs.target + np.int32(first))
            self.arcs.append(shifted)
            self.bytes += 10 * len(arcs.source)

    def graph(self) -> Graph:
        columns = zip(*self.arcs, strict=True) if self.arcs else ((make_arcs(0)[i],) for i in range(3))
        arcs = Arcs(*(np.concatenate(column) for column in columns))
        last_row = self.nodes - len(self.states[-1])
        return Graph(np.concatenate(self.states), np.concatenate(self.costs), arcs, last_row)


class _NextRow:
    """A row under construction: buffers that grow, and the hash table that joins equal nodes."""

    def __init__(self, capacity: int, columns: int, lanes: int) -> None:
        self.columns = columns
        self.row = make_row(max(capacity, 2 * columns, 2), lanes)
        self.arcs = make_arcs(max(2 * capacity, 2 * columns, 2))
        self.slots = np.full(_table_size(len(self.row.cost)), -1, dtype=np.int32)
        self.nodes = 0
        self.num_arcs = 0

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in (*self.row, *self.arcs, self.slots))

    def grow(self) -> None:
        """Double what is (nearly) full."""
        if self.nodes + self.columns > min(len(self.row.cost), len(self.slots) // 2):
            key, cost, place = self.row
            self.row = Row(_doubled(key, self.nodes), _doubled(cost, self.nodes), _doubled(place, self.nodes))
            self.slots = np.full(_table_size(len(self.row.cost)), -1, dtype=np.int32)
            fill_slots(self.row.key, self.nodes, self.slots)
        if self.num_arcs + self.columns > len(self.arcs.source):
            source, column, target = self.arcs
            self.arcs = Arcs(
                _doubled(source, self.num_arcs), _doubled(column, self.num_arcs), _doubled(target, self.num_arcs)
            )

    def used_arcs(self) -> Arcs:
        return Arcs(*(array[: self.num_arcs] for array in self.arcs))


def walk_rows(
    bag: PackedBag, machine: Machine, tokens: int, cut: float, limits: PassLimits, rules: PackedRules | None = None
) -> Pass:
    """Make every node with cost + bound under the cut; rows join equal nodes, so each is made once."""
    store = _Store()
    row = make_row(1, bag.lanes)
    row.key[0, -1] = machine.start
    store.add(row, 1, None, 0)
    nodes, lowest_dropped, made = 1, np.inf, 1
    for number in range(tokens):
        while True:
            allowed = (limits.memory - store.bytes) / ROW_SHARE
            following, dropped = _extend(row, nodes, bag, machine, cut, allowed, limits, rules, number)
            made += following.nodes
            if dropped is not None:
                break
            if not limits.work.left or limits.work.is_late() or not limits.floor < cut:
                return Pass(None, cut, np.inf, made)
            cut = _lower_cut(following, machine, cut, limits)
        lowest_dropped = min(lowest_dropped, dropped)
        store.add(following.row, following.nodes, following.used_arcs(), nodes)
        row, nodes = following.row, following.nodes
    return Pass(store.graph(), cut, lowest_dropped, made)


def _extend(
    row: Row,
    nodes: int,
    bag: PackedBag,
    machine: Machine,
    cut: float,
    allowed: float,
    limits: PassLimits,
    rules: PackedRules | None,
    number: int,
) -> tuple[_NextRow, float | None]:
    """One row from that of a number, and the lowest estimate dropped; None for it when a limit stopped the work."""
    following = _NextRow(min(4 * nodes, CHUNK), len(machine.step), bag.lanes)
    position, lowest = 0, np.inf
    reserve = limits.reserve if limits.floor < cut else 0
    while position < nodes:
        begin, end = position, min(position + CHUNK, nodes)
        position, following.nodes, following.num_arcs, dropped = expand(
            row, position, end, bag, machine, cut, following.row, following.nodes, following.slots, following.arcs,
            following.num_arcs, rules, number,
        )  # fmt: skip
        lowest = min(lowest, dropped)
        limits.work.take((position - begin) * following.columns * EXTENSION)
        if position < end:
            if 2 * following.bytes > allowed:
                return following, None
            following.grow()
        if limits.work.left <= reserve or limits.work.is_late():
            return following, None
    return following, lowest


def _lower_cut(following: _NextRow, machine: Machine, cut: float, limits: PassLimits) -> float:
    """A cut that leaves half of the nodes so far; when only the reserve is left, the lowest one."""
    if limits.work.left <= limits.reserve or not following.nodes:
        return limits.floor
    median = float(np.median(estimates(following.row, following.nodes, machine)))
    return max(limits.floor, min(median, float(np.nextafter(cut, -np.inf))))


def _doubled(array: NDArray[_Scalar], used: int) -> NDArray[_Scalar]:
    larger = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    larger[:used] = array[:used]
    return larger


def _table_size(capacity: int) -> int:
    return 1 << max(2 * capacity - 1, 1).bit_length()
