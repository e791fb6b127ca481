"""Heads are moved so that trees stay projective trees, and as many as is asked for where there is room."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.comparison_trees import attachment, move_heads, move_some, possible_heads
from grammars.conllu import is_projective
from gyro.text.corpus import ROOT


@st.composite
def projective_trees(draw: st.DrawFn, most: int = 9) -> list[int]:
    """Any of them: a root, and on each side of it subtrees side by side."""
    heads: dict[int, int] = {}

    def build(start: int, end: int, head: int) -> None:
        while start < end:
            size = draw(st.integers(1, end - start))
            top = draw(st.integers(start, start + size - 1))
            heads[top] = head
            build(start, top, top)
            build(top + 1, start + size, top)
            start += size

    size = draw(st.integers(1, most))
    root = draw(st.integers(0, size - 1))
    heads[root] = ROOT
    build(0, root, root)
    build(root + 1, size, root)
    return [heads[place] for place in range(size)]


def is_tree(heads: list[int]) -> bool:
    for place in range(len(heads)):
        way = [place]
        while (head := heads[way[-1]]) != ROOT:
            if head in way:
                return False
            way.append(head)
    return heads.count(ROOT) == 1


@given(projective_trees(), st.data())
def test_possible_heads_are_those_that_leave_a_projective_tree(heads: list[int], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(heads) - 1))
    if heads[place] == ROOT:
        return
    trials = {head: [*heads[:place], head, *heads[place + 1 :]] for head in range(len(heads)) if head != place}
    fit = [head for head, trial in trials.items() if is_tree(trial) and is_projective(trial)]
    assert possible_heads(heads, place) == fit


@given(projective_trees(), st.integers(0, 9), st.integers(0, 99))
def test_moved_trees_are_projective_with_as_many_moves_as_can_be(heads: list[int], count: int, seed: int) -> None:
    moved = move_some(heads, count, Random(seed))
    assert is_tree(moved)
    assert is_projective(moved)
    assert moved.index(ROOT) == heads.index(ROOT)
    changed = [place for place, head in enumerate(heads) if moved[place] != head]
    assert len(changed) <= count
    if len(changed) < count:  # then no other can be moved
        stuck = [place for place, head in enumerate(heads) if place not in changed and head != ROOT]
        assert all(possible_heads(moved, place) == [heads[place]] for place in stuck)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
def test_the_share_over_many_trees_is_what_was_asked_for(share: float) -> None:
    random = Random(3)
    trees = [move_some([ROOT, *range(size - 1)], size, random) for size in range(2, 40) for _ in range(5)]
    moved = list(move_heads(trees, share, seed=7))
    words = sum(map(len, trees))
    assert attachment(trees, moved) == pytest.approx(1 - share, abs=2 / words)
    assert moved == list(move_heads(trees, share, seed=7))
    assert moved != list(move_heads(trees, share, seed=8))


def test_nothing_and_everything() -> None:
    trees = [[ROOT], [1, ROOT], [1, ROOT, 1]]
    assert list(move_heads(trees, 0.0, 1)) == trees
    for tree, moved in zip(trees, move_heads(trees, 1.0, 1), strict=True):
        assert is_tree(moved)
        assert len(moved) == len(tree)
