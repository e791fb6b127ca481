"""The compiled heart of the best-first decoder: the scoring, making and expansion of edges.

propose    score an edge that could be made and put it on the agenda
make_edge  write the record of an edge
expand     combine an edge with all others of the chart
accept     put an edge on the chart
search     take edges off the agenda until enough goals are found, or the budget of scored edges is spent

The grammar is the type of the first argument: comparison.best_first.edge tells what its module gives. The learner in
comparison.best_first.update shares all that is here but for the loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

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
    is_complete,
    may_precede,
    signature,
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
    score_edge,
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
    NUM_GOALS,
    NUM_GOLD,
    NUM_HEAP,
    NUM_ITEMS,
    OUT_OF_BUDGET,
    SCORED,
    VERSION,
    Chart,
    Scratch,
    State,
    pop,
    push,
)
from gyro.row_table import slot_of


@njit(cache=True)
def is_gold(scratch: Scratch, structure: Any) -> bool:
    """Whether the right derivation has an edge of this structure."""
    if scratch.gold.size == 0:  # nothing is learned
        return False
    place = np.searchsorted(scratch.gold, structure)
    return bool(place < scratch.gold.size and scratch.gold[place] == structure)


@njit(cache=True)
def structure_of_item(edges: Edges, left: int, right: int, rule: int) -> Any:
    """The structure that an edge of these parts has."""
    zero = np.uint64(0)
    a = edges.structure[left] if left >= 0 else zero
    b = edges.structure[right] if right >= 0 else zero
    return structure_of(a, b, rule)


@njit(cache=True)
def propose(grammar: Any, s: State, left: int, right: int, rule: int) -> None:
    """Score an edge that could be made and put it on the agenda."""
    counters = s.scratch.counters
    score = score_edge(grammar, s, left, right, rule)
    counters[SCORED] += 1
    if counters[NUM_FREE] > 0:
        counters[NUM_FREE] -= 1
        item = s.agenda.free[counters[NUM_FREE]]
    else:
        item = counters[NUM_ITEMS]
        counters[NUM_ITEMS] += 1
    s.agenda.left[item], s.agenda.right[item], s.agenda.rule[item] = left, right, rule
    s.agenda.score[item] = score
    s.agenda.version[item] = counters[VERSION]
    gold = is_gold(s.scratch, structure_of_item(s.edges, left, right, rule))
    s.agenda.gold[item] = gold
    if gold:
        s.scratch.gold_items[counters[NUM_GOLD]] = item
        counters[NUM_GOLD] += 1
    s.agenda.queued[item] = key_of(s.options, score, actions_of(s.edges, left, right))
    push(s.agenda, counters, s.agenda.queued[item], item)


@njit(cache=True)
def propose_leaves(grammar: Any, s: State) -> None:
    """Start: put all leaves on the agenda."""
    for leaf in range(s.problem.leaf_columns.shape[0]):
        propose(grammar, s, -1, -1, leaf)


@njit(cache=True)
def make_edge(grammar: Any, s: State, left: int, right: int, rule: int, score: float) -> int:
    """Write the record of an edge and return its number."""
    edge = s.scratch.counters[NUM_EDGES]
    s.scratch.counters[NUM_EDGES] += 1
    new = s.edges.columns[edge]
    s.edges.score[edge] = score
    if left < 0:
        new[:] = s.problem.leaf_columns[rule]
        s.edges.coverage[edge] = s.problem.leaf_coverage[rule]
        s.edges.before[edge] = s.problem.leaf_before[rule]
        s.edges.string[edge], s.edges.power[edge] = s.problem.leaf_string[rule], s.problem.leaf_power[rule]
        s.edges.lm[edge] = s.problem.leaf_lm[rule]
    elif right < 0:
        new[:] = s.edges.columns[left]
        s.edges.coverage[edge] = s.edges.coverage[left]
        s.edges.before[edge] = s.edges.before[left]
        s.edges.string[edge], s.edges.power[edge] = s.edges.string[left], s.edges.power[left]
        s.edges.lm[edge] = s.edges.lm[left]
    else:
        _join_borders(s.edges, edge, left, right)
        for i in range(s.edges.coverage.shape[1]):
            s.edges.coverage[edge, i] = s.edges.coverage[left, i] + s.edges.coverage[right, i]
            s.edges.before[edge, i] = s.edges.before[left, i] | s.edges.before[right, i]
        s.edges.string[edge] = s.edges.string[left] * s.edges.power[right] + s.edges.string[right]
        s.edges.power[edge] = s.edges.power[left] * s.edges.power[right]
        s.edges.lm[edge] = s.edges.lm[left] + s.edges.lm[right]
        if s.problem.lm_order > 0:
            s.edges.lm[edge] += lm_gain(s.problem, s.edges, left, right)
        new[LM_STATE] = lm_state_after(s.problem, s.edges, left, right)
    new[LEFT], new[RIGHT], new[RULE] = left, right, rule
    new[ACTIONS] = actions_of(s.edges, left, right)
    s.edges.structure[edge] = structure_of_item(s.edges, left, right, rule)
    s.edges.ending[edge] = ending_of(grammar, s, left, right, rule)
    if left >= 0:
        fill(grammar, s.problem, s.edges, edge, left, right, rule)
    return edge  # type: ignore[no-any-return]


@njit(cache=True)
def _join_borders(edges: Edges, edge: int, left: int, right: int) -> None:
    """The size and the first and last words and tags of two edges together."""
    new, a, b = edges.columns[edge], edges.columns[left], edges.columns[right]
    new[SIZE] = a[SIZE] + b[SIZE]
    for i in range(FOURTH_WORD - FIRST_WORD + 1):
        new[FIRST_WORD + i] = a[FIRST_WORD + i] if i < a[SIZE] else b[FIRST_WORD + i - a[SIZE]]
    new[FIRST_TAG] = a[FIRST_TAG]
    new[SECOND_TAG] = a[SECOND_TAG] if a[SIZE] > 1 else b[FIRST_TAG]
    new[LAST_WORD], new[LAST_TAG] = b[LAST_WORD], b[LAST_TAG]
    new[PENULTIMATE_WORD] = b[PENULTIMATE_WORD] if b[SIZE] > 1 else a[LAST_WORD]
    new[PENULTIMATE_TAG] = b[PENULTIMATE_TAG] if b[SIZE] > 1 else a[LAST_TAG]
    new[HEAD_SLOT] = 0


@njit(cache=True)
def find_equivalent(grammar: Any, s: State, edge: int) -> tuple[int, int]:
    """The edge in the chart that has this edge's signature, or -1; and the slot of the signature, for `accept`."""
    s.chart.signature[edge, 0] = signature(grammar, s.edges, edge)
    slot = slot_of(s.chart.slots, s.chart.signature, s.chart.signature[edge])
    known = s.chart.slots[slot]
    if known >= 0 and not s.chart.inside[known]:
        known = -1
    return known, np.int64(slot)  # type: ignore[return-value]


