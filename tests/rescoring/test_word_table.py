"""The pooled table of next words, by hand and against a slow twin of dictionaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rescoring import word_table
from rescoring.word_table import WordTable, context_of

NAN = float("nan")


class Twin:
    """The same table, written as its definition reads."""

    def __init__(self) -> None:
        self.seen: dict[tuple[int, ...], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))

    def teach(self, prefixes: Sequence[tuple[int, ...]], next_cost: NDArray[Any]) -> None:
        for prefix, costs in zip(prefixes, next_cost.tolist(), strict=True):
            padded = (-1, -1, -1, *prefix)
            for length in range(4):
                row = self.seen[padded[len(padded) - length :]]
                for column, cost in enumerate(costs):
                    if cost == cost:
                        row[column].append(cost)

    def estimate(self, prefix: tuple[int, ...], word: int) -> float:
        padded = (-1, -1, -1, *prefix)
        cost = 9.0
        for length, strength in enumerate((0.5, 1.0, 1.0, 2.0)):
            met = self.seen.get(padded[len(padded) - length :])
            if met is not None:
                observed = met.get(word, [])
                cost = (sum(observed) + strength * cost) / (len(observed) + strength)
        return cost


def test_an_estimate_by_hand() -> None:
    table = WordTable(3)
    table.teach([(), (0,), (0, 1)], np.array([[1, 4, 5, NAN], [NAN, 2, 6, NAN], [NAN, NAN, 3, NAN]], np.float32))
    nothing = (1 + 4.5) / 1.5
    assert table.estimate((2,), 0) == pytest.approx(nothing)  # word 2 was never met as a context
    start = ((1 + nothing) / 2 + 1) / 2
    assert table.estimate((), 0) == pytest.approx((1 + 2 * start) / 3)
    # After (2, 1): one word of context was met, with the cost 3; before that 5, 6 and 3 in any context.
    assert table.estimate((2, 1), 2) == pytest.approx((3 + (14 + 4.5) / 3.5) / 2)
    assert table.estimate((0, 1), 3) == pytest.approx(9.0)  # nothing is known of the end


@pytest.mark.parametrize(("prefix", "digits"), [((), (1, 1, 1)), ((0,), (1, 1, 2)), ((3, 1, 2, 0), (3, 4, 2))])
def test_contexts(prefix: tuple[int, ...], digits: tuple[int, int, int]) -> None:
    assert context_of(prefix) == digits


@st.composite
def lessons(draw: st.DrawFn) -> tuple[int, list[tuple[list[tuple[int, ...]], NDArray[np.float32]]]]:
    words = draw(st.integers(1, 4))
    prefix = st.lists(st.integers(0, words - 1), max_size=5).map(tuple)
    parts = []
    for prefixes in draw(st.lists(st.lists(prefix, max_size=40, unique=True), min_size=1, max_size=4)):
        cost = st.one_of(st.just(NAN), st.integers(0, 80).map(lambda eighths: eighths / 8))
        rows = [draw(st.lists(cost, min_size=words + 1, max_size=words + 1)) for _ in prefixes]
        parts.append((prefixes, np.array(rows, np.float32).reshape(len(prefixes), words + 1)))
    return words, parts


@settings(max_examples=60)
@given(lessons(), st.data())
def test_as_the_twin_says(
    taught: tuple[int, list[tuple[list[tuple[int, ...]], NDArray[np.float32]]]], data: Any
) -> None:
    words, parts = taught
    table, twin = WordTable(words), Twin()
    for prefixes, next_cost in parts:
        table.teach(prefixes, next_cost)
        twin.teach(prefixes, next_cost)
    for _ in range(10):
        prefix = tuple(data.draw(st.lists(st.integers(0, words - 1), max_size=5)))
        word = data.draw(st.integers(0, words))
        assert table.estimate(prefix, word) == pytest.approx(twin.estimate(prefix, word), abs=1e-5)
    assert len(table) == max(1, len(twin.seen))


def test_it_grows_and_keeps_what_it_knows() -> None:
    rng, table, twin = np.random.default_rng(1), WordTable(20), Twin()
    for _ in range(5):
        prefixes = list({tuple(rng.integers(0, 20, 4).tolist()) for _ in range(300)})
        next_cost = rng.gamma(2, 2, (len(prefixes), 21)).astype(np.float32)
        table.teach(prefixes, next_cost)
        twin.teach(prefixes, next_cost)
    assert len(table) == len(twin.seen) > 1000
    for prefix in prefixes[:50]:
        assert table.estimate(prefix, 7) == pytest.approx(twin.estimate(prefix, 7), rel=1e-4)


def test_without_room_it_keeps_to_the_contexts_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_table, "MOST_CELLS", 5 * 3)
    table = WordTable(2)
    costs = np.array([[1, 1, 1]], np.float32)
    table.teach([(0, 0, 0)], costs)
    table.teach([(0, 0, 0)], costs)
    assert len(table) == 4
    table.teach([(1, 1, 1)], costs)  # one more context finds room, the longer ones do not
    table.teach([(1, 0, 0)], 4 * costs)
    assert len(table) == 5
    # Three and one of 4 in any context; after `0 0` two and one of 4; the context `1 0 0` itself is not there.
    one = (2 + 4 + (3 + 4 + 4.5) / 4.5) / 4
    assert table.estimate((1, 0, 0), 1) == pytest.approx((2 + 4 + one) / 4)


def test_costs_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="found costs of"):
        WordTable(3).teach([()], np.zeros((1, 3), np.float32))
