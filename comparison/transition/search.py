"""The beam, compiled: from step to step the best states, by the sum of the scores of their actions.

search    go on to the end, or until the right actions are off the beam
Searched  where it ended

Equal scores: the state comes first whose parent does, then that of the action with the lower number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from comparison.transition.legal import left_arc_allowed, read_stack, right_arc_allowed, shift_allowed
from comparison.transition.score import add_scores, clear_rows, fill_bins
from comparison.transition.state import (
    ACTION,
    COLUMNS,
    DEPTH,
    END_OF_OUTPUT,
    FIRST_OF_OUTPUT,
    FIRST_SHIFT,
    GIVEN,
    HEAD,
    LEFT,
    LEFT_ARC,
    LEFT_COUNT,
    LEFT_NEXT,
    LEFT_PLACE,
    LEFT_TAGS,
    LEFTMOST,
    LM_STATE,
    PARENT,
    PLACE,
    RIGHT_ARC,
    RIGHT_COUNT,
    RIGHT_NEXT,
    RIGHT_PLACE,
    RIGHT_TAGS,
    RIGHTMOST,
    TAG_0,
    TAG_1,
    TAG_2,
    TAIL,
    WORD_0,
    WORD_1,
    WORD_2,
    Problem,
    Room,
    Rows,
    States,
)
from comparison.transition.template import Packed
from gyro.compilation import compiled


class Searched(NamedTuple):
    """The states of the last step, best first; the last right one in the beam, and whether the next fell off it."""

    steps: int
    first: int
    held: int
    right: int
    is_lost: bool
    scored: int


@compiled
def search(
    problem: Problem, table: Packed, weights: Any, states: States, rows: Rows, room: Room, beam: int, right: Any
) -> Searched:
    """Fill the beam step by step. `right` are the right actions, none where they are not known."""
    _start(problem, states)
    clear_rows(rows)
    if problem.has_lm:
        fill_bins(problem, weights, room)
    first, count, scored = 0, 1, 0
    right_state = 0
    steps = 2 * problem.units - 1
    for step in range(steps):
        room.heap_counts[:] = 0
        for state in range(first, first + count):
            add_scores(problem, table, weights, states, state, rows, room)
            _propose(problem, states, state, room, beam)
        held, proposed = room.heap_counts
        scored += proposed
        _sort(room, held)
        after = first + count
        next_right = -1
        for i in range(held):
            _apply(problem, states, room.heap_parent[i], room.heap_action[i], after + i)
            states.score[after + i] = room.heap_score[i]
            if right.size and room.heap_parent[i] == right_state and room.heap_action[i] == right[step]:
                next_right = after + i
        first, count = after, held
        if right.size and next_right < 0:
            return Searched(step + 1, first, count, right_state, True, scored)
        right_state = next_right
    return Searched(steps, first, count, right_state, False, scored)


@compiled
def _start(problem: Problem, states: States) -> None:
    """State 0: nothing on the stack, nothing shifted."""
    row = states.columns[0]
    row[:] = 0
    bottom = problem.reading_slot.size
    row[PARENT], row[ACTION] = -1, -1
    row[HEAD] = bottom
    row[LEFTMOST] = row[LEFT_NEXT] = row[RIGHTMOST] = row[RIGHT_NEXT] = bottom + 1
    row[PLACE] = row[LEFT_PLACE] = row[RIGHT_PLACE] = -1
    row[LEFT] = problem.units
    row[LM_STATE] = problem.lm_start
    states.used[0] = 0
    states.score[0] = 0.0


@compiled
def _propose(problem: Problem, states: States, state: int, room: Room, beam: int) -> None:
    """Put what may follow a state into the heap of the best."""
    row = states.columns[state]
    base = states.score[state]
    total = room.total
    depth = row[DEPTH]
    has_heads = problem.has_heads
    if depth >= 2:
        if not has_heads or left_arc_allowed(problem, states, state):
            _hold(room, beam, base + total[LEFT_ARC], state, np.int64(LEFT_ARC))
        if not has_heads or right_arc_allowed(problem, states, state):
            _hold(room, beam, base + total[RIGHT_ARC], state, np.int64(RIGHT_ARC))
    if row[LEFT]:
        if has_heads:
            read_stack(problem, states, state, room)
        used = states.used[state]
        for reading in range(problem.reading_slot.size):
            slot = problem.reading_slot[reading]
            if used[slot] < problem.slot_count[slot]:
                score = base + total[FIRST_SHIFT + reading]
                # Most do not come among the best, and what is allowed takes a while to find out.
                if has_heads and not (_is_good(room, beam, score) and shift_allowed(problem, room, depth, slot)):
                    continue
                _hold(room, beam, score, state, FIRST_SHIFT + reading)


@compiled
def _before(room: Room, a: int, b: int) -> bool:
    """Whether place a of the heap is worse than place b."""
    x, y = room.heap_score[a], room.heap_score[b]
    return bool(x < y or (x == y and room.heap_order[a] > room.heap_order[b]))


@compiled
def _swap(room: Room, a: int, b: int) -> None:
    score, order, parent, action = room.heap_score[a], room.heap_order[a], room.heap_parent[a], room.heap_action[a]
    room.heap_score[a], room.heap_order[a] = room.heap_score[b], room.heap_order[b]
    room.heap_parent[a], room.heap_action[a] = room.heap_parent[b], room.heap_action[b]
    room.heap_score[b], room.heap_order[b], room.heap_parent[b], room.heap_action[b] = score, order, parent, action


@compiled
def _is_good(room: Room, beam: int, score: float) -> bool:
    """Whether a candidate comes among the best: what came later gives way where scores are equal."""
    return bool(room.heap_counts[0] < beam or score > room.heap_score[0])


@compiled
def _hold(room: Room, beam: int, score: float, parent: int, action: Any) -> None:
    """Keep a candidate if it is among the best; the worst is on top of the heap."""
    room.heap_counts[1] += 1
    if not _is_good(room, beam, score):
        return
    is_full = room.heap_counts[0] == beam
    at = 0 if is_full else room.heap_counts[0]
    room.heap_score[at], room.heap_order[at] = score, room.heap_counts[1]
    room.heap_parent[at], room.heap_action[at] = parent, action
    if is_full:
        _sink(room, at, beam)
        return
    room.heap_counts[0] += 1
    while at > 0 and _before(room, at, (at - 1) // 2):
        _swap(room, at, (at - 1) // 2)
        at = (at - 1) // 2


@compiled
def _sink(room: Room, at: int, size: int) -> None:
    while True:
        worst = at
        for child in (2 * at + 1, 2 * at + 2):
            if child < size and _before(room, child, worst):
                worst = child
        if worst == at:
            return
        _swap(room, at, worst)
        at = worst


@compiled
def _sort(room: Room, held: int) -> None:
    """Turn the heap into a list, the best first."""
    worst = 0
    for size in range(held - 1, 0, -1):
        _swap(room, worst, size)
        _sink(room, worst, size)


@compiled
def _apply(problem: Problem, states: States, parent: int, action: int, state: int) -> None:
    """Make the state that an action leads to."""
    old, new = states.columns[parent], states.columns[state]
    below = states.columns[old[TAIL]]
    source = below if action == RIGHT_ARC else old
    for column in range(COLUMNS):
        new[column] = source[column]
    for slot in range(states.used.shape[1]):
        states.used[state, slot] = states.used[parent, slot]
    if action >= FIRST_SHIFT:
        _shift(problem, new, action - FIRST_SHIFT, old)
        new[TAIL] = parent
        states.used[state, problem.reading_slot[action - FIRST_SHIFT]] += 1
    else:
        if action == LEFT_ARC:
            _add_left(problem, new, below)
        else:
            _add_right(problem, new, old)
            for column in range(FIRST_OF_OUTPUT, END_OF_OUTPUT):
                new[column] = old[column]
            new[LEFT] = old[LEFT]
        new[TAIL] = below[TAIL]
        new[DEPTH] = old[DEPTH] - 1
    new[PARENT], new[ACTION] = parent, action


@compiled
def _shift(problem: Problem, new: Any, reading: int, old: Any) -> None:
    """A new top; its words go to the output one by one."""
    absent = problem.reading_slot.size + 1
    new[HEAD] = reading
    new[LEFTMOST] = new[LEFT_NEXT] = new[RIGHTMOST] = new[RIGHT_NEXT] = absent
    new[GIVEN] = new[LEFT_COUNT] = new[RIGHT_COUNT] = new[LEFT_TAGS] = new[RIGHT_TAGS] = 0
    new[LEFT_PLACE] = new[RIGHT_PLACE] = -1
    new[PLACE] = problem.units - old[LEFT]
    new[DEPTH] = old[DEPTH] + 1
    new[LEFT] = old[LEFT] - 1
    for i in range(problem.word_ends[reading - 1] if reading else 0, problem.word_ends[reading]):
        new[WORD_2], new[WORD_1], new[WORD_0] = new[WORD_1], new[WORD_0], problem.unit_words[i]
        new[TAG_2], new[TAG_1], new[TAG_0] = new[TAG_1], new[TAG_0], problem.unit_tags[i]
        if problem.has_lm:
            new[LM_STATE] = problem.lm_next[new[LM_STATE], problem.unit_words[i] - 1]


@compiled
def _add_left(problem: Problem, head: Any, dependent: Any) -> None:
    head[LEFT_NEXT], head[LEFTMOST] = head[LEFTMOST], dependent[HEAD]
    head[LEFT_PLACE] = dependent[PLACE]
    head[LEFT_COUNT] += 1
    head[LEFT_TAGS] |= 1 << problem.reading_bit[dependent[HEAD]]
    head[GIVEN] += _is_given(problem, head, dependent)


@compiled
def _add_right(problem: Problem, head: Any, dependent: Any) -> None:
    head[RIGHT_NEXT], head[RIGHTMOST] = head[RIGHTMOST], dependent[HEAD]
    head[RIGHT_PLACE] = dependent[PLACE]
    head[RIGHT_COUNT] += 1
    head[RIGHT_TAGS] |= 1 << problem.reading_bit[dependent[HEAD]]
    head[GIVEN] += _is_given(problem, head, dependent)


@compiled
def _is_given(problem: Problem, head: Any, dependent: Any) -> int:
    given = problem.given_head[problem.reading_slot[dependent[HEAD]]]
    return 1 if given == problem.reading_slot[head[HEAD]] else 0
