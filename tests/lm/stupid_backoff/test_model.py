from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.index.build import build_index
from gyro.index.reader import open_index
from gyro.text.corpus import Normalisation
from lm.stupid_backoff.model import UNSEEN, StupidBackoff

SPLIT = Normalisation("none")
TEXT = [line.split() for line in ("the dog saw the cat", "the cat saw the dog", "the dog slept", "why")]
WORDS = ["a", "b", "c", "d"]
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS[:3]), min_size=1, max_size=7), min_size=1, max_size=12)
STRINGS = st.lists(st.lists(st.sampled_from(WORDS), max_size=9), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> StupidBackoff:
    path = tmp_path_factory.mktemp("text") / "index"
    build_index(TEXT, path, normalisation=SPLIT)
    return StupidBackoff(open_index(path))


class ByDefinition:
    """Equation 5 of Brants et al. over a Counter."""

    def __init__(self, sentences: Sequence[Sequence[str]], order: int, alpha: float) -> None:
        marked = [("<s>", *sentence, "</s>") for sentence in sentences]
        self.order, self.alpha = order, alpha
        self.counts = Counter(s[i:j] for s in marked for i in range(len(s)) for j in range(i + 1, len(s) + 1))
        self.total = sum(map(len, sentences)) + len(sentences)

    def s(self, word: str, history: tuple[str, ...]) -> float:
        if not history:
            return (self.counts[word,] or UNSEEN) / self.total
        if self.counts[*history, word]:
            return self.counts[*history, word] / self.counts[history]
        return self.alpha * self.s(word, history[1:])

    def cost(self, tokens: Sequence[str], bos: bool, eos: bool) -> float:
        words, cost = ("<s>", *tokens) if bos else tuple(tokens), 0.0
        words = (*words, "</s>") if eos else words
        for i in range(int(bos), len(words)):
            cost -= math.log(self.s(words[i], words[max(0, i - self.order + 1) : i]))
        return cost


def walk(model: StupidBackoff, words: Sequence[str], tokens: Sequence[str]) -> float:
    walker = model.walkers()(words)
    contexts, cost = np.array([walker.start]), 0.0
    for token in tokens:
        contexts, step = walker.step(contexts, np.array([words.index(token)]))
        cost += float(step[0])
    return cost + float(walker.end(contexts)[0])


@pytest.mark.parametrize(
    ("tokens", "scores"),
    [
        # 14 tokens and 4 ends of sentences; f(<s>) = 4, f(<s> the) = 3, f(<s> the dog) = 2, f(the dog) = 3.
        ("the dog slept", [3 / 4, 2 / 3, 1 / 2, 1 / 1]),
        ("why", [1 / 4, 1 / 1]),
        ("", [0.4 * 4 / 18]),
        # slept: not after <s> the dog saw, nor after any shorter end of it: four words are dropped.
        ("the dog saw slept", [3 / 4, 2 / 3, 1 / 2, 0.4**4 * 1 / 18, 1.0 * 0.4**3]),
        # cow was never seen; after it, the history is unknown but still dropped word by word.
        ("cow the", [0.4 * 0.5 / 18, 0.4**2 * 5 / 18, 0.4**3 * 4 / 18]),
        ("dog saw the cat", [0.4 * 3 / 18, 0.4 * 1 / 3, 0.4 * 1.0, 0.4 * 1.0, 1.0]),
    ],
)
def test_the_formula_by_hand(model: StupidBackoff, tokens: str, scores: list[float]) -> None:
    assert model.score(tokens.split()) == pytest.approx(-sum(map(math.log, scores)))


@settings(deadline=None, max_examples=60)
@given(
    SENTENCES, STRINGS, st.integers(1, 5), st.sampled_from([0.4, 0.1, 1.0]), st.sets(st.sampled_from(WORDS)),
    st.booleans(), st.booleans(),
)  # fmt: skip
def test_scores_acceptors_and_walkers_are_the_definition(
    sentences: list[list[str]],
    strings: list[list[str]],
    order: int,
    alpha: float,
    chosen: set[str],
    start: bool,
    end: bool,
) -> None:
    words = sorted(chosen)
    expected = ByDefinition(sentences, order, alpha)
    with tempfile.TemporaryDirectory() as folder:
        build_index(sentences, Path(folder, "index"), normalisation=SPLIT)
        model = StupidBackoff(open_index(Path(folder, "index")), order, alpha)
        acceptor = model.acceptor(words, start=start, end=end)
        for string in strings:
            assert model.score(string, start, end) == pytest.approx(expected.cost(string, start, end))
            known = [token for token in string if token in chosen]
            assert acceptor.score(known) == pytest.approx(expected.cost(known, start, end))
            assert walk(model, words, known) == pytest.approx(expected.cost(known, True, True))


def test_contexts_that_nothing_continues_are_no_states(model: StupidBackoff) -> None:
    assert model.acceptor(("why",), start=False).num_states == 5  # a history of 0 to 4 words, which ends in "why"
    assert StupidBackoff(model.index, 1).acceptor(("the", "dog")).num_states == 1
    small, large = model.acceptor(("the", "zebra")), model.acceptor(("dog", "saw", "the", "zebra"))
    assert small.num_states < large.num_states


def test_what_a_model_says_of_itself(model: StupidBackoff) -> None:
    assert (model.order, model.normalisation) == (5, SPLIT)
    others = [StupidBackoff(model.index, 4), StupidBackoff(model.index, alpha=0.5)]
    assert len({model.signature, *(other.signature for other in others)}) == 3
    assert StupidBackoff(model.index, 5).signature == model.signature
    assert "order 5" in repr(model)


@pytest.mark.parametrize(("order", "alpha"), [(0, 0.4), (6, 0.4), (5, 0.0), (5, 1.5), (5, float("nan"))])
def test_bad_numbers(model: StupidBackoff, order: int, alpha: float) -> None:
    with pytest.raises(InputError, match="is allowed"):
        StupidBackoff(model.index, order, alpha)


def test_marks_are_no_words_of_a_bag(model: StupidBackoff) -> None:
    with pytest.raises(InputError, match="found the word '</s>'"):
        model.acceptor(("a", "</s>"))
