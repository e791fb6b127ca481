"""Features of edges, built step by step, against those of the whole tree, as twin finds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison.best_first.decoder import Decoder, Limits
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.problem import Input, InputToken
from tests.comparison.best_first.enumeration import check_features, no_limits
from tests.comparison.best_first.treebank import trees

GRAMMARS = {labelled: DependencyGrammar.from_trees(trees(), labelled=labelled) for labelled in (False, True)}
BAGS: list[tuple[str, dict[str, Any]]] = [
    ("the dog barks .", {}),
    ("the old old dog", {}),
    ("she sees the old cat .", {"units": ((2, 3, 4),)}),
    ("the dog sees the dog", {"units": ((3, 4), (0, 1))}),
    ("saw they saw", {}),
]


def decoder(labelled: bool, seed: int, **options: float) -> Decoder:
    weights = np.random.default_rng(seed).normal(size=1 << 14).astype(np.float32)
    return Decoder(GRAMMARS[labelled], weights, no_limits(goals=300, **options), limits=Limits(1e6, 3000))


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize(("text", "facts"), BAGS)
def test_features_of_edges_are_those_of_their_trees(text: str, facts: dict[str, Any], labelled: bool) -> None:
    given_bag = Input(tuple(InputToken((word,)) for word in text.split()), **facts)
    assert check_features(decoder(labelled, 0), given_bag) >= 5


@settings(max_examples=6)
@given(
    names=st.lists(
        st.sampled_from(["the", "a", "dog", "cat", "saw", "sees", "old", "loudly", "she", ".", "xyzzy"]),
        min_size=6,
        max_size=12,
    ),
    seed=st.integers(0, 100),
)
def test_features_of_larger_trees(names: list[str], seed: int) -> None:
    """A narrow beam and long edges: valencies and distances beyond their last classes are rare, but there."""
    given_bag = Input(tuple(InputToken((name,), pos=None if i % 2 else "NN") for i, name in enumerate(names)))
    assert check_features(decoder(False, seed, beam=6, scaled=1), given_bag) > len(set(names))


def test_a_head_with_many_dependents() -> None:
    """Nine words on one head: the highest valency class, and distances of several classes."""
    size = 10
    tokens = [InputToken((f"w{i}",), pos="NN", head=-1 if i == 4 else 4) for i in range(size)]
    given_bag = Input(tuple(tokens), order=(tuple(range(size)),))
    assert check_features(decoder(False, 1), given_bag) > size
