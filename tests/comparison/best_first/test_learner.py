"""The learner: right derivations come out in the end. For what an update does see test_update.py."""

from __future__ import annotations

import numpy as np
import pytest

from comparison.best_first import workspace
from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Decoder, Limits
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.input import Given, ccg_example, dependency_example
from comparison.best_first.learner import METHODS, Example, Learner
from comparison.best_first.model import ModelSettings, kernel_options
from comparison.best_first.problem import Input, InputToken, prepare
from comparison.best_first.template import TEMPLATE_SETS
from grammars.ccg.derivation import Derivation, leaves
from grammars.ccg.derivation import words as words_of
from grammars.conllu import ConlluSentence

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


@pytest.mark.parametrize("templates", TEMPLATE_SETS)
@pytest.mark.parametrize("method", METHODS)
def test_ten_trees_are_learned(method: str, templates: str, tree_bank: list[ConlluSentence]) -> None:
    dependency = DependencyGrammar.from_trees(tree_bank, templates=templates)
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


def test_without_averaging_the_last_weights_are_kept(
    tree_bank: list[ConlluSentence], dependency: DependencyGrammar
) -> None:
    learners = [Learner(dependency, OPTIONS, METHODS["perceptron"], bits=14, average=each) for each in (False, True)]
    for example in dependency_examples(tree_bank, dependency):
        for learner in learners:
            learner.learn(example)
    last, averaged = (learner.averaged() for learner in learners)
    assert last.tobytes() == learners[0].weights.tobytes() == learners[1].weights.tobytes()
    assert last.tobytes() != averaged.tobytes()
    learners[0].learn(dependency_examples(tree_bank, dependency)[5])
    assert last.tobytes() != learners[0].weights.tobytes()  # it was a copy


@pytest.mark.parametrize(("step", "wanted"), [(0.25, 0.25), (0.0, np.inf)])
def test_the_first_step_is_the_largest_allowed_or_what_is_needed(
    step: float, wanted: float, tree_bank: list[ConlluSentence], dependency: DependencyGrammar
) -> None:
    """With weights of 0 a step of 1 / |difference|² is needed."""
    learner = Learner(dependency, OPTIONS, METHODS["large-margin"], bits=18, step=step)
    learner.learn(dependency_example(tree_bank[0], dependency, Given()))
    changes = np.abs(learner.totals[learner.totals != 0])
    assert changes.size
    assert (changes <= wanted * 100).all()
    other = Learner(dependency, OPTIONS, METHODS["large-margin"], bits=18, step=1e-6)
    other.learn(dependency_example(tree_bank[0], dependency, Given()))
    assert np.abs(other.totals).max() < changes.max()


def test_long_sentences_have_a_larger_budget(dependency: DependencyGrammar) -> None:
    learner = Learner(dependency, OPTIONS, METHODS["scaled-negatives"], bits=14, budget=1000)
    for size, wanted in ((1, 1000), (20, 1000), (21, 1102), (40, 4000), (100, 25_000)):
        tokens = tuple(InputToken((f"w{number % 60}",), pos="NN") for number in range(size))  # some words twice
        assert learner.budget_of(Example(prepare(Input(tokens), dependency), ())) == wanted


def test_a_budget_ends_the_search_for_a_sentence(
    tree_bank: list[ConlluSentence], dependency: DependencyGrammar
) -> None:
    example = dependency_example(tree_bank[3], dependency, Given())
    learner = Learner(dependency, OPTIONS, METHODS["scaled-negatives"], bits=14, budget=100)
    learned = learner.learn(example)
    assert not learned.found
    assert 100 <= learned.scored < 100 + 2 * 100 * dependency.most_rules
