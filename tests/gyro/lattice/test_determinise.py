"""Determinisation, against the strings of the automaton one by one and OpenFst's."""

from __future__ import annotations

import numpy as np
import pywrapfst
from hypothesis import given

from gyro.lattice.determinise import determinise
from gyro.lattice.lattice import Lattice
from tests.rescoring.paths import all_paths, cheapest, lattices


def steps_of(lattice: Lattice, most_steps: int) -> Lattice | None:
    source, word, target, cost, final_states, final_costs = lattice.to_arrays()
    final = np.full(lattice.num_states, np.inf)
    final[final_states] = final_costs
    found = determinise(source, word, target, cost, final, most_steps)
    if found is None:
        return None
    *arcs, ends = found
    finals = np.flatnonzero(ends != np.inf)
    return Lattice.from_arrays(lattice.words, 0, *arcs, finals, ends[finals])


@given(lattices())
def test_each_string_once_at_its_lowest_cost(lattice: Lattice) -> None:
    ours = steps_of(lattice, 10**6)
    assert ours is not None
    assert sorted(all_paths(ours)) == sorted(cheapest(all_paths(lattice)))
    theirs = pywrapfst.determinize(lattice._transducer()._fst)
    assert ours.num_states == theirs.num_states()


@given(lattices())
def test_no_more_steps_than_allowed(lattice: Lattice) -> None:
    assert steps_of(lattice, 1) is None or lattice.num_arcs == 1


def test_nothing_in_nothing() -> None:
    none = np.empty(0, np.int32)
    found = determinise(none, none, none, none, none, 1)
    assert found is not None
    assert not len(found[-1])
