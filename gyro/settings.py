"""The settings of generation, and how they are read from options and TOML tables.

Settings       everything that decides what a bag's lattice looks like
parse_size     "4G" → bytes
parse_span     "3-5" → (3, 5)
parse_slice    "1:100" → (1, 100), lines counted from 1, both ends included
from_table     a dataclass from a TOML table: unknown keys and wrong types are refused by name
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from gyro.errors import InputError

ALGORITHMS = ("exact", "beam", "pruned-parsing", "pruned-expansion", "full")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True)
class Settings:
    """How a bag becomes a lattice.

    `rules` names the lengths of the phrases that are rules; empty means 1-5 for the exact search and the beam, and
    3-5, as published, for the algorithms over the RTN.
    """

    algorithm: str = "exact"
    rules: str = ""
    beta: float = 10.0
    first_row: int = 6
    beam: int = 64
    max_arcs: int = 0
    max_tokens: int = 20
    phrase_cost: str = ""
    time_limit: float = 60.0
    memory_limit: str = "4G"

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise InputError(f"found the algorithm {self.algorithm!r}; allowed are {', '.join(ALGORITHMS)}")
        low, high = self.rule_lengths
        if not 1 <= low <= high <= 9:
            raise InputError(f"found the rules {self.rules!r}; lengths from 1 to 9 are allowed, like 3-5")
        for name, least in (("beta", 0), ("first_row", 1), ("beam", 1), ("max_arcs", 0), ("max_tokens", 0)):
            if getattr(self, name) < least:
                raise InputError(f"found {name} {getattr(self, name)}; at least {least} is allowed")
        if self.time_limit <= 0:
            raise InputError(f"found the time limit {self.time_limit}; a number of seconds over 0 is allowed")
        parse_size(self.memory_limit)
        if self.phrase_cost and not self.is_search:
            raise InputError(f"phrase costs go with exact and beam; the rules of {self.algorithm} have none")

    @property
    def is_search(self) -> bool:
        """Whether this is the search over P* ∩ G_Ω, not the RTN."""
        return self.algorithm in ("exact", "beam")

    @property
    def rule_lengths(self) -> tuple[int, int]:
        return parse_span(self.rules or ("1-5" if self.is_search else "3-5"))

    @property
    def memory_bytes(self) -> int:
        return parse_size(self.memory_limit)

    def to_json(self) -> dict[str, Any]:
        """All settings, with the rules spelt out."""
        return {**asdict(self), "rules": "-".join(map(str, self.rule_lengths))}


def parse_size(text: str) -> int:
    """Read a size in bytes.

    >>> parse_size("2G"), parse_size("1.5M")
    (2147483648, 1572864)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise InputError(f"found the size {text!r}; a number with K, M, G or T is allowed, like 2G")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def parse_span(text: str) -> tuple[int, int]:
    """Read a span of lengths, or one length.

    >>> parse_span("3-5"), parse_span("1")
    ((3, 5), (1, 1))
    """
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())
    if match is None:
        raise InputError(f"found {text!r}; a span like 3-5 or one number is allowed")
    return int(match[1]), int(match[2] or match[1])


def parse_slice(text: str) -> tuple[int, int | None]:
    """Read a range of lines, counted from 1, both ends included; either end may be missing.

    >>> parse_slice("1:100"), parse_slice("101:")
    ((1, 100), (101, None))
    """
    match = re.fullmatch(r"(\d*):(\d*)", text.strip())
    first, last = (int(match[1] or 1), int(match[2]) if match[2] else None) if match else (0, None)
    if first < 1 or (last is not None and last < first):
        raise InputError(f"found the range {text!r}; lines counted from 1 are allowed, like 1:100")
    return first, last


T = TypeVar("T")


def from_table(kind: type[T], table: Mapping[str, Any], place: str) -> T:
    """Make a dataclass of a TOML table; `place` is the table's name for errors."""
    hints = get_type_hints(kind)
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    for key, value in table.items():
        if key not in known:
            raise InputError(f"found the key {key!r} in {place}; allowed are {', '.join(known)}")
        if not _fits(value, hints[key]):
            inner = get_args(hints[key])
            wanted = f"a list of {inner[0].__name__}" if inner else hints[key].__name__
            raise InputError(f"found {key} = {value!r} in {place}; {wanted} is allowed")
    missing = [n for n, f in known.items() if n not in table and f.default is MISSING and f.default_factory is MISSING]
    if missing:
        raise InputError(f"{place} lacks {', '.join(missing)}")
    return kind(**{key: float(value) if hints[key] is float else value for key, value in table.items()})


def _fits(value: object, wanted: Any) -> bool:
    """Whether a TOML value is of the type; a whole number goes for a float, a truth value for no number."""
    if get_origin(wanted) is list:
        return isinstance(value, list) and all(_fits(part, get_args(wanted)[0]) for part in value)
    if isinstance(value, bool):
        return wanted is bool
    return isinstance(value, (int, float) if wanted is float else wanted)
