from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.score.subtree import LENGTH_CLASSES, Recall, Subtree, Tree, find_subtrees, subtree_recalls, subtrees
from gyro.text.corpus import ROOT

WORDS = ["a", "b", "c"]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Any tree of up to eight words, few of them distinct; it need not be projective."""
    size = draw(st.integers(1, 8))
    order = draw(st.permutations(range(size)))
    heads = [ROOT] * size
    for number, place in enumerate(order[1:], 1):
        heads[place] = order[draw(st.integers(0, number - 1))]
    words = draw(st.lists(st.sampled_from(WORDS), min_size=size, max_size=size))
    return Tree(words, heads, [f"T{p}" for p in range(size)], [f"r{p}:x" for p in range(size)])


def below(tree: Tree, top: int) -> set[int]:
    """A word and all below it, by walking up from every word."""
    found = set()
    for place in range(len(tree.words)):
        way = [place]
        while (head := tree.heads[way[-1]]) not in (None, ROOT):
            assert head is not None
            way.append(head)
        if top in way:
            found.add(place)
    return found


@given(trees())
def test_subtrees_are_all_pieces_below_a_word(tree: Tree) -> None:
    expected = []
    for top in range(len(tree.words)):
        places = sorted(below(tree, top))
        if 2 <= len(places) < len(tree.words) and places == list(range(places[0], places[-1] + 1)):
            expected.append(Subtree(places[0], places[-1] + 1, f"T{top}", f"r{top}:x"))
    assert subtrees(tree) == sorted(expected)


def most_places(output: tuple[str, ...], words: tuple[str, ...], *, in_order: bool) -> int:
    """The largest set of places that do not overlap and have these words, of all sets of places."""
    size = len(words)

    def fits(start: int) -> bool:
        window = output[start : start + size]
        return window == words if in_order else sorted(window) == sorted(words)

    places = [start for start in range(len(output) - size + 1) if fits(start)]
    sets = (some for count in range(len(places), 0, -1) for some in combinations(places, count))
    apart = (some for some in sets if all(b - a >= size for a, b in combinations(some, 2)))
    return len(next(apart, ()))


@given(trees(), st.data())
def test_found_are_as_many_as_there_are_places(tree: Tree, data: st.DataObject) -> None:
    output = tuple(data.draw(st.permutations(tree.words)))[: data.draw(st.integers(0, 8))]
    spans = subtrees(tree)
    found = find_subtrees(output, tree, spans)
    for column, in_order in enumerate((True, False)):
        strings = [tuple(tree.words[span.start : span.end]) for span in spans]
        keys = strings if in_order else [tuple(sorted(words)) for words in strings]
        for key in set(keys):
            hits = [each[column] for each, other in zip(found, keys, strict=True) if other == key]
            places = most_places(output, key, in_order=in_order)
            assert hits == [number < places for number in range(len(hits))]
    assert all(loose for strict, loose in found if strict)


@given(trees())
def test_the_reference_has_all_of_its_subtrees(tree: Tree) -> None:
    assert set(find_subtrees(tree.words, tree, subtrees(tree))) <= {(True, True)}


def test_heads_that_are_not_known_end_the_way_up() -> None:
    assert subtrees(Tree("abc", (1, None, None), "xyz", "pqr")) == [Subtree(0, 2, "y", "q")]


@pytest.mark.parametrize(
    ("length", "name"), [(2, "2"), (3, "3"), (4, "4"), (5, "5–7"), (7, "5–7"), (8, "8–12"), (12, "8–12"), (13, "13+")]
)
def test_classes_of_length(length: int, name: str) -> None:
    assert Subtree(3, 3 + length, "NN", "obj").length_class == name
    assert name in LENGTH_CLASSES


def test_recall_by_everything() -> None:
    tree = Tree(
        ["the", "dog", "sees", "my", "old", "cat"],
        (1, 2, ROOT, 5, 5, 2),
        ["DT", "NN", "VBZ", "PRP$", "JJ", "NN"],
        ["det", "nsubj", "root", "nmod:poss", "amod", "obj"],
    )
    outputs = [["the", "dog", "sees", "my", "old", "cat"], ["old", "my", "cat", "sees", "dog", "the"], []]
    found = subtree_recalls(outputs, [tree] * 3)
    assert found["all"] == {"all": Recall(6, 2, 4)}
    assert found["length"] == {"2": Recall(3, 1, 2), "3": Recall(3, 1, 2)}
    assert found["tag"] == {"NN": Recall(6, 2, 4)}
    assert found["relation"] == {"nsubj": Recall(3, 1, 2), "obj": Recall(3, 1, 2)}
    assert (found["all"]["all"].strict_share, found["all"]["all"].loose_share) == pytest.approx((1 / 3, 2 / 3))
    assert subtree_recalls([], [])["all"] == {}
