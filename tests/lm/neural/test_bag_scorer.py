from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from gyro.text.detokenise import Glue, glue, spaced
from lm.neural import model as module
from lm.neural import plain
from lm.neural.bag_scorer import BagScorer
from lm.neural.model import NeuralModel
from lm.neural.prefixes import Prefixes
from lm.neural.weights import Pieces
from tests.lm.neural.shuffled import KINDS, Checkpoints, Models


@pytest.fixture(params=KINDS)
def exact_twin(request: pytest.FixtureRequest, checkpoints: Checkpoints) -> NeuralModel:
    """A model whose eight bits are float32, so that what a scorer says can be compared with the plain computation."""
    model = NeuralModel(checkpoints(request.param))
    model._engines["int8"] = model.engine(exact=True)
    return model


def bag_strings(words: Sequence[str], counts: Sequence[int], number: int) -> list[tuple[int, ...]]:
    dice = random.Random(5)
    tokens = [word for word, count in enumerate(counts) for _ in range(count)]
    return [tuple(dice.sample(tokens, len(tokens))) for _ in range(number)]


BAG = (["the", "cat", "did", "n't", "know", ".", '"', "-"], [2, 1, 1, 1, 1, 1, 2, 1])


def test_a_scorer_gives_the_costs_of_the_model(neural_models: Models) -> None:
    words, counts = BAG
    model, strings = neural_models("gemma3"), bag_strings(words, counts, 30)
    scorer = BagScorer(model, words)
    tokens = [[words[word] for word in string] for string in strings]
    rough, computed = model.count_costs(tokens, exact=False)
    assert scorer.score(strings).costs.tolist() == rough.tolist()
    assert scorer.computed == computed
    exact, more = model.count_costs(tokens[:5])
    assert scorer.decide(strings[:5]).tolist() == exact.tolist()
    assert scorer.computed == computed + more


def test_each_beginning_is_told_once(neural_models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    words, counts = BAG
    strings = bag_strings(words, counts, 40)
    scorer = BagScorer(neural_models("llama"), words)
    monkeypatch.setattr(module, "MOST_NODES", 60)  # so that there are several batches
    told = [scorer.score(some) for some in (strings[:15], strings[10:30], strings)]
    prefixes = [prefix for scored in told for prefix in scored.prefixes]
    assert len(prefixes) == len(set(prefixes))
    assert set(prefixes) == {string[:length] for string in strings for length in range(len(string) + 1)}
    assert all(scored.next_cost.shape == (len(scored.prefixes), len(words) + 1) for scored in told)


def test_what_may_follow_a_beginning(exact_twin: NeuralModel) -> None:
    words, counts = BAG
    strings = bag_strings(words, counts, 12)
    scored = BagScorer(exact_twin, words).score(strings)
    checkpoint = exact_twin.checkpoint
    weights = checkpoint.read_weights()
    for prefix, row in zip(scored.prefixes, scored.next_cost, strict=True):
        left = np.array(counts) - np.bincount(prefix, minlength=len(words)) if prefix else np.array(counts)
        assert np.isnan(row).tolist() == [*(left == 0).tolist(), len(prefix) < sum(counts)]
        pieces = pieces_of_beginning(
            checkpoint.tokenizer, next(s for s in strings if s[: len(prefix)] == prefix), prefix
        )
        behind = -plain.log_probabilities(weights, [checkpoint.start, *pieces], np.float64)[-1]
        wanted = [behind[next_piece(checkpoint.tokenizer, prefix, word, behind)] for word in np.flatnonzero(left)]
        wanted += [behind[checkpoint.end]] if len(prefix) == sum(counts) else []
        np.testing.assert_allclose(row[~np.isnan(row)], wanted, atol=1e-3)


def pieces_of_beginning(tokenizer: Pieces, string: Sequence[int], prefix: Sequence[int]) -> list[int]:
    """Those of the whole string that end within the text of its beginning."""
    parts = spaced([BAG[0][word] for word in string])
    [(pieces, ends)] = tokenizer.encode(["".join(parts)])
    limit = len("".join(parts[: len(prefix)]))
    return [piece for piece, end in zip(pieces, ends, strict=True) if end <= limit and limit]


def next_piece(tokenizer: Pieces, prefix: Sequence[int], word: int, behind: np.ndarray) -> int:
    """The first piece of a word behind a beginning, in the text of the last two words; the better if that is open."""
    words = BAG[0]
    if not prefix:
        return tokenizer.encode([words[word]])[0][0][0]
    last = words[prefix[-1]]
    found = []
    for kind, blank in ((Glue.NONE, ""), (Glue.BLANK, " ")):
        if glue(last, words[word]) in (kind, Glue.OPEN):
            [(pieces, ends)] = tokenizer.encode([f"{last}{blank}{words[word]}"])
            found.append(next(piece for piece, end in zip(pieces, ends, strict=True) if end > len(last)))
    return min(found, key=lambda piece: behind[piece])


class WithoutControls:
    """A tokenizer without pieces for control characters, as that of the default model is."""

    def __init__(self, tokenizer: Pieces) -> None:
        self.tokenizer = tokenizer

    def encode(self, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        found = []
        for text, (pieces, ends) in zip(texts, self.tokenizer.encode(texts), strict=True):
            kept = [(piece, end) for piece, end in zip(pieces, ends, strict=True) if text[end - 1] >= " "]
            found.append(([piece for piece, _ in kept], [end for _, end in kept]))
        return found


def test_a_word_without_pieces_costs_nothing(checkpoints: Checkpoints) -> None:
    checkpoint = checkpoints("llama")
    model = NeuralModel(replace(checkpoint, tokenizer=WithoutControls(checkpoint.tokenizer)))
    scored = BagScorer(model, ["the", "\x01"]).score([(0, 1), (1, 0)])
    assert scored.next_cost[scored.prefixes.index(()), 1] == 0
    assert model.costs([["\x01"]]).tolist() == model.costs([[]]).tolist()
    assert Prefixes(model).extend([0], [["\x01"]])[1].tolist() == [0]
