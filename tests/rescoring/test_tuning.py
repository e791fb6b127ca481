"""Tuning: the line search against a dense grid, and never below the start."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gyro.errors import InputError
from rescoring.tuning import line_search, tune_weights, tuning_set

WORDS = ["a", "b", "c", "d", "e", "f"]


def made_lists(
    seed: int, sentences: int, size: int
) -> tuple[list[list[tuple[list[str], dict[str, float]]]], list[list[str]]]:
    """Random n-best lists in which feature "good" tells something of the reference and "noise" nothing."""
    rng = random.Random(seed)
    lists, references = [], []
    for _ in range(sentences):
        reference = [rng.choice(WORDS) for _ in range(8)]
        entries = []
        for _ in range(size):
            tokens = list(reference)
            for _ in range(rng.randint(0, 3)):
                i, j = rng.randrange(8), rng.randrange(8)
                tokens[i], tokens[j] = tokens[j], tokens[i]
            right = sum(a == b for a, b in zip(tokens, reference, strict=True))
            entries.append((tokens, {"good": right + rng.gauss(0, 0.3), "noise": rng.gauss(0, 1), "zero": 0.0}))
        lists.append(entries)
        references.append(reference)
    return lists, references


@pytest.mark.parametrize("seed", range(8))
def test_the_line_search_is_never_worse_than_a_dense_grid(seed: int) -> None:
    data = tuning_set(*made_lists(seed, 6, 5))
    rng = np.random.default_rng(seed)
    weights, direction = rng.normal(size=3), rng.normal(size=3)
    found = data.bleu(weights + line_search(data, weights, direction) * direction)
    grid = max(data.bleu(weights + gamma * direction) for gamma in np.linspace(-30, 30, 6001))
    assert found >= grid - 1e-9
    assert found >= data.bleu(weights) - 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_tuning_finds_the_feature_that_helps_and_never_loses(seed: int) -> None:
    data = tuning_set(*made_lists(seed, 30, 10))
    for start in ({"good": 1.0}, {"noise": 1.0}, {"good": -1.0, "noise": 0.3}):
        tuned = tune_weights(data, start, restarts=3, directions=2)
        weights = np.array([tuned.weights[name] for name in data.names])
        assert tuned.bleu == pytest.approx(data.bleu(weights))
        assert tuned.start_bleu <= tuned.bleu <= tuned.oracle_bleu + 1e-9
        assert tuned.weights["good"] > abs(tuned.weights["noise"])


def test_tuning_is_the_same_every_time() -> None:
    data = tuning_set(*made_lists(5, 10, 6))
    assert tune_weights(data, {"good": 1.0}, seed=3) == tune_weights(data, {"good": 1.0}, seed=3)


def test_what_cannot_be_tuned_is_named() -> None:
    lists, references = made_lists(1, 2, 2)
    with pytest.raises(InputError, match="2 n-best lists and 1 references"):
        tuning_set(lists, references[:1])
    with pytest.raises(InputError, match="no n-best list"):
        tuning_set([[], []], references)
    lists[1][0][1]["more"] = 1.0
    with pytest.raises(InputError, match="found features"):
        tuning_set(lists, references)
    data = tuning_set(*made_lists(1, 2, 2))
    with pytest.raises(InputError, match="'LM'"):
        tune_weights(data, {"LM": 1.0})
    with pytest.raises(InputError, match="all weights are 0"):
        tune_weights(data, {})
