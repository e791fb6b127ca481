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
from comparison.best_first.edge import LEFT, SIZE
from comparison.best_first.input import Given, dependency_example
from comparison.best_first.kernel import propose_leaves
from comparison.best_first.learner import METHODS, Learner
from comparison.best_first.model import ModelSettings, kernel_options
from comparison.best_first.score import edge_key
from comparison.best_first.state import NUM_CHART, NUM_GOLD, NUM_HEAP, UPDATES, VERSION
from comparison.best_first.update import Learning, best_wrong, keeps
from grammars.conllu import ConlluSentence
from tests.comparison.best_first.bags import bag
from tests.comparison.best_first.compiled import find_equivalent, lowest_gold, next_item, rate, take_up
from tests.comparison.best_first.compiled import mend as mend_jobs
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


def refresh(found: Searched, *edges: int) -> None:
    """Give edges the scores of the present weights."""
    rate(found.grammar.tables, found.state, np.array(edges, dtype=np.int64), 0, len(edges), True)


def mend(
    found: Searched, right: int, wrong: int, *, margin: int, whole: int, step: float = 1e9, room: int = 1 << 17
) -> None:
    """Update, and see that nothing of it is left over."""
    chosen = learning(found.weights.size, margin=margin, whole=whole, step=step, room=room)
    before, counters = found.weights.copy(), found.workspace.scratch.counters
    version, updates = counters[VERSION], counters[UPDATES]
    mend_jobs(found.grammar.tables, found.state, chosen, right, wrong, True)
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
    mend(found, right, wrong, margin=1, whole=1, step=np.inf)
    check_equal(weights, before + max(0.0, 1 - lead) / norm * direction)
    assert float(direction @ weights) == pytest.approx(max(lead, 1.0), abs=1e-4)
    refresh(found, right, wrong)
    keys = [edge_key(found.state, edge) for edge in (right, wrong)]
    assert keys[0] - keys[1] == pytest.approx(max(lead, 1.0), abs=1e-4)


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


