"""The forward pass of the exact search against rows that are made in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.lattice.automaton import WordAutomaton
from gyro.search.exact_bound import Space
from gyro.search.exact_forward import Pass, PassLimits, walk_rows
from gyro.search.exact_kernel import NO_CUT, Graph, Machine, complete, pack_bag
from gyro.search.work import Work
from tests.gyro.search.problems import INFINITY, make_rows, many, prepare, problems, random_automaton

Problem = tuple[WordAutomaton, tuple[int, ...]]
NO_LIMITS = PassLimits(memory=INFINITY, work=Work(INFINITY), reserve=0.0, floor=INFINITY)
LARGE: Problem = (random_automaton(3, 9, 8, 0.0), (1,) * 9)  # its rows outgrow their first buffers


def neighbours(words: int) -> Problem:
    """Each word stands in its place or in a neighbouring one: few nodes, however many words."""
    place, word = np.nonzero(abs(np.arange(words)[:, None] - np.arange(words)) <= 1)
    next_state = np.full((words + 1, words), -1, np.int32)
    next_state[place, word] = place + 1
    cost = np.where(next_state >= 0, np.random.default_rng(0).random(next_state.shape) * 5, np.inf)
    end_cost = np.where(np.arange(words + 1) == words, 0.0, np.inf)
    return WordAutomaton(tuple(f"w{i:02}" for i in range(words)), 0, next_state, cost, end_cost), (1,) * words


def walk(space: Space, machine: Machine, cut: float, limits: PassLimits = NO_LIMITS) -> Pass:
    return walk_rows(pack_bag(space.counts, space.word_of), machine, space.tokens, cut, limits)


def cut_above_the_best(space: Space, machine: Machine, beta: float) -> float:
    """The cost of the best order in the machine's costs, and β more; no cut when there is no order."""
    graph = walk(space, machine, NO_CUT).graph
    assert graph is not None
    best = float(complete(graph, machine)[0])
    return best + beta if best < INFINITY else NO_CUT


def check(found: Pass, machine: Machine, counts: tuple[int, ...], cut: float) -> None:
    """The pass made the rows of this cut."""
    expected = make_rows(machine, counts, cut)
    assert found.cut == cut
    assert found.dropped == expected.dropped
    assert found.graph is not None
    graph, first = found.graph, 0
    for nodes in expected.states_and_costs():
        row = slice(first, first + len(nodes))
        assert sorted(zip(graph.state[row].tolist(), graph.cost[row].tolist(), strict=True)) == nodes
        first += len(nodes)
    assert len(graph.state) == first
    assert graph.last_row == first - len(expected.nodes[-1])
    assert len(graph.arcs.source) == expected.arcs
    check_arcs(graph, machine)


def check_arcs(graph: Graph, machine: Machine) -> None:
    """Arcs go where the automaton goes, and the cheapest into a node makes its cost."""
    source, word, target = (column.astype(np.int64) for column in graph.arcs)
    assert np.array_equal(machine.next_state[graph.state[source], word], graph.state[target])
    cost = np.full(len(graph.state), INFINITY)
    cost[0] = 0.0
    np.minimum.at(cost, target, graph.cost[source] + machine.cost[graph.state[source], word])
    assert np.array_equal(cost, graph.cost)


@many
@given(problems(), st.integers(0, 2), st.sampled_from([0.5, 3.0, 20.0, INFINITY]))
def test_every_node_under_the_cut_is_made_once(problem: Problem, track: int, beta: float) -> None:
    space, machine = prepare(problem, track)
    cut = min(cut_above_the_best(space, machine, beta), NO_CUT)
    found = walk(space, machine, cut)
    check(found, machine, problem[1], cut)
    assert found.graph is not None
    assert found.nodes == len(found.graph.state)


@pytest.mark.parametrize("problem", [LARGE, neighbours(63), neighbours(70)], ids=["grows", "one lane", "two lanes"])
@pytest.mark.parametrize("beta", [2.0, 30.0])
def test_rows_that_outgrow_their_buffers_and_coverages_of_several_lanes(problem: Problem, beta: float) -> None:
    space, machine = prepare(problem, 0)
    cut = cut_above_the_best(space, machine, beta)
    check(walk(space, machine, cut), machine, problem[1], cut)


@pytest.mark.parametrize("limits", [NO_LIMITS._replace(memory=5_000), NO_LIMITS._replace(work=Work(0))])
def test_a_pass_that_may_not_lower_its_cut_gives_up_at_a_limit(limits: PassLimits) -> None:
    space, machine = prepare(LARGE, 0)
    found = walk(space, machine, NO_CUT, limits)
    assert found.graph is None
    assert found.cut == NO_CUT
    assert found.nodes < walk(space, machine, NO_CUT).nodes


def test_when_only_the_reserve_is_left_the_cut_is_the_lowest_one() -> None:
    space, machine = prepare(LARGE, 0)
    floor = cut_above_the_best(space, machine, 0.5)
    late = NO_LIMITS._replace(reserve=INFINITY, floor=floor)
    check(walk(space, machine, floor + 20.0, late), machine, LARGE[1], floor)


@pytest.mark.parametrize("memory", [20_000, 40_000, 100_000])
def test_a_cut_lowered_for_lack_of_memory_keeps_all_that_is_under_it(memory: int) -> None:
    space, machine = prepare(LARGE, 0)
    floor = cut_above_the_best(space, machine, 1e-9)
    found = walk(space, machine, floor + 20.0, NO_LIMITS._replace(memory=memory, floor=floor))
    assert found.graph is not None
    assert floor <= found.cut < floor + 20.0
    graph = found.graph
    check_arcs(graph, machine)
    made = set(zip(graph.state.tolist(), graph.cost.tolist(), strict=True))
    for row in make_rows(machine, LARGE[1], found.cut).states_and_costs():
        assert made >= set(row)
    # What was dropped on the way lies above the cut that it ended with.
    assert found.dropped > found.cut
    assert len(graph.state) < walk(space, machine, floor + 20.0).nodes
