"""The arrays that a search works in: made once, used for many bags, larger when a bag needs it.

Workspace  agenda, chart and edges; `begin` makes them ready for a bag, `make_room` for more of the same
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comparison.best_first.edge import COLUMNS, Edges
from comparison.best_first.feature import MEMO, MEMO_SIZE, MOST_PLACES
from comparison.best_first.state import (
    EDGES_FULL,
    ITEM,
    NUM_CHART,
    NUM_COUNTERS,
    NUM_EDGES,
    NUM_FREE,
    NUM_GOALS,
    NUM_HEAP,
    Agenda,
    Chart,
    Scratch,
)
from comparison.best_first.template import MOST_FEATURES, NUM_VALUES
from gyro.row_table import move_slots

_FIRST_EDGES, _FIRST_ITEMS = 1 << 12, 1 << 16
_MOST_GOLD = 4096


class Workspace:
    """Arrays for compiled code."""

    def __init__(self, most_rules: int, *, most_items: int = 1 << 22, most_goals: int = 1) -> None:
        self.most_rules = most_rules
        self.most_items = most_items
        self.most_goals = most_goals
        self.width = 1
        self.edges = _edges(_FIRST_EDGES, self.width)
        self.chart = _chart(_FIRST_EDGES, most_goals)
        self.agenda = _agenda(_FIRST_ITEMS)
        self._memo = np.zeros(MEMO_SIZE, dtype=MEMO)
        self._places = np.zeros((MEMO_SIZE, MOST_PLACES), dtype=np.int32)
        self.scratch = self._scratch(())
        self.culled = False

    def begin(self, width: int, leaves: int, gold: Sequence[int] = ()) -> None:
        """Empty everything; `width` is the coverage's, `gold` the structures of the right derivation."""
        while self.agenda.key.size < 2 * leaves:
            self.agenda = _larger(self.agenda)
        if width != self.width:
            self.width = width
            self.edges = _edges(self.edges.columns.shape[0], width)
        self.chart.slots[:] = -1
        self._memo["key"] = 0
        self.scratch = self._scratch(gold)
        self.culled = False

    def make_room(self, status: int) -> None:
        """Enlarge what was full. An agenda of the largest size loses the worse half of its items instead."""
        if status == EDGES_FULL:
            self.edges = _larger(self.edges)
            old, capacity = self.chart, self.edges.columns.shape[0]
            self.chart = _chart(capacity, self.most_goals)
            for name in ("members", "inside", "version", "gold", "signature"):
                values = getattr(old, name)
                getattr(self.chart, name)[: len(values)] = values
            self.chart.goals[:] = old.goals
            move_slots(self.chart.signature, old.slots, self.chart.slots)
        elif self.agenda.key.size < self.most_items or self.scratch.counters[NUM_HEAP] < self.agenda.key.size // 8:
            self.agenda = _larger(self.agenda)
        else:
            self._cull()

    def _cull(self) -> None:
        counters, agenda = self.scratch.counters, self.agenda
        size = int(counters[NUM_HEAP])
        order = np.argsort(-agenda.key[:size], kind="stable")
        kept, dropped = order[: size // 2], order[size // 2 :]
        keys, waiting = agenda.key[kept], agenda.item[kept]
        lost = agenda.item[dropped]
        items = agenda.items[lost]
        lost = lost[(items["queued"] == agenda.key[dropped]) & (items["gold"] == 0)]
        agenda.key[: kept.size], agenda.item[: kept.size] = keys, waiting  # sorted, so a heap
        agenda.items["queued"][lost] = np.inf
        counters[NUM_HEAP] = kept.size
        free = int(counters[NUM_FREE])
        agenda.free[free : free + lost.size] = lost
        counters[NUM_FREE] += lost.size
        self.culled = True

    def _scratch(self, gold: Sequence[int]) -> Scratch:
        return Scratch(
            counters=np.zeros(NUM_COUNTERS, dtype=np.int64),
            rules=np.zeros(self.most_rules, dtype=np.int64),
            values=np.zeros(NUM_VALUES, dtype=np.uint64),
            features=np.zeros(MOST_FEATURES, dtype=np.uint64),
            memo=self._memo,
            places=self._places,
            gold=np.unique(np.array(gold, dtype=np.uint64)),
            gold_items=np.zeros(_MOST_GOLD, dtype=np.int64),
            jobs=np.zeros(2, dtype=np.int64),
            stack=np.zeros(_MOST_GOLD, dtype=np.int64),
        )

    @property
    def goals(self) -> NDArray[np.int64]:
        """The goals that were found, best first or nearly so."""
        return self.chart.goals[: int(self.scratch.counters[NUM_GOALS])]

    @property
    def members(self) -> NDArray[np.int64]:
        """The edges in the chart."""
        return self.chart.members[: int(self.scratch.counters[NUM_CHART])]

    @property
    def num_edges(self) -> int:
        return int(self.scratch.counters[NUM_EDGES])


def _edges(capacity: int, width: int) -> Edges:
    hashes = {name: np.zeros(capacity, dtype=np.uint64) for name in ("string", "power", "structure")}
    return Edges(
        columns=np.zeros((capacity, COLUMNS), dtype=np.int64),
        coverage=np.zeros((capacity, width), dtype=np.uint64),
        before=np.zeros((capacity, width), dtype=np.uint64),
        score=np.zeros(capacity),
        ending=np.zeros(capacity),
        lm=np.zeros(capacity),
        **hashes,
    )


def _agenda(capacity: int) -> Agenda:
    integers = {name: np.zeros(capacity, dtype=np.int64) for name in ("item", "free")}
    return Agenda(key=np.zeros(capacity), items=np.zeros(capacity, dtype=ITEM), **integers)


def _chart(capacity: int, goals: int) -> Chart:
    integers = {name: np.zeros(capacity, dtype=np.int64) for name in ("members", "inside", "gold")}
    return Chart(
        **integers,
        version=np.zeros(capacity, dtype=np.int64),
        signature=np.zeros((capacity, 1), dtype=np.uint64),
        slots=np.full(4 * capacity, -1, dtype=np.int64),
        goals=np.zeros(goals, dtype=np.int64),
    )


def _larger(arrays: Any) -> Any:
    """The same arrays with twice the room."""
    return type(arrays)(*(np.concatenate([array, np.zeros_like(array)]) for array in arrays))
