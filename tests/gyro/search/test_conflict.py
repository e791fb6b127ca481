"""Contradicting constraints: found when brute force has no order, and named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from gyro.search.conflict import KINDS, find_conflict
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag_file import record_to_bag
from tests.gyro.search.constraint_problems import allowed_orders, constrained

some = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@some
@given(constrained("units order positions optional choices"))
def test_there_is_a_conflict_where_there_is_no_order(bag: AnnotatedBag) -> None:
    conflict = find_conflict(bag)
    assert bool(conflict) == (not allowed_orders(bag))
    said = conflict.count(";") + 1
    assert not conflict or said <= sum(len(getattr(bag, kind)) for kind in KINDS)


@some
@given(constrained("units order positions"))
def test_each_constraint_that_is_named_is_needed(bag: AnnotatedBag) -> None:
    conflict = find_conflict(bag)
    if conflict.count(";") + 1 == sum(len(getattr(bag, kind)) for kind in KINDS) and conflict:
        for kind in KINDS:
            for value in getattr(bag, kind):
                fewer: dict[str, Any] = {kind: tuple(v for v in getattr(bag, kind) if v != value)}
                assert allowed_orders(replace(bag, **fewer))


TOKENS = ["the", "cat", "sat", "on", "mats"]


CAT, SAT_2, THE_1 = "'the cat' stays together", "'sat' is word 2", "'the' is the first word"


@pytest.mark.parametrize(
    ("more", "conflict"),
    [
        ({"positions": [[0, 1], [1, 1]]}, {"'cat' is the first word", THE_1}),
        ({"positions": [[0, 1], [0, -1]]}, {"'the' is the last word", THE_1}),
        ({"positions": [[0, 1], [0, 2], [4, 5]]}, {THE_1, "'the' is word 2"}),
        ({"positions": [[0, 5]], "units": [[0, 1]]}, {CAT, "'the' is word 5"}),
        ({"positions": [[0, 1], [2, 2]], "units": [[0, 1]]}, {CAT, SAT_2, THE_1}),
        ({"positions": [[0, -1]], "order": [[0, 1]]}, {"'the' comes before 'cat'", "'the' is the last word"}),
        (
            {"positions": [[0, -2]], "order": [[0, 1], [0, 2]]},
            {"'the' comes before 'cat'", "'the' comes before 'sat'", "'the' is word 2 from the end"},
        ),
        (
            {"positions": [[1, 1], [3, 2]], "order": [[0, 1, 2]]},
            {"'the' comes before 'cat' comes before 'sat'", "'cat' is the first word"},
        ),
        (
            {"positions": [[3, 2]], "units": [[0, 1], [2, 4]]},
            {CAT, "'sat mats' stays together", "'on' is word 2"},
        ),
        ({"positions": [[0, 5]], "choices": [[[1, 2], 1]]}, {"'the' is word 5", "1 of 'cat', 'sat' is used"}),
        ({"positions": [[0, 5]], "optional": [3]}, set()),
        ({"positions": [[0, -1], [1, -1]], "choices": [[[0, 1], 1]]}, set()),
    ],
)
def test_names(more: dict[str, Any], conflict: set[str]) -> None:
    bag = record_to_bag({"tokens": TOKENS, **more}, 1)
    assert isinstance(bag, AnnotatedBag)
    assert set(filter(None, find_conflict(bag).split("; "))) == conflict


def test_a_long_bag_is_no_conflict() -> None:
    tokens = [f"w{number}" for number in range(200)]
    chains = [[number, number + 5] for number in range(0, 190, 2)]
    bag = record_to_bag({"tokens": tokens, "order": chains, "positions": [[199, 3], [101, -1]], "units": [[1, 3]]}, 1)
    assert isinstance(bag, AnnotatedBag)
    assert not find_conflict(bag)