@pytest.mark.parametrize("step", [1.0, np.inf])
def test_a_right_edge_that_is_far_ahead_is_not_pulled_back(
    step: float, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    """A wrong one may come first by a key of old though the right one is ahead by more than the margin."""
    weights = random_weights(1)
    found = Searched(dependency, BAGS["dependency"], weights)
    keys = [edge_key(found.state, edge) for edge in found.edges]
    right, wrong = int(np.argmax(keys)), int(np.argmin(keys))
    assert keys[right] - keys[wrong] > 1
    mend(found, right, wrong, margin=1, whole=1, step=step)
    assert weights.tobytes() == random_weights(1).tobytes()


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
    mend_jobs(dependency.tables, found.state, chosen, right, wrong, False)
    wanted = before + max(0.0, 1 - direction @ before) / (direction @ direction) * direction
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
    edges = found.workspace.edges
    before = edges.score.copy()
    refresh(found, found.edges[-1])
    assert (edges.score == before).all()  # nothing has changed
    change_weights(found, 1)
    for edge in reversed(found.edges):  # the parts of each are renewed before it
        refresh(found, edge)
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
    waiting, scores = found.items, found.workspace.agenda.items["score"]
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
    scratch = found.workspace.scratch
    assert 0 < len(right_items(found)) < len(found.items)
    for seed in range(5):
        change_weights(found, seed)
        rate(dependency.tables, found.state, scratch.gold_items, 0, scratch.counters[NUM_GOLD], False)
        known = right_items(found)
        assert lowest_gold(found.state) == min(known, key=known.__getitem__)
    scratch.counters[NUM_GOLD] = 0
    assert lowest_gold(found.state) == -1


def test_right_items_are_put_where_they_belong(leaves_of_an_example: Searched, dependency: DependencyGrammar) -> None:
    found = leaves_of_an_example
    agenda, counters, waiting = found.workspace.agenda, found.workspace.scratch.counters, found.items
    change_weights(found, 1)
    nothing = learning(found.weights.size, margin=1, whole=1, step=0.0)
    for _ in range(2):  # the second time nothing has changed, and nothing is put there again
        mend_jobs(dependency.tables, found.state, nothing, waiting[0], waiting[1], False)
        assert counters[NUM_HEAP] == len(waiting) + len(right_items(found))
    on_heap = dict(
        zip(agenda.key[: counters[NUM_HEAP]].tolist(), agenda.item[: counters[NUM_HEAP]].tolist(), strict=True)
    )
    for item, wanted in right_items(found).items():
        assert agenda.items["queued"][item] == pytest.approx(wanted, abs=1e-4)
        assert on_heap[float(agenda.items["queued"][item])] == item
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
    assert keeps(state, edge, known) == kept
    # The same on the chart: both get one signature.
    chosen = learning(weights.size, margin=1, whole=1, step=np.inf)
    edges, slots = found.workspace.edges, found.workspace.chart.slots
    edges.structure[edge] = edges.structure[known]
    state.chart.inside[edge] = 0
    state.chart.members[: len(members) - 1] = [member for member in members if member != edge]
    counters = found.workspace.scratch.counters
    counters[NUM_CHART] = len(members) - 1
    slots[find_equivalent(dependency.tables, state, known)[1]] = known
    take_up(dependency.tables, state, chosen, edge)
    assert {*found.workspace.members.tolist()} == {*members} - {known if kept else edge}
    assert (weights.tobytes() != random_weights(1).tobytes()) == mended
    if mended:
        refresh(found, edge, known)
        ahead = edge_key(state, edge) - edge_key(state, known)
        assert ahead == pytest.approx(1.0 if right else -1.0, abs=1e-4)


@pytest.mark.parametrize("kept_leaves", [0, 1])
@pytest.mark.parametrize("by_size", [0, 1])
@pytest.mark.parametrize("wrong", [0, 1, 5])
def test_the_best_wrong_edge_of_the_beam_gives_way(
    wrong: int, by_size: int, kept_leaves: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    """A leaf that never falls off, and one of another size, are in nobody's way."""
    options: dict[str, float] = {"by_size": by_size, "keep_leaves": kept_leaves}
    found = Searched(dependency, BAGS["dependency"], random_weights(1), **options)
    state, counters, columns = found.state, found.workspace.scratch.counters, found.workspace.edges.columns
    order = sorted(found.workspace.members.tolist(), key=lambda edge: edge_key(state, edge))
    fallen = next(edge for edge in order if columns[edge, SIZE] == 2)
    members = [edge for edge in order if edge != fallen][-12:] + [edge for edge in order if columns[edge, SIZE] < 3][:6]
    members = [*dict.fromkeys(edge for edge in members if edge != fallen)]
    right = members[wrong:]
    state.chart.gold[:], state.chart.gold[members[:wrong]] = 1, 0
    state.chart.members[: len(members)], counters[NUM_CHART] = members, len(members)
    rivals = [
        edge
        for edge in members
        if edge not in right
        and not (kept_leaves and columns[edge, LEFT] < 0)
        and not (by_size and columns[edge, SIZE] != 2)
    ]
    assert best_wrong(state, fallen) == max(rivals, key=lambda edge: edge_key(state, edge), default=-1)


@pytest.mark.parametrize("beam", [3, 8])
@pytest.mark.parametrize("variants", [0, 1])
def test_no_right_edge_is_lost_to_a_beam(
    beam: int, variants: int, tree_bank: list[ConlluSentence], dependency: DependencyGrammar
) -> None:
    """All right edges that were taken up, and are part of no other yet, are on the chart."""
    options = kernel_options(ModelSettings(beam=beam, variants=variants))
    learner = Learner(dependency, options, METHODS["scaled-negatives"], bits=14, budget=3000)
    for tree in tree_bank * 2:
        example = dependency_example(tree, dependency, Given())
        learned = learner.learn(example)
        assert learned.found
        space = learner._workspace
        made = {int(space.edges.structure[edge]) for edge in space.members if space.chart.gold[edge]}
        assert {*example.gold[:-1]} <= made
