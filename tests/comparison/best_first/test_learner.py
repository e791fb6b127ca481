"""The learner: right derivations come out in the end, and each update is the one that the formula gives."""

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
from comparison.best_first.input import Given, ccg_example, dependency_example
from comparison.best_first.learner import METHODS, Example, Learner
from comparison.best_first.model import ModelSettings, kernel_options
from comparison.best_first.problem import Input, InputToken
from comparison.best_first.update import Learning, mend_edges, refresh
from grammars.ccg.derivation import Derivation, leaves
from grammars.ccg.derivation import words as words_of
from grammars.conllu import ConlluSentence
from tests.comparison.best_first.enumeration import no_limits
from tests.comparison.best_first.twin import Tree, canonical, count_actions, feature_hashes, vector

Grammar = DependencyGrammar | CcgInventory
Weights = Callable[[int], NDArray[np.float32]]
OPTIONS = kernel_options(ModelSettings())
BITS, MOST_ITERATIONS = 18, 300


def dependency_examples(trees: list[ConlluSentence], grammar: DependencyGrammar) -> list[Example]:
    return [dependency_example(tree, grammar, Given()) for tree in trees]


def converge(learner: Learner, examples: list[Example]) -> int:
    """Learn until nothing is left to be mended; return the iterations that it took."""
    for iteration in range(MOST_ITERATIONS):
        learned = [learner.learn(example) for example in examples]
        if not sum(result.updates for result in learned):
            assert all(result.found for result in learned)
            return iteration
    raise AssertionError("the training does not converge")


@pytest.mark.parametrize("method", METHODS)
def test_ten_trees_are_learned(method: str, tree_bank: list[ConlluSentence], dependency: DependencyGrammar) -> None:
    learner = Learner(dependency, OPTIONS, METHODS[method], bits=BITS)
    assert converge(learner, dependency_examples(tree_bank, dependency)) > 0
    decoder = Decoder(dependency, learner.weights, learner.options, limits=Limits(1e6))
    for tree in tree_bank:
        tokens = [InputToken((token.form,), pos=token.xpos) for token in tree.tokens]
        assert decoder.decode(Input(tuple(sorted(tokens, key=str)))).words == tree.forms


