"""The log-probabilities of a language model in the score of a shift, against the model's own scores."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from comparison.transition.decoder import Decoder
from comparison.transition.grammar import Features, TransitionGrammar
from comparison.transition.problem import Given
from gyro.errors import InputError
from lm.kenlm.model import KenlmModel
from tests.comparison.transition.bank import plain, trees, twin_begin
from tests.comparison.transition.twin import Action, State, beam

NO_WEIGHTS = np.zeros(1 << 10, dtype=np.float32)


def grammar_of(weight: float) -> TransitionGrammar:
    return TransitionGrammar.from_trees(trees(), Features(lm_weight=weight))


def gain(model: KenlmModel, words: tuple[str, ...]) -> float:
    """What the words cost one by one, less what they cost in this order."""
    return sum(model.score([word], bos=False, eos=False) for word in words) - model.score(words, eos=False)


@pytest.mark.parametrize("weight", [0.5, 3.0])
def test_an_unlimited_beam_has_the_optimum_of_the_model(weight: float, model: KenlmModel) -> None:
    tokens = ("the", "old", "dog", "barks")
    decoded = Decoder(grammar_of(weight), NO_WEIGHTS, 100_000, model).decode(plain(" ".join(tokens)))
    best = min(permutations(tokens), key=lambda order: model.score(order, eos=False))
    assert decoded.words() == best
    assert decoded.scores[0] == pytest.approx(weight * gain(model, best), abs=1e-4)


def test_a_unit_pays_for_all_its_words(model: KenlmModel) -> None:
    given = Given(("sees", "the", "cat", "she"), (None,) * 4, (None,) * 4, ((1, 2),))
    decoded = Decoder(grammar_of(1.0), NO_WEIGHTS, 100_000, model).decode(given)
    for order, score in zip(range(len(decoded.scores)), decoded.scores, strict=True):
        words = decoded.words(order)
        assert words[words.index("the") + 1] == "cat"
        assert score == pytest.approx(gain(model, words), abs=1e-4)


@pytest.mark.parametrize("size", [1, 4, 32])
def test_a_beam_keeps_what_a_plain_beam_keeps(size: int, model: KenlmModel) -> None:
    decoded = Decoder(grammar_of(2.0), NO_WEIGHTS, size, model).decode(plain("the old dog saw cats"))

    def score(state: State, action: Action) -> float:
        if action[0] != "shift":
            return 0.0
        before = tuple(word for word, _ in state.words)
        # Rounded, so that what is equal but for the last places is equal; arcs make many equal scores.
        return float(np.float32(2 * (gain(model, (*before, action[1])) - gain(model, before))))

    expected = beam(twin_begin(decoded.prepared), score, size)
    assert decoded.scores == pytest.approx([total for total, _ in expected], abs=1e-4)


def test_words_that_the_model_does_not_know_have_finite_scores(model: KenlmModel) -> None:
    decoded = Decoder(grammar_of(1.0), NO_WEIGHTS, 8, model).decode(plain("dog zzz yyy"))
    assert np.all(np.isfinite(decoded.scores))


@pytest.mark.parametrize("weight", [-1.0, float("inf"), float("nan")])
def test_weights_are_numbers_from_0_on(weight: float) -> None:
    with pytest.raises(InputError, match=f"found lm_weight {weight}; a number from 0 on is allowed"):
        Features(lm_weight=weight)
