"""Perceptron updates by hand, and against those of plain Python."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from comparison.transition.grammar import TransitionGrammar
from comparison.transition.learner import Learner
from comparison.transition.oracle import Example, make_example
from comparison.transition.problem import BEGIN
from grammars.conllu import ConlluSentence, ConlluToken
from tests.comparison.transition.bank import trees, twin_actions, twin_begin
from tests.comparison.transition.twin import Feature, early_update, feature_place, model_score

BITS = 16
SIZE = 1 << BITS


def sentence(*tokens: tuple[str, str, int]) -> ConlluSentence:
    return ConlluSentence(tuple(ConlluToken(form, xpos=tag, head=head) for form, tag, head in tokens))


def example(tree: ConlluSentence, *known: str) -> Example:
    return make_example(tree, TransitionGrammar.from_trees(trees()), known)


def changed(learner: Learner) -> dict[int, float]:
    return {int(place): float(learner.weights[place]) for place in np.flatnonzero(learner.weights)}


# The state of "a/X b/Y" with both on the stack, feature by feature.
BOTH: list[Feature] = [
    (1, ("b",)), (2, ("Y",)), (31, ("a",)), (32, ("X",)),
    (61, ("b", "a")), (62, ("b", "X")), (63, ("Y", "a")), (64, ("Y", "X")),
    (65, ("b",)), (66, ("Y",)), (67, ("a", "b")), (68, ("X", "Y")), (69, (BEGIN, "a", "b")), (70, (BEGIN, "X", "Y")),
]  # fmt: skip
BEGINNING: list[Feature] = [
    *((number, (BEGIN,)) for number in (1, 2, 31, 32, 65, 66)),
    *((number, (BEGIN, BEGIN)) for number in (61, 62, 63, 64, 67, 68)),
    *((number, (BEGIN, BEGIN, BEGIN)) for number in (69, 70)),
]


def test_a_wrong_arc_at_the_end() -> None:
    """Without weights a beam of one makes a left arc of the first two words; the tree has a right one."""
    learner = Learner(TransitionGrammar.from_trees(trees()), 1, BITS)
    learned = learner.learn(example(sentence(("a", "X", -1), ("b", "Y", 0)), "pos"))
    assert (learned.found, learned.updates) == (False, 1)
    expected = {feature_place(f, ("right",), SIZE): 1.0 for f in BOTH}
    expected |= {feature_place(f, ("left",), SIZE): -1.0 for f in BOTH}
    assert changed(learner) == expected
    assert np.array_equal(learner.totals, learner.weights)  # all of it at the first tick
    assert np.array_equal(learner.averaged(), learner.weights / 2)


def test_a_wrong_word_at_the_start_ends_the_search_there() -> None:
    """Of equal scores that of the word that is first in the alphabet counts; the sentence starts with the other."""
    learner = Learner(TransitionGrammar.from_trees(trees()), 1, BITS)
    learner.learn(example(sentence(("b", "Y", 1), ("a", "X", -1)), "pos"))
    expected = {feature_place(f, ("shift", "b", "Y"), SIZE): 1.0 for f in BEGINNING}
    expected |= {feature_place(f, ("shift", "a", "X"), SIZE): -1.0 for f in BEGINNING}
    assert changed(learner) == expected
    # Now it starts well, and goes on to the end.
    learned = learner.learn(example(sentence(("b", "Y", 1), ("a", "X", -1)), "pos"))
    assert learned.found
    assert changed(learner) == expected


@pytest.mark.parametrize("known", [(), ("pos",)])
@pytest.mark.parametrize("beam", [1, 4])
def test_weights_and_averages_are_those_of_plain_python(known: tuple[str, ...], beam: int) -> None:
    examples = [example(tree, *known) for tree in trees() if len(tree.tokens) <= 5]
    learner = Learner(TransitionGrammar.from_trees(trees()), beam, BITS)
    plain: dict[int, float] = defaultdict(float)
    after: list[dict[int, float]] = []
    for each in examples * 4:
        weights = np.zeros(SIZE, dtype=np.float32)
        weights[list(plain)] = list(plain.values())
        right = twin_actions(each.prepared, each.right)
        changes = early_update(twin_begin(each.prepared), right, model_score(weights), beam)
        assert learner.learn(each).found == (not changes)
        for feature, action, by in changes:
            plain[feature_place(feature, action, SIZE)] += by
        assert changed(learner) == {place: value for place, value in plain.items() if value}
        after.append(dict(plain))
    for place in plain:
        mean = sum(weights.get(place, 0.0) for weights in after) / (len(after) + 1)  # and those of the start, 0
        assert learner.averaged()[place] == pytest.approx(mean, abs=1e-5)
