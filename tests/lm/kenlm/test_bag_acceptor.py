from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lm.kenlm.bag_acceptor import log10_to_cost
from lm.kenlm.model import load_model
from tests.lm.kenlm.samples import KNOWN, SPECIAL, kenlm_log10

STRINGS = [
    [],
    ["cat"],
    ["the", "cat", "saw", "the", "dog", "."],
    ["the", "the", "zebra", "the", "house", "of", "zebra", "0"],
]


@pytest.mark.parametrize("file_type", ["probing", "sparse", "nameless", "trie", "array", "quantised", "arpa"])
@pytest.mark.parametrize("order", [2, 3, 4, 5, 6])
def test_scores_are_those_of_kenlm(model_files: Callable[[str, int], Path], file_type: str, order: int) -> None:
    path = model_files(file_type, order)
    model = load_model(path)
    assert model.reads_in_bulk == (file_type in {"probing", "sparse", "nameless"})
    for tokens in STRINGS:
        for start in (True, False):
            for end in (True, False):
                expected = -math.log(10) * kenlm_log10(path, tokens, start=start, end=end)
                acceptor = model.acceptor(tuple(dict.fromkeys(tokens)), start=start, end=end)
                assert acceptor.score(tokens) == pytest.approx(expected, abs=1e-9)
                assert model.score(tokens, bos=start, eos=end) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("order", [2, 4])
def test_the_words_of_a_state_sum_to_one(model_files: Callable[[str, int], Path], order: int) -> None:
    path = model_files("arpa", order)
    unigrams = path.read_text().split("\\1-grams:\n")[1].split("\n\n")[0].splitlines()
    words = [line.split("\t")[1] for line in unigrams]
    acceptor = load_model(model_files("probing", order)).acceptor((*(w for w in words if w not in SPECIAL), "unknown"))
    mass = np.exp(-acceptor.cost).sum(axis=1) + np.exp(-acceptor.end_cost)
    np.testing.assert_allclose(mass, 1.0, atol=1e-4)


def test_the_order_of_the_words_changes_nothing_but_numbers(model_files: Callable[[str, int], Path]) -> None:
    model = load_model(model_files("probing", 4))
    a, b = model.acceptor(KNOWN), model.acceptor(KNOWN[::-1])
    tokens = ["the", "cat", "of", "the", "house", "saw", "some", "dog", "."]
    assert a.score(tokens) == b.score(tokens)
    assert a.num_states == b.num_states
    again = model.acceptor(KNOWN)
    assert all(np.array_equal(x, y) for x, y in ((a.next_state, again.next_state), (a.cost, again.cost)))


def test_costs_have_no_negative_zero() -> None:
    cost = log10_to_cost(np.array([0.0, -0.0, -1.0], np.float32))
    assert not np.signbit(cost).any()
    assert cost[2] == pytest.approx(math.log(10))
