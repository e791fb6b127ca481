"""The scores of the actions in a state, for compiled code; what recurs in a bag is looked up once.

fill_values    the values of a state's templates
feature        the hash of a template with its values, 0 when one is absent
add_scores     the scores of all actions in a state
unit_gain      what the log-probabilities of a unit add
fill_bins      the scores that the bins of the language model's probabilities have
clear_rows     forget what was looked up
"""

from __future__ import annotations

from typing import Any

import numpy as np

from comparison.learning.hashing import mix, start
from comparison.transition.binning import BINS, bin_value
from comparison.transition.state import (
    FIRST_SHIFT,
    HEAD,
    LEFT_ARC,
    LEFT_COUNT,
    LEFT_NEXT,
    LEFT_PLACE,
    LEFT_TAGS,
    LEFTMOST,
    LM_STATE,
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
from comparison.transition.template import (
    BIN_TEMPLATES,
    FAR,
    L2P,
    L2W,
    L_COUNT,
    L_FAR,
    L_TAGS,
    LEFT_ARC_NUMBER,
    LP,
    LW,
    P0,
    P1,
    P2,
    R2P,
    R2W,
    R_COUNT,
    R_FAR,
    R_TAGS,
    RIGHT_ARC_NUMBER,
    RP,
    RW,
    S0,
    S1,
    W0,
    W1,
    W2,
    P,
    Packed,
    W,
)
from gyro.compilation import compiled

_LEFT_ARC_HASH, _RIGHT_ARC_HASH = np.uint64(start(LEFT_ARC_NUMBER)), np.uint64(start(RIGHT_ARC_NUMBER))
_ONE = np.uint64(1)


@compiled
def distance(here: int, there: int) -> Any:
    """How far two places are apart, as a class; 0 when one is not there."""
    if here < 0 or there < 0:
        return np.uint64(0)
    far = abs(here - there)
    if far <= 5:
        return np.uint64(far)
    if far <= 10:
        return np.uint64(6)
    if far <= 20:
        return np.uint64(7)
    return np.uint64(8) if far <= 40 else np.uint64(9)


@compiled
def _fill_node(problem: Problem, row: Any, values: Any, at: int) -> None:
    words, tags = problem.reading_word, problem.reading_tag
    values[at + W], values[at + P] = words[row[HEAD]], tags[row[HEAD]]
    values[at + LW], values[at + LP] = words[row[LEFTMOST]], tags[row[LEFTMOST]]
    values[at + RW], values[at + RP] = words[row[RIGHTMOST]], tags[row[RIGHTMOST]]
    values[at + L2W], values[at + L2P] = words[row[LEFT_NEXT]], tags[row[LEFT_NEXT]]
    values[at + R2W], values[at + R2P] = words[row[RIGHT_NEXT]], tags[row[RIGHT_NEXT]]
    values[at + L_FAR] = distance(row[PLACE], row[LEFT_PLACE])
    values[at + R_FAR] = distance(row[PLACE], row[RIGHT_PLACE])
    values[at + L_COUNT], values[at + R_COUNT] = np.uint64(row[LEFT_COUNT] + 1), np.uint64(row[RIGHT_COUNT] + 1)
    values[at + L_TAGS], values[at + R_TAGS] = ~np.uint64(row[LEFT_TAGS]), ~np.uint64(row[RIGHT_TAGS])


@compiled
def fill_values(problem: Problem, states: States, state: int, values: Any) -> None:
    """The values of a state's templates."""
    row = states.columns[state]
    below = states.columns[row[TAIL]]
    _fill_node(problem, row, values, S0)
    _fill_node(problem, below, values, S1)
    values[FAR] = distance(row[PLACE], below[PLACE])
    values[W0], values[W1], values[W2] = (
        problem.words[row[WORD_0]],
        problem.words[row[WORD_1]],
        problem.words[row[WORD_2]],
    )
    values[P0], values[P1], values[P2] = problem.tags[row[TAG_0]], problem.tags[row[TAG_1]], problem.tags[row[TAG_2]]


@compiled
def feature(table: Packed, template: int, values: Any) -> Any:
    """The hash of a template with its values, 0 when one is absent."""
    found = table.starts[template]
    for i in range(table.ends[template - 1] if template else 0, table.ends[template]):
        value = values[table.values[i]]
        if value == 0:
            return np.uint64(0)
        found = mix(found, value)
    return found


@compiled
def action_hash(problem: Problem, action: int) -> Any:
    """What stands for an action in features."""
    if action == LEFT_ARC:
        return _LEFT_ARC_HASH
    if action == RIGHT_ARC:
        return _RIGHT_ARC_HASH
    return problem.reading_action[action - FIRST_SHIFT]


@compiled
def clear_rows(rows: Rows) -> None:
    """Forget what was looked up."""
    rows.keys[:] = 0
    rows.counters[0] = 0


@compiled
def _add_feature(problem: Problem, weights: Any, found: Any, out: Any, by_class: Any) -> None:
    """Add the weights of a feature with each of the actions."""
    mask = np.uint64(weights.size - 1)
    out[LEFT_ARC] += weights[mix(found, _LEFT_ARC_HASH) & mask]
    out[RIGHT_ARC] += weights[mix(found, _RIGHT_ARC_HASH) & mask]
    actions = problem.reading_action
    for reading in range(actions.size):
        out[FIRST_SHIFT + reading] += weights[mix(found, actions[reading]) & mask]
    if problem.class_action.size:
        for tag in range(problem.class_action.size):
            by_class[tag] = weights[mix(found, problem.class_action[tag]) & mask]
        for reading in range(actions.size):
            out[FIRST_SHIFT + reading] += by_class[problem.reading_class[reading]]


@compiled
def _row_of(problem: Problem, table: Packed, weights: Any, rows: Rows, room: Room, group: int) -> int:
    """The row with the scores of a group's templates for the values of now."""
    values = room.values
    key = np.uint64(group + 1)
    for i in range(table.key_ends[group - 1] if group else 0, table.key_ends[group]):
        key = mix(key, values[table.key_values[i]])
    key |= _ONE  # 0 is for an empty place
    mask = np.uint64(rows.keys.size - 1)
    place = (key >> np.uint64(20)) & mask
    while rows.keys[place] != 0:
        if rows.keys[place] == key:
            return int(rows.places[place])
        place = (place + _ONE) & mask
    if rows.counters[0] == rows.scores.shape[0]:
        clear_rows(rows)
        rows.counters[1] += 1
        place = (key >> np.uint64(20)) & mask
    number = int(rows.counters[0])
    rows.counters[0] += 1
    rows.keys[place], rows.places[place] = key, number
    out = rows.scores[number]
    out[:] = 0
    for template in range(table.group_ends[group - 1] if group else 0, table.group_ends[group]):
        found = feature(table, template, values)
        if found != 0:
            _add_feature(problem, weights, found, out, room.by_class)
    return number


@compiled
def add_scores(
    problem: Problem, table: Packed, weights: Any, states: States, state: int, rows: Rows, room: Room
) -> None:
    """The scores of all actions in a state, whether they may be done or not, into `room.total`."""
    fill_values(problem, states, state, room.values)
    total = room.total
    total[:] = 0
    for group in range(table.needs.size):
        if table.needs[group] >= 0 and room.values[table.needs[group]] == 0:
            continue
        scores = rows.scores[_row_of(problem, table, weights, rows, room, group)]
        for action in range(total.size):
            total[action] += scores[action]
    if problem.has_lm:
        bins = problem.lm_bin[states.columns[state, LM_STATE]]
        for reading in range(problem.reading_first.size):
            total[FIRST_SHIFT + reading] += room.bin_scores[bins[problem.reading_first[reading]], reading]
        if problem.lm_gain.size:
            for reading in range(problem.reading_first.size):
                total[FIRST_SHIFT + reading] += unit_gain(problem, states.columns[state, LM_STATE], reading)


@compiled
def unit_gain(problem: Problem, lm_state: int, reading: int) -> float:
    """What the log-probabilities of all words of a unit add in a state of the language model."""
    gain = 0.0
    for i in range(problem.word_ends[reading - 1] if reading else 0, problem.word_ends[reading]):
        word = problem.unit_words[i] - 1
        gain += problem.lm_gain[lm_state, word]
        lm_state = problem.lm_next[lm_state, word]
    return gain


@compiled
def bin_feature(kind: int, number: int) -> Any:
    """The hash of one of the four features of a bin, before its action."""
    return mix(start(BIN_TEMPLATES[kind]), bin_value(kind, number))


@compiled
def fill_bins(problem: Problem, weights: Any, room: Room) -> None:
    """The score of each reading for each bin that the probability of its first word may be in."""
    mask = np.uint64(weights.size - 1)
    room.bin_scores[:] = 0
    for number in range(BINS):
        for kind in range(len(BIN_TEMPLATES)):
            found = bin_feature(kind, number)
            bare = np.float32(0)
            for action in problem.bare_shift:
                bare += weights[mix(found, action) & mask]
            for reading in range(problem.reading_action.size):
                room.bin_scores[number, reading] += bare
                if problem.lexical_bins:
                    room.bin_scores[number, reading] += weights[mix(found, problem.reading_action[reading]) & mask]
