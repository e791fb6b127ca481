from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.errors import GyroError, InputError, ResourceError
from gyro.index.build import build_index, merge_indexes
from gyro.index.reader import HEADER, file_names, open_index
from gyro.text.corpus import Normalisation
from tests.gyro.index.small_text import SENTENCES, SPLIT, TEXT, count_ngrams

BLOCKS = st.sampled_from([None, 1, 2, 3, 8, 30])


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@settings(deadline=None, max_examples=40)
@given(SENTENCES, st.integers(1, 6), BLOCKS)
def test_counts_are_those_of_brute_force(sentences: list[list[str]], order: int, block: int | None) -> None:
    expected = count_ngrams(sentences, order)
    with tempfile.TemporaryDirectory() as folder:
        build_index(sentences, Path(folder, "index"), order=order, normalisation=SPLIT, block=block)
        index = open_index(Path(folder, "index"))
        assert {gram: index.count(gram) for gram in expected} == expected
        assert index.num_ngrams == tuple(sum(len(gram) == n for gram in expected) for n in range(1, order + 1))
        assert index.num_tokens == sum(map(len, sentences)) == index.count(())
        assert index.num_sentences == sum(map(bool, sentences))
        assert list(index.words()) == sorted({word for (word, *rest) in expected if not rest})
        assert [index.word_id(word) for word in index.words()] == list(range(index.num_ngrams[0]))
        index.verify()
        assert os.listdir(folder) == ["index"]
        assert sorted(os.listdir(index.path)) == sorted([HEADER, *file_names(order)])


@settings(deadline=None, max_examples=40)
@given(SENTENCES, st.randoms(use_true_random=False), BLOCKS)
def test_bytes_do_not_depend_on_the_order_of_sentences_or_on_spilling(
    sentences: list[list[str]], random: Random, block: int | None
) -> None:
    shuffled = list(sentences)
    random.shuffle(shuffled)
    with tempfile.TemporaryDirectory() as folder:
        build_index(sentences, Path(folder, "one"), normalisation=SPLIT)
        build_index(shuffled, Path(folder, "two"), normalisation=SPLIT, block=block)
        assert folder_bytes(Path(folder, "one")) == folder_bytes(Path(folder, "two"))


@settings(deadline=None, max_examples=40)
@given(st.lists(SENTENCES, min_size=1, max_size=4), st.integers(1, 5), BLOCKS)
def test_merging_is_building_from_all_texts(texts: list[list[list[str]]], order: int, block: int | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, str(number)) for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            build_index(text, path, order=order, normalisation=SPLIT)
        merge_indexes(paths, Path(folder, "merged"), block=block)
        build_index(chain(*texts), Path(folder, "built"), order=order, normalisation=SPLIT)
        assert folder_bytes(Path(folder, "merged")) == folder_bytes(Path(folder, "built"))


