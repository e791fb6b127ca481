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
from numpy.typing import NDArray

from comparison.best_first.chart import accept, are_rivals, find_equivalent, is_goal, remove
from comparison.best_first.compilation import inner, outer
from comparison.best_first.edge import LEFT, NOTHING, RIGHT, RULE, is_complete
from comparison.best_first.kernel import (
    enqueue,
    expand,
    has_room,
    propose_leaf_edges,
    release,
    write_edge,
)
from comparison.best_first.score import actions_of, edge_key, features, key_of, rate
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
    step: float  # of the perceptron; the largest of the large margin, which may be infinite
    clock: float  # the number of sentences seen, for averaging
    totals: NDArray[np.float64]  # sum of (clock · change), by weight
    change: NDArray[np.float32]  # zeros, as many as weights
    touched: NDArray[np.int64]
    values: NDArray[np.float64]


@inner
def add_vector(grammar: Any, s: State, learning: Learning, parts: tuple[int, int, int], sign: float, count: int) -> int:
    """Add the features of an edge, given by its parts, to the change; return how many weights were touched by now."""
    left, right, rule = parts
    value = np.float32(sign / actions_of(s.edges, left, right) if s.options.scaled else sign)
    complete = is_complete(s.problem, s.edges, left, right, rule)
    depth = 0
    while True:
        count = _add_top(grammar, s, learning, left, right, rule, complete, value, count)
        if learning.whole:
            for part in (left, right):
                if part >= 0:
                    s.scratch.stack[depth] = part
                    depth += 1
        if depth == 0:
            return count
        depth -= 1
        row = s.edges.columns[s.scratch.stack[depth]]
        left, right, rule, complete = row[LEFT], row[RIGHT], row[RULE], False


@inner
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


@inner
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
        step = min(step, max(0.0, 1.0 - lead) / norm) if norm > _SMALL else 0.0
    for i in range(count):
        if learning.values[i] != 0.0:
            model.weights[learning.touched[i]] += np.float32(step * learning.values[i])
            learning.totals[learning.touched[i]] += learning.clock * step * learning.values[i]
    scratch.counters[VERSION] += 1
    scratch.counters[UPDATES] += 1


@inner
def item_key(s: State, item: int) -> float:
    """What an item is compared by."""
    known = s.agenda.items[item]
    return key_of(s.options, known.score, actions_of(s.edges, known.left, known.right))


@inner
def lowest_gold(s: State) -> int:
    """The right item of the agenda with the lowest key; -1 when there is none. They have their present scores."""
    lowest, lowest_key = NOTHING, np.inf
    for i in range(s.scratch.counters[NUM_GOLD]):
        key = item_key(s, s.scratch.gold_items[i])
        if key < lowest_key:
            lowest, lowest_key = s.scratch.gold_items[i], key
    return lowest


@inner
def mend(grammar: Any, s: State, learning: Learning, right: int, wrong: int, are_edges: bool) -> None:
    """Update for a wrong item that came before a right one, or a wrong edge that would push a right one off the chart.

    Then the right items of the agenda go where their new scores belong; their old entries are passed over later.
    """
    jobs, counters, items = s.scratch.jobs, s.scratch.counters, s.agenda.items
    jobs[0], jobs[1] = right, wrong
    rate(grammar, s, jobs, 0, 2, are_edges)
    count, lead = 0, 0.0
    for i in range(2):
        job, sign = jobs[i], 1.0 - 2.0 * i
        row, known = s.edges.columns[job if are_edges else 0], items[0 if are_edges else job]
        parts = (row[LEFT], row[RIGHT], row[RULE]) if are_edges else (known.left, known.right, known.rule)
        lead += sign * (edge_key(s, job) if are_edges else item_key(s, job))
        count = add_vector(grammar, s, learning, parts, sign, count)
    update(s.model, s.scratch, learning, count, lead)
    rate(grammar, s, s.scratch.gold_items, 0, counters[NUM_GOLD], False)
    for i in range(counters[NUM_GOLD]):
        item = s.scratch.gold_items[i]
        key = item_key(s, item)
        if key != items[item].queued:
            items[item].queued = key
            push(s.agenda, counters, key, item)


@inner
def next_item(grammar: Any, s: State) -> int:
    """Take the best item by the present weights; -1 when the agenda is empty."""
    counters, jobs = s.scratch.counters, s.scratch.jobs
    while counters[NUM_HEAP] > 0:
        queued = s.agenda.key[0]
        jobs[0] = item = pop(s.agenda, counters)
        if s.agenda.items[item].queued != queued:
            continue
        rate(grammar, s, jobs, 0, 1, False)
        key = item_key(s, item)
        if counters[NUM_HEAP] > 0 and key < s.agenda.key[0] and key < queued:
            s.agenda.items[item].queued = key
            push(s.agenda, counters, key, item)
            continue
        return item
    return NOTHING


