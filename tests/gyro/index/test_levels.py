from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.index.levels import ArrayWriter, LevelSource, merge_level, sort_chunk
from gyro.index.reader import counts_name, keys_name
from tests.gyro.index.small_text import SENTENCES, count_ngrams

Grams = Counter[tuple[int, ...]]
Levels = dict[int, tuple[list[int], list[int]]]  # keys and counts by order
ORDER = 4


def levels(grams: Grams, num_words: int) -> Levels:
    """By the definition: an n-gram's key is the rank of its first n-1 words, times the words, plus its last word."""
    found = {}
    ranks = {(word,): word for word in range(num_words)}
    for n in range(2, ORDER + 1):
        these = sorted(gram for gram in grams if len(gram) == n)
        found[n] = ([ranks[gram[:-1]] * num_words + gram[-1] for gram in these], [grams[gram] for gram in these])
        ranks = {gram: rank for rank, gram in enumerate(these)}
    return found


def numbered(sentences: Sequence[Sequence[str]], words: Sequence[str]) -> Grams:
    """The n-grams of a text with its words as numbers."""
    return Counter({tuple(map(words.index, gram)): n for gram, n in count_ngrams(sentences, ORDER).items()})


def vocabulary(sentences: Sequence[Sequence[str]]) -> list[str]:
    return sorted({"<s>", "</s>", *(word for sentence in sentences for word in sentence)})


def test_an_array_grows_piece_by_piece(tmp_path: Path) -> None:
    pieces = [np.arange(size, dtype=np.uint64) for size in (3, 0, 100_000, 1)]
    with ArrayWriter(tmp_path / "a.npy", "<u4") as file:
        for piece in pieces:
            file.append(piece)
    assert file.length == 100_004
    stored = np.load(tmp_path / "a.npy", allow_pickle=False)
    assert stored.dtype == np.uint32
    assert np.array_equal(stored, np.concatenate(pieces))
    np.save(tmp_path / "b.npy", stored)
    assert (tmp_path / "a.npy").stat().st_size == (tmp_path / "b.npy").stat().st_size


def test_an_array_that_fails_does_not_pass_for_a_whole_one(tmp_path: Path) -> None:
    def fail() -> None:
        with ArrayWriter(tmp_path / "a.npy", "<u8") as file:
            file.append(np.arange(5))
            raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        fail()
    assert np.load(tmp_path / "a.npy", allow_pickle=False).size == 0


@settings(max_examples=60)
@given(SENTENCES, st.floats(0, 1))
def test_a_chunk_has_the_ngrams_that_start_in_it(sentences: list[list[str]], share: float) -> None:
    words = vocabulary(sentences)
    marked = [[words.index(word) + 1 for word in ("<s>", *s, "</s>")] + [0] for s in sentences if s]
    tokens = [token for sentence in marked for token in sentence]
    owned = round(share * len(tokens))
    expected: Grams = Counter()
    for start in range(owned):
        end = tokens.index(0, start)
        expected.update(
            tuple(t - 1 for t in tokens[start : start + n]) for n in range(1, ORDER + 1) if start + n <= end
        )
    array = np.array([*tokens, *[0] * ORDER], np.int32)
    found = {n: (k.tolist(), c.tolist()) for n, k, c in sort_chunk(array, owned, ORDER, len(words), "<u4")}
    assert found == levels(expected, len(words))


def write_source(folder: Path, sentences: Sequence[Sequence[str]], merged: list[str]) -> LevelSource:
    """The levels of one text, to be merged under the numbers of the words of all."""
    words = vocabulary(sentences)
    folder.mkdir()
    sizes = [len(words)]
    for n, (keys, counts) in levels(numbered(sentences, words), len(words)).items():
        np.save(folder / keys_name(n), np.array(keys, np.uint64))
        np.save(folder / counts_name(n), np.array(counts, np.uint32))
        sizes.append(len(keys))
    return LevelSource(folder, sizes, len(merged), np.array([merged.index(word) for word in words]), folder / "ranks")


@settings(max_examples=60)
@given(st.lists(SENTENCES, min_size=1, max_size=3), st.sampled_from([1, 2, 7, 1000]))
def test_merged_levels_are_those_of_all_texts(texts: list[list[list[str]]], block: int) -> None:
    everything = [sentence for text in texts for sentence in text]
    merged = vocabulary(everything)
    expected = levels(numbered(everything, merged), len(merged))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = [write_source(folder / str(number), text, merged) for number, text in enumerate(texts)]
        done = 0
        for n in range(2, ORDER + 1):
            seen: list[int] = []
            with ArrayWriter(folder / "keys", "<u8") as keys, ArrayWriter(folder / "counts", "<u8") as counts:
                merge_level(sources, n, keys, counts, block, seen.append)
            assert (np.load(folder / "keys").tolist(), np.load(folder / "counts").tolist()) == expected[n]
            done += sum(seen)
        assert done == sum(sum(source.num_ngrams[1:]) for source in sources)
