"""Minimal lattices, against their strings one by one and against OpenFst's own minimisation."""

from __future__ import annotations

import numpy as np
import pytest
import pywrapfst
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.minimal import GRAIN

WORDS = ("a", "b", "c")
STRINGS = st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(tuple), min_size=1, max_size=12, unique=True)
# Eighths: sums in single precision are exact, so that OpenFst finds equal what is equal.
COSTS = st.integers(-16, 64).map(lambda eighths: eighths / 8)


@st.composite
def trees(draw: st.DrawFn) -> Lattice:
    """A deterministic lattice that shares nothing: a tree of strings, with costs on all its arcs and ends."""
    strings = draw(STRINGS)
    children: dict[tuple[int, str], int] = {}
    ends = {0} if () in strings else set()
    for string in strings:
        state = 0
        for word in string:
            state = children.setdefault((state, word), len(children) + 1)
        ends.add(state)
    # Few distinct costs, so that there is something to be joined.
    few = draw(st.lists(COSTS, min_size=1, max_size=2))
    costs = [draw(st.sampled_from(few)) for _ in children]
    source, word = [key[0] for key in children], [WORDS.index(key[1]) for key in children]
    finals = sorted(ends)
    return Lattice.from_arrays(
        WORDS, 0, source, word, list(children.values()), costs, finals, [draw(st.sampled_from(few)) for _ in finals]
    )


@given(trees())
def test_strings_and_costs_stay(lattice: Lattice) -> None:
    assert lattice.minimal().strings() == lattice.strings()


@given(trees())
def test_it_is_as_small_as_openfst_makes_it(lattice: Lattice) -> None:
    theirs = lattice._transducer()._fst.copy()
    theirs.push().minimize()
    ours = lattice.minimal()
    assert ours.num_states == theirs.num_states()
    assert ours.num_arcs == sum(theirs.num_arcs(state) for state in theirs.states())
    assert pywrapfst.equivalent(theirs, ours._transducer()._fst)


@settings(max_examples=30)
@given(trees(), st.randoms(use_true_random=False))
def test_costs_that_differ_by_less_than_the_grain_move_strings_by_little(lattice: Lattice, rng: object) -> None:
    source, word, target, cost, finals, final_costs = lattice.to_arrays()
    noisy = cost + np.array([rng.uniform(-0.4, 0.4) * GRAIN for _ in cost])  # type: ignore[attr-defined]
    before = Lattice.from_arrays(WORDS, 0, source, word, target, noisy, finals, final_costs)
    after = {h.tokens: h.cost for h in before.minimal().strings()}
    assert after.keys() == {h.tokens for h in before.strings()}
    for tokens, cost_before in before.strings():
        assert after[tokens] == pytest.approx(cost_before, abs=2 * (len(tokens) + 1) * GRAIN)


@given(STRINGS.flatmap(lambda strings: st.tuples(st.just(strings), st.lists(COSTS, min_size=12, max_size=12))))
def test_lattices_with_several_paths_a_string_keep_their_strings(
    pair: tuple[list[tuple[str, ...]], list[float]],
) -> None:
    strings, costs = pair
    chains = [(string, cost) for string, cost in zip([*strings, *strings], [*costs, *costs[::-1]], strict=False)]
    source, word, target, finals, ends = [], [], [], [], []
    states = 1
    for string, cost in chains:
        at = 0
        for token in string:
            source.append(at), word.append(WORDS.index(token)), target.append(states)
            at, states = states, states + 1
        finals.append(at), ends.append(cost)
    lattice = Lattice.from_arrays(WORDS, 0, source, word, target, np.zeros(len(source)), finals, ends)
    assert lattice.minimal().strings() == lattice.strings()
    assert lattice.minimal().num_arcs <= lattice.num_arcs


def test_the_empty_lattice_and_the_empty_string() -> None:
    assert Lattice.from_strings(WORDS, []).minimal().empty()
    assert Lattice.from_strings(WORDS, [Hypothesis((), 0.5)]).minimal().strings() == [Hypothesis((), 0.5)]


def test_strings_of_equal_lowest_cost_are_equal_to_the_last_bit() -> None:
    """0.1 + 0.7 and 0.3 + 0.5 are not, and which is less is a matter of rounding."""
    arcs = ([0, 0, 1, 2], [0, 1, 1, 0], [1, 2, 3, 3], [0.3, 0.1, 0.5, 0.7])
    lattice = Lattice.from_arrays(WORDS, 0, *arcs, [3], [0.0])
    assert len({h.cost for h in lattice.strings()}) == 2
    first, second = lattice.minimal().strings()
    assert first.cost == second.cost == pytest.approx(0.8, abs=GRAIN)
    assert first.tokens == ("a", "b")
