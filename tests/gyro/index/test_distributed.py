from __future__ import annotations

import os
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.index.build import build_index, merge_indexes
from gyro.index.distributed import build_shards
from gyro.index.phrase import find_phrases
from gyro.index.reader import TextIndex, open_index
from gyro.index.sharded import ShardedIndex
from gyro.text.bag import Bag
from lm.stupid_backoff.model import StupidBackoff
from tests.gyro.index.in_process import InProcess, blocks_of
from tests.gyro.index.small_text import SENTENCES, SPLIT, count_ngrams

Sentences = list[list[str]]
LEAST = st.sampled_from([None, [1, 1, 2], [1, 2, 2, 3], [2], [3, 3, 4]])
CHUNKS = st.sampled_from([None, 1, 3, 20])


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def sharded(sentences: Sentences, path: Path, shards: int | None, tokens: int = 30, **options: object) -> TextIndex:
    build_shards(InProcess(blocks_of(sentences, tokens)), path, normalisation=SPLIT, shards=shards, **options)  # type: ignore[arg-type]
    assert os.listdir(path.parent) == [path.name] or sorted(os.listdir(path.parent)) == sorted(["whole", path.name])
    return open_index(path)


def all_ngrams(index: TextIndex) -> dict[tuple[str, ...], tuple[int, int]]:
    """The rank and the count of every n-gram, found by extending each with every word."""
    words = list(index.words())
    found, level, ranks = {}, [(word,) for word in words], np.arange(len(words))
    for n in range(1, index.order + 1):
        counts = index.counts(n, ranks)
        found |= {gram: (int(r), int(c)) for gram, r, c in zip(level, ranks, counts, strict=True)}
        if n < index.order:
            longer = [(*gram, word) for gram in level for word in words]
            after = index.extend(n + 1, np.repeat(ranks, len(words)), np.tile(np.arange(len(words)), len(ranks)))
            level = [gram for gram, rank in zip(longer, after, strict=True) if rank >= 0]
            ranks = after[after >= 0]
    return found


@settings(max_examples=30)
@given(SENTENCES, st.integers(1, 5), st.integers(1, 40), CHUNKS, LEAST)
def test_one_shard_is_the_index_of_one_machine(
    sentences: Sentences, order: int, tokens: int, chunk: int | None, least: list[int] | None
) -> None:
    least = least and least[:order]
    with tempfile.TemporaryDirectory() as folder:
        build_index(sentences, Path(folder, "whole"), order=order, normalisation=SPLIT, least=least)
        sharded(sentences, Path(folder, "one"), 1, tokens, order=order, chunk=chunk, least=least)
        assert folder_bytes(Path(folder, "one")) == folder_bytes(Path(folder, "whole"))


@settings(max_examples=40)
@given(SENTENCES, st.integers(1, 7), st.integers(2, 5), CHUNKS, LEAST)
def test_shards_are_together_the_whole_index(
    sentences: Sentences, shards: int, order: int, chunk: int | None, least: list[int] | None
) -> None:
    least = least and least[:order]
    with tempfile.TemporaryDirectory() as folder:
        build_index(sentences, Path(folder, "whole"), order=order, normalisation=SPLIT, least=least)
        whole = open_index(Path(folder, "whole"))
        index = sharded(sentences, Path(folder, "shards"), shards, order=order, chunk=chunk, least=least)
        assert isinstance(index, ShardedIndex) == (shards > 1)
        assert (index.num_ngrams, index.num_tokens, index.num_sentences, index.least_counts) == (
            (whole.num_ngrams, whole.num_tokens, whole.num_sentences, whole.least_counts)
        )
        assert all_ngrams(index) == all_ngrams(whole)
        index.verify()
        merge_indexes([Path(folder, "shards")], Path(folder, "merged"), block=chunk)
        assert folder_bytes(Path(folder, "merged")) == folder_bytes(Path(folder, "whole"))


