"""What the learner does at a mistake: the update that the formula gives, and new scores after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.input import Given, dependency_example
from comparison.best_first.kernel import propose_leaves
from comparison.best_first.score import edge_key
from comparison.best_first.state import NUM_CHART, NUM_GOLD, NUM_HEAP, UPDATES, VERSION
from comparison.best_first.update import (
    Learning,
    lowest_gold,
    mend_edges,
    mend_items,
    next_item,
    refresh,
    requeue_gold,
    return_gold,
    settle_equivalent,
)
from grammars.conllu import ConlluSentence
from tests.comparison.best_first.bags import bag
from tests.comparison.best_first.enumeration import has_all_words
from tests.comparison.best_first.searched import Searched
from tests.comparison.best_first.twin import Tree, count_actions, feature_hashes, score, vector

Grammar = DependencyGrammar | CcgInventory
Weights = Callable[[int], NDArray[np.float32]]
CLOCK = 3.0
BAGS = {"dependency": bag("the~ dog~ the~ barks~"), "ccg": bag("the~ dog~ sees~ the~ cat~ .~")}


def learning(size: int, *, margin: int, whole: int, step: float, room: int = 1 << 17) -> Learning:
    return Learning(
        margin=margin,
        whole=whole,
        expand_wrong=0,
        step=step,
        clock=CLOCK,
        totals=np.zeros(size),
        change=np.zeros(size, dtype=np.float32),
        touched=np.zeros(room, dtype=np.int64),
        values=np.zeros(room),
    )


def features(found: Searched, tree: Tree, complete: bool, whole: bool) -> NDArray[np.float64]:
    """Features by weight; of the top alone unless `whole`."""
    grammar, size = found.grammar, found.weights.size
    counts = vector(tree, grammar, complete) if whole else Counter(feature_hashes(tree, grammar, complete))
    total = np.zeros(size)
    for key, count in counts.items():
        total[key & (size - 1)] += count
    return total / (count_actions(tree) if found.state.options.scaled else 1)


def of_edge(found: Searched, edge: int, whole: bool) -> NDArray[np.float64]:
    return features(found, found.tree(edge), found.is_complete(edge), whole)


def check_equal(found: NDArray[np.floating[Any]], wanted: NDArray[np.floating[Any]]) -> None:
    """Weights are of single precision."""
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-4)


def mend(
    found: Searched, right: int, wrong: int, *, margin: int, whole: int, step: float = 1e9, room: int = 1 << 17
) -> None:
    """Update, and see that nothing of it is left over."""
    chosen = learning(found.weights.size, margin=margin, whole=whole, step=step, room=room)
    before, counters = found.weights.copy(), found.workspace.scratch.counters
    version, updates = counters[VERSION], counters[UPDATES]
    mend_edges(found.grammar.tables, found.state, chosen, right, wrong)
    assert not chosen.change.any()
    check_equal(chosen.totals, CLOCK * (found.weights - before))
    assert (counters[VERSION], counters[UPDATES]) == (version + 1, updates + 1)


@pytest.mark.parametrize("scaled", [0, 1])
@pytest.mark.parametrize("name", BAGS)
@settings(max_examples=15)
@given(data=st.data())
def test_a_large_margin_update_puts_the_right_edge_one_ahead(
    name: str,
    scaled: int,
    data: st.DataObject,
    dependency: DependencyGrammar,
    inventory: CcgInventory,
    random_weights: Weights,
) -> None:
    grammar: Grammar = dependency if name == "dependency" else inventory
    weights = random_weights(data.draw(st.integers(0, 20))) / 10
    found = Searched(grammar, BAGS[name], weights, scaled=scaled)
    right, wrong = data.draw(st.tuples(st.sampled_from(found.edges), st.sampled_from(found.edges)))
    direction = of_edge(found, right, True) - of_edge(found, wrong, True)
    norm = float(direction @ direction)
    if norm < 1e-6:
        return
    before = weights.astype(np.float64)
    lead = float(direction @ before)
    mend(found, right, wrong, margin=1, whole=1)
    check_equal(weights, before + (1 - lead) / norm * direction)
    assert float(direction @ weights) == pytest.approx(1.0, abs=1e-4)
    keys = []
    for edge in (right, wrong):
        refresh(grammar.tables, found.state, edge)
        keys.append(found.state.edges.score[edge] / (count_actions(found.tree(edge)) if scaled else 1))
    assert keys[0] - keys[1] == pytest.approx(1.0, abs=1e-4)


@settings(max_examples=15)
@given(data=st.data())
def test_a_perceptron_update_adds_the_right_top_and_takes_the_wrong_one(
    data: st.DataObject, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    weights = random_weights(data.draw(st.integers(0, 20)))
    found = Searched(dependency, BAGS["dependency"], weights, scaled=0)
    right, wrong = data.draw(st.tuples(st.sampled_from(found.edges), st.sampled_from(found.edges)))
    before = weights.astype(np.float64)
    mend(found, right, wrong, margin=0, whole=0, step=1.0)
    wanted = before + of_edge(found, right, False) - of_edge(found, wrong, False)
    check_equal(weights, wanted)


def test_a_step_is_no_longer_than_allowed(dependency: DependencyGrammar, random_weights: Weights) -> None:
    weights = random_weights(1)
    found = Searched(dependency, BAGS["dependency"], weights)
    keys = [edge_key(found.state, edge) for edge in found.edges]
    right, wrong = int(np.argmin(keys)), int(np.argmax(keys))  # far behind: one long step would be needed
    direction = of_edge(found, right, True) - of_edge(found, wrong, True)
    before = weights.astype(np.float64)
    assert (1 - direction @ before) / (direction @ direction) > 0.01
    mend(found, right, wrong, margin=1, whole=1, step=0.01)
    check_equal(weights, before + 0.01 * direction)


@pytest.mark.parametrize("margin", [0, 1])
def test_an_edge_is_not_mended_against_itself(
    margin: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    weights = random_weights(1)
    found = Searched(dependency, BAGS["dependency"], weights)
    mend(found, 7, 7, margin=margin, whole=1, step=1.0)
    assert weights.tobytes() == random_weights(1).tobytes()


@pytest.mark.parametrize("room", [1, 16, 60])
def test_features_that_there_is_no_room_for_are_left_out(
    room: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    weights = random_weights(1)
    found = Searched(dependency, BAGS["dependency"], weights)
    right = max(found.edges, key=lambda edge: len(found.words(edge)))
    mend(found, right, 0, margin=0, whole=1, step=1.0, room=room)
    assert 0 < np.count_nonzero(weights - random_weights(1)) <= room


@pytest.mark.parametrize("scaled", [0, 1])
def test_items_of_the_agenda_are_mended_as_edges_are(
    scaled: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    weights = random_weights(2) / 10
    found = Searched(dependency, BAGS["dependency"], weights, edges=100, scaled=scaled)
    waiting = found.items
    right, wrong = waiting[0], waiting[-1]
    trees = [found.item_tree(item) for item in (right, wrong)]
    vectors = [features(found, tree, has_all_words(tree, found.given, dependency), True) for tree in trees]
    direction, before = vectors[0] - vectors[1], weights.astype(np.float64)
    chosen = learning(weights.size, margin=1, whole=1, step=1e9)
    mend_items(dependency.tables, found.state, chosen, right, wrong)
    wanted = before + (1 - direction @ before) / (direction @ direction) * direction
    check_equal(weights, wanted)
    assert not chosen.change.any()


def present_score(found: Searched, tree: Tree) -> float:
    return score(tree, found.grammar, found.weights, 0, has_all_words(tree, found.given, found.grammar))


def change_weights(found: Searched, seed: int) -> None:
    """Other weights, of which no edge and no item knows yet."""
    found.weights += np.random.default_rng(seed).normal(size=found.weights.size).astype(np.float32)
    found.workspace.scratch.counters[VERSION] += 1


@pytest.mark.parametrize("name", ["dependency", "ccg"])
def test_a_renewed_edge_has_the_score_of_the_present_weights(
    name: str, dependency: DependencyGrammar, inventory: CcgInventory, random_weights: Weights
) -> None:
    grammar: Grammar = dependency if name == "dependency" else inventory
    found = Searched(grammar, BAGS[name], random_weights(1))
    edges, state = found.workspace.edges, found.state
    before = edges.score.copy()
    refresh(grammar.tables, state, found.edges[-1])
    assert (edges.score == before).all()  # nothing has changed
    change_weights(found, 1)
    for edge in reversed(found.edges):  # the parts of each are renewed before it
        refresh(grammar.tables, state, edge)
        tree, complete = found.tree(edge), found.is_complete(edge)
        assert edges.score[edge] == pytest.approx(present_score(found, tree), abs=1e-4)
        ending = present_score(found, tree) - score(tree, grammar, found.weights, 0, False)
        assert edges.ending[edge] == pytest.approx(ending if complete else 0.0, abs=1e-4)


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_each_item_comes_once_with_its_present_score(
    seed: int, changed: bool, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    """One that was worse than another, and is worse still, does not come before it."""
    found = Searched(dependency, BAGS["dependency"], random_weights(seed), edges=100)
    waiting, scores = found.items, found.workspace.agenda.score
    before = {item: float(scores[item]) for item in waiting}
    if changed:
        change_weights(found, seed)
    order = [int(next_item(dependency.tables, found.state)) for _ in waiting]
    assert sorted(order) == waiting
    assert next_item(dependency.tables, found.state) == -1
    for item in order:
        assert scores[item] == pytest.approx(present_score(found, found.item_tree(item)), abs=1e-4)
    for first, second in combinations(order, 2):
        assert before[first] >= before[second] or scores[first] >= scores[second]


@pytest.fixture
def leaves_of_an_example(
    tree_bank: list[ConlluSentence], dependency: DependencyGrammar, random_weights: Weights
) -> Searched:
    """The beginning of learning a tree: all its leaves are on the agenda, and all but one of them are right."""
    example = dependency_example(tree_bank[2], dependency, Given())
    found = Searched(dependency, BAGS["dependency"], random_weights(1))
    found.prepared = example.prepared
    found.workspace.begin(example.prepared.problem.bias.size, len(example.prepared.leaves), example.gold[1:])
    propose_leaves(dependency.tables, found.state)
    return found


def right_items(found: Searched) -> dict[int, float]:
    """The right items of the agenda with their present scores: no leaf is a whole sentence."""
    items = found.workspace.scratch.gold_items[: found.workspace.scratch.counters[NUM_GOLD]].tolist()
    return {item: score(found.item_tree(item), found.grammar, found.weights, 0, False) for item in items}


def test_the_lowest_right_item_is_found(leaves_of_an_example: Searched, dependency: DependencyGrammar) -> None:
    found = leaves_of_an_example
    assert 0 < len(right_items(found)) < len(found.items)
    for seed in range(5):
        change_weights(found, seed)
        known = right_items(found)
        assert lowest_gold(dependency.tables, found.state) == min(known, key=known.__getitem__)
    found.workspace.scratch.counters[NUM_GOLD] = 0
    assert lowest_gold(dependency.tables, found.state) == -1


def test_right_items_are_put_where_they_belong(leaves_of_an_example: Searched, dependency: DependencyGrammar) -> None:
    found = leaves_of_an_example
    agenda, counters, waiting = found.workspace.agenda, found.workspace.scratch.counters, found.items
    change_weights(found, 1)
    for _ in range(2):  # the second time nothing has changed, and nothing is put there again
        requeue_gold(dependency.tables, found.state)
        assert counters[NUM_HEAP] == len(waiting) + len(right_items(found))
    on_heap = dict(
        zip(agenda.key[: counters[NUM_HEAP]].tolist(), agenda.item[: counters[NUM_HEAP]].tolist(), strict=True)
    )
    for item, wanted in right_items(found).items():
        assert agenda.queued[item] == pytest.approx(wanted, abs=1e-4)
        assert on_heap[float(agenda.queued[item])] == item
    # Old entries are passed over.
    assert sorted(int(next_item(dependency.tables, found.state)) for _ in waiting) == waiting
    assert next_item(dependency.tables, found.state) == -1


@pytest.mark.parametrize(
    ("right", "known_right", "better", "kept", "mended"),
    [
        (0, 0, 0, 0, 0),
        (0, 0, 1, 1, 0),
        (1, 1, 0, 0, 0),
        (1, 1, 1, 1, 0),
        (1, 0, 1, 1, 0),
        (1, 0, 0, 1, 1),
        (0, 1, 0, 0, 0),
        (0, 1, 1, 0, 1),
    ],
)
def test_of_two_equivalent_edges_the_right_one_stays_or_the_better(
    right: int,
    known_right: int,
    better: int,
    kept: int,
    mended: int,
    dependency: DependencyGrammar,
    random_weights: Weights,
) -> None:
    weights = random_weights(1)
    found = Searched(dependency, BAGS["dependency"], weights)
    state, members = found.state, found.workspace.members.tolist()
    known, edge = members[3], members[4]
    if (edge_key(state, edge) > edge_key(state, known)) != better:
        known, edge = edge, known
    state.chart.gold[edge], state.chart.gold[known] = right, known_right
    chosen = learning(weights.size, margin=1, whole=1, step=1e9)
    assert settle_equivalent(dependency.tables, state, chosen, edge, known) == kept
    assert {*found.workspace.members.tolist()} == {*members} - ({known} if kept else set())
    assert (weights.tobytes() != random_weights(1).tobytes()) == mended
    if mended:
        keys = []
        for each in (edge, known) if right else (known, edge):
            refresh(dependency.tables, state, each)
            keys.append(edge_key(state, each))
        assert keys[0] - keys[1] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("wrong", [0, 1, 5])
def test_a_right_edge_that_fell_off_takes_the_place_of_the_best_wrong_one(
    wrong: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    weights = random_weights(1)
    found = Searched(dependency, BAGS["dependency"], weights)
    state, counters = found.state, found.workspace.scratch.counters
    order = sorted(found.workspace.members.tolist(), key=lambda edge: edge_key(state, edge))
    fallen, members = order[0], order[-8:]
    state.chart.gold[:], state.chart.gold[members[:wrong]] = 1, 0
    state.chart.inside[:], state.chart.inside[members] = 0, 1
    state.chart.members[:8], counters[NUM_CHART] = members[3:] + members[2::-1], 8
    chosen = learning(weights.size, margin=1, whole=1, step=1e9)
    return_gold(dependency.tables, state, chosen, fallen)
    gone = members[wrong - 1 : wrong] if wrong else []
    assert {*found.workspace.members.tolist()} == {*members, fallen} - {*gone}
    assert {*np.flatnonzero(state.chart.inside).tolist()} == {*members, fallen} - {*gone}
    if not wrong:
        assert weights.tobytes() == random_weights(1).tobytes()
        return
    for edge in (fallen, *gone):
        refresh(dependency.tables, state, edge)
    assert edge_key(state, fallen) - edge_key(state, gone[0]) == pytest.approx(1.0, abs=1e-4)