@pytest.mark.parametrize("dp", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_derivations_are_learned(
    method: str, dp: bool, derivation_bank: list[Derivation], inventory: CcgInventory
) -> None:
    grammar = CcgInventory(inventory.grammar, inventory.dictionary, ("NP",), dp)
    learner = Learner(grammar, OPTIONS, METHODS[method], bits=BITS)
    assert converge(learner, [ccg_example(tree, grammar) for tree in derivation_bank]) > 0
    decoder = Decoder(grammar, learner.weights, learner.options, limits=Limits(1e6))
    for tree in derivation_bank:
        tokens = [InputToken((leaf.word,), pos=leaf.pos) for leaf in leaves(tree)]
        assert decoder.decode(Input(tuple(sorted(tokens, key=str)))).words == words_of(tree)


@pytest.mark.parametrize(
    "given_facts",
    [Given(tags=False), Given(heads=True), Given(units=True), Given(tags=False, heads=True, units=True)],
)
def test_trees_are_learned_whatever_is_given(
    given_facts: Given, tree_bank: list[ConlluSentence], dependency: DependencyGrammar
) -> None:
    learner = Learner(dependency, OPTIONS, METHODS["scaled-negatives"], bits=BITS)
    examples = [dependency_example(tree, dependency, given_facts) for tree in tree_bank]
    converge(learner, examples)
    assert all(learner.learn(example).updates == 0 for example in examples)


@pytest.mark.parametrize("method", METHODS)
def test_learning_is_the_same_each_time_and_in_a_small_workspace(
    method: str, tree_bank: list[ConlluSentence], dependency: DependencyGrammar, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = dependency_examples(tree_bank, dependency)
    first, second = (Learner(dependency, OPTIONS, METHODS[method], bits=14) for _ in range(2))
    monkeypatch.setattr(workspace, "_FIRST_EDGES", 16)
    monkeypatch.setattr(workspace, "_FIRST_ITEMS", 64)
    third = Learner(dependency, OPTIONS, METHODS[method], bits=14)
    for example in examples * 2:
        results = [learner.learn(example) for learner in (first, second, third)]
        assert results[0] == results[1] == results[2]
    assert first.weights.tobytes() == second.weights.tobytes() == third.weights.tobytes()


def test_averages_are_means_over_sentences(tree_bank: list[ConlluSentence], dependency: DependencyGrammar) -> None:
    """The weights before the first sentence count as well."""
    learner = Learner(dependency, OPTIONS, METHODS["scaled-negatives"], bits=14)
    seen = [learner.weights.copy()]
    for example in dependency_examples(tree_bank, dependency) * 2:
        learner.learn(example)
        seen.append(learner.weights.copy())
        assert learner.averaged() == pytest.approx(np.mean(seen, axis=0, dtype=np.float64), abs=1e-5)


def test_a_budget_ends_the_search_for_a_sentence(
    tree_bank: list[ConlluSentence], dependency: DependencyGrammar
) -> None:
    example = dependency_example(tree_bank[3], dependency, Given())
    learner = Learner(dependency, OPTIONS, METHODS["scaled-negatives"], bits=14, budget=100)
    learned = learner.learn(example)
    assert not learned.found
    assert 100 <= learned.scored < 100 + 2 * 100 * dependency.most_rules


class Edges:
    """A finished search over a small bag: two of its edges, and how the learner would mend them."""

    def __init__(self, grammar: Grammar, given_bag: Input, weights: NDArray[np.float32], scaled: int) -> None:
        self.grammar = grammar
        self.weights = weights
        self.decoder = Decoder(grammar, weights, no_limits(scaled=scaled), limits=Limits(1e6))
        self.decoded = self.decoder.decode(given_bag)
        self.state = self.decoder._state(self.decoded.prepared)
        self.whole = {int(edge) for edge in self.decoder.workspace.goals}

    def tree(self, edge: int) -> Tree:
        return canonical(
            self.decoder._derivation(edge, self.decoded.prepared.leaves), self.grammar, self.decoded.prepared
        )

    def vector(self, edge: int, whole: bool) -> NDArray[np.float64]:
        """Features by weight; of the top alone unless `whole`."""
        tree = self.tree(edge)
        complete = edge in self.whole and len(tree.parts) == 2
        counts = (
            vector(tree, self.grammar, complete) if whole else Counter(feature_hashes(tree, self.grammar, complete))
        )
        found = np.zeros(self.weights.size)
        for key, count in counts.items():
            found[key & (self.weights.size - 1)] += count
        return found / (count_actions(tree) if self.state.options.scaled else 1)

    def mend(self, right: int, wrong: int, *, margin: int, whole: int, step: float = 1e9) -> None:
        size = self.weights.size
        learning = Learning(
            margin=margin,
            whole=whole,
            expand_wrong=0,
            step=step,
            clock=3.0,
            totals=np.zeros(size),
            change=np.zeros(size, dtype=np.float32),
            touched=np.zeros(1 << 17, dtype=np.int64),
            values=np.zeros(1 << 17),
        )
        before = self.weights.copy()
        mend_edges(self.grammar.tables, self.state, learning, right, wrong)
        assert not learning.change.any()
        assert learning.totals == pytest.approx(3.0 * (self.weights - before), abs=1e-4)


GRAMMAR_AND_BAG = {
    "dependency": Input(tuple(InputToken((word,)) for word in ["the", "dog", "the", "barks"])),
    "ccg": Input(tuple(InputToken((word,)) for word in ["the", "dog", "sees", "the", "cat", "."])),
}


@pytest.mark.parametrize("scaled", [0, 1])
@pytest.mark.parametrize("name", GRAMMAR_AND_BAG)
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
    edges = Edges(grammar, GRAMMAR_AND_BAG[name], weights, scaled)
    numbers = st.integers(0, edges.decoder.workspace.num_edges - 1)
    right, wrong = data.draw(st.tuples(numbers, numbers))
    direction = edges.vector(right, True) - edges.vector(wrong, True)
    norm = float(direction @ direction)
    if norm < 1e-6:
        return
    before = weights.astype(np.float64)
    lead = float(direction @ before)
    edges.mend(right, wrong, margin=1, whole=1)
    assert weights == pytest.approx(before + (1 - lead) / norm * direction, abs=1e-4)
    assert float(direction @ weights) == pytest.approx(1.0, abs=1e-4)
    keys = []
    for edge in (right, wrong):
        refresh(grammar.tables, edges.state, edge)
        keys.append(edges.state.edges.score[edge] / (count_actions(edges.tree(edge)) if scaled else 1))
    assert keys[0] - keys[1] == pytest.approx(1.0, abs=1e-4)


@settings(max_examples=15)
@given(data=st.data())
def test_a_perceptron_update_adds_the_right_top_and_takes_the_wrong_one(
    data: st.DataObject, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    weights = random_weights(data.draw(st.integers(0, 20)))
    edges = Edges(dependency, GRAMMAR_AND_BAG["dependency"], weights, 0)
    numbers = st.integers(0, edges.decoder.workspace.num_edges - 1)
    right, wrong = data.draw(st.tuples(numbers, numbers))
    before = weights.astype(np.float64)
    edges.mend(right, wrong, margin=0, whole=0, step=1.0)
    assert weights == pytest.approx(before + edges.vector(right, False) - edges.vector(wrong, False), abs=1e-4)
