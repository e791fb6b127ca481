"""The compiled scores of edges.

lm_gain         what a joint adds to the log-probabilities of two edges
lm_ends         what the start and the end of the sentence add
lm_state_after  the state of the language model after two edges
features        the hashes of the features of the top of an edge
score_edge      the score of an edge, whose parts have theirs; ending_of: what of it is for being a whole sentence
rate            give items of the agenda, or edges, the scores of the present weights
actions_of      the number of actions of an edge
key_of          what edges are compared by; edge_key: of an edge that is made
"""

from __future__ import annotations

from typing import Any

from comparison.best_first.compilation import inline, inner
from comparison.best_first.edge import (
    ACTIONS,
    FIRST_WORD,
    LEFT,
    LM_STATE,
    RIGHT,
    RULE,
    SIZE,
    Edges,
    Problem,
    ends,
    is_complete,
    put_values,
)
from comparison.best_first.feature import sum_weights, write_features
from comparison.best_first.state import VERSION, Options, State
from comparison.best_first.template import WHOLE_EDGE


@inner
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


@inner
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


@inner
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


@inline
def features(
    grammar: Any,
    problem: Problem,
    edges: Edges,
    left: int,
    right: int,
    rule: int,
    complete: bool,
    values: Any,
    out: Any,
) -> int:
    """Write the hashes of the features of the top of an edge and return their number; `values` has room for theirs."""
    kinds = put_values(grammar, problem, edges, left, right, rule, complete, values)
    return write_features(grammar.code, kinds, values, out)


@inline
def _sum(grammar: Any, s: State, kinds: int) -> float:
    """The weights of the features of an edge of these kinds, whose values are there."""
    scratch, version = s.scratch, s.scratch.counters[VERSION]
    return sum_weights(
        grammar.code, kinds, scratch.values, scratch.features, scratch.memo, scratch.places, s.model.weights, version
    )


@inline
def _lm_top(s: State, left: int, right: int, rule: int) -> float:
    """What the language model gains at the top of an edge, times its weight."""
    if s.problem.lm_order == 0 or s.options.lm_weight == 0.0:
        return 0.0
    if left < 0:
        return s.options.lm_weight * s.problem.leaf_lm[rule]  # type: ignore[no-any-return]
    if right < 0:
        return 0.0
    return s.options.lm_weight * lm_gain(s.problem, s.edges, left, right)


@inline
def _lm_whole(s: State, left: int, right: int, rule: int) -> float:
    """What it gains for a whole sentence, times its weight."""
    if s.problem.lm_order == 0 or s.options.lm_weight == 0.0:
        return 0.0
    return s.options.lm_weight * lm_ends(s.problem, s.edges, left, right, rule)


@inline
def score_parts(grammar: Any, s: State, left: int, right: int, rule: int) -> tuple[float, float]:
    """The score of an edge of these parts, which have theirs; and what of it is for being a whole sentence."""
    complete = is_complete(s.problem, s.edges, left, right, rule)
    kinds = put_values(grammar, s.problem, s.edges, left, right, rule, complete, s.scratch.values)
    score = _sum(grammar, s, kinds) + _lm_top(s, left, right, rule)
    if complete:
        score += _lm_whole(s, left, right, rule)
    if left >= 0:
        score += s.edges.score[left] - s.edges.ending[left]
    if right >= 0:
        score += s.edges.score[right] - s.edges.ending[right]
    ending = 0.0
    if complete:
        ending = _sum(grammar, s, WHOLE_EDGE) + _lm_whole(s, left, right, rule)
    return score, ending


@inner
def score_edge(grammar: Any, s: State, left: int, right: int, rule: int) -> float:
    """The score of an edge of these parts, which have theirs."""
    return score_parts(grammar, s, left, right, rule)[0]


@inner
def ending_of(grammar: Any, s: State, left: int, right: int, rule: int) -> float:
    """What of an edge's score is for being a whole sentence."""
    return score_parts(grammar, s, left, right, rule)[1]


@inner
def rate(grammar: Any, s: State, jobs: Any, first: int, last: int, are_edges: bool) -> None:
    """Give the items, or edges, in these places of `jobs` the scores of the present weights, and first their parts.

    One function for all that is scored: it is much code, and goes into few others.
    """
    stack, now = s.scratch.stack, s.scratch.counters[VERSION]
    for place in range(first, last):
        job = jobs[place]
        if (s.chart.version[job] if are_edges else s.agenda.items[job].version) == now:
            continue
        depth = 0
        while depth >= 0:
            if depth > 0 or are_edges:
                edge = stack[depth - 1] if depth > 0 else job
                row = s.edges.columns[edge]
                left, right, rule = row[LEFT], row[RIGHT], row[RULE]
            else:
                item = s.agenda.items[job]
                left, right, rule = item.left, item.right, item.rule
            top = depth
            for part in (left, right):
                if part >= 0 and s.chart.version[part] != now:
                    stack[depth] = part
                    depth += 1
            if depth > top:  # its parts come first
                continue
            score, ending = score_parts(grammar, s, left, right, rule)
            if depth > 0 or are_edges:
                s.edges.score[edge], s.edges.ending[edge], s.chart.version[edge] = score, ending, now
            else:
                item = s.agenda.items[job]
                item.score, item.ending, item.version = score, ending, now
            depth -= 1


@inline
def actions_of(edges: Edges, left: int, right: int) -> int:
    """The number of actions of an edge with these parts."""
    count = 1
    if left >= 0:
        count += edges.columns[left, ACTIONS]
    if right >= 0:
        count += edges.columns[right, ACTIONS]
    return count


@inline
def key_of(options: Options, score: float, actions: int) -> float:
    """What edges are compared by."""
    return score / actions if options.scaled else score


@inline
def edge_key(s: State, edge: int) -> float:
    """What a made edge is compared by."""
    return key_of(s.options, s.edges.score[edge], s.edges.columns[edge, ACTIONS])
