"""Features of constituents, built step by step, against those of the whole derivation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Decoder, Limits
from comparison.best_first.problem import Input, InputToken
from tests.comparison.best_first.enumeration import check_features, no_limits
from tests.comparison.best_first.treebank import ambiguous, derivations

INVENTORY = CcgInventory.from_derivations(derivations(), cutoff=0)
OPEN = CcgInventory.from_derivations(derivations(), cutoff=20, dp=False)  # categories by tag: several for each word
BAGS: list[tuple[str, dict[str, Any]]] = [
    ("the old dog sees the cat .", {}),
    ("the old dog sees she .", {"units": ((0, 1, 2),)}),
    ("old dogs bark loudly", {}),
    ("they saw a saw .", {}),
    ("she sees dogs . .", {}),
]


def decoder(inventory: CcgInventory, seed: int) -> Decoder:
    weights = np.random.default_rng(seed).normal(size=1 << 14).astype(np.float32)
    return Decoder(inventory, weights, no_limits(goals=200), limits=Limits(1e6, 4000))


@pytest.mark.parametrize("inventory", [INVENTORY, OPEN])
@pytest.mark.parametrize(("text", "facts"), BAGS)
def test_features_of_edges_are_those_of_their_derivations(
    text: str, facts: dict[str, Any], inventory: CcgInventory
) -> None:
    given_bag = Input(tuple(InputToken((word,)) for word in text.split()), **facts)
    assert check_features(decoder(inventory, 0), given_bag) >= 5


@pytest.mark.parametrize("text", ["a b c d e", "a b b c f", "b d f a"])
def test_features_of_all_bracketings(text: str) -> None:
    """Lexical categories at both ends, however the parts were joined."""
    inventory = CcgInventory.from_derivations(ambiguous(), cutoff=0, dp=False)
    given_bag = Input(tuple(InputToken((word,)) for word in text.split()))
    assert check_features(decoder(inventory, 0), given_bag) > 100


@settings(max_examples=10)
@given(
    st.lists(
        st.sampled_from(["the", "a", "dog", "cats", "saw", "sees", "old", "loudly", "she", ".", "xyzzy"]),
        min_size=1,
        max_size=8,
    )
)
def test_features_of_random_bags(names: list[str]) -> None:
    check_features(decoder(OPEN, 1), Input(tuple(InputToken((name,)) for name in names)))
