"""Features and sums of weights by the code of groups, against plain Python, whatever is remembered of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison.best_first import template as t
from comparison.best_first.feature import MEMO, MOST_PLACES
from comparison.best_first.template import MOST_FEATURES, NUM_VALUES, Group, ccg_groups, dependency_groups, pack
from tests.comparison.best_first import twin
from tests.comparison.best_first.compiled import sum_weights, write_features

HASHES = st.integers(0, (1 << 64) - 1)
SETS = {
    "ccg": ccg_groups(),
    "ours": dependency_groups(),
    "all": dependency_groups("all", labelled=True),
}
CODES = {name: pack(groups) for name, groups in SETS.items()}


def hashes(groups: list[Group], kinds: int, values: dict[int, int]) -> list[int]:
    found = []
    for group in groups:
        if not group.kinds & kinds:
            continue
        rows = [values]
        if t.BETWEEN in group.values:
            rows = [values | {t.BT: bit + 1} for bit in range(64) if values[t.BETWEEN] >> bit & 1]
        for row in rows:
            for table, needed in group.parts:
                if all(row[value] for value in needed):
                    found += twin.apply(table, row)
    return found


def drawn(data: st.DataObject) -> dict[int, int]:
    """Any values; those that templates need are there or not, and there are few tags between."""
    values = dict(enumerate(data.draw(st.lists(HASHES, min_size=NUM_VALUES, max_size=NUM_VALUES))))
    values |= {value: data.draw(st.integers(0, 2)) for value in (t.W1, t.W4)}
    values[t.BETWEEN] = sum(1 << bit for bit in data.draw(st.sets(st.integers(0, 63), max_size=5)))
    return values


def as_array(values: dict[int, int]) -> Any:
    return np.array([values[i] for i in range(NUM_VALUES)], dtype=np.uint64)


@pytest.mark.parametrize("name", SETS)
@settings(max_examples=20)
@given(data=st.data())
def test_features_are_the_hashes_of_number_and_values(name: str, data: st.DataObject) -> None:
    values, kinds = drawn(data), data.draw(st.integers(0, 31))
    out = np.zeros(MOST_FEATURES, dtype=np.uint64)
    count = write_features(CODES[name], kinds, as_array(values), out)
    assert out[:count].tolist() == hashes(SETS[name], kinds, values)
    assert not out[count:].any()


def test_a_feature_has_the_hash_that_trained_models_know_it_by() -> None:
    values = dict.fromkeys(range(NUM_VALUES), 0)
    values |= {t.HW: twin.text_hash("dog"), t.HT: twin.text_hash("NN"), t.LENGTH: 1}
    out = np.zeros(MOST_FEATURES, dtype=np.uint64)
    count = write_features(CODES["ours"], t.LEAF_EDGE, as_array(values), out)
    # Of plain Python, once.
    assert [hex(value) for value in out[:count]] == ["0xe4df32811dd927c6", "0x74ed3abc9a10dcc8", "0x476cb53b1e36e2bc"]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("size", [1, 8, 1 << 12])
@settings(max_examples=10)
@given(data=st.data())
def test_sums_are_those_of_the_features_whatever_is_remembered(name: str, size: int, data: st.DataObject) -> None:
    """Values come again, weights change with a version, and a small memo forgets."""
    memo, places = np.zeros(size, dtype=MEMO), np.zeros((size, MOST_PLACES), dtype=np.int32)
    out = np.zeros(MOST_FEATURES, dtype=np.uint64)
    weights, version = np.random.default_rng(0).normal(size=1 << 12).astype(np.float32), 0
    known = [drawn(data) for _ in range(3)]
    for which, kinds, change in data.draw(
        st.lists(st.tuples(st.integers(0, 2), st.sampled_from([1, 4, 12, 28, 16]), st.booleans()), max_size=12)
    ):
        if change:
            weights += np.float32(1.0)
            version += 1
        values = known[which]
        found = sum_weights(CODES[name], kinds, as_array(values), out, memo, places, weights, version)
        wanted = sum(float(weights[key & (weights.size - 1)]) for key in hashes(SETS[name], kinds, values))
        assert found == pytest.approx(wanted, abs=1e-4)


def test_a_group_with_many_tags_between_is_remembered_too() -> None:
    """It has more places than are kept: with other weights it is found anew."""
    memo, places = np.zeros(64, dtype=MEMO), np.zeros((64, MOST_PLACES), dtype=np.int32)
    out = np.zeros(MOST_FEATURES, dtype=np.uint64)
    values = {value: value + 1 for value in range(NUM_VALUES)} | {t.BETWEEN: (1 << 64) - 1}
    for version in (0, 0, 1):
        weights = np.full(1 << 10, 1.0 + version, dtype=np.float32)
        found = sum_weights(CODES["all"], t.BINARY_EDGE, as_array(values), out, memo, places, weights, version)
        assert found == len(hashes(SETS["all"], t.BINARY_EDGE, values)) * (1.0 + version)
    assert -1 in memo["count"]