@njit(cache=True)
def remove(chart: Chart, counters: Any, edge: int) -> None:
    """Take an edge off the chart."""
    chart.inside[edge] = 0
    for i in range(counters[NUM_CHART]):
        if chart.members[i] == edge:
            counters[NUM_CHART] -= 1
            chart.members[i] = chart.members[counters[NUM_CHART]]
            return


@njit(cache=True)
def accept(s: State, edge: int, slot: int) -> int:
    """Put an edge on the chart; return the edge that fell off its beam for it (perhaps itself), or -1."""
    s.chart.slots[slot] = edge
    s.chart.inside[edge] = 1
    s.chart.members[s.scratch.counters[NUM_CHART]] = edge
    s.scratch.counters[NUM_CHART] += 1
    if s.options.beam == 0:
        return -1
    count, worst, worst_key = 0, -1, np.inf
    for i in range(s.scratch.counters[NUM_CHART]):
        member = s.chart.members[i]
        if s.options.by_size and s.edges.columns[member, SIZE] != s.edges.columns[edge, SIZE]:
            continue
        if s.options.keep_leaves and s.edges.columns[member, LEFT] < 0:
            continue
        count += 1
        key = edge_key(s, member)
        if key < worst_key:
            worst, worst_key = member, key
    if count <= s.options.beam:
        return -1
    remove(s.chart, s.scratch.counters, worst)
    return worst


@njit(cache=True)
def expand(grammar: Any, s: State, edge: int) -> None:
    """Apply the unary rules to an edge, and combine it with each edge of the chart, and itself, in both orders."""
    rules = s.scratch.rules
    for i in range(unary_rules(grammar, s.problem, s.edges, edge, rules)):
        propose(grammar, s, edge, -1, rules[i])
    for i in range(s.scratch.counters[NUM_CHART] + 1):
        other = s.chart.members[i] if i < s.scratch.counters[NUM_CHART] else edge
        if not fits(s.problem, s.edges, edge, other):
            continue
        if may_precede(s.edges, edge, other):
            for j in range(binary_rules(grammar, s.problem, s.edges, edge, other, rules)):
                propose(grammar, s, edge, other, rules[j])
        if other != edge and may_precede(s.edges, other, edge):
            for j in range(binary_rules(grammar, s.problem, s.edges, other, edge, rules)):
                propose(grammar, s, other, edge, rules[j])


