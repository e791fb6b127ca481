"""The compiled heart of the best-first decoder: the scoring, making and expansion of edges.

propose    make an item of an edge that could be made; enqueue: put items on the agenda
make_edge  write the record of an edge
expand     combine an edge with all others of the chart
search     take edges off the agenda until enough goals are found, or the budget of scored edges is spent

The grammar is the type of the first argument: comparison.best_first.edge tells what its module gives. The learner in
comparison.best_first.update shares all that is here but for the loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from comparison.best_first.chart import accept, find_equivalent, has_goals, is_goal, note_goal, remove
from comparison.best_first.compilation import inline, inner, outer
from comparison.best_first.edge import (
    ACTIONS,
    FIRST_TAG,
    FIRST_WORD,
    FOURTH_WORD,
    HEAD_SLOT,
    LAST_TAG,
    LAST_WORD,
    LEFT,
    LM_STATE,
    NOTHING,
    PENULTIMATE_TAG,
    PENULTIMATE_WORD,
    RIGHT,
    RULE,
    SECOND_TAG,
    SIZE,
    Edges,
    binary_rules,
    fill,
    fits,
    may_precede,
    structure_of,
    unary_rules,
)
from comparison.best_first.score import (
    actions_of,
    edge_key,
    ending_of,
    key_of,
    lm_gain,
    lm_state_after,
    rate,
)
from comparison.best_first.state import (
    AGENDA_FULL,
    DONE,
    EDGES_FULL,
    EXHAUSTED,
    EXPANDED,
    NUM_CHART,
    NUM_EDGES,
    NUM_FREE,
    NUM_GOLD,
    NUM_HEAP,
    NUM_ITEMS,
    OUT_OF_BUDGET,
    SCORED,
    VERSION,
    Scratch,
    State,
    pop,
    push,
)


@inline
def is_gold(scratch: Scratch, structure: Any) -> bool:
    """Whether the right derivation has an edge of this structure."""
    if scratch.gold.size == 0:  # nothing is learned
        return False
    place = np.searchsorted(scratch.gold, structure)
    return bool(place < scratch.gold.size and scratch.gold[place] == structure)


@inline
def structure_of_item(edges: Edges, left: int, right: int, rule: int) -> Any:
    """The structure that an edge of these parts has."""
    zero = np.uint64(0)
    a = edges.structure[left] if left >= 0 else zero
    b = edges.structure[right] if right >= 0 else zero
    return structure_of(a, b, rule)


@inline
def propose(s: State, left: int, right: int, rule: int, n: int) -> int:
    """Make an item of an edge that could be made, behind n others that wait after the end of the heap."""
    counters = s.scratch.counters
    counters[SCORED] += 1
    if counters[NUM_FREE] > 0:
        counters[NUM_FREE] -= 1
        item = s.agenda.free[counters[NUM_FREE]]
    else:
        item = counters[NUM_ITEMS]
        counters[NUM_ITEMS] += 1
    new = s.agenda.items[item]
    new.left, new.right, new.rule, new.version, new.gold = left, right, rule, -1, 0
    if s.scratch.gold.size > 0 and is_gold(s.scratch, structure_of_item(s.edges, left, right, rule)):
        new.gold = 1
        s.scratch.gold_items[counters[NUM_GOLD]] = item
        counters[NUM_GOLD] += 1
    s.agenda.item[counters[NUM_HEAP] + n] = item
    return n + 1


@inner
def propose_leaf_edges(s: State) -> int:
    """Make items of all leaves; return their number."""
    n = 0
    for leaf in range(s.problem.leaf_columns.shape[0]):
        n = propose(s, NOTHING, NOTHING, leaf, n)
    return n


@inner
def expand(grammar: Any, s: State, edge: int) -> int:
    """Make items of all that unary rules make of an edge, and that it makes with each edge of the chart and itself, in
    both orders; return their number."""
    rules, n = s.scratch.rules, 0
    # One place for all: what is compiled into it is large.
    pairs = 2 * s.scratch.counters[NUM_CHART] + 2
    for i in range(-1, pairs):
        left, right = edge, NOTHING
        if i < 0:
            count = unary_rules(grammar, s.problem, s.edges, edge, rules)
        else:
            other = s.chart.members[i >> 1] if i < pairs - 2 else edge
            left, right = (edge, other) if i & 1 == 0 else (other, edge)
            if i == pairs - 1 or not (fits(s.problem, s.edges, left, right) and may_precede(s.edges, left, right)):
                continue
            count = binary_rules(grammar, s.problem, s.edges, left, right, rules)
        for j in range(count):
            n = propose(s, left, right, rules[j], n)
    return n


@inner
def enqueue(s: State, n: int) -> None:
    """Put the n scored items after the end of the heap where they belong."""
    first = s.scratch.counters[NUM_HEAP]
    for i in range(n):
        item = s.agenda.items[s.agenda.item[first + i]]
        item.queued = key_of(s.options, item.score, actions_of(s.edges, item.left, item.right))
        push(s.agenda, s.scratch.counters, item.queued, s.agenda.item[first + i])


def propose_leaves(grammar: Any, s: State) -> None:
    """Start: put all leaves on the agenda."""
    search(grammar, s, 0)


@outer
def make_edge(grammar: Any, s: State, left: int, right: int, rule: int, score: float) -> int:
    """Write the record of an edge and return its number."""
    return write_edge(grammar, s, left, right, rule, score, ending_of(grammar, s, left, right, rule))


@inner
def write_edge(grammar: Any, s: State, left: int, right: int, rule: int, score: float, ending: float) -> int:
    """The same when it is known what of the score is for being a whole sentence."""
    counters = s.scratch.counters
    edge = counters[NUM_EDGES]
    counters[NUM_EDGES] += 1
    s.edges.score[edge], s.edges.ending[edge] = score, ending
    s.chart.inside[edge], s.chart.gold[edge], s.chart.version[edge] = 0, 0, counters[VERSION]
    if left < 0:
        _copy(s.problem.leaf_columns, rule, s.edges.columns, edge)
        _copy(s.problem.leaf_coverage, rule, s.edges.coverage, edge)
        _copy(s.problem.leaf_before, rule, s.edges.before, edge)
        s.edges.string[edge], s.edges.power[edge] = s.problem.leaf_string[rule], s.problem.leaf_power[rule]
        s.edges.lm[edge] = s.problem.leaf_lm[rule]
    elif right < 0:
        _copy(s.edges.columns, left, s.edges.columns, edge)
        _copy(s.edges.coverage, left, s.edges.coverage, edge)
        _copy(s.edges.before, left, s.edges.before, edge)
        s.edges.string[edge], s.edges.power[edge] = s.edges.string[left], s.edges.power[left]
        s.edges.lm[edge] = s.edges.lm[left]
    else:
        _join_borders(s.edges.columns, edge, left, right)
        for i in range(s.edges.coverage.shape[1]):
            s.edges.coverage[edge, i] = s.edges.coverage[left, i] + s.edges.coverage[right, i]
            s.edges.before[edge, i] = s.edges.before[left, i] | s.edges.before[right, i]
        s.edges.string[edge] = s.edges.string[left] * s.edges.power[right] + s.edges.string[right]
        s.edges.power[edge] = s.edges.power[left] * s.edges.power[right]
        s.edges.lm[edge] = s.edges.lm[left] + s.edges.lm[right]
        if s.problem.lm_order > 0:
            s.edges.lm[edge] += lm_gain(s.problem, s.edges, left, right)
        s.edges.columns[edge, LM_STATE] = lm_state_after(s.problem, s.edges, left, right)
    new = s.edges.columns[edge]
    new[LEFT], new[RIGHT], new[RULE] = left, right, rule
    new[ACTIONS] = actions_of(s.edges, left, right)
    s.edges.structure[edge] = structure_of_item(s.edges, left, right, rule)
    if left >= 0:
        fill(grammar, s.problem, s.edges, edge, left, right, rule)
    return edge  # type: ignore[no-any-return]


@inner
def _copy(source: Any, row: int, target: Any, place: int) -> None:
    """Copy a row; an assignment of rows would be compiled to much more."""
    for i in range(source.shape[1]):
        target[place, i] = source[row, i]


@inner
def _join_borders(columns: Any, edge: int, left: int, right: int) -> None:
    """The size and the first and last words and tags of two edges together."""
    new, a, b = columns[edge], columns[left], columns[right]
    new[SIZE] = a[SIZE] + b[SIZE]
    for i in range(FOURTH_WORD - FIRST_WORD + 1):
        new[FIRST_WORD + i] = a[FIRST_WORD + i] if i < a[SIZE] else b[FIRST_WORD + i - a[SIZE]]
    new[FIRST_TAG] = a[FIRST_TAG]
    new[SECOND_TAG] = a[SECOND_TAG] if a[SIZE] > 1 else b[FIRST_TAG]
    new[LAST_WORD], new[LAST_TAG] = b[LAST_WORD], b[LAST_TAG]
    new[PENULTIMATE_WORD] = b[PENULTIMATE_WORD] if b[SIZE] > 1 else a[LAST_WORD]
    new[PENULTIMATE_TAG] = b[PENULTIMATE_TAG] if b[SIZE] > 1 else a[LAST_TAG]
    new[HEAD_SLOT] = 0


@inner
def has_room(s: State) -> int:
    """DONE, or what is too full for one more expansion."""
    counters = s.scratch.counters
    if counters[NUM_EDGES] + 2 >= s.edges.columns.shape[0]:
        return EDGES_FULL
    # Each member of the chart can give a handful of items in both orders; a label or category more each.
    most = 2 * (counters[NUM_CHART] + 2) * s.scratch.rules.size + 8 * counters[NUM_GOLD] + 64
    if (
        counters[NUM_HEAP] + most >= s.agenda.key.size
        or counters[NUM_ITEMS] - counters[NUM_FREE] + most >= s.agenda.items.size
    ):
        return AGENDA_FULL
    return DONE


@inner
def release(s: State, item: int) -> None:
    """An item that left the agenda: its place can be used again."""
    if s.agenda.items[item].gold:
        for i in range(s.scratch.counters[NUM_GOLD]):
            if s.scratch.gold_items[i] == item:
                s.scratch.counters[NUM_GOLD] -= 1
                s.scratch.gold_items[i] = s.scratch.gold_items[s.scratch.counters[NUM_GOLD]]
                break
    s.agenda.items[item].queued = np.inf
    s.agenda.free[s.scratch.counters[NUM_FREE]] = item
    s.scratch.counters[NUM_FREE] += 1


@outer
def search(grammar: Any, s: State, budget: int) -> int:
    """Take up edges, best first, until there are enough goals or `budget` more edges are scored.

    A goal is expanded like any other edge: unary rules, and words that may be left out, can make another of it.
    """
    counters, waiting = s.scratch.counters, s.agenda.item
    last = counters[SCORED] + budget
    new = propose_leaf_edges(s) if counters[SCORED] == 0 else 0
    while new + counters[NUM_HEAP] > 0:
        rate(grammar, s, waiting, counters[NUM_HEAP], counters[NUM_HEAP] + new, False)
        enqueue(s, new)
        new = 0
        if has_goals(s):
            return DONE
        room = has_room(s)
        if room != DONE:
            return room
        if counters[SCORED] >= last:
            return OUT_OF_BUDGET
        item = pop(s.agenda, counters)
        chosen = s.agenda.items[item]
        edge = write_edge(grammar, s, chosen.left, chosen.right, chosen.rule, chosen.score, chosen.ending)
        release(s, item)
        if is_goal(s, edge):
            note_goal(s, edge)
            if has_goals(s):
                return DONE
        known, slot = find_equivalent(grammar, s, edge)
        if known >= 0:
            if edge_key(s, known) >= edge_key(s, edge):
                if not is_goal(s, edge):
                    counters[NUM_EDGES] -= 1  # nothing points at it
                continue
            remove(s.chart, counters, known)
        new = expand(grammar, s, edge)
        counters[EXPANDED] += 1
        accept(s, edge, slot)
    return EXHAUSTED
