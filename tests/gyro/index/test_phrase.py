from __future__ import annotations

import tempfile
from collections import Counter
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.index.build import build_index
from gyro.index.phrase import Phrase, PhraseSet, find_phrases
from gyro.index.reader import TextIndex, open_index
from gyro.text.bag import Bag
from gyro.text.corpus import Normalisation

SPLIT = Normalisation("none")
WORDS = ["a", "b", "c", "é"]
TEXT = [line.split() for line in ("the dog saw the cat", "the cat saw the dog", "the dog slept", "the the the")]


@pytest.fixture
def index(tmp_path: Path) -> TextIndex:
    build_index(TEXT, tmp_path / "index", normalisation=SPLIT)
    return open_index(tmp_path / "index")


def as_dict(phrases: PhraseSet) -> dict[tuple[str, ...], int]:
    return {phrase.words: phrase.count for phrase in phrases}


@settings(deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), min_size=1, max_size=15),
    st.lists(st.sampled_from([*WORDS, "0", "zz"]), max_size=6),
    st.integers(1, 6),
)
def test_phrases_are_those_of_brute_force(sentences: list[list[str]], tokens: list[str], max_order: int) -> None:
    in_text = Counter(tuple(s[i : i + n]) for s in sentences for n in range(1, 6) for i in range(len(s) - n + 1))
    from_bag = {order for n in range(1, min(max_order, 5) + 1) for order in permutations(tokens, n)}
    with tempfile.TemporaryDirectory() as folder:
        build_index(sentences, Path(folder, "index"), normalisation=SPLIT)
        bag = Bag(tuple(tokens))
        phrases = find_phrases(open_index(Path(folder, "index")), bag, max_order)
    assert as_dict(phrases) == {phrase: in_text[phrase] for phrase in from_bag if phrase in in_text}
    check_shape(phrases, max_order)
    assert phrases.words == bag.words


def check_shape(phrases: PhraseSet, max_order: int) -> None:
    assert len(phrases.grams) == len(phrases.counts) == max_order
    assert len(phrases) == len(list(phrases))
    for n, (rows, counts) in enumerate(zip(phrases.grams, phrases.counts, strict=True), 1):
        assert rows.shape == (len(counts), n)
        assert rows.dtype == np.int32
        assert counts.dtype == np.int64
        assert list(map(tuple, rows.tolist())) == sorted(set(map(tuple, rows.tolist())))


@pytest.mark.parametrize(
    ("tokens", "max_order", "expected"),
    [
        ("dog the", 5, {"dog": 2 + 1, "the": 8, "the dog": 3}),
        ("dog the saw the", 3, {"dog": 3, "saw": 2, "the": 8, "dog saw": 1, "saw the": 2, "the dog": 3, "the the": 2}
         | {"dog saw the": 1, "saw the dog": 1, "the dog saw": 1}),
        ("the the", 5, {"the": 8, "the the": 2}),
        ("cow dog", 1, {"dog": 3}),
        ("cow", 5, {}),
        ("", 2, {}),
    ],
)  # fmt: skip
def test_repeated_words_count(index: TextIndex, tokens: str, max_order: int, expected: dict[str, int]) -> None:
    phrases = find_phrases(index, Bag(tuple(tokens.split())), max_order)
    assert as_dict(phrases) == {tuple(phrase.split()): count for phrase, count in expected.items()}
    check_shape(phrases, max_order)


def test_orders_beyond_the_index_are_empty(index: TextIndex) -> None:
    phrases = find_phrases(index, Bag(("the", "dog")), 7)
    check_shape(phrases, 7)
    with pytest.raises(ValueError, match="found the order 0"):
        find_phrases(index, Bag(("the", "dog")), 0)


def test_of_lengths(index: TextIndex) -> None:
    phrases = find_phrases(index, Bag(tuple(TEXT[0])))
    for low, high in ((1, 5), (2, 3), (3, 5), (6, 9)):
        some = phrases.of_lengths(low, high)
        assert as_dict(some) == {p.words: p.count for p in phrases if low <= len(p.words) <= high}
        check_shape(some, 5)


def test_with_unigrams() -> None:
    phrases = PhraseSet.from_phrases(("a", "b", "c"), {("b",): 4, ("c", "a"): 2})
    more = phrases.with_unigrams([2, 1, 2])
    assert list(more) == [Phrase(("b",), 4), Phrase(("c",), 0), Phrase(("c", "a"), 2)]
    check_shape(more, 2)
    assert as_dict(phrases.with_unigrams([])) == as_dict(phrases)
    assert [p.words for p in phrases.of_lengths(2, 2).with_unigrams(range(3))] == [("a",), ("b",), ("c",), ("c", "a")]
    for bad in (-1, 3):
        with pytest.raises(ValueError, match="0 to 2 are allowed"):
            phrases.with_unigrams([bad])


@given(st.dictionaries(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(tuple), st.integers(0, 1 << 40)))
def test_from_phrases_keeps_all(given_phrases: dict[tuple[str, ...], int]) -> None:
    phrases = PhraseSet.from_phrases(WORDS, given_phrases)
    assert as_dict(phrases) == given_phrases
    check_shape(phrases, max(map(len, given_phrases), default=1))


@pytest.mark.parametrize("phrase", [(), ("a", "z")])
def test_phrases_of_other_words_are_refused(phrase: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="one or more of the bag's words are allowed"):
        PhraseSet.from_phrases(WORDS, {phrase: 1})
