"""The beam: without limit the optimum of all orders, with one what a plain beam gives."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison.wan.viterbi import beam_order
from tests.comparison.wan.hand_model import HandModel, random_cost
from tests.comparison.wan.twin import plain_beam

Units = list[tuple[str, ...]]


def random_units(dice: random.Random, size: int) -> Units:
    return [tuple(dice.choice("abcd") for _ in range(dice.choice((1, 1, 1, 2, 3)))) for _ in range(size)]


def words_of(units: Units, order: tuple[int, ...]) -> list[str]:
    assert sorted(order) == list(range(len(units)))
    return [word for number in order for word in units[number]]


@given(st.integers(1, 6), st.integers(0, 10**6), st.integers(1, 4), st.booleans())
def test_without_limit_it_is_the_optimum(size: int, seed: int, order: int, end: bool) -> None:
    units = random_units(random.Random(seed), size)
    model = HandModel(order, random_cost(seed % 7))
    found = beam_order(units, model, beam=5000, end=end)
    costs = [model.score([w for unit in some for w in unit], eos=end) for some in set(permutations(units))]
    assert found.cost == pytest.approx(min(costs))
    assert model.score(words_of(units, found.order), eos=end) == pytest.approx(found.cost)


@given(st.integers(0, 9), st.integers(0, 10**6), st.integers(1, 20), st.booleans())
def test_with_a_limit_it_is_a_plain_beam(size: int, seed: int, beam: int, end: bool) -> None:
    units = random_units(random.Random(seed), size)
    real = random_cost(seed % 7)
    model = HandModel(3, lambda context, word: float(int(real(context, word))))  # whole numbers: equal costs are equal
    found = beam_order(units, model, beam=beam, end=end)
    assert (tuple(words_of(units, found.order)), found.cost) == plain_beam(units, model.cost, 3, beam, end)
