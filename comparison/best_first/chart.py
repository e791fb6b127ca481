"""The compiled chart of the best-first decoder: the edges that were accepted, and the goals among them.

find_equivalent     the edge of the chart that another would take the place of
accept, remove      put an edge on the chart, take one off
are_rivals          whether two edges are in one beam
is_goal, note_goal  whole sentences; has_goals: whether there are enough of them
"""

from __future__ import annotations

from typing import Any

import numpy as np

from comparison.best_first.compilation import inline, inner
from comparison.best_first.edge import HEAD_SLOT, LEFT, NOTHING, SIZE, Edges, is_complete, signature
from comparison.best_first.score import edge_key
from comparison.best_first.state import NUM_CHART, NUM_GOALS, NUM_HEAP, Chart, State
from gyro.row_table import slot_of


@inner
def find_equivalent(grammar: Any, s: State, edge: int) -> tuple[int, int]:
    """The edge in the chart that has this edge's signature, or -1; and the slot of the signature, for `accept`."""
    s.chart.signature[edge, 0] = signature(grammar, s.problem, s.edges, edge)
    slot = slot_of(s.chart.slots, s.chart.signature, s.chart.signature[edge])
    known = s.chart.slots[slot]
    if known >= 0 and not s.chart.inside[known]:
        known = NOTHING
    return known, np.int64(slot)  # type: ignore[return-value]


@inner
def remove(chart: Chart, counters: Any, edge: int) -> None:
    """Take an edge off the chart."""
    chart.inside[edge] = 0
    for i in range(counters[NUM_CHART]):
        if chart.members[i] == edge:
            counters[NUM_CHART] -= 1
            chart.members[i] = chart.members[counters[NUM_CHART]]
            return


@inline
def are_alike(edges: Edges, one: int, other: int) -> bool:
    """Whether two edges have the same words and head."""
    if edges.columns[one, HEAD_SLOT] != edges.columns[other, HEAD_SLOT]:
        return False
    different = np.uint64(0)
    for i in range(edges.coverage.shape[1]):
        different |= edges.coverage[one, i] ^ edges.coverage[other, i]
    return bool(different == 0)


@inline
def are_rivals(s: State, member: int, edge: int, alike: bool) -> bool:
    """Whether an edge of the chart is in the beam of another: of all, of its size, or of those `alike`."""
    if s.options.keep_leaves and s.edges.columns[member, LEFT] < 0:
        return False
    if alike:
        return are_alike(s.edges, member, edge)
    return not s.options.by_size or s.edges.columns[member, SIZE] == s.edges.columns[edge, SIZE]


@inner
def worst_rival(s: State, edge: int, alike: bool) -> int:
    """The worst edge of a beam that has too many; -1 when it has not."""
    most = s.options.variants if alike else s.options.beam
    count, worst, worst_key = 0, NOTHING, np.inf
    for i in range(s.scratch.counters[NUM_CHART] if most > 0 else 0):
        member = s.chart.members[i]
        if are_rivals(s, member, edge, alike):
            count += 1
            key = edge_key(s, member)
            if key < worst_key:
                worst, worst_key = member, key
    return worst if count > most else NOTHING


@inner
def accept(s: State, edge: int, slot: int) -> int:
    """Put an edge on the chart; return the edge that fell off its beam for it (perhaps itself), or -1."""
    s.chart.slots[slot] = edge
    s.chart.inside[edge] = 1
    s.chart.members[s.scratch.counters[NUM_CHART]] = edge
    s.scratch.counters[NUM_CHART] += 1
    worst = worst_rival(s, edge, True)
    if worst < 0:
        worst = worst_rival(s, edge, False)
    if worst >= 0:
        remove(s.chart, s.scratch.counters, worst)
    return worst


@inner
def is_goal(s: State, edge: int) -> bool:
    """Whether an edge is a whole sentence: its head has no given one, and has all its given dependents."""
    slot = s.edges.columns[edge, HEAD_SLOT]
    if s.problem.given_head[slot] >= 0:
        return False
    for i in range(s.edges.coverage.shape[1]):
        guard = s.problem.dependents_guard[slot, i]
        if guard & ~(s.edges.coverage[edge, i] + s.problem.dependents_bias[slot, i]):
            return False
    return is_complete(s.problem, s.edges, edge, NOTHING, NOTHING)


@inner
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


@inner
def worst_goal(s: State) -> int:
    """The place of the goal with the lowest key."""
    worst = 0
    for i in range(1, s.scratch.counters[NUM_GOALS]):
        if edge_key(s, s.chart.goals[i]) < edge_key(s, s.chart.goals[worst]):
            worst = i
    return worst


@inner
def has_goals(s: State) -> bool:
    """Whether the search can end. With words to be selected it goes on while the agenda has something better."""
    counters = s.scratch.counters
    if counters[NUM_GOALS] < s.options.goals:
        return False
    if not s.problem.selection or counters[NUM_HEAP] == 0:
        return True
    return s.agenda.key[0] <= edge_key(s, s.chart.goals[worst_goal(s)])  # type: ignore[no-any-return]
