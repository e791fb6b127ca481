"""Requests become bags as lines of a file of bags do, and what is wrong with one is told in a line."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from gyro.serve.request import OrderRequest, one_line, to_bag
from gyro.text.bag_file import parse_bag

RECORDS = [
    {"tokens": "the dog barks"},
    {"id": 7, "tokens": ["the", "dog", "barks"], "reference": "the dog barks"},
    {"id": "x", "tokens": ["a", "b", "c"], "order": [[0, 2]], "units": [[1, 0]], "optional": [2]},
    {"tokens": ["a", "b"], "counts": [1, 3], "pos": ["DT", None]},
    {"tokens": ["a", "b", "c"], "positions": [[0, -1]], "choices": [[[1, 2], 1]], "prefix": [1]},
    {"lemmas": ["dog", "bark"], "heads": [1, -1]},
]


@pytest.mark.parametrize("record", RECORDS)
def test_a_request_is_read_as_a_line_of_a_file_of_bags(record: dict[str, object]) -> None:
    bag = to_bag(OrderRequest.model_validate({**record, "nbest": 3}), 4)
    expected = parse_bag(json.dumps(record), 4)
    assert (bag, bag.id, bag.reference) == (expected, expected.id, expected.reference)


FAULTS = [
    ({"tokens": 5}, "tokens: Input should be a valid string; or: Input should be a valid list"),
    ({"tokens": ["a", 5]}, "tokens: Input should be a valid string"),
    ({"tokens": "a", "nbest": 0}, "nbest: Input should be greater than or equal to 1"),
    ({"tokens": "a", "nbest": "3"}, "nbest: Input should be a valid integer"),
    ({"tokens": "a", "token": "b"}, "found the key 'token', which is not known; /openapi.json tells the keys"),
    ({"tokens": "a", "beta": float("nan")}, "beta: Input should be a finite number"),
    ({"tokens": "a", "order": [["0"]]}, "order.0.0: Input should be a valid integer"),
    ([], "Input should be a valid dictionary or instance of OrderRequest"),
]


@pytest.mark.parametrize(("value", "line"), FAULTS, ids=[line for _, line in FAULTS])
def test_what_is_wrong_is_told_in_a_line(value: object, line: str) -> None:
    with pytest.raises(ValidationError) as caught:
        OrderRequest.model_validate(value)
    told = one_line(caught.value.errors())
    assert told.startswith(line)
    assert "\n" not in told
