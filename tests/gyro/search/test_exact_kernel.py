"""The inner loops of the exact search against the same loops in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.lattice.automaton import WordAutomaton
from gyro.search.exact_kernel import (
    Arcs,
    Graph,
    complete,
    estimates,
    keep_nodes,
    make_row,
    pack_bag,
    run_beam,
    through_arcs,
)
from tests.gyro.search.problems import INFINITY, make_rows, many, prepare, problems

Problem = tuple[WordAutomaton, tuple[int, ...]]
WIDE = 512  # more than any row of a small problem has


def beam(problem: Problem, width: int, track: int = 1) -> tuple[Graph, bool]:
    space, machine = prepare(problem, track)
    bag = pack_bag(space.counts, space.word_of)
    graph, left_out = run_beam(bag, bag.lanes, machine, space.tokens, width, np.inf)
    return graph, bool(left_out)


@many
@given(problems())
def test_a_beam_that_is_late_has_the_start_and_no_way_to_an_end(problem: Problem) -> None:
    space, machine = prepare(problem, 1)
    bag = pack_bag(space.counts, space.word_of)
    if not space.tokens:
        return
    graph, left_out = run_beam(bag, bag.lanes, machine, space.tokens, WIDE, -np.inf)
    assert left_out
    assert (graph.state.tolist(), graph.cost.tolist()) == ([space.start], [0.0])
    assert complete(graph, machine).tolist() == [INFINITY]
    assert not len(through_arcs(graph, machine, complete(graph, machine)))


def rows_of(graph: Graph, tokens: int) -> list[list[tuple[int, float]]]:
    """The states and costs of each row; an arc leads from one row to the next."""
    row = np.zeros(len(graph.state), np.int64)
    for source, target in zip(graph.arcs.source.tolist(), graph.arcs.target.tolist(), strict=True):
        row[target] = row[source] + 1
    found = zip(graph.state.tolist(), graph.cost.tolist(), row.tolist(), strict=True)
    rows: list[list[tuple[int, float]]] = [[] for _ in range(tokens + 1)]
    for state, cost, number in found:
        rows[number].append((state, cost))
    return [sorted(nodes) for nodes in rows]


def test_fields_of_a_coverage_do_not_overlap() -> None:
    counts = np.array([1, 3, 200, 7, 1] + [1] * 70 + [9] * 30)
    bag = pack_bag(counts, np.arange(len(counts)))
    taken: dict[int, int] = {}
    for lane, field, unit, full, count in zip(*(array.tolist() for array in bag), counts.tolist(), strict=True):
        assert field < 1 << 64
        assert full == count * unit
        assert full & field == full
        assert not taken.get(lane, 0) & field
        taken[lane] = taken.get(lane, 0) | field
    assert len(taken) == bag.lanes


@many
@given(problems(), st.sampled_from([1, 2, 5, WIDE]), st.integers(0, 2))
def test_the_beam_keeps_the_nodes_of_the_lowest_estimates(problem: Problem, width: int, track: int) -> None:
    graph, left_out = beam(problem, width, track)
    machine, counts = prepare(problem, track)[1], problem[1]
    expected = make_rows(machine, counts, width=width)
    assert rows_of(graph, sum(counts)) == expected.states_and_costs()
    assert len(graph.state) - graph.last_row == len(expected.nodes[-1])
    if width == WIDE:
        assert not left_out
        assert len(graph.arcs.source) == expected.arcs
    if not left_out:
        assert expected.nodes == make_rows(machine, counts).nodes


@many
@given(problems())
def test_completions_and_costs_through_arcs_are_those_of_all_paths(problem: Problem) -> None:
    graph = beam(problem, WIDE)[0]
    machine = prepare(problem)[1]
    arcs = list(zip(*(column.tolist() for column in graph.arcs), strict=True))
    leaving: dict[int, list[int]] = {}
    for number, (source, _, _) in enumerate(arcs):
        leaving.setdefault(source, []).append(number)
    rest, through = np.full(len(graph.state), INFINITY), np.full(len(arcs), INFINITY)
    paths: list[list[int]] = [[]]
    while paths:
        path = paths.pop()
        node = arcs[path[-1]][2] if path else 0
        paths += [[*path, number] for number in leaving.get(node, [])]
        if len(path) < sum(problem[1]):
            continue
        costs = [float(machine.cost[graph.state[arcs[number][0]], arcs[number][1]]) for number in path]
        costs.append(float(machine.end_cost[graph.state[node]]))
        for place, node in enumerate([0, *(arcs[number][2] for number in path)]):
            rest[node] = min(rest[node], sum(costs[place:]))
        for number in path:
            through[number] = min(through[number], sum(costs))
    completion = complete(graph, machine)
    assert completion == pytest.approx(rest)
    assert through_arcs(graph, machine, completion) == pytest.approx(through)


@many
@given(problems(), st.lists(st.booleans(), min_size=20, max_size=20), st.integers(0, 10**6))
def test_a_row_is_closed_up_to_the_nodes_that_are_kept(problem: Problem, marks: list[bool], seed: int) -> None:
    rng, machine, nodes = np.random.default_rng(seed), prepare(problem)[1], len(marks)
    row = make_row(nodes + 3, 1)
    row.key[:nodes, 0] = np.arange(nodes)
    row.key[:nodes, 1] = rng.integers(0, len(machine.end_cost), nodes)
    row.cost[:nodes] = rng.random(nodes)
    row.place[:nodes] = rng.integers(0, len(machine.table), nodes)
    scores = row.cost[:nodes] + machine.table[row.place[:nodes], row.key[:nodes, 1].astype(np.int64)]
    assert estimates(row, nodes, machine).tolist() == scores.tolist()
    columns = (rng.integers(0, 9, 30).astype(np.int32), np.arange(30, dtype=np.uint8), rng.integers(0, nodes, 30))
    arcs = Arcs(columns[0].copy(), columns[1].copy(), columns[2].astype(np.int32))
    before, keep = row.key[:nodes].copy(), np.array(marks)
    kept, kept_arcs = keep_nodes(row, nodes, keep, arcs, 30)
    assert row.key[:kept].tolist() == before[keep].tolist()
    assert estimates(row, kept, machine).tolist() == scores[keep].tolist()
    stays = keep[columns[2]]
    assert arcs.source[:kept_arcs].tolist() == columns[0][stays].tolist()
    assert arcs.column[:kept_arcs].tolist() == columns[1][stays].tolist()
    # The new number of a target tells the old node by its key.
    assert row.key[arcs.target[:kept_arcs], 0].tolist() == columns[2][stays].tolist()
