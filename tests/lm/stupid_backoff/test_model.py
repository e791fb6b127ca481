from __future__ import annotations

import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.index.build import build_index
from gyro.index.reader import open_index
from lm.stupid_backoff.model import StupidBackoff
from tests.lm.stupid_backoff.definition import SENTENCES, SPLIT, STRINGS, WORDS, ByDefinition
from tests.lm.walking import walk


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
def test_scores_and_walkers_are_the_definition(
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
        walkers = model.walkers()
        for string in strings:
            assert model.score(string, start, end) == pytest.approx(expected.cost(string, start, end))
            known = [token for token in string if token in chosen]
            assert walk(walkers(words), words, known) == pytest.approx(expected.cost(known, True, True))


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
