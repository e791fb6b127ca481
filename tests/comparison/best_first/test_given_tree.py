"""Given heads as a tree of slots: its arrays by hand, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.given_tree import GivenTree, given_tree
from comparison.best_first.problem import Input, prepare
from gyro.text.corpus import ROOT
from tests.comparison.best_first.bags import bag


def named(given: Input, grammar: DependencyGrammar) -> tuple[GivenTree, dict[int, str]]:
    """The tree of a bag, and the words of its slots; of several equal ones with the number of the first token."""
    prepared = prepare(given, grammar)
    tree = given_tree(prepared)
    assert tree is not None
    words = [" ".join(given.tokens[place].forms[0] for place in groups[0]) for groups in prepared.slots]
    twice = {word for word in words if words.count(word) > 1}
    return tree, {
        slot: f"{word} {prepared.slots[slot][0][0]}" if word in twice else word for slot, word in enumerate(words)
    }


def dependents(tree: GivenTree, names: dict[int, str]) -> dict[str, list[str]]:
    return {
        name: sorted(names[int(d)] for d in tree.dependents[tree.first[slot] : tree.first[slot + 1]])
        for slot, name in names.items()
    }


def test_slots_come_after_their_dependents(dependency: DependencyGrammar) -> None:
    tree, names = named(
        bag("the dog sees the the cat .", tokens={"head": [1, 2, ROOT, 5, 5, 2, 2]}, units=((1,),)), dependency
    )
    assert dependents(tree, names) == {
        "the 0": [],
        "dog": ["the 0"],
        "sees": [".", "cat", "dog"],
        "the 3": [],
        "cat": ["the 3"],
        ".": [],
    }
    assert {names[slot]: int(tree.copies[slot]) for slot in names} == dict.fromkeys(names.values(), 1) | {"the 3": 2}
    assert [names[int(root)] for root in tree.roots] == ["sees"]
    place = {int(slot): i for i, slot in enumerate(tree.slots)}
    assert sorted(place) == sorted(names)
    for slot in names:
        for dependent in tree.dependents[tree.first[slot] : tree.first[slot + 1]]:
            assert place[int(dependent)] < place[slot]
    assert tree.precedes.size == 0


def test_leaves_of_a_slot_follow_each_other(dependency: DependencyGrammar) -> None:
    given = bag("saw~ they~ dog|dogs", tokens={"head": [ROOT, 0, 0]})
    prepared = prepare(given, dependency)
    tree = given_tree(prepared)
    assert tree is not None
    for slot in range(3):
        for leaf in range(tree.first_leaf[slot], tree.first_leaf[slot + 1]):
            assert prepared.leaves[leaf].slot == slot
    assert tree.first_leaf[-1] == len(prepared.leaves) > 4


def test_an_order_of_words_is_one_of_subtrees(dependency: DependencyGrammar) -> None:
    # the < sees, dog < cat: of the dependents of sees, the dog comes before sees and before the cat.
    heads = [1, 2, ROOT, 2, 2]
    given = bag("the dog sees cat .", tokens={"head": heads}, order=((0, 2), (1, 3), (3, 4)))
    tree, names = named(given, dependency)
    slot = next(slot for slot, name in names.items() if name == "sees")
    items = [names[int(d)] for d in tree.dependents[tree.first[slot] : tree.first[slot + 1]]] + ["sees"]
    table = tree.precedes[tree.first_cell[slot] : tree.first_cell[slot + 1]].reshape(4, 4)
    found = {(items[a], items[b]) for a, b in np.argwhere(table)}
    assert found == {("dog", "sees"), ("dog", "cat"), ("cat", "."), ("dog", ".")}


NO_TREE = {
    "no heads": bag("the dog"),
    "a head is missing": bag("the dog barks", tokens={"head": [1, None, ROOT]}),
    "no root": bag("the dog", tokens={"head": [1, 0]}),
    "a circle beside the root": bag("the dog barks", tokens={"head": [1, 0, ROOT]}),
    "a word may be left out": bag("the? dog", tokens={"head": [1, ROOT]}),
    "a word may be used again": bag("the*2 dog", tokens={"head": [1, ROOT]}),
    "a unit with two heads": bag("the dog barks .", tokens={"head": [2, 3, ROOT, 2]}, units=((0, 1),)),
    "an order across subtrees": bag("the dog old cat barks", tokens={"head": [1, 4, 3, 4, ROOT]}, order=((0, 2, 1),)),
}


@pytest.mark.parametrize("name", NO_TREE)
def test_heads_that_make_no_tree(name: str, dependency: DependencyGrammar) -> None:
    assert given_tree(prepare(NO_TREE[name], dependency)) is None


def test_heads_are_nothing_to_ccg(inventory: CcgInventory) -> None:
    assert given_tree(prepare(bag("she sees", tokens={"head": [1, ROOT]}), inventory)) is None
