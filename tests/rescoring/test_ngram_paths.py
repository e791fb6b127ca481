"""Lattices spread out by n-grams, against the enumeration of all paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gyro.errors import InputError, ResourceError
from gyro.lattice.lattice import Hypothesis, Lattice
from rescoring import ngram_paths
from rescoring.lattice_posterior import ngram_posteriors
from rescoring.ngram_paths import ArcArrays, NgramGraph, best_path, expand, lattice_arrays, pack, unpack
from tests.rescoring.paths import WORDS, lattices

orders = st.integers(1, 4)


def arc_paths(source: NDArray[Any], target: NDArray[Any], is_end: Sequence[bool]) -> list[tuple[int, ...]]:
    """The arcs of every path from 0 to an end."""

    def walk(place: int) -> Iterator[tuple[int, ...]]:
        if is_end[place]:
            yield ()
        for arc in np.flatnonzero(source == place).tolist():
            for rest in walk(int(target[arc])):
                yield (arc, *rest)

    return list(walk(0))


def states_of_nodes(graph: NgramGraph) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(graph.first) - 1), np.diff(graph.first))


def graph_paths(graph: NgramGraph, arrays: ArcArrays) -> list[tuple[int, ...]]:
    is_end = arrays.final[states_of_nodes(graph)] != np.inf
    return arc_paths(graph.source, graph.target, is_end.tolist())


def lattice_paths(arrays: ArcArrays) -> list[tuple[int, ...]]:
    return arc_paths(arrays.source, arrays.target, (arrays.final != np.inf).tolist())


@settings(max_examples=100)
@given(lattices(), orders)
def test_the_paths_are_those_of_the_lattice_and_every_arc_ends_its_ngram(lattice: Lattice, order: int) -> None:
    arrays = lattice_arrays(lattice)
    graph = expand(arrays, order)
    paths = graph_paths(graph, arrays)
    assert sorted(tuple(graph.arc[list(path)].tolist()) for path in paths) == sorted(lattice_paths(arrays))
    digits = unpack(graph.keys, len(WORDS) + 1, order)
    for path in paths:
        words = [int(arrays.word[graph.arc[arc]]) + 1 for arc in path]
        for place, arc in enumerate(path, 1):
            assert digits[graph.kind[arc]].tolist() == ([0] * order + words[:place])[-order:]


@settings(max_examples=100)
@given(lattices(), orders)
def test_a_node_is_a_state_with_its_last_words_and_is_there_once(lattice: Lattice, order: int) -> None:
    arrays = lattice_arrays(lattice)
    graph = expand(arrays, order)
    wanted: set[tuple[int, tuple[int, ...]]] = {(0, ())}
    for path in lattice_paths(arrays):
        words = arrays.word[list(path)].tolist()
        wanted |= {
            (int(arrays.target[arc]), tuple(words[:place][max(0, place - order + 1) :]))
            for place, arc in enumerate(path, 1)
        }
    assert sorted(states_of_nodes(graph).tolist()) == sorted(state for state, _ in wanted)
    assert graph.num_nodes == len(wanted)
    assert (np.diff(graph.keys) > 0).all()
    assert (unpack(graph.keys, len(WORDS) + 1, order)[:, 0] == 0).tolist() == [
        place < graph.short for place in range(len(graph.keys))
    ]
    assert (np.diff(states_of_nodes(graph)[graph.target]) >= 0).all()
    for node in range(graph.num_nodes):
        leaving = graph.by_source[graph.first_out[node] : graph.first_out[node + 1]]
        assert leaving.tolist() == np.flatnonzero(graph.source == node).tolist()


@settings(max_examples=100)
@given(lattices(), st.integers(0, 24).map(lambda n: n / 4 + 1 / 16))  # costs are eighths, so no path is at the edge
def test_pruning_keeps_the_arcs_and_ends_of_paths_within_beta(lattice: Lattice, beta: float) -> None:
    arrays = lattice_arrays(lattice)
    costs = {}
    for path in lattice_paths(arrays):
        last = arrays.target[path[-1]] if path else 0
        costs[path] = float(arrays.cost[list(path)].sum() + arrays.final[last])
    good = [path for path, cost in costs.items() if cost <= min(costs.values()) + beta]
    arcs = sorted({arc for path in good for arc in path})
    ends = {int(arrays.target[path[-1]]) if path else 0 for path in good}
    cost, final = arrays.pruned_costs(beta)
    assert np.flatnonzero(cost != np.inf).tolist() == arcs
    assert {*np.flatnonzero(final != np.inf).tolist()} == ends
    assert cost[arcs].tolist() == arrays.cost[arcs].tolist()
    pruned = arrays.pruned(beta)
    assert pruned.num_states == arrays.num_states
    for name in ("source", "word", "target", "cost"):
        assert getattr(pruned, name).tolist() == getattr(arrays, name)[arcs].tolist()
    assert sorted(pruned.by_target.tolist()) == list(range(len(arcs)))
    assert (np.diff(pruned.target[pruned.by_target]) >= 0).all()


@settings(max_examples=150)
@given(lattices(), orders, st.permutations(range(len(WORDS))), st.integers(0, 2**32 - 1))
def test_the_best_path_has_the_highest_sum_and_of_equal_ones_the_first_string(
    lattice: Lattice, order: int, place_of_word: list[int], seed: int
) -> None:
    arrays = lattice_arrays(lattice)
    graph = expand(arrays, order)
    chance = np.random.default_rng(seed)
    gain = chance.integers(-1, 2, len(graph.source)).astype(float)  # few values: many sums are equal
    end = states_of_nodes(graph)
    final_gain = np.where(arrays.final[end] == np.inf, -np.inf, chance.integers(-1, 2, len(end)))
    rank = np.array(place_of_word, np.int32)[arrays.word[graph.arc]]

    def total(path: Sequence[int]) -> float:
        return float(gain[list(path)].sum() + final_gain[graph.target[path[-1]] if path else 0])

    paths = graph_paths(graph, arrays)
    most = max(map(total, paths))
    first = min(tuple(rank[list(path)].tolist()) for path in paths if total(path) == most)
    found, gained = best_path(graph, gain, final_gain, rank)
    assert gained == most == total(found)
    assert tuple(rank[found].tolist()) == first
    assert tuple(found) in paths


def test_a_lattice_without_strings_has_no_nodes() -> None:
    arrays = lattice_arrays(Lattice.from_strings(WORDS, []))
    graph = expand(arrays, 3)
    assert (arrays.num_states, graph.num_nodes, len(graph.keys), graph.short) == (0, 0, 0, 0)
    assert len(arrays.pruned(1.0).source) == 0


def test_order_and_size_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    lattice = Lattice.from_strings(WORDS, [Hypothesis(("a", "b"), 0.0), Hypothesis(("b", "a"), 0.0)])
    with pytest.raises(InputError, match="order 0"):
        ngram_posteriors(lattice, order=0)
    with pytest.raises(InputError, match="distinct words"):
        ngram_paths.check_vocabulary(("w",) * 60_000, 4)
    monkeypatch.setattr(ngram_paths, "MOST_ARCS", 2)
    with pytest.raises(ResourceError, match="more than 2 arcs"):
        expand(lattice_arrays(lattice), 4)


@pytest.mark.parametrize("order", [2, 4, 5, 7, 9])
def test_the_error_names_the_most_words_that_are_allowed(order: int) -> None:
    most = next(n for n in range(int(2 ** (63 / order)) + 2, 0, -1) if (n + 1) ** order < 2**63)
    enough: Any = range(most)  # for order 2 no tuple is that long
    more: Any = range(most + 1)
    assert ngram_paths.check_vocabulary(enough, order) == most + 1
    with pytest.raises(InputError, match=rf"found {most + 1} distinct words; .* allow {most}$"):
        ngram_paths.check_vocabulary(more, order)


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1))
def test_packing(rows: list[tuple[int, ...]]) -> None:
    keys = pack(np.array(rows), 10)
    assert keys.tolist() == [int("".join(map(str, row))) for row in rows]
    assert unpack(keys, 10, 3).tolist() == [list(row) for row in rows]
