"""What is learned from little."""

from __future__ import annotations

import pytest

from comparison.transition.decoder import Decoder
from comparison.transition.grammar import Features, TransitionGrammar
from comparison.transition.learner import Learner
from comparison.transition.oracle import make_example
from comparison.transition.output import heads_of
from tests.comparison.transition.bank import trees


@pytest.mark.parametrize("templates", ["standard", "zgen"])
@pytest.mark.parametrize("shift_tags", [False, True])
@pytest.mark.parametrize("known", [(), ("pos",), ("pos", "units"), ("heads",)])
def test_two_sentences_are_learned_by_heart(templates: str, shift_tags: bool, known: tuple[str, ...]) -> None:
    grammar = TransitionGrammar.from_trees(trees(), Features(templates, shift_tags))
    examples = [make_example(tree, grammar, known) for tree in trees()[1:3]]
    learner = Learner(grammar, 8, 16)
    for _ in range(40):
        for example in examples:
            learner.learn(example)
    decoder = Decoder(grammar, learner.weights, 8)
    for tree, example in zip(trees()[1:3], examples, strict=True):
        decoded = decoder.search(example.prepared)
        assert decoded.words() == tree.forms
        if "units" not in known:
            assert heads_of(decoded.actions[0]) == list(tree.heads)