@njit(cache=True)
def has_room(s: State) -> int:
    """DONE, or what is too full for one more expansion."""
    counters = s.scratch.counters
    if counters[NUM_EDGES] + 2 >= s.edges.columns.shape[0]:
        return EDGES_FULL
    # Each member of the chart can give a handful of items in both orders; a label or category more each.
    most = 2 * (counters[NUM_CHART] + 2) * s.scratch.rules.size + 8 * counters[NUM_GOLD] + 64
    if (
        counters[NUM_HEAP] + most >= s.agenda.key.size
        or counters[NUM_ITEMS] - counters[NUM_FREE] + most >= s.agenda.left.size
    ):
        return AGENDA_FULL
    return DONE


@njit(cache=True)
def release(s: State, item: int) -> None:
    """An item that left the agenda: its place can be used again."""
    if s.agenda.gold[item]:
        for i in range(s.scratch.counters[NUM_GOLD]):
            if s.scratch.gold_items[i] == item:
                s.scratch.counters[NUM_GOLD] -= 1
                s.scratch.gold_items[i] = s.scratch.gold_items[s.scratch.counters[NUM_GOLD]]
                break
    s.agenda.queued[item] = np.inf
    s.agenda.free[s.scratch.counters[NUM_FREE]] = item
    s.scratch.counters[NUM_FREE] += 1


@njit(cache=True)
def is_goal(s: State, edge: int) -> bool:
    """Whether an edge is a whole sentence: its head has no given one, and has all its given dependents."""
    slot = s.edges.columns[edge, HEAD_SLOT]
    if s.problem.given_head[slot] >= 0:
        return False
    for i in range(s.edges.coverage.shape[1]):
        guard = s.problem.dependents_guard[slot, i]
        if guard & ~(s.edges.coverage[edge, i] + s.problem.dependents_bias[slot, i]):
            return False
    return is_complete(s.problem, s.edges, edge, NOTHING, 0)


@njit(cache=True)
def note_goal(s: State, edge: int) -> None:
    """Keep a goal; when there are more than wanted, the worst one goes."""
    counters, goals = s.scratch.counters, s.chart.goals
    if counters[NUM_GOALS] < s.options.goals:
        goals[counters[NUM_GOALS]] = edge
        counters[NUM_GOALS] += 1
        return
    worst = worst_goal(s)
    if edge_key(s, goals[worst]) < edge_key(s, edge):
        goals[worst] = edge


@njit(cache=True)
def worst_goal(s: State) -> int:
    """The place of the goal with the lowest key."""
    worst = 0
    for i in range(1, s.scratch.counters[NUM_GOALS]):
        if edge_key(s, s.chart.goals[i]) < edge_key(s, s.chart.goals[worst]):
            worst = i
    return worst


@njit(cache=True)
def has_goals(s: State) -> bool:
    """Whether the search can end. With words to be selected it goes on while the agenda has something better."""
    counters = s.scratch.counters
    if counters[NUM_GOALS] < s.options.goals:
        return False
    if not s.problem.selection or counters[NUM_HEAP] == 0:
        return True
    return s.agenda.key[0] <= edge_key(s, s.chart.goals[worst_goal(s)])  # type: ignore[no-any-return]


@njit(cache=True)
def search(grammar: Any, s: State, budget: int) -> int:
    """Take up edges, best first, until there are enough goals or `budget` more edges are scored.

    A goal is expanded like any other edge: unary rules, and words that may be left out, can make another of it.
    """
    counters = s.scratch.counters
    last = counters[SCORED] + budget
    while counters[NUM_HEAP] > 0:
        room = has_room(s)
        if room != DONE:
            return room
        if counters[SCORED] >= last:
            return OUT_OF_BUDGET
        item = pop(s.agenda, counters)
        left, right, rule = s.agenda.left[item], s.agenda.right[item], s.agenda.rule[item]
        edge = make_edge(grammar, s, left, right, rule, s.agenda.score[item])
        release(s, item)
        s.chart.inside[edge] = 0
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
        expand(grammar, s, edge)
        counters[EXPANDED] += 1
        accept(s, edge, slot)
        if has_goals(s):
            return DONE
    return EXHAUSTED
