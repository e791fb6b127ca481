"""The compiled scores of edges.

lm_gain         what a joint adds to the log-probabilities of two edges
lm_ends         what the start and the end of the sentence add
lm_state_after  the state of the language model after two edges
score_top       the score of the top of an edge
score_edge      the score of an edge, whose parts have theirs
ending_of       what of it is for being a whole sentence
actions_of      the number of actions of an edge
key_of          what edges are compared by; edge_key: of an edge that is made
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from comparison.best_first.edge import (
    ACTIONS,
    FIRST_WORD,
    LM_STATE,
    SIZE,
    Edges,
    Problem,
    ends,
    features,
    is_complete,
)
from comparison.best_first.state import (
    Options,
    State,
)


@njit(cache=True)
def lm_gain(problem: Problem, edges: Edges, left: int, right: int) -> float:
    """What the joint adds to the log-probabilities of two edges."""
    gain = 0.0
    state, null = edges.columns[left, LM_STATE], problem.lm_null
    for i in range(min(edges.columns[right, SIZE], problem.lm_order - 1)):
        word = edges.columns[right, FIRST_WORD + i]
        gain += problem.lm_score[state, word] - problem.lm_score[null, word]
        state, null = problem.lm_next[state, word], problem.lm_next[null, word]
        if state == null:
            break
    return gain


@njit(cache=True)
def lm_ends(problem: Problem, edges: Edges, left: int, right: int, rule: int) -> float:
    """What the start and the end of the sentence add to the log-probability of all its words."""
    a, b = ends(problem, edges, left, right, rule)
    size = a[SIZE] + (b[SIZE] if right >= 0 else 0)
    gain = 0.0
    state, null = problem.lm_start, problem.lm_null
    for i in range(min(size, problem.lm_order - 1)):
        word = a[FIRST_WORD + i] if i < a[SIZE] else b[FIRST_WORD + i - a[SIZE]]
        gain += problem.lm_start_score[state, word] - problem.lm_score[null, word]
        state, null = problem.lm_start_next[state, word], problem.lm_next[null, word]
    if size < problem.lm_order:
        return gain + problem.lm_start_end[state]  # type: ignore[no-any-return]
    last = lm_state_after(problem, edges, left, right) if right >= 0 else a[LM_STATE]
    return gain + problem.lm_end[last]  # type: ignore[no-any-return]


@njit(cache=True)
def lm_state_after(problem: Problem, edges: Edges, left: int, right: int) -> int:
    """The state of the language model after left and right."""
    if problem.lm_order == 0:
        return 0
    size = edges.columns[right, SIZE]
    if size >= problem.lm_order - 1:
        return edges.columns[right, LM_STATE]  # type: ignore[no-any-return]
    state = edges.columns[left, LM_STATE]
    for i in range(size):
        state = problem.lm_next[state, edges.columns[right, FIRST_WORD + i]]
    return state  # type: ignore[no-any-return]


@njit(cache=True)
def score_top(grammar: Any, s: State, left: int, right: int, rule: int, complete: bool) -> float:
    """The score of the top of an edge: its features and what the language model gains."""
    count = features(grammar, s.problem, s.edges, left, right, rule, complete, s.scratch.values, s.scratch.features)
    mask = np.uint64(s.model.weights.size - 1)
    total = 0.0
    for i in range(count):
        total += s.model.weights[s.scratch.features[i] & mask]
    if s.problem.lm_order > 0 and s.options.lm_weight != 0.0:
        gain = 0.0
        if left < 0:
            gain += s.problem.leaf_lm[rule]
        elif right >= 0:
            gain += lm_gain(s.problem, s.edges, left, right)
        if complete:
            gain += lm_ends(s.problem, s.edges, left, right, rule)
        total += s.options.lm_weight * gain
    return total


@njit(cache=True)
def score_edge(grammar: Any, s: State, left: int, right: int, rule: int) -> float:
    """The score of an edge of these parts, which have theirs."""
    complete = is_complete(s.problem, s.edges, left, right, rule)
    score = score_top(grammar, s, left, right, rule, complete)
    if left >= 0:
        score += s.edges.score[left] - s.edges.ending[left]
    if right >= 0:
        score += s.edges.score[right] - s.edges.ending[right]
    return score


@njit(cache=True)
def ending_of(grammar: Any, s: State, left: int, right: int, rule: int) -> float:
    """What of an edge's score is for being a whole sentence."""
    if not is_complete(s.problem, s.edges, left, right, rule):
        return 0.0
    whole, part = score_top(grammar, s, left, right, rule, True), score_top(grammar, s, left, right, rule, False)
    return whole - part


@njit(cache=True)
def actions_of(edges: Edges, left: int, right: int) -> int:
    """The number of actions of an edge with these parts."""
    count = 1
    if left >= 0:
        count += edges.columns[left, ACTIONS]
    if right >= 0:
        count += edges.columns[right, ACTIONS]
    return count


@njit(cache=True)
def key_of(options: Options, score: float, actions: int) -> float:
    """What edges are compared by."""
    return score / actions if options.scaled else score


@njit(cache=True)
def edge_key(s: State, edge: int) -> float:
    """What a made edge is compared by."""
    return key_of(s.options, s.edges.score[edge], s.edges.columns[edge, ACTIONS])
