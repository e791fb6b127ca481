from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.text.annotated_bag import as_annotated
from gyro.text.bag_file import bag_to_record, parse_bag, read_bags
from tests.gyro.text.records import records

TOKENS = st.lists(st.text('abc{}"é', min_size=1, max_size=3), max_size=12)


@pytest.mark.parametrize(
    ("line", "tokens", "name"),
    [
        ("the dog the", ("dog", "the", "the"), "3"),
        ("  b\ta  ", ("a", "b"), "3"),
        ("", (), "3"),
        ("{", ("{",), "3"),
        ("{ a b }", ("a", "b", "{", "}"), "3"),
        ('{ " a " : b }', ('"', '"', ":", "a", "b", "{", "}"), "3"),
        ('{"tokens": ["b", "a"]}', ("a", "b"), "3"),
        ('{"id": "x", "tokens": "b a"}', ("a", "b"), "x"),
        (' { "id" : 17, "tokens": []}', (), "17"),
        ('{"id": null, "tokens": ["a"], "other": 1}', ("a",), "3"),
    ],
)
def test_lines(line: str, tokens: tuple[str, ...], name: str) -> None:
    bag = parse_bag(line, 3)
    assert (bag.tokens, bag.id, bag.reference) == (tokens, name, None)


def test_references_in_json() -> None:
    assert parse_bag('{"tokens": "b a", "reference": ["b", "a"]}', 1).reference == ("b", "a")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"tokens": ["a"', "not one"),
        ('{"tokens": ' + "[" * 100_000, "not one"),
        ('{"id": "x"}', "found tokens None; a list of strings is allowed"),
        ('{"tokens": ["a", 3]}', "a list of strings is allowed"),
        ('{"tokens": {"a": 1}}', "a list of strings is allowed"),
        ('{"tokens": ["a b"]}', "found the token 'a b'"),
        ('{"tokens": ["a"], "reference": ["b"]}', "the reference of bag"),
        ('{"tokens": ["\\ud800"]}', "half of a surrogate pair"),
    ],
)
def test_bad_lines_are_refused_with_their_place(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "bags").write_text("good\n" + line + "\n")
    with pytest.raises(InputError, match=message) as caught:
        list(read_bags(tmp_path / "bags"))
    assert f"{tmp_path / 'bags'}:2: " in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.lists(TOKENS, max_size=5))
def test_both_kinds_of_lines_give_the_same_bags(bags: list[list[str]]) -> None:
    for number, tokens in enumerate(bags, 1):
        assert parse_bag(" ".join(tokens), number) == parse_bag(json.dumps({"tokens": tokens}), number)


def test_empty_lines_keep_their_place(tmp_path: Path) -> None:
    (tmp_path / "bags").write_text("a\n\nb\n")
    assert [(bag.id, bag.tokens) for bag in read_bags(tmp_path / "bags")] == [("1", ("a",)), ("2", ()), ("3", ("b",))]


@given(records())
def test_json_round_trip(record: dict[str, Any]) -> None:
    bag = as_annotated(parse_bag(json.dumps(record), 1))
    assert as_annotated(parse_bag(json.dumps(bag_to_record(bag)), 1)) == bag
