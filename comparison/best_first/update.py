"""The compiled heart of the learner: search that mends the weights whenever it goes wrong.

Learning  what a learner is: which vectors it updates with, and whether wrong edges are expanded
learn     search for the right derivation of one sentence and update the weights on the way

After Zhang and Clark (2015), Algorithms 2 and 3. Weights are updated when the best edge of the agenda is wrong, when a
right edge falls off the chart, and when one loses to an equivalent edge. After an update the paper gives new scores to
the agenda down to its lowest right edge. Here right edges get theirs at once, edges of the chart when they are next
looked at, and others when they come up: one whose renewed key is below the next one's goes back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from comparison.best_first.edge import LEFT, RIGHT, RULE, features, is_complete
from comparison.best_first.kernel import (
    accept,
    expand,
    find_equivalent,
    has_room,
    is_goal,
    make_edge,
    release,
    remove,
)
from comparison.best_first.score import (
    actions_of,
    edge_key,
    ending_of,
    key_of,
    score_edge,
)
from comparison.best_first.state import (
    DONE,
    EXHAUSTED,
    EXPANDED,
    NUM_CHART,
    NUM_GOLD,
    NUM_HEAP,
    OUT_OF_BUDGET,
    SCORED,
    UPDATES,
    VERSION,
    Model,
    Scratch,
    State,
    pop,
    push,
)

_SMALL = 1e-9


class Learning(NamedTuple):
    """Numbers that decide how the weights change, and the arrays that take part."""

    margin: int  # large margin (2012, 2015), or the perceptron (2011)
    whole: int  # update with the vector of the whole edge, or of its top alone (2011)
    expand_wrong: int  # expand wrong edges too (2015)
    step: float  # of the perceptron; the largest of the large margin
    clock: float  # the number of sentences seen, for averaging
    totals: NDArray[np.float64]  # sum of (clock · change), by weight
    change: NDArray[np.float32]  # zeros, as many as weights
    touched: NDArray[np.int64]
    values: NDArray[np.float64]


@njit(cache=True)
def refresh(grammar: Any, s: State, edge: int) -> None:
    """Give an edge, and all that it is made of, the score of the present weights."""
    now = s.scratch.counters[VERSION]
    stack, depth = s.scratch.stack, 1
    stack[0] = edge
    while depth > 0:
        top = stack[depth - 1]
        left, right, rule = s.edges.columns[top, LEFT], s.edges.columns[top, RIGHT], s.edges.columns[top, RULE]
        waiting = depth
        for part in (left, right):
            if part >= 0 and s.chart.version[part] != now:
                stack[depth] = part
                depth += 1
        if depth > waiting:  # its parts come first
            continue
        depth -= 1
        if s.chart.version[top] != now:
            s.edges.score[top] = score_edge(grammar, s, left, right, rule)
            s.edges.ending[top] = ending_of(grammar, s, left, right, rule)
            s.chart.version[top] = now


@njit(cache=True)
def refresh_item(grammar: Any, s: State, item: int) -> float:
    """Give an item the score of the present weights; return its key."""
    left, right, rule = s.agenda.left[item], s.agenda.right[item], s.agenda.rule[item]
    if s.agenda.version[item] != s.scratch.counters[VERSION]:
        for part in (left, right):
            if part >= 0:
                refresh(grammar, s, part)
        s.agenda.score[item] = score_edge(grammar, s, left, right, rule)
        s.agenda.version[item] = s.scratch.counters[VERSION]
    return key_of(s.options, s.agenda.score[item], actions_of(s.edges, left, right))


@njit(cache=True)
def add_vector(
    grammar: Any, s: State, learning: Learning, left: int, right: int, rule: int, sign: float, count: int
) -> int:
    """Add the features of an edge, given by its parts, to the change; return how many weights were touched by now."""
    value = np.float32(sign / actions_of(s.edges, left, right) if s.options.scaled else sign)
    complete = is_complete(s.problem, s.edges, left, right, rule)
    count = _add_top(grammar, s, learning, left, right, rule, complete, value, count)
    if not learning.whole:
        return count
    depth = 0
    for part in (left, right):
        if part >= 0:
            s.scratch.stack[depth] = part
            depth += 1
    while depth > 0:
        depth -= 1
        edge = s.scratch.stack[depth]
        a, b, top = s.edges.columns[edge, LEFT], s.edges.columns[edge, RIGHT], s.edges.columns[edge, RULE]
        count = _add_top(grammar, s, learning, a, b, top, False, value, count)
        for part in (a, b):
            if part >= 0:
                s.scratch.stack[depth] = part
                depth += 1
    return count


@njit(cache=True)
def _add_top(
    grammar: Any, s: State, learning: Learning, left: int, right: int, rule: int, complete: bool, value: Any, count: int
) -> int:
    mask = np.uint64(s.model.weights.size - 1)
    scratch = s.scratch
    for i in range(
        features(grammar, s.problem, s.edges, left, right, rule, complete, scratch.values, scratch.features)
    ):
        place = np.int64(scratch.features[i] & mask)
        learning.change[place] += value
        if count < learning.touched.size:
            learning.touched[count] = place
            count += 1
        else:
            learning.change[place] -= value
    return count


@njit(cache=True)
def update(model: Model, scratch: Scratch, learning: Learning, count: int, lead: float) -> None:
    """Move the weights along the change, and make it zero again; `lead` is the right key less the wrong one."""
    norm = 0.0
    for i in range(count):  # a weight that was touched again has the value 0 the second time
        place = learning.touched[i]
        learning.values[i] = learning.change[place]
        learning.change[place] = 0.0
        norm += learning.values[i] * learning.values[i]
    step = learning.step
    if learning.margin:
        step = min(step, (1.0 - lead) / norm) if norm > _SMALL else 0.0
    for i in range(count):
        if learning.values[i] != 0.0:
            model.weights[learning.touched[i]] += np.float32(step * learning.values[i])
            learning.totals[learning.touched[i]] += learning.clock * step * learning.values[i]
    scratch.counters[VERSION] += 1
    scratch.counters[UPDATES] += 1


@njit(cache=True)
def requeue_gold(grammar: Any, s: State) -> None:
    """Put the right edges of the agenda where their new scores belong; their old entries are passed over later."""
    for i in range(s.scratch.counters[NUM_GOLD]):
        item = s.scratch.gold_items[i]
        key = refresh_item(grammar, s, item)
        if key != s.agenda.queued[item]:
            s.agenda.queued[item] = key
            push(s.agenda, s.scratch.counters, key, item)


@njit(cache=True)
def lowest_gold(grammar: Any, s: State) -> int:
    """The right item of the agenda with the lowest key; -1 when there is none."""
    lowest, lowest_key = -1, np.inf
    for i in range(s.scratch.counters[NUM_GOLD]):
        item = s.scratch.gold_items[i]
        key = refresh_item(grammar, s, item)
        if key < lowest_key:
            lowest, lowest_key = item, key
    return lowest


@njit(cache=True)
def mend_items(grammar: Any, s: State, learning: Learning, right_item: int, wrong_item: int) -> None:
    """Update for a wrong item that came before a right one."""
    keys = np.zeros(2)
    count = 0
    for i, item in enumerate((right_item, wrong_item)):
        keys[i] = refresh_item(grammar, s, item)
        left, right, rule = s.agenda.left[item], s.agenda.right[item], s.agenda.rule[item]
        sign = 1.0 - 2.0 * i
        count = add_vector(grammar, s, learning, left, right, rule, sign, count)
    update(s.model, s.scratch, learning, count, keys[0] - keys[1])
    requeue_gold(grammar, s)


@njit(cache=True)
def mend_edges(grammar: Any, s: State, learning: Learning, right_edge: int, wrong_edge: int) -> None:
    """Update for a wrong edge that would push a right one off the chart."""
    keys = np.zeros(2)
    count = 0
    for i, edge in enumerate((right_edge, wrong_edge)):
        refresh(grammar, s, edge)
        keys[i] = edge_key(s, edge)
        left, right, rule = s.edges.columns[edge, LEFT], s.edges.columns[edge, RIGHT], s.edges.columns[edge, RULE]
        sign = 1.0 - 2.0 * i
        count = add_vector(grammar, s, learning, left, right, rule, sign, count)
    update(s.model, s.scratch, learning, count, keys[0] - keys[1])
    requeue_gold(grammar, s)


@njit(cache=True)
def next_item(grammar: Any, s: State) -> int:
    """Take the best item by the present weights; -1 when the agenda is empty."""
    counters = s.scratch.counters
    while counters[NUM_HEAP] > 0:
        queued = s.agenda.key[0]
        item = pop(s.agenda, counters)
        if s.agenda.queued[item] != queued:
            continue
        key = refresh_item(grammar, s, item)
        if counters[NUM_HEAP] > 0 and key < s.agenda.key[0] and key < queued:
            s.agenda.queued[item] = key
            push(s.agenda, counters, key, item)
            continue
        return item
    return -1


@njit(cache=True)
def settle_equivalent(grammar: Any, s: State, learning: Learning, edge: int, known: int) -> int:
    """Of two equivalent edges one stays, a right one before a wrong one, else the better: is it `edge`?"""
    refresh(grammar, s, known)
    better = edge_key(s, edge) > edge_key(s, known)
    if s.chart.gold[edge] == s.chart.gold[known]:
        keep = better
    else:
        keep = s.chart.gold[edge] == 1
        if better != keep:
            wrong = known if keep else edge
            mend_edges(grammar, s, learning, edge + known - wrong, wrong)
    if keep:
        remove(s.chart, s.scratch.counters, known)
    return 1 if keep else 0


@njit(cache=True)
def return_gold(grammar: Any, s: State, learning: Learning, fallen: int) -> None:
    """A right edge fell off the chart: update against the best wrong one there, which goes in its place."""
    counters = s.scratch.counters
    best, best_key = -1, -np.inf
    for i in range(counters[NUM_CHART]):
        member = s.chart.members[i]
        if s.chart.gold[member]:
            continue
        refresh(grammar, s, member)
        key = edge_key(s, member)
        if key > best_key:
            best, best_key = member, key
    if best >= 0:
        mend_edges(grammar, s, learning, fallen, best)
        remove(s.chart, counters, best)
    s.chart.inside[fallen] = 1
    s.chart.members[counters[NUM_CHART]] = fallen
    counters[NUM_CHART] += 1


@njit(cache=True)
def learn(grammar: Any, s: State, learning: Learning, goal: Any, budget: int) -> int:
    """Search for the right derivation, whose structure is `goal`, until it comes up or the budget is spent."""
    counters = s.scratch.counters
    last = counters[SCORED] + budget
    while True:
        room = has_room(s)
        if room != DONE:
            return room
        if counters[SCORED] >= last:
            return OUT_OF_BUDGET
        item = next_item(grammar, s)
        if item < 0:
            return EXHAUSTED
        right = s.agenda.gold[item]
        if not right:
            lowest = lowest_gold(grammar, s)
            if lowest < 0:
                return EXHAUSTED
            mend_items(grammar, s, learning, lowest, item)
            if not learning.expand_wrong:
                release(s, item)
                continue
            refresh_item(grammar, s, item)
        part, other, rule = s.agenda.left[item], s.agenda.right[item], s.agenda.rule[item]
        edge = make_edge(grammar, s, part, other, rule, s.agenda.score[item])
        release(s, item)
        s.chart.inside[edge], s.chart.gold[edge], s.chart.version[edge] = 0, right, counters[VERSION]
        if right and s.edges.structure[edge] == goal:
            return DONE
        if not right and is_goal(s, edge):
            continue
        known, slot = find_equivalent(grammar, s, edge)
        if known >= 0 and not settle_equivalent(grammar, s, learning, edge, known):
            continue
        for i in range(counters[NUM_CHART]):
            refresh(grammar, s, s.chart.members[i])
        refresh(grammar, s, edge)
        expand(grammar, s, edge)
        counters[EXPANDED] += 1
        fallen = accept(s, edge, slot)
        if fallen >= 0 and s.chart.gold[fallen]:
            return_gold(grammar, s, learning, fallen)
