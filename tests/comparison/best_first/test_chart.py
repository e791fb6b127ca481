"""The chart, its beams and goals against plain lists."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.chart import accept, is_goal, note_goal
from comparison.best_first.decoder import Decoder, Limits
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.edge import (
    ACTIONS,
    HEAD_SLOT,
    LEFT,
    SIZE,
)
from comparison.best_first.problem import prepare
from comparison.best_first.state import (
    Options,
    State,
)
from tests.comparison.best_first.bags import BAGS, BROKEN_BAGS, CCG_BAGS, bag
from tests.comparison.best_first.compiled import find_equivalent
from tests.comparison.best_first.enumeration import all_trees, no_limits
from tests.comparison.best_first.searched import Searched
from tests.comparison.best_first.treebank import ambiguous
from tests.comparison.best_first.twin import (
    canonical,
    signature,
    words,
)

Grammar = DependencyGrammar | CcgInventory
Weights = Callable[[int], NDArray[np.float32]]
FOREVER = Limits(seconds=1e6)
KEYS = st.integers(-100, 100).map(lambda number: number / 10)


def empty_state(grammar: Grammar, options: Options) -> State:
    """The state of a search in which nothing is done yet."""
    decoder = Decoder(grammar, np.zeros(1 << 14, dtype=np.float32), options)
    prepared = prepare(BAGS["one word"], grammar)
    decoder.workspace.begin(prepared.problem.bias.size, len(prepared.leaves))
    return decoder._state(prepared)


WHOLE = ["one word", "a word three times", "counts", "optional", "order", "heads", "some heads", "root", "unit"]


@pytest.mark.parametrize("name", [*WHOLE, *BROKEN_BAGS])
def test_goals_are_the_whole_sentences(name: str, dependency: DependencyGrammar, random_weights: Weights) -> None:
    """Not only those that the search took: each of its edges is asked."""
    given_bag = {**BAGS, **BROKEN_BAGS}[name]
    found = Searched(dependency, given_bag, random_weights(2))
    state, wanted = found.state, set(all_trees(given_bag, dependency))
    assert {edge for edge in found.edges if is_goal(state, edge)} == {
        edge for edge in found.edges if found.tree(edge) in wanted
    }


@settings(max_examples=60)
@given(
    arrivals=st.lists(st.tuples(KEYS, st.integers(1, 3), st.booleans()), unique_by=lambda edge: edge[0], max_size=25),
    beam=st.integers(0, 4),
    by_size=st.integers(0, 1),
    keep_leaves=st.integers(0, 1),
)
def test_the_worst_of_a_beam_falls_off(
    arrivals: list[tuple[float, int, bool]], beam: int, by_size: int, keep_leaves: int, dependency: DependencyGrammar
) -> None:
    options = no_limits(beam=beam, by_size=by_size, keep_leaves=keep_leaves)
    state = empty_state(dependency, options)
    kept: list[int] = []
    for edge, (key, size, is_leaf) in enumerate(arrivals):
        state.edges.columns[edge, [LEFT, SIZE, ACTIONS]] = -1 if is_leaf else 0, size, 1
        state.edges.score[edge] = key
        fallen = accept(state, edge, edge)
        kept.append(edge)
        rivals = [
            (arrivals[e][0], e)
            for e in kept
            if not (by_size and arrivals[e][1] != size) and not (keep_leaves and arrivals[e][2])
        ]
        worst = min(rivals)[1] if 0 < beam < len(rivals) else -1
        assert fallen == worst
        kept = [e for e in kept if e != worst]
        members = state.chart.members[: len(kept)]
        assert sorted(members.tolist()) == kept
        assert np.flatnonzero(state.chart.inside[: edge + 1]).tolist() == kept


@settings(max_examples=60)
@given(
    arrivals=st.lists(
        st.tuples(KEYS, st.integers(0, 2), st.integers(0, 1)), unique_by=lambda edge: edge[0], max_size=25
    ),
    variants=st.integers(1, 3),
    beam=st.sampled_from([0, 4]),
)
def test_the_worst_of_those_with_the_same_words_and_head_falls_off_first(
    arrivals: list[tuple[float, int, int]], variants: int, beam: int, dependency: DependencyGrammar
) -> None:
    state = empty_state(dependency, no_limits(beam=beam, variants=variants))
    kept: list[int] = []
    for edge, (key, coverage, head) in enumerate(arrivals):
        state.edges.columns[edge, [LEFT, SIZE, ACTIONS, HEAD_SLOT]] = 0, 1, 1, head
        state.edges.coverage[edge], state.edges.score[edge] = coverage, key
        fallen = accept(state, edge, edge)
        kept.append(edge)
        alike = [e for e in kept if arrivals[e][1:] == (coverage, head)]
        crowd = alike if len(alike) > variants else kept if 0 < beam < len(kept) else []
        worst = min(crowd, key=lambda e: arrivals[e][0], default=-1)
        assert fallen == worst
        kept = [e for e in kept if e != worst]
        assert sorted(state.chart.members[: len(kept)].tolist()) == kept


@given(keys=st.lists(KEYS, unique=True, max_size=20), wanted=st.integers(1, 5))
def test_the_best_goals_are_kept(keys: list[float], wanted: int, dependency: DependencyGrammar) -> None:
    state = empty_state(dependency, no_limits(goals=wanted))
    for edge, key in enumerate(keys):
        state.edges.columns[edge, ACTIONS], state.edges.score[edge] = 1, key
        note_goal(state, edge)
    found = [keys[edge] for edge in state.chart.goals[: min(wanted, len(keys))]]
    assert sorted(found) == sorted(keys)[-wanted:]


@pytest.mark.parametrize("by_size", [0, 1])
@pytest.mark.parametrize("keep_leaves", [0, 1])
@pytest.mark.parametrize("beam", [1, 3, 7])
def test_the_chart_has_no_more_than_its_beam(
    beam: int, keep_leaves: int, by_size: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    options = no_limits(goals=1000, beam=beam, by_size=by_size, keep_leaves=keep_leaves, scaled=1)
    decoder = Decoder(dependency, random_weights(10), options, limits=FOREVER)
    decoded = decoder.decode(bag("the old dog sees the dog ."))
    trees = [
        canonical(decoder._derivation(int(e), decoded.prepared.leaves), dependency, decoded.prepared)
        for e in decoder.workspace.members
    ]
    counted = [len(words(tree)) if by_size else 0 for tree in trees if tree.parts or not keep_leaves]
    assert max((counted.count(size) for size in set(counted)), default=0) <= beam
    if keep_leaves:
        assert sum(not tree.parts for tree in trees) == 5  # the and dog are there twice


@pytest.mark.parametrize("dp", [True, False])
@pytest.mark.parametrize("text", ["a c e", "a b c", "a b a b"])
def test_an_equivalent_edge_is_found_in_the_chart(text: str, dp: bool, random_weights: Weights) -> None:
    """Of each class that an edge was made of the chart has one: the best is found by the key of any other."""
    grammar = CcgInventory.from_derivations(ambiguous(), cutoff=0, dp=dp)
    found = Searched(grammar, bag(text), random_weights(1))
    state = found.state
    members = {signature(found.tree(int(edge)), dp): int(edge) for edge in found.workspace.members}
    assert len(members) == len(found.workspace.members) < len(found.edges)
    for edge in found.edges:
        known, slot = find_equivalent(grammar.tables, state, edge)
        assert known == state.chart.slots[slot] == members[signature(found.tree(edge), dp)]


def test_what_is_not_in_the_chart_has_no_equivalent(inventory: CcgInventory, random_weights: Weights) -> None:
    found = Searched(inventory, CCG_BAGS["two words"], random_weights(1))
    state = found.state
    member = int(found.workspace.members[0])
    assert find_equivalent(inventory.tables, state, member)[0] == member
    state.chart.inside[member] = 0
    assert find_equivalent(inventory.tables, state, member)[0] == -1
    found.empty()
    assert find_equivalent(inventory.tables, found.state, member)[0] == -1
