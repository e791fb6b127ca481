"""The records of edges against their trees; what a search counts, and the room that it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from comparison.best_first import workspace
from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Limits
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
    is_gold,
    propose_leaves,
    search,
    structure_of_item,
)
from comparison.best_first.learner import METHODS, Learner
from comparison.best_first.model import ModelSettings, kernel_options
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
)
from comparison.best_first.workspace import Workspace
from grammars.conllu import ConlluSentence
from tests.comparison.best_first.bags import bag
from tests.comparison.best_first.searched import Searched
from tests.comparison.best_first.twin import (
    ALL,
    SEED,
    Tree,
    count_actions,
    head_of,
    leaves,
    mix,
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


@given(st.sets(st.integers(0, ALL), max_size=20), st.integers(0, ALL))
def test_right_structures_are_found_among_those_of_the_example(gold: set[int], other: int) -> None:
    SPACE.begin(1, 1, sorted(gold, key=str))
    assert all(is_gold(SPACE.scratch, np.uint64(value)) for value in gold)
    for near in (other, *((value + 1) & ALL for value in gold)):
        assert is_gold(SPACE.scratch, np.uint64(near)) == (near in gold)


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
        assert counters[NUM_ITEMS] <= space.agenda.items.size
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
        right = set()
        for item in waiting:
            parts = (agenda.items[name][item] for name in ("left", "right", "rule"))
            if structure_of_item(space.edges, *parts) in example.gold:
                right.add(item)
        assert right == {item for item in waiting if agenda.items["gold"][item]}
        known = space.scratch.gold_items[: counters[NUM_GOLD]].tolist()
        assert sorted(known) == sorted(right)
