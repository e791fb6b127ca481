"""Values as people write them."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field

import pytest

from gyro.errors import InputError
from gyro.notation import NO_KEY, Renamed, from_table, parse_size, parse_slice, parse_span, read_keys


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("512", 512), ("2K", 2048), ("1.5M", 1572864), ("2g", 2 << 30), ("4GiB", 4 << 30)]
)
def test_sizes_are_read_in_powers_of_1024(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(("text", "span"), [("3-5", (3, 5)), ("1", (1, 1)), (" 2-2 ", (2, 2))])
def test_spans(text: str, span: tuple[int, int]) -> None:
    assert parse_span(text) == span


@pytest.mark.parametrize(("text", "slice_"), [("1:100", (1, 100)), ("5:", (5, None)), (":7", (1, 7)), (":", (1, None))])
def test_slices_count_from_one(text: str, slice_: tuple[int, int | None]) -> None:
    assert parse_slice(text) == slice_


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (parse_size, "2X"),
        (parse_size, "-1G"),
        (parse_size, ""),
        (parse_span, "5-"),
        (parse_span, "a"),
        (parse_slice, "3"),
        (parse_slice, "0:3"),
        (parse_slice, "5:4"),
        *((function, "9" * digits) for function in (parse_size, parse_span) for digits in (400, 5000)),
        (parse_slice, f"1:{'9' * 5000}"),
    ],
)
def test_what_cannot_be_read_is_named(function: object, text: str) -> None:
    with pytest.raises(InputError, match=r"found .* allowed"):
        function(text)  # type: ignore[operator]


@dataclass(frozen=True)
class Table:
    name: str
    size: float = 1.0
    files: list[str] = field(default_factory=list)
    on: bool = False
    most: float | None = None
    place: str = field(default="", metadata=NO_KEY)


def test_a_table_becomes_a_dataclass() -> None:
    assert from_table(Table, {"name": "x", "size": 2, "files": ["a"]}, "[t]") == Table("x", 2.0, ["a"])
    assert from_table(Table, {"name": "x", "most": 3}, "[t]").most == 3.0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"name": "x", "sizes": 1}, "'sizes' in \\[t\\]; allowed are name, size, files, on, most"),
        ({"name": "x", "place": "here"}, "found the key 'place'"),
        ({"name": "x", "most": "3"}, "most = '3'"),
        ({"name": 3}, "name = 3"),
        ({"name": "x", "size": True}, "size = True"),
        ({"name": "x", "files": "a"}, "files = 'a'"),
        ({"size": 1.0}, "lacks name"),
    ],
)
def test_a_wrong_table_is_refused_by_name(table: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        from_table(Table, table, "[t]")


def test_the_keys_of_a_table_that_lacks_some() -> None:
    assert read_keys(Table, {"size": 2, "most": 3}, "[t]") == {"size": 2.0, "most": 3.0}
    with pytest.raises(InputError, match=r"found the key 'sizes' in \[t\]"):
        read_keys(Table, {"sizes": 1}, "[t]")


@pytest.mark.parametrize("words", [["--old", "3"], ["--old=3"], ["--old"], ["--new", "1", "--old", "3"]])
def test_an_old_name_tells_the_new_one(words: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--new", type=int, default=7)
    parser.add_argument("--old", action=Renamed, new="--new")
    assert vars(parser.parse_args([])) == {"new": 7}
    assert "--old" not in parser.format_help()
    with pytest.raises(InputError, match="found --old, which has another name here: --new"):
        parser.parse_args(words)
