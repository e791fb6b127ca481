"""The tables of overlapping phrases, by hand; that P* is right with them is tested in test_closure."""

from __future__ import annotations

import numpy as np

from grammars.phrase.overlap import find_overlap_tables

A, B, C = range(3)
INFINITY = float("inf")


def trie(*phrases: tuple[str, float]) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
    """Children, ends and the numbers of the nodes of some phrases with their costs, over the words a, b and c."""
    number = {"": 0}
    for phrase, _ in phrases:
        for size in range(1, len(phrase)):
            number.setdefault(phrase[:size], len(number))
    child, end = np.full((len(number), 3), -1, np.int32), np.full((len(number), 3), np.inf)
    for prefix, node in number.items():
        if prefix:
            child[number[prefix[:-1]], "abc".index(prefix[-1])] = node
    for phrase, cost in phrases:
        end[number[phrase[:-1]], "abc".index(phrase[-1])] = cost
    return child, end, number


def test_suffixes_are_the_nodes_of_the_last_words() -> None:
    child, end, at = trie(("abc", 1.0), ("bca", 1.0))  # the nodes "", a, ab, b, bc
    suffix = find_overlap_tables(child, end, 3, 2).suffix
    assert suffix[at["ab"]].tolist() == [0, at["b"], at["ab"]]
    assert suffix[at["bc"]].tolist() == [0, -1, at["bc"]]
    assert suffix[at["a"]].tolist() == [0, at["a"], -1]
    assert suffix[0].tolist() == [0, -1, -1]


def test_phrases_meet_where_one_ends_and_the_other_goes_on() -> None:
    child, end, at = trie(("abc", 1.0), ("bca", 1.0))
    meet = find_overlap_tables(child, end, 3, 2).meet
    assert meet[at["ab"], 1] == 1  # abc ends after one word, bc is inside of bca
    assert meet[at["a"], 0] == 2  # abc ends after two words
    assert meet[at["ab"], 0] == 127  # no phrase begins with c
    assert meet[at["bc"], 0] == 1  # bca ends, and its last word begins abc


def test_gains_are_what_a_phrase_saves_against_later_ones() -> None:
    child, end, at = trie(("a", 5.0), ("b", 2.0), ("bc", 2.0), ("abc", 1.0))
    gain = find_overlap_tables(child, end, 3, 1).gain
    assert gain[at["ab"], 1] == 1.0  # bc, begun with the b, costs 2 where abc costs 1
    assert gain[at["ab"], 0] == 1.0  # from an end after ab too, for b may be shared
    assert gain[at["a"], 0] == 1.0  # from an end after a: bc again
    assert gain[at["b"], 0] == INFINITY  # c alone is no phrase


def test_without_overlap_there_are_none() -> None:
    assert all(table.size == 0 for table in find_overlap_tables(*trie(("abc", 1.0))[:2], 3, 0))
