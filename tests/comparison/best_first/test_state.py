"""The agenda's heap against heapq; the state as one type for compiled code."""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import typeof

from comparison.best_first import state
from comparison.best_first.learner import METHODS
from comparison.best_first.model import ModelSettings, kernel_options
from comparison.best_first.state import NUM_COUNTERS, NUM_HEAP, pop, push
from comparison.best_first.workspace import Workspace

SPACE = Workspace(1)
KEYS = st.floats(-3, 3) | st.sampled_from([0.0, 1.0, float("-inf"), float("inf")])  # some of them often


@given(st.lists(KEYS | st.none(), max_size=60))
def test_items_come_off_the_agenda_as_they_come_off_a_heapq(steps: list[float | None]) -> None:
    """None takes an item off; of several with one key any may come."""
    SPACE.begin(1, 1)
    agenda, counters = SPACE.agenda, SPACE.scratch.counters
    wanted: list[float] = []
    waiting: dict[int, float] = {}
    for number, key in enumerate([*steps, *[None] * len(steps)]):
        if key is not None:
            push(agenda, counters, key, number)
            heapq.heappush(wanted, -key)
            waiting[number] = key
        elif wanted:
            assert agenda.key[0] == -wanted[0]
            assert waiting.pop(pop(agenda, counters)) == -heapq.heappop(wanted)
        size = int(counters[NUM_HEAP])
        assert {
            int(item): float(key) for item, key in zip(agenda.item[:size], agenda.key[:size], strict=True)
        } == waiting
        assert all(agenda.key[(place - 1) // 2] >= agenda.key[place] for place in range(1, size))
    assert not waiting


@pytest.mark.parametrize(
    "names",
    [
        "DONE EXHAUSTED OUT_OF_BUDGET EDGES_FULL AGENDA_FULL",
        "NUM_EDGES NUM_ITEMS NUM_HEAP NUM_FREE NUM_CHART NUM_GOALS NUM_GOLD SCORED EXPANDED VERSION UPDATES",
    ],
)
def test_no_two_names_are_one_number(names: str) -> None:
    numbers = sorted(getattr(state, name) for name in names.split())
    assert numbers == list(range(len(numbers)))
    assert len(SPACE.scratch.counters) == NUM_COUNTERS >= len(numbers)


@pytest.mark.parametrize(
    "changes",
    [
        *({"method": method} for method in METHODS),
        {"by_size": True, "keep_leaves": False, "beam": 1},
        {"lm": "x", "lm_weight": 1},
    ],
)
def test_all_settings_are_of_one_type_for_compiled_code(changes: dict[str, Any]) -> None:
    """Another type would be compiled anew: half a minute in the middle of a run."""
    plain = ModelSettings()
    assert typeof(kernel_options(replace(plain, **changes), 3)) == typeof(kernel_options(plain))


def test_an_agenda_and_a_chart_that_grow_keep_their_types() -> None:
    space = Workspace(2, most_goals=3)
    before = [typeof(part) for part in (space.edges, space.agenda, space.chart, space.scratch)]
    space.begin(2, 1 << 17, gold=[5, 3])
    space.make_room(state.EDGES_FULL)
    space.make_room(state.AGENDA_FULL)
    assert [typeof(part) for part in (space.edges, space.agenda, space.chart, space.scratch)] == before
