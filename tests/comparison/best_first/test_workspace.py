"""Arrays that grow or lose the worse half of an agenda: what must stay stays, and no search notices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from comparison.best_first import workspace
from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Decoder, Limits
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.model import BestFirstModel
from comparison.best_first.state import (
    AGENDA_FULL,
    EDGES_FULL,
    NUM_CHART,
    NUM_EDGES,
    NUM_FREE,
    NUM_GOALS,
    NUM_HEAP,
    NUM_ITEMS,
    pop,
    push,
)
from comparison.best_first.system import BestFirstSystem
from comparison.best_first.workspace import Workspace
from gyro.row_table import slot_of
from gyro.text.annotated_bag import AnnotatedBag
from tests.comparison.best_first.bags import BAGS, bag
from tests.comparison.best_first.enumeration import no_limits
from tests.comparison.best_first.treebank import ambiguous

Grammar = DependencyGrammar | CcgInventory
Weights = Callable[[int], NDArray[np.float32]]
FOREVER = Limits(seconds=1e6)

GROWING = ["four words", "ambiguous tags", "heads", "counts", "unit", "equivalent derivations"]


@pytest.mark.parametrize("scaled", [0, 1])
@pytest.mark.parametrize("name", GROWING)
def test_a_workspace_that_grows_changes_nothing(
    name: str, scaled: int, dependency: DependencyGrammar, random_weights: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = no_limits(scaled=scaled)
    grammar: Grammar = dependency if name in BAGS else CcgInventory.from_derivations(ambiguous(), cutoff=0)
    given_bag = BAGS.get(name, bag("a c e d"))
    wanted = Decoder(grammar, random_weights(6), options, limits=FOREVER).decode(given_bag)
    monkeypatch.setattr(workspace, "_FIRST_EDGES", 8)
    monkeypatch.setattr(workspace, "_FIRST_ITEMS", 32)
    decoder = Decoder(grammar, random_weights(6), options, limits=FOREVER)
    for _ in range(2):  # again in the grown one
        found = decoder.decode(given_bag)
        assert found.hypotheses == wanted.hypotheses
        assert (found.scored, found.expanded) == (wanted.scored, wanted.expanded)
    assert decoder.workspace.edges.columns.shape[0] > 8
    assert not decoder.workspace.culled


def test_a_culled_agenda_gives_the_same_goal(learned: BestFirstModel) -> None:
    tokens = ("cats", "see", "dogs", "in", "the", "park", ".")
    bag = AnnotatedBag(tokens, pos=("NNS", "VBP", "NNS", "IN", "DT", "NN", "."))
    wanted = BestFirstSystem(learned).decode(bag)
    small = BestFirstSystem(learned)
    workspace = small.decoder.workspace
    workspace.agenda = type(workspace.agenda)(*(array[:200].copy() for array in workspace.agenda))
    workspace.most_items = 200
    found = small.decode(bag)
    assert workspace.culled
    assert workspace.agenda.key.size == 200
    assert found.words == wanted.words
    assert found.decoded.hypotheses == wanted.decoded.hypotheses


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Room for 8 edges, 16 items and 3 goals; an agenda of 32 items is not made larger."""
    monkeypatch.setattr(workspace, "_FIRST_EDGES", 8)
    monkeypatch.setattr(workspace, "_FIRST_ITEMS", 16)
    return Workspace(4, most_items=32, most_goals=3)


def fill(arrays: tuple[NDArray[np.generic], ...], seed: int = 0) -> list[NDArray[np.generic]]:
    """Write anything everywhere, and keep a copy of it."""
    draw = np.random.default_rng(seed).integers
    for array in arrays:
        for part in [array] if array.dtype.names is None else [array[name] for name in array.dtype.names]:
            part[...] = draw(0, 1000, array.shape)
    return [array.copy() for array in arrays]


def test_a_beginning_is_empty_whatever_was_before(small: Workspace) -> None:
    fill(small.chart)
    small.scratch.counters[:] = 5
    small.culled = True
    small.begin(2, 3, gold=[9, 4, 9, (1 << 64) - 1])
    assert not small.scratch.counters.any()
    assert (small.chart.slots == -1).all()
    assert not small.culled
    assert small.scratch.gold.tolist() == [4, 9, (1 << 64) - 1]
    assert (len(small.goals), len(small.members), small.num_edges) == (0, 0, 0)
    assert len(small.scratch.rules) == 4


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("leaves", [1, 8, 9, 100])
def test_a_beginning_has_room_for_the_bag(width: int, leaves: int, small: Workspace) -> None:
    small.begin(width, leaves)
    assert small.edges.coverage.shape == small.edges.before.shape == (8, width)
    assert {len(array) for array in small.agenda} == {16 if leaves <= 8 else 32 if leaves <= 16 else 256}


