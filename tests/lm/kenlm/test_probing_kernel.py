"""Look-ups in KenLM's tables: against a dict, and against KenLM's own walk over the same file."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gyro.text.corpus import Normalisation
from lm.kenlm.bag_acceptor import find_bag_states
from lm.kenlm.estimate import estimate_model
from lm.kenlm.model import KenlmModel, load_model
from lm.kenlm.probing_kernel import ROOM, VOCABULARY_WIDTH, ProbingTables, find_entry, find_words
from tests.lm.kenlm.samples import KNOWN, OTHER_WORDS, UNKNOWN, arpa_models, kenlm_log10

ALL = (1 << 64) - 1
KEYS = st.integers(1, ALL)  # 0 says that an entry is free
words_of_bags = st.lists(st.sampled_from(KNOWN + UNKNOWN), unique=True, max_size=9).map(tuple)


def murmur(data: bytes) -> int:
    """MurmurHash64A with seed 0, which KenLM numbers words by, in whole numbers of Python's."""
    factor = 0xC6A4A7935BD1E995
    value = len(data) * factor & ALL
    for start in range(0, len(data), 8):
        block = int.from_bytes(data[start : start + 8], "little")
        if start + 8 <= len(data):
            block = block * factor & ALL
            block = (block ^ block >> 47) * factor & ALL
        value = (value ^ block) * factor & ALL
    value = (value ^ value >> 47) * factor & ALL
    return value ^ value >> 47


def probing_table(keys: list[int], buckets: int, width: int, start: int) -> tuple[NDArray[np.uint32], dict[int, int]]:
    """A table filled as KenLM fills it, after some cells of another, and where each key is."""
    cells = np.full(start + buckets * width + 5, 7, dtype=np.uint32)
    cells[start : start + buckets * width] = 0
    taken: dict[int, int] = {}
    for key in keys:
        bucket = key % buckets
        while bucket in taken.values():
            bucket = (bucket + 1) % buckets
        taken[key] = bucket
        cells[start + bucket * width : start + bucket * width + 2] = key & 0xFFFFFFFF, key >> 32
    cells.flags.writeable = False  # as a mapped file is
    return cells, {key: start + bucket * width for key, bucket in taken.items()}


@given(data=st.data(), width=st.integers(2, 4), start=st.integers(0, 9))
def test_entries_are_found_as_in_a_dict(data: st.DataObject, width: int, start: int) -> None:
    """Keys that share a bucket, that go round the end of the table, and that fill it to the last entry."""
    buckets = data.draw(st.integers(1, 12))
    near = st.integers(1, 3).map(lambda times: times * buckets + buckets - 1)  # all of them in the last bucket
    keys = data.draw(st.lists(KEYS | near, unique=True, max_size=buckets))
    cells, known = probing_table(keys, buckets, width, start)
    for key in [*keys, *data.draw(st.lists(KEYS | near, max_size=5))]:
        found = find_entry(cells, np.int64(start), np.uint64(buckets), width, np.uint64(key))
        assert found == known.get(key, -1)


@given(st.lists(st.text(max_size=30), unique=True, max_size=20), st.lists(st.text(max_size=30), max_size=5))
def test_words_are_found_by_their_hash(words: list[str], others: list[str]) -> None:
    """Of any length in bytes: hashes are made of blocks of eight."""
    hashes = [murmur(word.encode()) for word in words]
    buckets = max(1, 3 * len(words) // 2)
    cells, places = probing_table([key for key in hashes if key], buckets, VOCABULARY_WIDTH, 0)
    cells = cells.copy()
    for number, key in enumerate(hashes, 1):
        if key:  # the empty word, which no text has, has that of a free entry
            cells[places[key] + 2] = number
    cells.flags.writeable = False
    tables = ProbingTables(cells, cells.view(np.float32), np.array([0]), np.array([buckets], np.uint64))
    asked = [word.encode() for word in (*words, *others)]
    ends = np.cumsum([len(word) for word in asked], dtype=np.int64)
    found = find_words(tables, np.frombuffer(b"".join(asked) + b"\0", np.uint8), ends)
    wanted = {word.encode(): i for i, word in enumerate(words, 1) if word}
    assert found.tolist() == [wanted.get(word, 0) for word in asked]


def both_ways(model: KenlmModel, words: tuple[str, ...], *, start: bool, end: bool) -> None:
    """Bulk look-ups and the walk over KenLM's states give the same tables, to the last bit."""
    assert model._probing is not None
    ours = find_bag_states(model._probing, words, start=start, end=end)
    theirs = model.walk_bag_states(words, start=start, end=end)
    for name, a, b in zip(ours._fields, ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)
        assert a.dtype == b.dtype


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.integers(2, 6), words=words_of_bags, start=st.booleans(), end=st.booleans(), data=st.data())
def test_bulk_look_ups_equal_the_walk(
    model_files: Callable[[str, int], Path],
    order: int,
    words: tuple[str, ...],
    start: bool,
    end: bool,
    data: st.DataObject,
) -> None:
    path = model_files(data.draw(st.sampled_from(["probing", "sparse", "nameless"])), order)
    model = load_model(path)
    both_ways(model, words, start=start, end=end)
    acceptor = model.acceptor(words, start=start, end=end)
    assert acceptor.words == words
    assert acceptor.next_state.shape == (acceptor.num_states, len(words))
    assert (acceptor.next_state >= 0).all()
    tokens = data.draw(st.lists(st.sampled_from(words), max_size=12)) if words else []
    expected = -math.log(10) * kenlm_log10(path, tokens, start=start, end=end)
    assert acceptor.score(tokens) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arpa=arpa_models(), start=st.booleans(), end=st.booleans(), data=st.data())
def test_models_of_other_tools(
    tmp_path: Path, build_binary: Callable[..., None], arpa: str, start: bool, end: bool, data: st.DataObject
) -> None:
    source, binary = tmp_path / "model.arpa", tmp_path / "model.lm"
    source.write_text(arpa)
    binary.unlink(missing_ok=True)
    build_binary(source, binary, "-p", "200", "probing")  # room for all suffixes that KenLM may add
    model = load_model(binary)
    assert model.reads_in_bulk
    words = OTHER_WORDS
    both_ways(model, words, start=start, end=end)
    tokens = data.draw(st.lists(st.sampled_from(words), max_size=8))
    expected = -math.log(10) * kenlm_log10(binary, tokens, start=start, end=end)
    assert model.acceptor(words, start=start, end=end).score(tokens) == pytest.approx(expected, abs=1e-6)


def test_more_contexts_than_there_is_room_for(tmp_path: Path) -> None:
    words = tuple(f"w{i}" for i in range(60))
    draw = random.Random(2).choices
    text = [draw(words, k=12) for _ in range(1500)]
    estimate_model(text, tmp_path / "m", order=4, memory="64M", normalisation=Normalisation("none"))
    model = load_model(tmp_path / "m")
    both_ways(model, (*words, "unknown"), start=True, end=True)
    assert model.acceptor(words).num_states > 2 * ROOM
