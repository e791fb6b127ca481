"""What the exact search hands out, against walking over the arcs that it was made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.lattice import Hypothesis
from gyro.search.exact_bound import Space
from gyro.search.exact_kernel import Graph, pack_bag, run_beam
from gyro.search.exact_result import Paths, SearchResult, take_paths
from tests.gyro.search.problems import INFINITY, many, prepare, problems, same

Problem = tuple[WordAutomaton, tuple[int, ...]]


def result_of(words: tuple[str, ...], paths: Paths | None) -> SearchResult:
    return SearchResult(words, paths, proved=True, exhausted=False, cost=0.0, lower_bound=0.0, beta=1.0, expanded=0)


def whole_graph(problem: Problem) -> tuple[Graph, Space]:
    space, machine = prepare(problem)
    bag = pack_bag(space.counts, space.word_of)
    return run_beam(bag, bag.lanes, machine, space.tokens, 512, np.inf)[0], space


def strings_over(graph: Graph, keep: list[bool], space: Space, words: tuple[str, ...]) -> list[Hypothesis]:
    """The strings of the marked arcs with their full costs; a node is a coverage and a state, so each comes once."""
    arcs = [arc for arc, kept in zip(zip(*graph.arcs, strict=True), keep, strict=True) if kept]
    found: list[Hypothesis] = []
    prefixes: list[tuple[int, tuple[str, ...], float]] = [(0, (), 0.0)]
    while prefixes:
        node, tokens, cost = prefixes.pop()
        state = graph.state[node]
        if node >= graph.last_row and space.end_cost[state] < INFINITY:
            found.append(Hypothesis(tokens, cost + float(space.end_cost[state])))
        prefixes += [
            (int(target), (*tokens, words[word]), cost + float(space.cost[state, word]))
            for source, word, target in arcs
            if source == node
        ]
    return sorted(found, key=lambda h: (round(h.cost, 9), h.tokens))


@many
@given(problems(), st.randoms(use_true_random=False), st.sampled_from([0.5, 0.9, 1.0]), st.integers(1, 20))
def test_the_marked_arcs_are_a_lattice_of_their_own(problem: Problem, rng: object, share: float, n: int) -> None:
    graph, space = whole_graph(problem)
    words = problem[0].words
    keep = [rng.random() < share for _ in graph.arcs.source]  # type: ignore[attr-defined]
    expected = strings_over(graph, keep, space, words)
    paths = take_paths(graph, np.array(keep, np.bool_), space)
    assert (paths.source < paths.target).all()
    assert set(paths.source.tolist()) | set(paths.target.tolist()) | {0} == set(range(paths.states))
    result = result_of(words, paths)
    assert (result.nodes, result.arcs) == (paths.states, sum(keep))
    same(result.cheapest(10**6), expected)
    same(result.cheapest(n), expected[:n])
    lattice = result.lattice()
    assert lattice is not None
    costs = {h.tokens: h.cost for h in lattice.strings()}
    assert costs == pytest.approx({h.tokens: h.cost for h in expected}, abs=1e-4)


def test_no_paths_are_no_lattice_and_no_strings() -> None:
    result = result_of(("a", "b"), None)
    assert result.lattice() is None
    assert result.cheapest(5) == []
    assert (result.nodes, result.arcs) == (0, 0)


def test_costs_are_in_double_precision_and_equal_ones_come_by_their_tokens() -> None:
    # "b" and "a" differ by less than single precision can tell, and "c" costs what "a" costs.
    source, target = np.zeros(3, np.int32), np.ones(3, np.int32)
    cost = np.array([10.0 + 1e-8, 10.0, 10.0 + 1e-8])
    paths = Paths(2, source, np.arange(3, dtype=np.uint8), target, cost, np.array([1]), np.array([0.5]))
    found = result_of(("a", "b", "c"), paths).cheapest(3)
    assert found == [Hypothesis(("b",), 10.5), Hypothesis(("a",), 10.5 + 1e-8), Hypothesis(("c",), 10.5 + 1e-8)]
