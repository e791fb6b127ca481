"""Learning the orders of given trees: updates against a learner in plain Python, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from comparison.best_first.decoder import Decoder, Limits
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.given_tree import TreeBeams
from comparison.best_first.input import Given, bag_input, dependency_example
from comparison.best_first.learner import METHODS, Learner
from comparison.best_first.model import ModelSettings, kernel_options
from grammars.annotation import Annotation, sentence_to_bag, tree_to_sentence
from grammars.conllu import ConlluSentence, ConlluToken
from gyro.text.corpus import ROOT
from tests.comparison.best_first.twin import Arc, Tree, Word, vector

Weights = Callable[[int], NDArray[np.float32]]
WIDE, NARROW = TreeBeams(1000, 1000), TreeBeams(1, 1)
BITS, MOST_ITERATIONS = 14, 200


def sentence(heads: list[int], random: Random) -> ConlluSentence:
    """A sentence of different words, with tags at random."""
    rows = enumerate(heads)
    tokens = [ConlluToken(f"w{i}", f"w{i}", "X", random.choice(["NN", "DT", "VBZ"]), "_", h, "dep") for i, h in rows]
    return ConlluSentence(tuple(tokens), ())


def learner_of(
    grammar: DependencyGrammar, weights: NDArray[np.float32], beams: TreeBeams, method: str, step: float = 1.0
) -> Learner:
    options = kernel_options(ModelSettings())
    learner = Learner(grammar, options, METHODS[method], bits=BITS, step=step, trees=beams)
    learner.weights[:] = weights
    return learner


# ---- in plain Python, for a head and its dependents, each a leaf


class Twin:
    """A learner of one sentence whose words are all of one head."""

    def __init__(
        self, tree: ConlluSentence, grammar: DependencyGrammar, weights: NDArray[np.float32], beam: int, method: str
    ) -> None:
        self.grammar, self.weights, self.beam, self.method = grammar, weights.astype(np.float64), beam, METHODS[method]
        self.updates = 0
        self.leaves = [
            Tree(Word((i,), (token.form,), (token.xpos if token.xpos in grammar.tags else "<unknown>",), "", 0))
            for i, token in enumerate(tree.tokens)
        ]
        self.top = tree.heads.index(ROOT)
        rights = [i for i in range(len(self.leaves)) if i > self.top]
        lefts = [i for i in reversed(range(len(self.leaves))) if i < self.top]
        self.right = [self.leaves[self.top]]
        for place in [*rights, *lefts]:
            self.right.append(self.attached(self.right[-1], place, 0 if place > self.top else 1))

    def attached(self, tree: Tree, place: int, side: int) -> Tree:
        leaf = self.leaves[place]
        return Tree(Arc("", side), (tree, leaf) if side == 0 else (leaf, tree))

    def places(self, tree: Tree) -> list[int]:
        if isinstance(tree.rule, Word):
            return list(tree.rule.places)
        return [place for part in tree.parts for place in self.places(part)]

    def lacking(self, tree: Tree) -> list[int]:
        return [place for place in range(len(self.leaves)) if place not in self.places(tree)]

    def features(self, tree: Tree, complete: bool) -> NDArray[np.float64]:
        total = np.zeros(self.weights.size)
        for key, count in vector(tree, self.grammar, complete).items():
            total[key & (self.weights.size - 1)] += count
        return total

    def with_rest(self, tree: Tree) -> NDArray[np.float64]:
        """The features of a partial tree and of the leaves that it lacks."""
        lacking = self.lacking(tree)
        return self.features(tree, not lacking) + sum(self.features(self.leaves[place], False) for place in lacking)

    def value(self, tree: Tree) -> float:
        return float(self.with_rest(tree) @ self.weights)

    def mend(self, right: Tree, wrong: Tree) -> None:
        direction = self.with_rest(right) - self.with_rest(wrong)
        lead, step = float(direction @ self.weights), 1.0
        if self.method.margin:
            norm = float(direction @ direction)
            step = min(step, max(0.0, 1.0 - lead) / norm) if norm > 1e-9 else 0.0
        self.weights += step * direction
        self.updates += 1

    def learn(self) -> None:
        members = [self.leaves[self.top]]
        for step, right in enumerate(self.right):
            if right not in members:
                wrong = sorted(members, key=self.value)
                if wrong:
                    self.mend(right, wrong[-1])
                if len(members) == self.beam:
                    members.remove(wrong[0])
                members.append(right)
            if step + 1 < len(self.right):
                made = [
                    self.attached(tree, place, side)
                    for tree in members
                    for place in self.lacking(tree)
                    for side in ((0, 1) if 1 not in self.sides(tree) else (1,))
                ]
                members = sorted(made, key=self.value)[-self.beam :]
        wrong = sorted((tree for tree in members if tree != self.right[-1]), key=self.value)
        if wrong and self.value(wrong[-1]) >= self.value(self.right[-1]):
            self.mend(self.right[-1], wrong[-1])

    def sides(self, tree: Tree) -> list[int]:
        if not isinstance(tree.rule, Arc):
            return []
        return [tree.rule.side, *self.sides(tree.parts[tree.rule.side])]


@pytest.mark.parametrize("method", ["scaled-negatives", "large-margin"])
@settings(max_examples=40)
@given(size=st.integers(1, 5), seed=st.integers(0, 1000), beam=st.integers(1, 4))
def test_updates_are_those_of_plain_python(
    method: str, size: int, seed: int, beam: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    random = Random(seed)
    top = random.randrange(size)
    tree = sentence([ROOT if i == top else top for i in range(size)], random)
    twin = Twin(tree, dependency, random_weights(seed % 20), beam, method)
    twin.learn()
    learner = learner_of(dependency, random_weights(seed % 20), TreeBeams(beam, 1), method)
    learned = learner.learn(dependency_example(tree, dependency, Given(heads=True)))
    assert (learned.updates, learned.found) == (twin.updates, not twin.updates)
    np.testing.assert_allclose(learner.weights, twin.weights, rtol=0, atol=2e-4)


# ---- trees of any form


def random_tree(size: int, random: Random) -> ConlluSentence:
    """A projective one, whose words are in the order of their numbers."""
    heads = [ROOT, *(random.randrange(i) for i in range(1, size))]

    def build(top: int) -> list[int]:
        parts = [build(place) for place, head in enumerate(heads) if head == top] + [[top]]
        random.shuffle(parts)
        return [place for part in parts for place in part]

    order = build(0)
    place = {word: i for i, word in enumerate(order)}
    return sentence([ROOT if heads[word] == ROOT else place[heads[word]] for word in order], random)


@settings(max_examples=60)
@given(size=st.integers(1, 6), seed=st.integers(0, 10_000))
def test_with_wide_beams_something_is_mended_where_the_best_order_is_a_wrong_one(
    size: int, seed: int, dependency: DependencyGrammar, random_weights: Weights
) -> None:
    """The weights do not move by so small a step, so that the search for the best order has the same ones."""
    random = Random(seed)
    tree = random_tree(size, random)
    learner = learner_of(dependency, random_weights(seed % 7), WIDE, "perceptron", step=1e-30)
    learned = learner.learn(dependency_example(tree, dependency, Given(heads=True)))
    bag = bag_input(sentence_to_bag(tree_to_sentence(tree, "1"), Annotation(heads=1.0)))
    options = kernel_options(ModelSettings())._replace(scaled=0)
    best = Decoder(dependency, learner.weights, options, limits=Limits(1e6), trees=WIDE).decode(bag).words
    assert learner.weights.tobytes() == random_weights(seed % 7).tobytes()
    if learned.found:
        assert best == tree.forms
    if best != tree.forms:
        assert learned.updates
    if len({head for head in tree.heads if head != ROOT}) < 2:  # no order below the root's that may be wrong
        assert learned.found == (best == tree.forms)


@pytest.mark.parametrize("units", [False, True])
@pytest.mark.parametrize("beams", [NARROW, TreeBeams(4, 2)])
@pytest.mark.parametrize("method", METHODS)
def test_trees_are_learned(
    method: str, beams: TreeBeams, units: bool, tree_bank: list[ConlluSentence], dependency: DependencyGrammar
) -> None:
    learner = Learner(dependency, kernel_options(ModelSettings()), METHODS[method], bits=18, trees=beams)
    examples = [dependency_example(tree, dependency, Given(heads=True, units=units)) for tree in tree_bank]
    for _ in range(MOST_ITERATIONS):
        found = [learner.learn(example).found for example in examples]
        if all(found):
            break
    else:
        raise AssertionError("the training does not converge")
    decoder = Decoder(dependency, learner.weights, learner.options, limits=Limits(1e6), trees=beams)
    for tree in tree_bank:
        given_facts = Annotation(heads=1.0, units=units)
        decoded = decoder.decode(bag_input(sentence_to_bag(tree_to_sentence(tree, "1"), given_facts)))
        assert decoded.words == tree.forms


def test_equal_words_of_a_head_are_all_learned(dependency: DependencyGrammar) -> None:
    """Any of them may be the next one; after the updates one of the orders with the same words comes out."""
    words, heads = ["the", "dog", "sees", "the", "the", "the"], [1, 2, ROOT, 2, 2, 2]
    tags = {"the": "DT", "dog": "NN", "sees": "VBZ"}
    tree = ConlluSentence(
        tuple(ConlluToken(w, w, "X", tags[w], "_", h, "dep") for w, h in zip(words, heads, strict=True)), ()
    )
    learner = Learner(
        dependency, kernel_options(ModelSettings()), METHODS["scaled-negatives"], bits=18, trees=TreeBeams(2, 2)
    )
    example = dependency_example(tree, dependency, Given(heads=True))
    assert any(learner.learn(example).found for _ in range(MOST_ITERATIONS))
    decoder = Decoder(dependency, learner.weights, learner.options, limits=Limits(1e6), trees=TreeBeams(2, 2))
    bag = sentence_to_bag(tree_to_sentence(tree, "1"), Annotation(heads=1.0))
    assert decoder.decode(bag_input(bag)).words == tuple(words)


def test_sentences_without_all_heads_are_learned_by_agenda(
    tree_bank: list[ConlluSentence], dependency: DependencyGrammar
) -> None:
    results = []
    for beams in (TreeBeams(4, 2), None):
        learner = Learner(dependency, kernel_options(ModelSettings()), METHODS["perceptron"], bits=BITS, trees=beams)
        learned = [learner.learn(dependency_example(tree, dependency, Given())) for tree in tree_bank]
        results.append((learned, learner.weights.tobytes()))
    assert results[0] == results[1]
