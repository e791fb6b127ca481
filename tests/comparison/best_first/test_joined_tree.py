"""Parts of a sentence as one tree, by hand."""

from __future__ import annotations

import pytest

from comparison.best_first.dependency_edge import HEAD_ON_RIGHT
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.derivation import Derivation
from comparison.best_first.joined_tree import joined_tree
from comparison.best_first.problem import Input, prepare
from gyro.text.corpus import ROOT
from tests.comparison.best_first.bags import bag


def joined(given: Input, texts: list[str], grammar: DependencyGrammar) -> list[int | None] | None:
    """The heads that the tokens get when each part is a chain of words, its last one the head: "the dog" is one."""
    prepared = prepare(given, grammar)
    leaf_of = {"_".join(leaf.words): Derivation(i, (), leaf) for i, leaf in enumerate(prepared.leaves)}
    parts = []
    for text in texts:
        first, *rest = text.split()
        part = leaf_of[first]
        for word in rest:
            part = Derivation(HEAD_ON_RIGHT, (part, leaf_of[word]))
        parts.append(part)
    whole = joined_tree(given, prepared, parts)
    return None if whole is None else [token.head for token in whole.tokens]


def test_parts_hang_on_the_first(dependency: DependencyGrammar) -> None:
    given = bag("the old dog sees she .")
    # . is in no part
    assert joined(given, ["the old dog", "she sees"], dependency) == [1, 2, ROOT, 2, 3, 2]


def test_the_given_root_is_the_head(dependency: DependencyGrammar) -> None:
    given = bag("the old dog sees", tokens={"head": [None, None, None, ROOT]})
    assert joined(given, ["the old dog"], dependency) == [1, 2, 3, ROOT]


def test_given_heads_of_parts_are_kept(dependency: DependencyGrammar) -> None:
    given = bag("the old dog sees she", tokens={"head": [None, None, 3, None, None]})
    # The first part hangs on a word of no part, and so is not the head of the sentence.
    assert joined(given, ["the old dog", "she"], dependency) == [1, 2, 3, ROOT, 3]


def test_equal_words_are_told_apart(dependency: DependencyGrammar) -> None:
    given = bag("the dog the the")
    assert joined(given, ["the dog", "the"], dependency) == [1, ROOT, 1, 1]


def test_units_are_one_word(dependency: DependencyGrammar) -> None:
    given = bag("the dog sees .", units=((0, 1),))
    assert joined(given, ["the_dog sees"], dependency) == [None, 2, ROOT, 2]


@pytest.mark.parametrize("tokens", [{"head": [ROOT, ROOT, None]}, {"optional": [True, False, False]}])
def test_what_makes_no_tree(tokens: dict[str, list[object]], dependency: DependencyGrammar) -> None:
    assert joined(bag("the dog sees", tokens=tokens), ["the"], dependency) is None
