from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gyro.text.canonical_order import Chains, canonical_order

ROOT = -1
Thing = tuple[Any, Any, Any]  # keys, heads and chains


def is_forest(heads: Sequence[int | None]) -> bool:
    """Does every way up end?"""
    for place in range(len(heads)):
        head: int | None = place
        for _ in heads:
            head = heads[head] if head is not None and head >= 0 else None
        if head is not None and head >= 0:
            return False
    return True


def renumber(keys: Sequence[str], heads: Sequence[int | None], chains: Chains, places: Sequence[int]) -> Thing:
    """The same things with `places[new]` as their old places."""
    new: dict[int | None, int | None] = {old: place for place, old in enumerate(places)}
    moved = [(kind, tuple(new[place] for place in chain)) for kind, chain in chains]
    return [keys[old] for old in places], [new.get(heads[old], heads[old]) for old in places], moved


def in_order(keys: Sequence[str], heads: Sequence[int | None], chains: Chains = ()) -> Thing:
    """What is left when nothing but the canonical order tells the things apart."""
    keys, heads, moved = renumber(keys, heads, chains, canonical_order(keys, heads, chains))
    return keys, heads, sorted(moved)


def test_all_small_forests_have_one_form_however_they_are_given() -> None:
    """Two forests have the same form exactly when a permutation makes one of the other."""
    size = 4
    forests = [heads for heads in product([None, ROOT, *range(size)], repeat=size) if is_forest(heads)]
    for keys in ("aaaa", "aaab", "aabb", "abab"):
        forms: dict[str, set[str]] = {}
        for heads in forests:
            smallest = min(repr(renumber(keys, heads, (), places)) for places in permutations(range(size)))
            form = in_order(keys, heads)
            assert form[0] == sorted(keys)
            forms.setdefault(smallest, set()).add(repr(form))
        assert all(len(found) == 1 for found in forms.values())
        assert len(set.union(*forms.values())) == len(forms)


@given(st.data())
def test_chains_tell_equal_things_apart(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 6))
    keys = data.draw(st.lists(st.sampled_from("ab"), min_size=size, max_size=size))
    drawn = data.draw(st.permutations(range(size)))
    cut = data.draw(st.integers(0, size))
    chains = [("unit", tuple(drawn[:cut])), ("order", tuple(drawn[cut:]))]
    places = data.draw(st.permutations(range(size)))
    heads = [None] * size
    assert in_order(*renumber(keys, heads, chains, places)) == in_order(keys, heads, chains)


def test_it_sees_far() -> None:
    """Two paths that differ only at their far ends."""
    keys = ["x", "x", "x", "a", "x", "x", "x", "b"]
    first = canonical_order(keys, [ROOT, 0, 1, 2, ROOT, 4, 5, 6])
    second = canonical_order(keys[4:] + keys[:4], [ROOT, 0, 1, 2, ROOT, 4, 5, 6])
    assert [(place + 4) % 8 for place in second] == first
