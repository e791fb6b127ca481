"""How people write values: sizes, spans, ranges of lines, tables of a TOML file.

parse_size   "4G" → bytes
parse_span   "3-5" → (3, 5)
parse_slice  "1:100" → (1, 100), lines counted from 1, both ends included
read_keys    the values of a TOML table whose keys are fields of a dataclass
from_table   a dataclass from a TOML table: unknown keys and wrong types are refused by name
Renamed      an option under its old name: refused with the new one
NO_KEY       metadata of fields of such a dataclass that are no keys of the table
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from gyro.errors import InputError

T = TypeVar("T")

NO_KEY: Mapping[str, Any] = {"key": False}
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_size(text: str) -> int:
    """Read a size in bytes.

    >>> parse_size("2G"), parse_size("1.5M")
    (2147483648, 1572864)
    """
    match = re.fullmatch(r"(\d{1,15}(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise InputError(f"found the size {text!r:.40}; a number with K, M, G or T is allowed, like 2G")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def parse_span(text: str) -> tuple[int, int]:
    """Read a span of lengths, or one length.

    >>> parse_span("3-5"), parse_span("1")
    ((3, 5), (1, 1))
    """
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text.strip())
    if match is None:
        raise InputError(f"found {text!r:.40}; a span like 3-5 or one number is allowed")
    return int(match[1]), int(match[2] or match[1])


def parse_slice(text: str) -> tuple[int, int | None]:
    """Read a range of lines, counted from 1, both ends included; either end may be missing.

    >>> parse_slice("1:100"), parse_slice("101:")
    ((1, 100), (101, None))
    """
    match = re.fullmatch(r"(\d{0,18}):(\d{0,18})", text.strip())
    first, last = (int(match[1] or 1), int(match[2]) if match[2] else None) if match else (0, None)
    if first < 1 or (last is not None and last < first):
        raise InputError(f"found the range {text!r:.40}; lines counted from 1 are allowed, like 1:100")
    return first, last


def from_table(kind: type[T], table: Mapping[str, Any], place: str) -> T:
    """Make a dataclass of a TOML table; `place` is the table's name for errors."""
    values = read_keys(kind, table, place)
    known = _keys(kind).items()
    missing = [n for n, f in known if n not in table and f.default is MISSING and f.default_factory is MISSING]
    if missing:
        raise InputError(f"{place} lacks {', '.join(missing)}")
    return kind(**values)


def _keys(kind: type) -> dict[str, Field[Any]]:
    return {f.name: f for f in fields(kind) if f.metadata.get("key", True)}


def read_keys(kind: type, table: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The values of a TOML table, which may lack some of the dataclass' fields."""
    from pydantic import TypeAdapter, ValidationError  # it takes a while to import

    hints = get_type_hints(kind)
    known = _keys(kind)
    values = {}
    for key, value in table.items():
        if key not in known:
            raise InputError(f"found the key {key!r} in {place}; allowed are {', '.join(known)}")
        try:
            # Strict: a whole number goes for a float, but neither a truth value nor a string for a number.
            values[key] = TypeAdapter(hints[key]).validate_python(value, strict=True)
            if isinstance(value, int) and abs(value) >= 1 << 63:
                raise OverflowError("too large for the machine")
        except (ValidationError, OverflowError) as error:
            raise InputError(f"found {key} = {value!r:.60} in {place}; {_type_name(hints[key])} is allowed") from error
    return values


class Renamed(argparse.Action):
    """`add_argument("--old", action=Renamed, new="--new")`: who gives --old is told of --new."""

    def __init__(self, option_strings: Sequence[str], dest: str, new: str) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs="?", help=argparse.SUPPRESS)
        self.new = new

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        raise InputError(f"found {option_string}, which has another name here: {self.new}")


def _type_name(hint: Any) -> str:
    if get_origin(hint) is list:
        return f"a list of {get_args(hint)[0].__name__}"
    return str(getattr(hint, "__name__", hint))
