"""Derivations as words with heads."""

from __future__ import annotations

from comparison.best_first.dependency_edge import HEAD_ON_LEFT, HEAD_ON_RIGHT
from comparison.best_first.derivation import LOOSE, Derivation, dependency_span
from comparison.best_first.problem import Leaf
from gyro.text.corpus import ROOT


def leaf(text: str, head: int = 0) -> Derivation:
    words = tuple(text.split())
    return Derivation(0, (), Leaf(0, words, (2,) * len(words), (0, 0, 0, 0, 0, 0, head)))


def test_heads_and_labels_by_place() -> None:
    # "very old" is a unit, whose head is its second word.
    noun = Derivation(2 * 1 + HEAD_ON_RIGHT, (leaf("very old", head=1), leaf("dog")))
    whole = Derivation(2 * 0 + HEAD_ON_RIGHT, (noun, Derivation(2 * 1 + HEAD_ON_LEFT, (leaf("barks"), leaf(".")))))
    span = dependency_span(whole, ("nsubj", "mod"))
    assert tuple(item[0].words[item[1]] for item in span.leaves) == whole.words
    assert whole.words == ("very", "old", "dog", "barks", ".")
    assert span.heads == [1, 2, 3, ROOT, 3]
    assert span.labels == [LOOSE, "mod", "nsubj", LOOSE, "mod"]
    assert span.head == 3
    assert dependency_span(whole).labels == [LOOSE] * 5


def test_an_edge_that_is_used_twice() -> None:
    the = leaf("the")
    whole = Derivation(HEAD_ON_RIGHT, (the, Derivation(HEAD_ON_RIGHT, (the, leaf("dog")))))
    assert dependency_span(whole).heads == [2, 2, ROOT]


def test_a_deep_derivation() -> None:
    deep = leaf("w")
    for _ in range(2000):
        deep = Derivation(HEAD_ON_LEFT, (leaf("w"), deep))
    assert dependency_span(deep).heads == [ROOT, *range(2000)]
    assert len(deep.words) == 2001