@settings(max_examples=15)
@given(SENTENCES, st.integers(2, 7), st.integers(1, 40), st.integers(1, 40))
def test_shards_do_not_depend_on_the_blocks(sentences: Sentences, shards: int, some: int, other: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, tokens in (("whole", some), ("again", other)):
            sharded(sentences, Path(folder, name), shards, tokens)
        assert folder_bytes(Path(folder, "whole")) == folder_bytes(Path(folder, "again"))


@settings(max_examples=25)
@given(SENTENCES, st.integers(2, 7), st.lists(st.sampled_from(["a", "b", "c", "ab", "é", "zz"]), max_size=12))
def test_what_is_asked_of_shards_is_answered_as_by_the_whole(sentences: Sentences, shards: int, bag: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        build_index(sentences, Path(folder, "whole"), normalisation=SPLIT)
        whole, index = open_index(Path(folder, "whole")), sharded(sentences, Path(folder, "shards"), shards)
        if bag:
            assert list(find_phrases(index, Bag(tuple(bag)))) == list(find_phrases(whole, Bag(tuple(bag))))
        one, other = StupidBackoff(index, 4), StupidBackoff(whole, 4)
        assert one.score(bag) == other.score(bag)
        walkers = one.walkers()(sorted(set(bag))), other.walkers()(sorted(set(bag)))
        words = np.arange(len(set(bag)))
        contexts = [np.full(len(words), walker.start, np.int64) for walker in walkers]
        for _ in range(3):
            steps = [walker.step(context, words) for walker, context in zip(walkers, contexts, strict=True)]
            assert (steps[0][1] == steps[1][1]).all()
            contexts = [context for context, _ in steps]
            words = np.roll(words, 1)


@pytest.fixture(scope="module")
def skewed() -> Sentences:
    """Half of all tokens are one word."""
    random = np.random.default_rng(3)
    rest = [f"w{number}" for number in random.zipf(1.4, 4000) % 300]
    tokens = [word for other in rest for word in ("a", other)]
    random.shuffle(tokens)
    return [tokens[start : start + 17] for start in range(0, len(tokens), 17)]


def test_a_word_that_is_half_of_the_text_is_shared_out(tmp_path: Path, skewed: Sentences) -> None:
    build_index(skewed, tmp_path / "whole", normalisation=SPLIT)
    index = sharded(skewed, tmp_path / "shards", 6, 1000)
    assert isinstance(index, ShardedIndex)
    sizes = index.shards.sizes[-1]
    assert sizes.max() < 1.5 * sizes.mean()
    assert sizes.min() > 0.5 * sizes.mean()
    begins = [index.word(int(number)) for number in index.shards.parents[0]]
    assert Counter(begins)["a"] >= 2
    merge_indexes([tmp_path / "shards"], tmp_path / "merged")
    assert folder_bytes(tmp_path / "merged") == folder_bytes(tmp_path / "whole")
    whole = open_index(tmp_path / "whole")
    for start in range(0, 200, 20):
        bag = Bag(tuple(word for sentence in skewed[start : start + 2] for word in sentence)[:20])
        assert list(find_phrases(index, bag)) == list(find_phrases(whole, bag))


def test_the_phrases_of_a_bag_lie_in_all_shards(tmp_path: Path) -> None:
    sentences = [[chr(97 + (start + step) % 7) for step in range(5)] for start in range(7)] * 2
    index = sharded(sentences, tmp_path / "shards", 7)
    phrases = find_phrases(index, Bag(tuple("abcdefg")))
    assert {phrase.words: phrase.count for phrase in phrases} == {
        gram: count
        for gram, count in count_ngrams(sentences, 5).items()
        if not {"<s>", "</s>"} & set(gram) and len(set(gram)) == len(gram)
    }
    assert isinstance(index, ShardedIndex)
    assert len(index._levels) > 7


def test_more_shards_than_there_is_to_hold_leaves_some_empty(tmp_path: Path) -> None:
    index = sharded([["a"]], tmp_path / "shards", 7)
    assert isinstance(index, ShardedIndex)
    assert (index.shards.sizes[0] == 0).any()
    assert (index.count(["<s>", "a", "</s>"]), index.count(["a", "a"]), index.count(["b"])) == (1, 0, 0)
    assert [phrase.words for phrase in find_phrases(index, Bag(("b", "a")))] == [("a",)]


def test_without_a_number_small_text_makes_one_shard(tmp_path: Path) -> None:
    assert type(sharded([["a", "b"]], tmp_path / "index", None)) is TextIndex


@pytest.mark.parametrize(("shards", "least"), [(0, None), (10_001, None), (2, [2, 1]), (2, [0]), (2, [1] * 6)])
def test_what_makes_no_sense_is_refused(tmp_path: Path, shards: int, least: list[int] | None) -> None:
    with pytest.raises(InputError):
        sharded([["a"]], tmp_path / "index", shards, least=least)
    assert os.listdir(tmp_path) == []


def test_text_without_sentences_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sentences"):
        build_shards(InProcess([]), tmp_path / "index", normalisation=SPLIT)
    assert os.listdir(tmp_path) == []


def test_indexes_with_least_counts_are_not_merged_with_others(tmp_path: Path) -> None:
    sharded([["a", "b"], ["a", "b"]], tmp_path / "one", 2, least=[1, 2])
    build_index([["a"]], tmp_path / "whole", normalisation=SPLIT)
    with pytest.raises(InputError, match="least counts"):
        merge_indexes([tmp_path / "one", tmp_path / "whole"], tmp_path / "both")


@pytest.mark.parametrize("name", ["words.npy", "shard-00001/keys.3.npy", "shard-00000/counts.5.npy"])
def test_damage_in_a_shard_is_found(tmp_path: Path, skewed: Sentences, name: str) -> None:
    sharded(skewed[:40], tmp_path / "index", 3)
    path = tmp_path / "index" / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        open_index(tmp_path / "index").verify()
    path.write_bytes(content[:-1])
    with pytest.raises(InputError, match="bytes"):
        open_index(tmp_path / "index")
    path.unlink()
    with pytest.raises(InputError, match="missing"):
        open_index(tmp_path / "index")
