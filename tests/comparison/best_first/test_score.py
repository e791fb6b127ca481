"""Scores of edges against KenLM's own, and against sums over trees in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Decoder, Limits
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.edge import NOTHING
from comparison.best_first.problem import Input
from comparison.best_first.score import (
    actions_of,
    edge_key,
    key_of,
    lm_ends,
    lm_gain,
    lm_state_after,
)
from comparison.best_first.state import VERSION
from lm.kenlm.model import KenlmModel
from tests.comparison.best_first.bags import bag
from tests.comparison.best_first.compiled import ending_of, rate, score_edge
from tests.comparison.best_first.enumeration import goals, has_all_words, no_limits
from tests.comparison.best_first.searched import Searched
from tests.comparison.best_first.twin import count_actions, score, words

Grammar = DependencyGrammar | CcgInventory
Weights = Callable[[int], NDArray[np.float32]]
Models = Callable[[int], KenlmModel]
FOREVER = Limits(seconds=1e6)

LM_BAGS = [
    bag("the dog barks ."),
    bag("the dog the xyzzy"),
    bag("she sees the old dog", units=((2, 3, 4),)),
    bag("the dog sees the dog", units=((0, 1), (3, 4))),
    bag("the? dog barks"),
    bag("the dog"),
]


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("given_bag", LM_BAGS)
def test_the_language_model_scores_edges_as_kenlm_does(
    order: int, given_bag: Input, dependency: DependencyGrammar, random_weights: Weights, language_models: Models
) -> None:
    model, weights = language_models(max(order, 2)), random_weights(5)
    decoder = Decoder(dependency, weights, no_limits(lm_weight=0.7), limits=FOREVER, language_model=model)
    decoded = decoder.decode(given_bag)
    workspace = decoder.workspace
    for edge in range(workspace.num_edges):
        string = decoder._derivation(edge, decoded.prepared.leaves).words
        wanted = -model.score(string, bos=False, eos=False)
        assert workspace.edges.lm[edge] == pytest.approx(wanted, abs=1e-4)
    for tree, key in list(goals(decoded, dependency).items())[:50]:
        assert key == pytest.approx(score(tree, dependency, weights, 0) - 0.7 * model.score(words(tree)), abs=1e-4)


@pytest.mark.parametrize("given_bag", [bag("dog"), bag("the dog", units=((0, 1),))])
def test_a_sentence_of_one_leaf_has_its_start_and_end(
    given_bag: Input, dependency: DependencyGrammar, language_models: Models
) -> None:
    model, weights = language_models(3), np.zeros(1 << 14, dtype=np.float32)
    decoder = Decoder(dependency, weights, no_limits(lm_weight=1.0), language_model=model)
    key, parts = decoder.decode(given_bag).hypotheses[0]
    assert key == pytest.approx(-model.score(parts[0].words), abs=1e-4)


def inner(model: KenlmModel, string: Sequence[str]) -> float:
    """The log-probability of words without what is before and after them."""
    return -model.score(string, bos=False, eos=False)


class Strings(NamedTuple):
    """Edges of one to six words, each of another string, and the model that scores them."""

    search: Searched
    model: KenlmModel
    edges: dict[int, tuple[str, ...]]


@pytest.fixture(scope="module", params=[2, 3, 4, 5])
def strings(request: pytest.FixtureRequest, dependency: DependencyGrammar, language_models: Models) -> Strings:
    """Three of the words are a unit, and one is unknown to the model."""
    model, weights = language_models(request.param), np.zeros(1 << 14, dtype=np.float32)
    given_bag = bag("she sees the old dog xyzzy", units=((2, 3, 4),), tokens={"pos": [*[None] * 5, "NN"]})
    search = Searched(dependency, given_bag, weights, language_model=model)
    found = {search.words(edge): edge for edge in search.edges}
    assert {len(string) for string in found} == {1, 2, 3, 4, 5, 6}
    return Strings(search, model, {edge: string for string, edge in list(found.items())[::2]})


def test_a_joint_adds_what_kenlm_adds(strings: Strings) -> None:
    search, model, known = strings
    alone = {edge: inner(model, string) for edge, string in known.items()}
    for left, right in product(known, repeat=2):
        wanted = inner(model, known[left] + known[right]) - alone[left] - alone[right]
        assert lm_gain(search.prepared.problem, search.workspace.edges, left, right) == pytest.approx(wanted, abs=1e-4)


def test_the_state_after_two_edges_scores_the_next_word_as_kenlm_does(strings: Strings) -> None:
    search, model, known = strings
    vocabulary = sorted({word for leaf in search.prepared.leaves for word in leaf.words})
    for left, right in product([*known][::2], repeat=2):
        string = known[left] + known[right]
        state = lm_state_after(search.prepared.problem, search.workspace.edges, left, right)
        wanted = [inner(model, (*string, word)) - inner(model, string) for word in vocabulary]
        assert search.prepared.problem.lm_score[state, 1:] == pytest.approx(wanted, abs=1e-4)


def test_start_and_end_add_what_kenlm_adds(strings: Strings) -> None:
    search, model, known = strings
    cases = [(NOTHING, NOTHING, rule, leaf.words) for rule, leaf in enumerate(search.prepared.leaves)]
    cases += [(edge, NOTHING, 0, string) for edge, string in known.items()]
    cases += [(left, right, 0, known[left] + known[right]) for left, right in product([*known][::2], repeat=2)]
    for left, right, rule, string in cases:
        wanted = -model.score(string) - inner(model, string)
        found = lm_ends(search.prepared.problem, search.workspace.edges, left, right, rule)
        assert found == pytest.approx(wanted, abs=1e-4)


SEARCHES = {
    "dependency": ("dependency", bag("the dog the barks")),
    "some left out": ("dependency", bag("the? dog*2 barks")),
    "labelled": ("labelled", bag("she sees the old dog", units=((2, 3, 4),))),
    "ccg": ("inventory", bag("the old dog sees she .")),
    "ccg, some left out": ("inventory", bag("old? dogs~ sleep~ .?")),
}


@pytest.mark.parametrize("weight", [0.0, 0.7])
@pytest.mark.parametrize("scaled", [0, 1])
@pytest.mark.parametrize("name", SEARCHES)
def test_scores_of_all_edges(
    name: str,
    scaled: int,
    weight: float,
    request: pytest.FixtureRequest,
    random_weights: Weights,
    language_models: Models,
) -> None:
    """A part, a whole sentence, and one that is part of a larger one."""
    fixture, given_bag = SEARCHES[name]
    grammar: Grammar = request.getfixturevalue(fixture)
    weights, model = random_weights(3), language_models(3)
    search = Searched(
        grammar, given_bag, weights, language_model=model, edges=400, scaled=scaled, lm_weight=weight, goals=100
    )
    state, edges = search.state, search.workspace.edges
    kinds = set()
    for edge in search.edges:
        tree, complete = search.tree(edge), search.is_complete(edge)
        kinds.add((complete, bool(tree.parts)))
        part = score(tree, grammar, weights, 0, False) + weight * inner(model, words(tree))
        whole = score(tree, grammar, weights, 0, True) - weight * model.score(words(tree))
        parts = edges.columns[edge, :3]
        assert edges.score[edge] == pytest.approx(whole if complete else part, abs=1e-4)
        assert score_edge(grammar.tables, state, *parts) == edges.score[edge]
        assert edges.ending[edge] == pytest.approx(whole - part if complete else 0.0, abs=1e-4)
        assert ending_of(grammar.tables, state, *parts) == edges.ending[edge]
        assert actions_of(edges, *parts[:2]) == count_actions(tree)
        actions = count_actions(tree) if scaled else 1
        assert edge_key(state, edge) == pytest.approx((whole if complete else part) / actions, abs=1e-4)
    assert {complete for complete, _ in kinds} == {False, True}


@pytest.mark.parametrize("name", SEARCHES)
def test_rating_renews_what_is_of_another_version_and_first_its_parts(
    name: str, request: pytest.FixtureRequest, random_weights: Weights
) -> None:
    fixture, given_bag = SEARCHES[name]
    grammar: Grammar = request.getfixturevalue(fixture)
    weights = random_weights(3)
    search = Searched(grammar, given_bag, weights, edges=400, goals=100)
    state, edges, items = search.state, search.workspace.edges, search.workspace.agenda.items
    jobs = np.array(search.edges[::-3], dtype=np.int64)
    rate(grammar.tables, state, jobs, 0, len(jobs), True)
    before = edges.score.copy()
    weights += np.float32(0.5)
    rate(grammar.tables, state, jobs, 0, len(jobs), True)
    assert (edges.score == before).all()  # nobody knows of the change
    state.scratch.counters[VERSION] += 1
    rate(grammar.tables, state, jobs, 1, 3, True)
    for edge in jobs[1:3]:
        tree, complete = search.tree(int(edge)), search.is_complete(int(edge))
        assert edges.score[edge] == pytest.approx(score(tree, grammar, weights, 0, complete), abs=1e-3)
        ending = edges.score[edge] - score(tree, grammar, weights, 0, False)
        assert edges.ending[edge] == pytest.approx(ending, abs=1e-3)
    assert edges.score[jobs[0]] == before[jobs[0]]
    waiting = np.array(search.items[:5], dtype=np.int64)
    rate(grammar.tables, state, waiting, 0, len(waiting), False)
    for item in waiting:
        tree = search.item_tree(int(item))
        wanted = score(tree, grammar, weights, 0, has_all_words(tree, given_bag, grammar))
        assert items["score"][item] == pytest.approx(wanted, abs=1e-3)
        assert items["version"][item] == 1


@pytest.mark.parametrize(("scaled", "wanted"), [(0, -6.0), (1, -1.5)])
def test_edges_are_compared_by_their_scores_or_by_the_mean_of_their_actions(scaled: int, wanted: float) -> None:
    assert key_of(no_limits(scaled=scaled), -6.0, 4) == wanted
