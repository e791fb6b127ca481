"""The records of edges against their trees; chart, goals and agenda against plain lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from comparison.best_first import workspace
from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Decoder, Limits
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.edge import (
    ACTIONS,
    FIRST_TAG,
    FIRST_WORD,
    HEAD_TAG,
    HEAD_WORD,
    LAST_TAG,
    LAST_WORD,
    LEFT,
    PENULTIMATE_TAG,
    PENULTIMATE_WORD,
    RIGHT,
    RULE,
    SECOND_TAG,
    SIZE,
)
from comparison.best_first.input import Given, dependency_example
from comparison.best_first.kernel import (
    accept,
    find_equivalent,
    is_goal,
    is_gold,
    note_goal,
    propose_leaves,
    search,
    structure_of_item,
)
from comparison.best_first.learner import METHODS, Learner
from comparison.best_first.model import ModelSettings, kernel_options
from comparison.best_first.problem import prepare
from comparison.best_first.state import (
    AGENDA_FULL,
    DONE,
    EDGES_FULL,
    EXHAUSTED,
    EXPANDED,
    NUM_EDGES,
    NUM_FREE,
    NUM_GOLD,
    NUM_HEAP,
    NUM_ITEMS,
    OUT_OF_BUDGET,
    SCORED,
    Options,
    State,
)
from comparison.best_first.workspace import Workspace
from grammars.conllu import ConlluSentence
from tests.comparison.best_first.bags import BAGS, BROKEN_BAGS, CCG_BAGS, bag
from tests.comparison.best_first.enumeration import all_trees, no_limits
from tests.comparison.best_first.searched import Searched
from tests.comparison.best_first.treebank import ambiguous
from tests.comparison.best_first.twin import (
    ALL,
    SEED,
    Tree,
    canonical,
    count_actions,
    head_of,
    leaves,
    mix,
    signature,
    tag_hash,
    tags,
    word_hash,
    words,
)

Grammar = DependencyGrammar | CcgInventory
Weights = Callable[[int], NDArray[np.float32]]
FOREVER = Limits(seconds=1e6)
SPACE = Workspace(1)
KEYS = st.integers(-100, 100).map(lambda number: number / 10)

SEARCHES = {
    "dependency": ("dependency", bag("the dog the barks .")),
    "a unit of five": ("dependency", bag("she sees the very old old dog", units=((2, 3, 4, 5, 6),))),
    "words used again": ("dependency", bag("the*2 dog? barks")),
    "labelled": ("labelled", bag("she sees the old dog", units=((3, 4),))),
    "ccg": ("inventory", bag("old dogs~ sleep~ .")),
    "ccg with a unit": ("inventory", bag("the old dog sees she .", units=((0, 1, 2),))),
}


def empty_state(grammar: Grammar, options: Options) -> State:
    """The state of a search in which nothing is done yet."""
    decoder = Decoder(grammar, np.zeros(1 << 14, dtype=np.float32), options)
    prepared = prepare(BAGS["one word"], grammar)
    decoder.workspace.begin(prepared.problem.bias.size, len(prepared.leaves))
    return decoder._state(prepared)


def structure_of(tree: Tree, edge: int, found: Searched) -> int:
    """The hash of a whole derivation: of its parts' and the number of its rule."""
    row = found.workspace.edges.columns[edge]
    below = [structure_of(part, int(row[side]), found) for part, side in zip(tree.parts, (LEFT, RIGHT), strict=False)]
    first, second = [*below, 0, 0][:2]
    return mix(mix(mix(SEED, first), second), int(row[RULE]) + 1)


@pytest.mark.parametrize("name", SEARCHES)
def test_the_record_of_an_edge_is_that_of_its_tree(
    name: str, request: pytest.FixtureRequest, random_weights: Weights
) -> None:
    fixture, given_bag = SEARCHES[name]
    grammar: Grammar = request.getfixturevalue(fixture)
    found = Searched(grammar, given_bag, random_weights(0), edges=1000)
    problem, edges = found.prepared.problem, found.workspace.edges
    leaf_coverage = {leaf.slot: problem.leaf_coverage[i] for i, leaf in enumerate(found.prepared.leaves)}
    for edge in found.edges:
        tree, row = found.tree(edge), edges.columns[edge]
        string, tagged, head = words(tree), tags(tree), head_of(tree)
        assert (row[SIZE], row[ACTIONS]) == (len(string), count_actions(tree))
        first = [*map(word_hash, string), 0, 0, 0, 0][:4]
        assert problem.words[row[FIRST_WORD : FIRST_WORD + 4]].tolist() == first
        last = [0, *map(word_hash, string)][-2:]
        assert problem.words[row[[PENULTIMATE_WORD, LAST_WORD]]].tolist() == last
        assert problem.tags[row[[FIRST_TAG, SECOND_TAG]]].tolist() == [*map(tag_hash, tagged), 0][:2]
        assert problem.tags[row[[PENULTIMATE_TAG, LAST_TAG]]].tolist() == [0, *map(tag_hash, tagged)][-2:]
        assert (problem.words[row[HEAD_WORD]], problem.tags[row[HEAD_TAG]]) == (
            word_hash(string[head]),
            tag_hash(tagged[head]),
        )
        used = Counter(found.prepared.slot_of(leaf.places[0]) for leaf in leaves(tree))
        wanted = sum(np.uint64(count) * leaf_coverage[slot] for slot, count in used.items())
        assert edges.coverage[edge].tolist() == np.atleast_1d(wanted).tolist()
        value = 0
        for word in string:
            value = (value * 0x100000001B3 + word_hash(word)) & ALL
        assert edges.string[edge] == value
        assert edges.power[edge] == pow(0x100000001B3, len(string), 1 << 64)
        assert edges.structure[edge] == structure_of(tree, edge, found)


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


