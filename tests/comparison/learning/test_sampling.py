"""Samples of treebanks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from comparison.learning.sampling import draw


@given(size=st.integers(0, 30), limit=st.integers(1, 40), seed=st.integers(0, 5))
def test_samples_keep_their_order_and_smaller_ones_are_in_larger_ones(size: int, limit: int, seed: int) -> None:
    items = list(range(size))
    drawn = draw(items, limit, seed)
    assert drawn == sorted(drawn)
    assert len(set(drawn)) == min(limit, size)
    assert set(drawn) <= set(draw(items, limit + 1, seed))
    assert draw(items, None, seed) == items


def test_samples_are_drawn_from_everywhere_and_by_the_seed() -> None:
    drawn = [draw(range(1000), 100, seed) for seed in range(3)]
    assert len({tuple(each) for each in drawn}) == 3
    assert all(350 < sum(each) / 100 < 650 for each in drawn)
