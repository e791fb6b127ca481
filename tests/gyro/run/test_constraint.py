"""Which annotated bags a system takes."""

from __future__ import annotations

from typing import Any

import pytest

from gyro.errors import InputError
from gyro.run.constraint import check_constraints
from gyro.text.bag import Bag
from gyro.text.bag_file import record_to_bag

TOKENS = ["the", "cat", "sat"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("heads", [1, 2, -1]),
        ("units", [[0, 1]]),
        ("counts", [1, 2, 1]),
        ("optional", [0]),
        ("order", [[2, 0]]),
        ("positions", [[0, 1]]),
        ("suffix", [0]),
        ("choices", [[[0, 2], 1]]),
        ("categories", [["NP/N"], None, None]),
    ],
)
def test_constraints_are_refused_by_their_names(key: str, value: Any) -> None:
    bag = record_to_bag({"id": "7", "tokens": TOKENS, key: value}, 1)
    name = "positions" if key == "suffix" else key
    with pytest.raises(
        InputError, match=rf"^bag '7': found the constraint {name}, .*; allowed are tokens, pos, labels,"
    ):
        check_constraints(bag, "wan")
    check_constraints(bag, "wan", {name})


@pytest.mark.parametrize(
    ("key", "value", "who"),
    [
        ("heads", [1, 2, -1], "the system best-first knows it"),
        ("positions", [[0, 1]], "the system gyro knows it"),
        ("order", [[0, 1]], "the systems gyro and best-first know it"),
    ],
)
def test_who_knows_a_constraint_is_told(key: str, value: Any, who: str) -> None:
    with pytest.raises(InputError, match=rf"\({who}\)$"):
        check_constraints(record_to_bag({"tokens": TOKENS, key: value}, 1), "wan")


def test_lemmas_to_be_inflected_are_refused() -> None:
    with pytest.raises(InputError, match="the constraint lemmas without tokens"):
        check_constraints(record_to_bag({"lemmas": TOKENS}, 1), "gyro")


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"pos": ["DT", "NN", None], "labels": ["det", None, None], "lemmas": ["the", "cat", "sit"], "feats": ["_"] * 3},
        {"units": [[0]], "order": [[2]], "counts": [1, 1, 1], "optional": [], "heads": [None] * 3},  # all say nothing
    ],
)
def test_what_changes_no_order_passes(more: dict[str, Any]) -> None:
    check_constraints(record_to_bag({"tokens": TOKENS, **more}, 1), "gyro")
    check_constraints(Bag(tuple(TOKENS)), "gyro")
