"""Features of edges, built step by step, against those of the whole tree, as twin finds them; equivalent edges."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison.best_first.decoder import Decoder, Limits
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.edge import COLUMNS
from comparison.best_first.problem import Input, InputToken
from comparison.best_first.template import TEMPLATE_SETS
from lm.kenlm.model import KenlmModel
from tests.comparison.best_first.bags import BAGS as KINDS
from tests.comparison.best_first.bags import bag
from tests.comparison.best_first.compiled import find_equivalent
from tests.comparison.best_first.enumeration import all_trees, check_features, goals, no_limits
from tests.comparison.best_first.searched import Searched
from tests.comparison.best_first.treebank import trees
from tests.comparison.best_first.twin import dependency_signature, score

GRAMMARS = {
    (templates, labelled): DependencyGrammar.from_trees(trees(), labelled=labelled, templates=templates, dp=False)
    for templates, labelled in product(TEMPLATE_SETS, (False, True))
}
WITH_DP = {
    key: DependencyGrammar.from_trees(trees(), labelled=key[1], templates=key[0], dp=True)
    for key in (("ours", False), ("ours", True), ("all", False))
}
BAGS: list[tuple[str, dict[str, Any]]] = [
    ("the dog barks .", {}),
    ("the old old dog", {}),
    ("she sees the old cat .", {"units": ((2, 3, 4),)}),
    ("the dog sees the dog", {"units": ((3, 4), (0, 1))}),
    ("saw they saw", {}),
]


def decoder(templates: str, labelled: bool, seed: int, **options: float) -> Decoder:
    weights = np.random.default_rng(seed).normal(size=1 << 14).astype(np.float32)
    grammar = GRAMMARS[templates, labelled]
    return Decoder(grammar, weights, no_limits(goals=300, **options), limits=Limits(1e6, 3000))


@pytest.mark.parametrize(("templates", "labelled"), GRAMMARS)
@pytest.mark.parametrize(("text", "facts"), BAGS)
def test_features_of_edges_are_those_of_their_trees(
    text: str, facts: dict[str, Any], templates: str, labelled: bool
) -> None:
    given_bag = Input(tuple(InputToken((word,)) for word in text.split()), **facts)
    assert check_features(decoder(templates, labelled, 0), given_bag) >= 5


@settings(max_examples=6)
@given(
    names=st.lists(
        st.sampled_from(["the", "a", "dog", "cat", "saw", "sees", "old", "loudly", "she", ".", "xyzzy"]),
        min_size=6,
        max_size=12,
    ),
    seed=st.integers(0, 100),
    templates=st.sampled_from(TEMPLATE_SETS),
)
def test_features_of_larger_trees(names: list[str], seed: int, templates: str) -> None:
    """A narrow beam and long edges: valencies and distances beyond their last classes are rare, but there."""
    given_bag = Input(tuple(InputToken((name,), pos=None if i % 2 else "NN") for i, name in enumerate(names)))
    assert check_features(decoder(templates, False, seed, beam=6, scaled=1), given_bag) > len(set(names))


@pytest.mark.parametrize("templates", TEMPLATE_SETS)
def test_a_head_with_many_dependents(templates: str) -> None:
    """Nine words on one head: the highest valency class, and distances of several classes."""
    size = 10
    tokens = [InputToken((f"w{i}",), pos="NN", head=-1 if i == 4 else 4) for i in range(size)]
    given_bag = Input(tuple(tokens), order=(tuple(range(size)),))
    assert check_features(decoder(templates, False, 1), given_bag) > size


def test_tags_between_words_of_a_long_sentence() -> None:
    """More tags than a number has bits: some stand for each other, and the highest bit is like any other."""
    known = GRAMMARS["all", False]
    grammar = replace(known, tags=(*known.tags, *(f"T{i}" for i in range(70))))
    wide = Decoder(grammar, np.zeros(1 << 14, dtype=np.float32), no_limits(goals=3), limits=Limits(1e6, 3000))
    numbers = [63 - len(known.tags), 1, 60, 69, 5]
    names = [f"T{number % 70}" for number in numbers]
    tokens = tuple(InputToken((f"w{i}",), pos=name) for i, name in enumerate(names))
    assert check_features(wide, Input(tokens, order=(tuple(range(len(names))),))) > len(names)


@pytest.mark.parametrize(("templates", "labelled"), WITH_DP)
@pytest.mark.parametrize("text", ["the old dog barks", "she sees the old dog", "the the dog the", "saw~ they~ saw~"])
def test_equivalent_are_trees_that_nothing_can_tell_apart(text: str, templates: str, labelled: bool) -> None:
    weights = np.random.default_rng(1).normal(size=1 << 14).astype(np.float32)
    plain = Searched(GRAMMARS[templates, labelled], bag(text), weights, edges=3000)
    grammar = WITH_DP[templates, labelled]
    hashes: dict[object, set[int]] = defaultdict(set)
    for edge in plain.edges:
        find_equivalent(grammar.tables, plain.state, edge)
        kind = dependency_signature(plain.tree(edge), templates)
        hashes[kind].add(int(plain.workspace.chart.signature[edge, 0]))
    assert all(len(found) == 1 for found in hashes.values())
    assert len({min(found) for found in hashes.values()}) == len(hashes)
    assert len(hashes) < len(plain.edges) or len(text.split()) < 4


@pytest.mark.parametrize("scaled", [0, 1])
@pytest.mark.parametrize(("templates", "labelled"), WITH_DP)
@pytest.mark.parametrize("name", [name for name in KINDS if name != "counts and optional"])  # which has many trees
def test_no_better_tree_is_lost_to_an_equivalent_one(name: str, templates: str, labelled: bool, scaled: int) -> None:
    """All that are equivalent have the same words, and so the same number of actions."""
    weights = np.random.default_rng(2).normal(size=1 << 14).astype(np.float32)
    grammar = WITH_DP[templates, labelled]
    wanted = [score(tree, grammar, weights, scaled) for tree in all_trees(KINDS[name], grammar)]
    decoded = Decoder(grammar, weights, no_limits(scaled=scaled), limits=Limits(1e6)).decode(KINDS[name])
    found = goals(decoded, grammar)
    assert len(found) <= len(wanted)
    assert max(found.values()) == pytest.approx(max(wanted), abs=1e-5)
    for tree, key in found.items():
        assert key == pytest.approx(score(tree, grammar, weights, scaled), abs=1e-5)


@pytest.mark.parametrize("order", [2, 3, 5])
def test_the_language_model_too_can_tell_edges_apart(order: int, language_models: Any) -> None:
    model: KenlmModel = language_models(order)
    weights = np.random.default_rng(3).normal(size=1 << 14).astype(np.float32) / 10
    given_bag = bag("the dog sees the dog")
    best = []
    for grammar in (GRAMMARS["ours", False], WITH_DP["ours", False]):
        options = no_limits(lm_weight=2.0)
        decoded = Decoder(grammar, weights, options, limits=Limits(1e6), language_model=model).decode(given_bag)
        best.append(decoded.hypotheses[0][0])
    assert best[0] == pytest.approx(best[1], abs=1e-5)


def test_a_record_has_room_for_all_columns() -> None:
    grammar = GRAMMARS["all", True]
    (row,) = grammar.own_columns(("a", "b", "c"), (2, 3, 4), 1, None)
    assert len(row) == COLUMNS - 19
    assert row[6] == 1  # a word before the head
    assert row[9:] == [2, 4, 1 << 2, 1 << 4]