def test_counters_tell_what_was_found(small: Workspace) -> None:
    small.scratch.counters[[NUM_EDGES, NUM_CHART, NUM_GOALS]] = 7, 4, 2
    small.chart.members[:4], small.chart.goals[:2] = [5, 1, 6, 2], [6, 3]
    assert small.num_edges == 7
    assert small.members.tolist() == [5, 1, 6, 2]
    assert small.goals.tolist() == [6, 3]


def test_more_room_for_edges_keeps_edges_and_chart(small: Workspace) -> None:
    small.begin(2, 1)
    fill(small.chart[:-2])
    small.chart.signature[:, 0] = [3, 1, 4, 1, 5, 9, 2, 6]  # edges 1 and 3 are equivalent, and 3 came later
    for edge in (0, 1, 2, 3, 6):
        small.chart.slots[slot_of(small.chart.slots, small.chart.signature, small.chart.signature[edge])] = edge
    small.chart.goals[:] = [6, 2, 0]
    edges, agenda = fill(small.edges), fill(small.agenda)
    chart = small.chart
    small.make_room(EDGES_FULL)
    for old, new in zip([*edges, *chart[:-2]], [*small.edges, *small.chart[:-2]], strict=True):
        assert new.shape == (16, *old.shape[1:])
        assert new.dtype == old.dtype
        np.testing.assert_array_equal(new[:8], old)
        assert not new[8:].any()
    assert small.chart.goals.tolist() == [6, 2, 0]
    known = {
        key: int(small.chart.slots[slot_of(small.chart.slots, small.chart.signature, np.array([key], np.uint64))])
        for key in (3, 1, 4, 5, 9, 2, 6, 7)
    }
    assert known == {3: 0, 1: 3, 4: 2, 5: -1, 9: -1, 2: 6, 6: -1, 7: -1}
    for old, new in zip(agenda, small.agenda, strict=True):
        np.testing.assert_array_equal(new, old)


def test_more_room_for_items_keeps_the_agenda(small: Workspace) -> None:
    agenda, edges = fill(small.agenda), fill(small.edges)
    small.make_room(AGENDA_FULL)
    for old, new in zip(agenda, small.agenda, strict=True):
        assert (len(new), new.dtype) == (32, old.dtype)
        np.testing.assert_array_equal(new[:16], old)
    for old, new in zip(edges, small.edges, strict=True):
        np.testing.assert_array_equal(new, old)
    assert not small.culled


def test_an_agenda_of_the_largest_size_grows_only_where_culling_gives_nothing(small: Workspace) -> None:
    small.make_room(AGENDA_FULL)
    small.scratch.counters[NUM_HEAP] = 3  # of 32 places: what is in the way are items, not entries
    small.make_room(AGENDA_FULL)
    assert (small.agenda.key.size, small.culled) == (64, False)
    small.scratch.counters[NUM_HEAP] = 8
    small.make_room(AGENDA_FULL)
    assert (small.agenda.key.size, small.culled) == (64, True)


CULLED = Workspace(1, most_items=64)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(-20, 20), st.booleans(), st.booleans()), min_size=8, max_size=30),
    st.integers(0, 5),
)
def test_culling_keeps_the_better_half_and_all_right_items(waiting: list[tuple[int, bool, bool]], freed: int) -> None:
    """Each item may be right, and right ones may have been put back: their first entries are of old."""
    space = CULLED
    space.agenda = workspace._agenda(64)
    space.begin(1, 1)
    agenda, counters = space.agenda, space.scratch.counters
    entries: list[tuple[float, int]] = []
    for item, (key, right, again) in enumerate(waiting):
        agenda.items["gold"][item] = right
        for entry in [key, *[key - 0.5] * (right and again)]:
            push(agenda, counters, float(entry), item)
            agenda.items["queued"][item] = entry
            entries.append((float(entry), item))
    counters[NUM_ITEMS], counters[NUM_FREE] = len(waiting) + freed, freed
    agenda.free[:freed] = np.arange(len(waiting), len(waiting) + freed)
    queued = agenda.items["queued"].copy()
    space.make_room(AGENDA_FULL)
    assert space.culled
    size = len(entries) // 2
    assert counters[NUM_HEAP] == size
    kept = list(zip(agenda.key[:size].tolist(), agenda.item[:size].tolist(), strict=True))
    assert sorted((key for key, _ in kept), reverse=True) == sorted((key for key, _ in entries), reverse=True)[:size]
    lost = {item for entry in entries if entry not in kept for item in [entry[1]] if not waiting[item][1]}
    assert set(kept) <= set(entries)
    free = agenda.free[: counters[NUM_FREE]].tolist()
    assert sorted(free) == sorted([*range(len(waiting), len(waiting) + freed), *lost])
    for item in range(len(waiting)):
        assert agenda.items["queued"][item] == (np.inf if item in lost else queued[item])
    taken = [agenda.key[0] for _ in range(size) if (agenda.key[0], pop(agenda, counters))]
    assert taken == sorted(taken, reverse=True)