@given(st.sets(st.integers(0, ALL), max_size=20), st.integers(0, ALL))
def test_right_structures_are_found_among_those_of_the_example(gold: set[int], other: int) -> None:
    SPACE.begin(1, 1, sorted(gold, key=str))
    assert all(is_gold(SPACE.scratch, np.uint64(value)) for value in gold)
    for near in (other, *((value + 1) & ALL for value in gold)):
        assert is_gold(SPACE.scratch, np.uint64(near)) == (near in gold)


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


@pytest.mark.parametrize("budget", [1, 7, 50])
@pytest.mark.parametrize("name", ["dependency", "words used again", "ccg"])
def test_a_search_in_pieces_is_the_same_search(
    name: str, budget: int, request: pytest.FixtureRequest, random_weights: Weights
) -> None:
    fixture, given_bag = SEARCHES[name]
    grammar: Grammar = request.getfixturevalue(fixture)
    whole, pieces = (Searched(grammar, given_bag, random_weights(4), goals=30) for _ in range(2))
    state, counters = pieces.empty(), pieces.workspace.scratch.counters
    propose_leaves(grammar.tables, state)
    assert counters[SCORED] == len(pieces.prepared.leaves)
    status = OUT_OF_BUDGET
    while status == OUT_OF_BUDGET:
        before = int(counters[SCORED])
        status = search(grammar.tables, state, budget)
        assert status != OUT_OF_BUDGET or counters[SCORED] >= before + budget
    assert status == (DONE if len(whole.workspace.goals) == 30 else EXHAUSTED)
    assert counters.tolist() == whole.workspace.scratch.counters.tolist()
    assert pieces.workspace.goals.tolist() == whole.workspace.goals.tolist()
    assert (counters[SCORED], counters[EXPANDED]) == (whole.decoded.scored, whole.decoded.expanded)


@pytest.mark.parametrize("name", ["labelled", "ccg", "dependency"])
def test_no_array_is_ever_over_full(
    name: str, request: pytest.FixtureRequest, random_weights: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled code does not look whether there is room for what it writes: `has_room` must have."""
    fixture, given_bag = SEARCHES[name]
    grammar: Grammar = request.getfixturevalue(fixture)
    monkeypatch.setattr(workspace, "_FIRST_EDGES", 4)
    monkeypatch.setattr(workspace, "_FIRST_ITEMS", 4)
    found = Searched(grammar, given_bag, random_weights(5), edges=1)
    found.empty()
    space, seen = found.workspace, set()
    propose_leaves(grammar.tables, found.state)
    for _ in range(300):
        status = search(grammar.tables, found.state, 1)
        seen.add(int(status))
        counters = space.scratch.counters
        assert counters[NUM_HEAP] <= space.agenda.key.size
        assert counters[NUM_ITEMS] <= space.agenda.left.size
        assert counters[NUM_EDGES] <= space.edges.columns.shape[0]
        if status in (DONE, EXHAUSTED):
            break
        if status != OUT_OF_BUDGET:
            space.make_room(status)
    assert seen >= {OUT_OF_BUDGET, AGENDA_FULL, EDGES_FULL}


@pytest.mark.parametrize("budget", [100, 300, 1000])
def test_right_items_of_the_agenda_are_known(
    budget: int, tree_bank: list[ConlluSentence], dependency: DependencyGrammar
) -> None:
    options = kernel_options(ModelSettings())
    learner = Learner(dependency, options, METHODS["scaled-negatives"], bits=14, budget=budget)
    for tree in tree_bank:
        example = dependency_example(tree, dependency, Given())
        learner.learn(example)
        space = learner._workspace
        agenda, counters = space.agenda, space.scratch.counters
        waiting = set(range(counters[NUM_ITEMS])) - set(agenda.free[: counters[NUM_FREE]].tolist())
        right = {
            item
            for item in waiting
            if structure_of_item(space.edges, agenda.left[item], agenda.right[item], agenda.rule[item]) in example.gold
        }
        assert right == {item for item in waiting if agenda.gold[item]}
        known = space.scratch.gold_items[: counters[NUM_GOLD]].tolist()
        assert sorted(known) == sorted(right)