@inner
def keeps(s: State, edge: int, known: int) -> bool:
    """Of two equivalent edges one stays, a right one before a wrong one, else the better: is it `edge`?"""
    if s.chart.gold[edge] == s.chart.gold[known]:
        return edge_key(s, edge) > edge_key(s, known)
    return s.chart.gold[edge] == 1  # type: ignore[no-any-return]


@inner
def best_wrong(s: State, fallen: int) -> int:
    """The best wrong edge of the beam that a right one fell off; -1 when there is none."""
    members, count = s.chart.members, s.scratch.counters[NUM_CHART]
    same = 0
    for i in range(count if s.options.variants > 0 else 0):
        same += are_rivals(s, members[i], fallen, True)
    best, best_key = NOTHING, -np.inf
    for i in range(count):
        is_rival = are_rivals(s, members[i], fallen, 0 < s.options.variants <= same)
        if is_rival and not s.chart.gold[members[i]] and edge_key(s, members[i]) > best_key:
            best, best_key = members[i], edge_key(s, members[i])
    return best


@inner
def put_back(s: State, edge: int) -> None:
    """Put a right edge that fell off back on the chart."""
    s.chart.inside[edge] = 1
    s.chart.members[s.scratch.counters[NUM_CHART]] = edge
    s.scratch.counters[NUM_CHART] += 1


@inner
def take_up(grammar: Any, s: State, learning: Learning, edge: int) -> None:
    """Expand an edge and put it on the chart; no right edge is lost for it."""
    counters, jobs = s.scratch.counters, s.scratch.jobs
    known, slot = find_equivalent(grammar, s, edge)
    if known >= 0:
        jobs[0] = known
        rate(grammar, s, jobs, 0, 1, True)
        stays = keeps(s, edge, known)
        one, other = (edge, known) if stays else (known, edge)
        better = edge_key(s, edge) > edge_key(s, known)
        if s.chart.gold[edge] != s.chart.gold[known] and better != stays:
            mend(grammar, s, learning, one, other, True)
        if not stays:
            return
        remove(s.chart, counters, known)
    rate(grammar, s, s.chart.members, 0, counters[NUM_CHART], True)
    jobs[0] = edge
    rate(grammar, s, jobs, 0, 1, True)
    new = expand(grammar, s, edge)
    rate(grammar, s, s.agenda.item, counters[NUM_HEAP], counters[NUM_HEAP] + new, False)
    enqueue(s, new)
    counters[EXPANDED] += 1
    fallen = accept(s, edge, slot)
    if fallen >= 0 and s.chart.gold[fallen]:
        best = best_wrong(s, fallen)
        if best >= 0:
            mend(grammar, s, learning, fallen, best, True)
            remove(s.chart, counters, best)
        put_back(s, fallen)


@outer
def learn(grammar: Any, s: State, learning: Learning, goal: Any, budget: int) -> int:
    """Search for the right derivation, whose structure is `goal`, until it comes up or the budget is spent."""
    counters = s.scratch.counters
    last = counters[SCORED] + budget
    if counters[SCORED] == 0:
        new = propose_leaf_edges(s)
        rate(grammar, s, s.agenda.item, 0, new, False)
        enqueue(s, new)
    while True:
        room = has_room(s)
        if room != DONE:
            return room
        if counters[SCORED] >= last:
            return OUT_OF_BUDGET
        item = next_item(grammar, s)
        if item < 0:
            return EXHAUSTED
        chosen = s.agenda.items[item]
        right = chosen.gold
        if not right:
            rate(grammar, s, s.scratch.gold_items, 0, counters[NUM_GOLD], False)
            lowest = lowest_gold(s)
            if lowest < 0:
                return EXHAUSTED
            mend(grammar, s, learning, lowest, item, False)
            if not learning.expand_wrong:
                release(s, item)
                continue
            s.scratch.jobs[0] = item
            rate(grammar, s, s.scratch.jobs, 0, 1, False)
        edge = write_edge(grammar, s, chosen.left, chosen.right, chosen.rule, chosen.score, chosen.ending)
        release(s, item)
        s.chart.gold[edge] = right
        if right and s.edges.structure[edge] == goal:
            return DONE
        if not right and is_goal(s, edge):
            continue
        take_up(grammar, s, learning, edge)
