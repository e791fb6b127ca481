"""Averaged perceptron with early update, compiled.

learn     search until the right actions fall off the beam, and mend the weights
Learnt    how that went
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from comparison.learning.hashing import mix
from comparison.transition.score import action_hash, bin_feature, feature, fill_values
from comparison.transition.search import search
from comparison.transition.state import (
    ACTION,
    FIRST_SHIFT,
    LM_STATE,
    PARENT,
    Problem,
    Room,
    Rows,
    States,
)
from comparison.transition.template import BIN_TEMPLATES, Packed
from gyro.compilation import compiled


class Change(NamedTuple):
    """What changes: weights, and the sums of clock times change."""

    problem: Problem
    table: Packed
    weights: Any
    totals: Any
    clock: float


class Learnt(NamedTuple):
    """Whether the right actions came out best, states scored and made, and features changed."""

    is_right: bool
    scored: int
    made: int
    changed: int


@compiled
def learn(
    problem: Problem,
    table: Packed,
    weights: Any,
    totals: Any,
    clock: float,
    states: States,
    rows: Rows,
    room: Room,
    beam: int,
    right: Any,
) -> Learnt:
    """One sentence: + for the right actions, − for the best ones, from where they part to where the search ended."""
    found = search(problem, table, weights, states, rows, room, beam, right)
    made = found.first + found.held
    if found.right == found.first and not found.is_lost:
        return Learnt(True, found.scored, made, 0)
    wrong = np.empty(found.steps, dtype=np.int64)
    state = found.first
    for step in range(found.steps - 1, -1, -1):
        wrong[step] = states.columns[state, ACTION]
        state = states.columns[state, PARENT]
    parted = 0
    while wrong[parted] == right[parted]:
        parted += 1
    change = Change(problem, table, weights, totals, clock)
    changed = _change_path(change, states, room, found.first, found.steps, parted, -1.0)
    steps = found.steps
    if found.is_lost:
        steps -= 1
        changed += _change_step(change, states, room, found.right, right[steps], 1.0)
    changed += _change_path(change, states, room, found.right, steps, parted, 1.0)
    return Learnt(False, found.scored, made, changed)


@compiled
def _change_path(change: Change, states: States, room: Room, state: int, steps: int, parted: int, by: float) -> int:
    """Change the weights of the actions that led to a state after so many steps, from a step on."""
    changed = 0
    for _ in range(parted, steps):
        action, state = states.columns[state, ACTION], states.columns[state, PARENT]
        changed += _change_step(change, states, room, state, action, by)
    return changed


@compiled
def _change_step(change: Change, states: States, room: Room, state: int, action: int, by: float) -> int:
    """Change the weights of all features of an action in a state; returns how many they are."""
    problem, table = change.problem, change.table
    fill_values(problem, states, state, room.values)
    own = action_hash(problem, action)
    reading = action - FIRST_SHIFT
    changed = 0
    for template in range(table.starts.size):
        found = feature(table, template, room.values)
        if found != 0:
            _change_weight(change, mix(found, own), by)
            changed += 1
            if reading >= 0 and problem.class_action.size:
                _change_weight(change, mix(found, problem.class_action[problem.reading_class[reading]]), by)
                changed += 1
    if problem.has_lm and reading >= 0:
        number = problem.lm_bin[states.columns[state, LM_STATE], problem.reading_first[reading]]
        for kind in range(len(BIN_TEMPLATES)):
            found = bin_feature(kind, number)
            for bare in problem.bare_shift:
                _change_weight(change, mix(found, bare), by)
            if problem.lexical_bins:
                _change_weight(change, mix(found, own), by)
            changed += problem.bare_shift.size + problem.lexical_bins
    return changed


@compiled
def _change_weight(change: Change, found: Any, by: float) -> None:
    place = found & np.uint64(change.weights.size - 1)
    change.weights[place] += np.float32(by)
    change.totals[place] += by * change.clock
