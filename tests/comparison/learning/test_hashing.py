"""The hashes against whole numbers of Python's."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from comparison.learning.hashing import SEED, mix, start, text_hash

ALL = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15  # 2^64 by the golden ratio
HASHES = st.integers(0, ALL)


def step(state: int, value: int) -> int:
    state = ((state ^ value) * GOLDEN) & ALL
    return state ^ (state >> 32)


@given(HASHES, HASHES, st.integers(0, 1000))
def test_hashes_against_whole_numbers(one: int, other: int, small: int) -> None:
    assert mix(np.uint64(one), np.uint64(other)) == step(one, other)
    assert start(small) == step(int(SEED), small)


@given(HASHES, HASHES, HASHES)
def test_a_step_of_the_hash_loses_nothing(state: int, one: int, other: int) -> None:
    """From what a step gives, and the state before it, the value is found again."""
    found = int(mix(np.uint64(state), np.uint64(one)))
    unshifted = found ^ (found >> 32)
    assert (unshifted * pow(GOLDEN, -1, 1 << 64)) % (1 << 64) ^ state == one
    assert (found == mix(np.uint64(state), np.uint64(other))) == (one == other)


def test_words_have_the_same_hash_on_every_machine() -> None:
    assert text_hash("dog") == 0x9F9C5ED2C1C78439  # of Python's hashlib, once
    assert len({text_hash(word) for word in ("dog", "Dog", "god", "", "é")}) == 5


@given(st.text(max_size=8))
def test_text_hashes_against_hashlib(text: str) -> None:
    assert text_hash(text) == int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
