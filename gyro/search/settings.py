"""The settings of generation.

Settings     everything that decides what a bag's lattice looks like
Changes      the types of its fields, for calls that take them by name
changed      settings with some fields changed
ALGORITHMS   the ways to order a bag
GRAMMARS     of what the algorithms over the RTN make a cell
CELL_STARTS  what stands before the words of an inner cell when its row is pruned
JOINTS       what happens where the pieces of a cut bag meet
MAX_TOKENS   of a bag that is ordered whole
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypedDict

from gyro.errors import InputError
from gyro.notation import parse_size, parse_span

ALGORITHMS = ("exact", "beam", "pruned-parsing", "pruned-expansion", "full")
GRAMMARS = ("right-linear", "binary")
CELL_STARTS = ("sentence", "anywhere")
JOINTS = ("model", "none")
MAX_TOKENS = 250


@dataclass(frozen=True)
class Settings:
    """How a bag becomes a lattice.

    `rules` names the lengths of the phrases that are rules; empty means 1-5 for the exact search and the beam, and
    3-5, as published, for the algorithms over the RTN. With `overlap`, a phrase may share up to so many of its first
    words with what stands before it. `grammar` and `cell_start` are for the algorithms over the RTN: the published
    grammar is the binary one. With `joints` none, the lattices of a cut bag's pieces are joined as they are. `steps`
    is what a bag may take, in millions of the steps of gyro.search.work; the default is about a minute. The time limit
    stands behind it.
    """

    algorithm: str = "exact"
    grammar: str = "right-linear"
    cell_start: str = "sentence"
    rules: str = ""
    overlap: int = 0
    beta: float = 10.0
    first_row: int = 6
    beam: int = 64
    max_arcs: int = 0
    max_tokens: int = 20
    joints: str = "model"
    phrase_cost: str = ""
    steps: int = 30_000
    time_limit: float = 600.0
    memory_limit: str = "4G"

    def __repr__(self) -> str:
        """What is not as it is by default."""
        values = ((field, getattr(self, field.name)) for field in fields(self))
        return f"Settings({', '.join(f'{field.name}={value!r}' for field, value in values if value != field.default)})"

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise InputError(f"found the algorithm {self.algorithm!r}; allowed are {', '.join(ALGORITHMS)}")
        for name, allowed in (("grammar", GRAMMARS), ("cell_start", CELL_STARTS), ("joints", JOINTS)):
            if getattr(self, name) not in allowed:
                raise InputError(f"found {name} {getattr(self, name)!r}; allowed are {', '.join(allowed)}")
        low, high = self.rule_lengths
        if not 1 <= low <= high <= 9:
            raise InputError(f"found the rules {self.rules!r}; lengths from 1 to 9 are allowed, like 3-5")
        for name, least in (
            ("overlap", 0),
            ("beta", 0),
            ("first_row", 1),
            ("beam", 1),
            ("max_arcs", 0),
            ("max_tokens", 0),
            ("steps", 1),
        ):
            if not getattr(self, name) >= least:
                raise InputError(f"found {name} {getattr(self, name)}; at least {least} is allowed")
        if not self.time_limit > 0:
            raise InputError(f"found the time limit {self.time_limit}; a number of seconds over 0 is allowed")
        parse_size(self.memory_limit)
        if self.cell_start != CELL_STARTS[0] and (self.grammar != "binary" or self.is_search):
            raise InputError(f"cell_start {self.cell_start} goes with an algorithm over the RTN and the binary grammar")
        if self.grammar == "binary" and self.is_search:
            raise InputError(
                f"{self.algorithm} knows no cells: the binary grammar goes with the algorithms over the RTN"
            )

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


class Changes(TypedDict, total=False):
    """Fields of Settings by name."""

    algorithm: str
    grammar: str
    cell_start: str
    rules: str
    overlap: int
    beta: float
    first_row: int
    beam: int
    max_arcs: int
    max_tokens: int
    joints: str
    phrase_cost: str
    steps: int
    time_limit: float
    memory_limit: str


def changed(settings: Settings | None, changes: Mapping[str, Any]) -> Settings:
    """The settings (None: the default) with these fields changed.

    >>> changed(None, {"beam": 128})
    Settings(beam=128)
    """
    allowed = [field.name for field in fields(Settings)]
    for name in changes:
        if name not in allowed:
            raise InputError(f"found the setting {name!r}; allowed are {', '.join(allowed)}")
    return replace(settings or Settings(), **changes)
