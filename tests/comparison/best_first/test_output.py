"""Outputs as treebank files: read back, they are the trees that the decoder found."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Decoded, Decoder, Limits
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.input import bag_input
from comparison.best_first.output import ccg_derivation, complete_order, dependency_tree, output_text
from grammars.ccg.derivation import leaves as ccg_leaves
from grammars.ccg.derivation import parse_auto, read_auto
from grammars.ccg.derivation import words as ccg_words
from grammars.conllu import ConlluSentence, is_projective, read_conllu
from gyro.text.annotated_bag import AnnotatedBag
from lm.kenlm.model import KenlmModel
from tests.comparison.best_first.enumeration import no_limits
from tests.comparison.best_first.twin import arcs, canonical, head_of, words

Weights = Callable[[int], NDArray[np.float32]]
ROOT = -1
BAGS = [
    AnnotatedBag(("the", "dog", "barks", "."), id="1"),
    AnnotatedBag(("the", "dog", "sees", "the", "dog"), id="2", units=((0, 1),), pos=(None, None, "VBZ", None, "NN")),
    AnnotatedBag(
        ("she", "sees", "the", "old", "dog"), id="3", heads=(1, ROOT, 4, 4, 1), labels=("nsubj",) + (None,) * 4
    ),
    AnnotatedBag(("dog",)),
]


def decode(
    bag: AnnotatedBag, grammar: DependencyGrammar | CcgInventory, weights: NDArray[np.float32], limit: int = 0
) -> Decoded:
    options = no_limits(goals=20, scaled=1)
    return Decoder(grammar, weights, options, limits=Limits(1e6, limit)).decode(bag_input(bag))


def read_back(texts: list[str], path: Path) -> Path:
    path.write_text("".join(texts), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["dependency", "labelled"])
@pytest.mark.parametrize("bag", BAGS)
def test_conllu_is_the_tree_that_was_found(
    bag: AnnotatedBag, kind: str, request: pytest.FixtureRequest, random_weights: Weights, tmp_path: Path
) -> None:
    grammar: DependencyGrammar = request.getfixturevalue(kind)
    decoded = decode(bag, grammar, random_weights(1))
    assert decoded.how == "goal"
    found = list(read_conllu(read_back(output_text(decoded, grammar, bag, "xpos"), tmp_path / "out.conllu")))
    assert len(found) == len(decoded.hypotheses)
    for rank, (tree, (score, parts)) in enumerate(zip(found, decoded.hypotheses, strict=True), 1):
        wanted = canonical(parts[0], grammar, decoded.prepared)
        assert tree.forms == words(wanted) == parts[0].words
        assert tree.sent_id == (bag.id or "0")
        assert tree.comments[1:3] == (f"# rank = {rank}", f"# score = {score:.6f}")
        heads = tuple(head for head in tree.heads if head is not None)
        assert len(heads) == len(tree.tokens)
        assert is_projective(heads)
        assert heads[head_of(wanted)] == ROOT
        assert tree.tokens[head_of(wanted)].deprel == "root"
        for head, dependent, label in arcs(wanted):
            assert heads[dependent] == head
            assert tree.tokens[dependent].deprel == (label or "dep")


def test_forms_are_chosen_and_lemmas_kept(tree_bank: list[ConlluSentence], random_weights: Weights) -> None:
    grammar = DependencyGrammar.from_trees(tree_bank, labelled=True, tag_kind="upos")
    feats = ("Number=Plur", None)
    bag = AnnotatedBag(("dog", "bark"), pos=("NOUN", "VERB"), heads=(1, ROOT), feats=feats, inflect=True)
    decoded = decode(bag, grammar, random_weights(1))
    seen = set()
    for _, parts in decoded.hypotheses:
        tree = dependency_tree(parts, grammar, bag, decoded.prepared, "upos")
        rows = {(token.lemma, token.upos, token.feats) for token in tree.tokens}
        assert rows == {("dog", "NOUN", "Number=Plur"), ("bark", "VERB", "_")}
        seen |= {token.form for token in tree.tokens}
    assert {"dogs", "bark", "barks", "barked", "barking"} <= seen
    assert "dog" not in seen


def test_columns_of_the_bag_go_with_its_tokens(dependency: DependencyGrammar, random_weights: Weights) -> None:
    bag = AnnotatedBag(("dog", "dog", "bark"), pos=("NN", "NN", "VB"), lemmas=("dog1", "dog2", "bark"))
    decoded = decode(bag, dependency, random_weights(2))
    for _, parts in decoded.hypotheses:
        tree = dependency_tree(parts, dependency, bag, decoded.prepared, "xpos")
        assert sorted(token.lemma for token in tree.tokens) == ["bark", "dog1", "dog2"]
        assert all(token.lemma.startswith(token.form) for token in tree.tokens)


def test_a_given_tag_is_that_of_the_output(dependency: DependencyGrammar, random_weights: Weights) -> None:
    bag = AnnotatedBag(("dog", "barks"), pos=("XYZZY", "VBZ"))
    decoded = decode(bag, dependency, random_weights(2))
    tree = dependency_tree(decoded.hypotheses[0][1], dependency, bag, decoded.prepared, "xpos")
    assert {token.form: token.xpos for token in tree.tokens} == {"dog": "XYZZY", "barks": "VBZ"}


def test_given_heads_within_a_unit_are_those_of_the_output(
    dependency: DependencyGrammar, random_weights: Weights
) -> None:
    heads, unit = (3, 2, 3, 4, ROOT), (0, 1, 2, 3)
    bag = AnnotatedBag(("a", "very", "old", "cat", "sleeps"), heads=heads, units=(unit,))
    decoded = decode(bag, dependency, random_weights(2))
    tree = dependency_tree(decoded.hypotheses[0][1], dependency, bag, decoded.prepared, "xpos")
    above = {token.form: tree.forms[token.head] for token in tree.tokens if token.head not in (None, ROOT)}
    assert above == {"a": "cat", "very": "old", "old": "cat", "cat": "sleeps"}


@pytest.mark.parametrize("limit", [8, 12, 20, 40])
def test_a_default_output_is_one_tree(
    limit: int, dependency: DependencyGrammar, random_weights: Weights, tmp_path: Path
) -> None:
    bag = AnnotatedBag(("the", "old", "dog", "sees", "the", "cat", "."), id="x")
    decoded = decode(bag, dependency, random_weights(3), limit)
    assert decoded.how in ("two edges", "greedy")
    (tree,) = read_conllu(read_back(output_text(decoded, dependency, bag, "xpos"), tmp_path / "out.conllu"))
    assert tree.forms == decoded.words
    assert tree.heads.count(ROOT) == 1
    assert is_projective([head for head in tree.heads if head is not None])
    assert f"# how = {decoded.how}" in tree.comments


CCG_BAGS = [
    AnnotatedBag(("the", "old", "dog", "sees", "the", "cat", "."), id="1"),
    AnnotatedBag(("the", "old", "dog", "sees", "she", "."), id="2", units=((0, 1, 2),)),
    AnnotatedBag(("they", "saw", "a", "saw", ".")),
    AnnotatedBag(("the", "the", "she"), id="no derivation"),
]


@pytest.mark.parametrize("bag", CCG_BAGS)
def test_auto_is_the_derivation_that_was_found(
    bag: AnnotatedBag, inventory: CcgInventory, random_weights: Weights, tmp_path: Path
) -> None:
    decoded = decode(bag, inventory, random_weights(4))
    entries = list(read_auto(read_back(output_text(decoded, inventory, bag, "xpos"), tmp_path / "out.auto")))
    wanted = [(rank, i, part) for rank, (_, p) in enumerate(decoded.hypotheses, 1) for i, part in enumerate(p, 1)]
    assert len(entries) == len(wanted)
    for entry, (rank, i, part) in zip(entries, wanted, strict=True):
        assert entry.header.startswith(f"ID={bag.id or '0'}.{rank}.{i} SCORE=")
        assert entry.derivation == ccg_derivation(part, inventory)
        assert inventory.grammar.licenses(entry.derivation)
        assert " ".join(ccg_words(entry.derivation)).replace("_", " ").split() == list(part.words)
        categories = [inventory.categories[leaf.own[0]] for leaf in part.leaves()]
        assert [leaf.category for leaf in ccg_leaves(entry.derivation)] == categories
    assert parse_auto(output_text(decoded, inventory, bag, "xpos")[0].splitlines()[1]) == entries[0].derivation


@given(
    words_there=st.lists(st.sampled_from(["the", "dog", "sees", "xyzzy"]), max_size=3),
    missing=st.lists(st.sampled_from(["the", "old", "cat", ".", "unknown"]), max_size=4),
)
def test_missing_words_come_in_the_order_of_the_language_model(
    words_there: list[str], missing: list[str], language_models: Callable[[int], KenlmModel]
) -> None:
    model = language_models(3)
    found = complete_order(words_there, [[word] for word in missing], model)
    assert found[: len(words_there)] == tuple(words_there)
    assert sorted(found) == sorted([*words_there, *missing])
    left = list(missing)
    for place in range(len(words_there), len(found)):  # each is the likeliest of those that are left
        costs = {word: model.score([*found[:place], word], eos=False) for word in left}
        assert math.isclose(costs[found[place]], min(costs.values()), abs_tol=1e-6)
        left.remove(found[place])
    assert complete_order(words_there, [[word] for word in missing], None) == (*words_there, *sorted(missing))
