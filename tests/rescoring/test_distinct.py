"""Lattices with one path a string, against all paths one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.lattice.lattice import Lattice
from rescoring import distinct
from rescoring.distinct import merge_paths, widest
from tests.rescoring.paths import WORDS, all_paths, cheapest, lattices


@given(lattices())
def test_each_string_has_one_path_at_its_lowest_cost(lattice: Lattice) -> None:
    merged, width = merge_paths(lattice)
    assert sorted(all_paths(merged)) == sorted(cheapest(all_paths(lattice)))
    assert width == np.inf
    assert merged.minimal().num_arcs == merged.num_arcs


def doubled(length: int, seed: int) -> Lattice:
    """Two arcs of each word between neighbouring states on two floors: sets of states with ever new prices."""
    rng = np.random.default_rng(seed)
    rows = [
        (2 * place + floor, word, 2 * place + 2 + to, rng.random())
        for place in range(length)
        for floor in range(2)
        for word in range(len(WORDS))
        for to in range(2)
    ]
    source, word, target, cost = zip(*rows, strict=True)
    return Lattice.from_arrays(WORDS, 0, source, word, target, cost, [2 * length, 2 * length + 1], [0.0, 0.0])


@given(st.integers(0, 5))
def test_a_lattice_that_takes_too_many_steps_is_cut_to_what_fits(seed: int) -> None:
    lattice = doubled(7, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distinct, "MOST_MERGE_STEPS", 600)
        merged, width = merge_paths(lattice)
    assert 0.0 < width < np.inf
    found = {h.tokens: h.cost for h in merged.strings()}
    costs = {h.tokens: h.cost for h in lattice.strings()}
    least = min(costs.values())
    within = {tokens: cost for tokens, cost in costs.items() if cost <= least + width}
    assert len(within) > 1
    assert {tokens: found.get(tokens) for tokens in within} == pytest.approx(within, abs=1e-5)
    assert found.keys() <= costs.keys()


def test_of_equal_costs_the_first_strings_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    lattice = doubled(5, 0).unweighted()
    monkeypatch.setattr(distinct, "MOST_MERGE_STEPS", 5)
    monkeypatch.setattr(distinct, "MOST_STRINGS", 10)
    merged, width = merge_paths(lattice)
    assert width == 0.0
    assert merged.strings() == lattice.nbest(10)


@pytest.mark.parametrize(("most", "expected"), [(np.inf, np.inf), (3.0, 3.0), (5.01, 5.0), (0.0, 0.0), (-1.0, None)])
def test_the_widest_that_fits(most: float, expected: float | None) -> None:
    found = widest(8.0, lambda width: "fits" if width <= most else None)
    assert (None if found is None else found[1]) == expected
