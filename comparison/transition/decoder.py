"""From a bag to what the beam found: hypotheses with their actions, from the best on.

Decoded    the hypotheses of the last step
Decoder    weights and a beam, ready for bags
Workspace  the arrays that the search writes to
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from comparison.transition.binning import BINS
from comparison.transition.grammar import TransitionGrammar
from comparison.transition.problem import Given, Prepared, prepare
from comparison.transition.search import search
from comparison.transition.state import (
    ACTION,
    COLUMNS,
    FIRST_SHIFT,
    PARENT,
    Floats,
    Integers,
    Problem,
    Room,
    Rows,
    Singles,
    States,
)
from comparison.transition.template import NUM_VALUES
from lm.model import LanguageModel

_KEYS = 1 << 16
_MOST_SCORES = 1 << 22  # numbers in the rows that are remembered
_NONE = np.zeros(0, dtype=np.int64)


class Decoded(NamedTuple):
    """Scores and actions of all hypotheses, the best first, and the work: actions scored, states made."""

    prepared: Prepared
    scores: Floats
    actions: Integers  # by hypothesis and step
    scored: int
    made: int

    @property
    def readings(self) -> Integers:
        """By hypothesis: the readings that it shifts, in their order."""
        return (self.actions[self.actions >= FIRST_SHIFT] - FIRST_SHIFT).reshape(len(self.actions), -1)

    def words(self, hypothesis: int = 0) -> tuple[str, ...]:
        """The string of a hypothesis."""
        readings = self.prepared.readings
        return tuple(word for number in self.readings[hypothesis] for word in readings[number].words)


class Workspace:
    """Arrays that are used again from bag to bag."""

    def __init__(self) -> None:
        self._keys = np.zeros(_KEYS, dtype=np.uint64)
        self._places = np.zeros(_KEYS, dtype=np.int32)
        self._scores = np.zeros(_MOST_SCORES, dtype=np.float32)
        self._counters = np.zeros(2, dtype=np.int64)
        self._columns = np.zeros((0, COLUMNS), dtype=np.int64)
        self._state_scores = np.zeros(0)
        self._used = np.zeros(0, dtype=np.int16)

    def states(self, problem: Problem, beam: int) -> States:
        """Room for all states of a search."""
        count, slots = 1 + (2 * problem.units - 1) * beam, problem.slot_count.size
        if len(self._columns) < count:
            self._columns = np.zeros((count, COLUMNS), dtype=np.int64)
            self._state_scores = np.zeros(count)
        if len(self._used) < count * slots:
            self._used = np.zeros(count * slots, dtype=np.int16)
        used = self._used[: count * slots].reshape(count, slots)
        return States(self._columns, self._state_scores, used)

    def rows(self, problem: Problem) -> Rows:
        """Room for scores that are remembered."""
        width = FIRST_SHIFT + problem.reading_slot.size
        count = max(min(_KEYS // 2, self._scores.size // width), 1)
        if self._scores.size < width:
            self._scores = np.zeros(width, dtype=np.float32)
        return Rows(self._keys, self._places, self._scores[: count * width].reshape(count, width), self._counters)

    @staticmethod
    def room(problem: Problem, beam: int) -> Room:
        """The rest."""
        readings, slots = problem.reading_slot.size, problem.slot_count.size
        integers = np.zeros((6, max(beam, problem.units, slots)), dtype=np.int64)
        heap = np.zeros((3, beam), dtype=np.int64)
        return Room(
            values=np.zeros(NUM_VALUES, dtype=np.uint64),
            total=np.zeros(FIRST_SHIFT + readings, dtype=np.float32),
            by_class=np.zeros(problem.class_action.size, dtype=np.float32),
            bin_scores=np.zeros((BINS, readings) if problem.has_lm else (1, 1), dtype=np.float32),
            heap_counts=np.zeros(2, dtype=np.int64),
            heap_score=np.zeros(beam),
            heap_order=heap[0],
            heap_parent=heap[1],
            heap_action=heap[2],
            stack=integers[0],
            pending=integers[1],
            level=integers[2, :slots],
            direct=integers[3, :slots],
            through=integers[4, :slots],
        )


class Decoder:
    """Weights and a beam."""

    def __init__(
        self,
        grammar: TransitionGrammar,
        weights: Singles,
        beam: int,
        language_model: LanguageModel | None = None,
    ) -> None:
        self.grammar = grammar
        self.weights = weights
        self.beam = beam
        self.language_model = language_model
        self._workspace = Workspace()

    def decode(self, given: Given) -> Decoded:
        """All hypotheses of the last step."""
        return self.search(prepare(given, self.grammar, self.language_model))

    def search(self, prepared: Prepared) -> Decoded:
        """The same for what was prepared."""
        problem, workspace = prepared.problem, self._workspace
        states = workspace.states(problem, self.beam)
        rows, room = workspace.rows(problem), workspace.room(problem, self.beam)
        table = self.grammar.features.table
        found = search(problem, table, self.weights, states, rows, room, self.beam, _NONE)
        at = np.arange(found.first, found.first + found.held)
        scores = states.score[at]
        actions = np.empty((found.held, found.steps), dtype=np.int64)
        for step in range(found.steps - 1, -1, -1):
            actions[:, step] = states.columns[at, ACTION]
            at = states.columns[at, PARENT]
        return Decoded(prepared, scores, actions, int(found.scored), int(found.first + found.held))