def test_a_larger_random_text_spilled_and_merged(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    sentences = [[f"w{int(w)}" for w in random.zipf(1.3, size=random.integers(1, 40)) % 500] for _ in range(2000)]
    build_index(sentences, tmp_path / "whole", normalisation=SPLIT)
    build_index(sentences, tmp_path / "spilled", normalisation=SPLIT, block=1999)
    assert folder_bytes(tmp_path / "whole") == folder_bytes(tmp_path / "spilled")
    build_index(sentences[:700], tmp_path / "one", normalisation=SPLIT)
    build_index(sentences[700:], tmp_path / "two", normalisation=SPLIT)
    merge_indexes([tmp_path / "one", tmp_path / "two"], tmp_path / "merged", block=777)
    assert folder_bytes(tmp_path / "whole") == folder_bytes(tmp_path / "merged")
    index = open_index(tmp_path / "whole")
    some = list(count_ngrams(sentences, 5).items())[::20]
    assert all(index.count(gram) == count for gram, count in some)


def test_an_index_is_replaced_and_an_open_one_lives_on(index_path: Path) -> None:
    before = open_index(index_path)
    build_index([["new"]], index_path, normalisation=SPLIT)
    assert open_index(index_path).num_tokens == 1
    assert before.count(["the", "dog"]) == 3
    assert os.listdir(index_path.parent) == ["index"]


def test_an_index_may_be_merged_into_itself(index_path: Path) -> None:
    merge_indexes([index_path, index_path], index_path)
    assert open_index(index_path).count(["the", "dog"]) == 6


def test_other_things_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").write_text("x")
    (tmp_path / "file").write_text("x")
    for name in ("folder", "file"):
        with pytest.raises(InputError, match=f"{name}: something that is not a text index is already there"):
            build_index(TEXT, tmp_path / name, normalisation=SPLIT)
    assert (tmp_path / "folder" / "thesis.tex").read_text() == "x"
    (tmp_path / "empty").mkdir()
    build_index(TEXT, tmp_path / "empty", normalisation=SPLIT)
    assert open_index(tmp_path / "empty").num_tokens == 14


def test_a_failed_build_leaves_nothing_and_the_old_index(index_path: Path) -> None:
    def failing() -> Iterator[list[str]]:
        yield ["new"]
        raise InputError("the text ends here")

    with pytest.raises(InputError, match="the text ends here"):
        build_index(failing(), index_path, normalisation=SPLIT)
    assert os.listdir(index_path.parent) == ["index"]
    assert open_index(index_path).num_tokens == 14


def test_what_a_killed_build_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / ".index.building" / "run-0"
    left.mkdir(parents=True)
    (left / "keys.2.npy").write_text("x")
    (left.parent / "tokens.tmp").write_text("x")
    build_index(TEXT, tmp_path / "index", normalisation=SPLIT)
    assert os.listdir(tmp_path) == ["index"]
    assert sorted(os.listdir(tmp_path / "index")) == sorted([HEADER, *file_names(5)])


def test_two_builds_do_not_meet(tmp_path: Path) -> None:
    (tmp_path / ".index.building").mkdir()
    lock = os.open(tmp_path / ".index.building", os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process is building this index"):
            build_index(TEXT, tmp_path / "index", normalisation=SPLIT)
    finally:
        os.close(lock)


@pytest.mark.parametrize(
    ("sentences", "options", "message"),
    [
        ([], {}, "the text has no sentences"),
        ([[]], {}, "the text has no sentences"),
        ([["a b"]], {}, "found the token 'a b'"),
        ([["a", "<s>"]], {}, "found the token '<s>'"),
        ([["</s>"]], {}, "found the token '</s>'"),
        ([["\ud800"]], {}, "found the token"),
        (TEXT, {"order": 0}, "found the order 0; 1 to 9 is allowed"),
        (TEXT, {"order": 10}, "found the order 10"),
        (TEXT, {"memory": 100 << 20}, "found 100 MB of memory; 256 MB or more is allowed"),
    ],
)
def test_bad_input_is_refused(
    tmp_path: Path, sentences: list[list[str]], options: dict[str, int], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        build_index(sentences, tmp_path / "index", normalisation=SPLIT, **options)  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write: No such file or directory"):
        build_index(TEXT, tmp_path / "missing" / "index", normalisation=SPLIT)


def test_a_vocabulary_larger_than_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gyro.index.build.RESERVE", 1 << 60)
    with pytest.raises(ResourceError, match="of the memory of 256 MB, and too little is left to sort"):
        build_index(TEXT, tmp_path / "index", normalisation=SPLIT, memory=256 << 20)


@pytest.mark.parametrize(
    ("order", "normalisation", "message"),
    [(4, SPLIT, "found the order 4"), (5, Normalisation("none", lowercase=True), "in different ways")],
)
def test_indexes_that_do_not_match_are_not_merged(
    index_path: Path, tmp_path: Path, order: int, normalisation: Normalisation, message: str
) -> None:
    build_index(TEXT, tmp_path / "other", order=order, normalisation=normalisation)
    with pytest.raises(GyroError, match=message):
        merge_indexes([index_path, tmp_path / "other"], tmp_path / "merged")
    with pytest.raises(InputError, match="found no index to merge"):
        merge_indexes([], tmp_path / "merged")


def test_damaged_indexes_are_not_merged(index_path: Path, tmp_path: Path) -> None:
    data = bytearray((index_path / "counts.2.npy").read_bytes())
    data[-1] ^= 1
    (index_path / "counts.2.npy").write_bytes(data)
    with pytest.raises(InputError, match=r"counts\.2\.npy: the file is damaged"):
        merge_indexes([index_path], tmp_path / "merged")


def test_an_index_behind_a_link_is_replaced(index_path: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("index")
    build_index([["new"]], tmp_path / "link", normalisation=SPLIT)
    assert open_index(index_path).num_tokens == 1
    assert sorted(os.listdir(tmp_path)) == ["index", "link"]


def test_merging_notes_all_versions_of_spacy(tmp_path: Path) -> None:
    for name in ("3.8.1", "3.8.2"):
        build_index(TEXT, tmp_path / name, normalisation=Normalisation("spacy-en", spacy=name))
    merge_indexes([tmp_path / "3.8.2", tmp_path / "3.8.1"], tmp_path / "merged")
    assert open_index(tmp_path / "merged").normalisation.spacy == "3.8.1, 3.8.2"


def test_progress_goes_to_the_end(tmp_path: Path) -> None:
    calls: list[tuple[str, int, int | None]] = []
    build_index(TEXT, tmp_path / "i", normalisation=SPLIT, block=5, progress=lambda *call: calls.append(call))
    last = {stage: (done, total) for stage, done, total in calls}
    assert list(last) == ["reading", "sorting", "merging"]
    assert last["reading"] == (14, None)
    assert last["sorting"] == (26, 26)
    assert last["merging"][0] == last["merging"][1]


def test_counts_over_32_bits(index_path: Path, tmp_path: Path) -> None:
    """Doubling an index 34 times makes counts that need 64 bits."""
    for number in range(34):
        merge_indexes([index_path, index_path], tmp_path / "double")
        if number:
            shutil.rmtree(index_path)
        index_path = (tmp_path / "double").rename(tmp_path / f"double-{number}")
    index = open_index(index_path)
    assert index.count(["the", "dog"]) == 3 << 34
    assert index.count(["the", "dog", "saw", "the", "cat"]) == 1 << 34
    assert index.counts(1, np.array([index.word_id("the")])).tolist() == [5 << 34]
