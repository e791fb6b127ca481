"""What came of a bag: one typed record from the search to the files of a run.

Search    how a bag, or a piece of a long one, was ordered
Outcome   the same of a whole bag, or why it failed: a line of results.jsonl
Ordering  the orders of a bag as a lattice, with its outcome: what every system gives
RUNGS     the tries of GYRO's own search, from the strictest on
EMPTY     in the place of these for a bag without words

A field that was never set is not written. JSON has no infinities: null stands for them. A system with more to tell
extends Outcome by fields of its own; where a run is read without knowing its system, these are kept as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gyro.errors import InputError
from gyro.run.notebook import ordering_to_html
from gyro.text.bag import Bag, shorten

if TYPE_CHECKING:
    from gyro.lattice.lattice import Hypothesis, Lattice

# The rules asked for; the same rules with a wider β; phrases of two words too; these with a wider β; every word a rule
# of its own.
RUNGS = RULES, PRUNED_LESS, TWO_GRAM_RULES, TWO_GRAM_PRUNED_LESS, ONE_GRAM_RULES = (
    "rules",
    "pruned less",
    "2-gram rules",
    "2-gram rules, pruned less",
    "1-gram rules",
)
EMPTY = "empty bag"


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


Finite = Annotated[float | None, BeforeValidator(_finite)]


class Search(BaseModel):
    """How a bag, or a piece of a long one, was ordered.

    `rung` is the try that gave the order: the rules asked for, or one of the fallbacks. `proved` says that the cost is
    the optimum. `beta` is the width in force, `lower_bound` what no order can be below, `grain` what phrase costs were
    rounded to. `timed_out` says that the clock ended it, and not its steps. The rest counts: tokens of the bag, nodes
    and arcs of the lattice, cells and rules of the RTN, phrases of the index, strings of a list.
    """

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, populate_by_name=True)

    rung: str | None = None
    proved: bool | None = None
    tokens: int | None = None
    cost: Finite = None
    lower_bound: Finite = None
    beta: Finite = None
    grain: float | None = None
    timed_out: bool | None = None
    nodes: int | None = None
    arcs: int | None = None
    cells: int | None = None
    rules: int | None = None
    phrases: int | None = None
    strings: int | None = None

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What a short repr tells: what was set and is not empty; of parts, how many."""
        for name, value in super().__repr_args__():
            if name in self.model_fields_set and value not in (None, [], ""):
                yield name, len(value) if isinstance(value, list) else value

    def to_json(self) -> dict[str, Any]:
        """What was set, as a JSON object."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class Outcome(Search):
    """What came of a bag. A sentence that is too long for the search is cut into pieces, each a search of its own.

    `reference_cost` is what the reference would have cost: where that is below the cost, the search has erred; where it
    is above, the model prefers another order; where the reference was found, it is the cost. `first_pass` is what a
    stage went on from in the same run.
    """

    id: str
    status: Literal["ok", "failed"]
    reason: str | None
    pieces: list[Search] = Field(default=[], alias="runs")
    reference_cost: Finite = None
    first_pass: Outcome | None = None

    @classmethod
    def ordered(cls, bag: Bag, cost: float, **facts: Any) -> Self:
        """The outcome of a bag whose best order has this cost."""
        return cls(id=bag.id, status="ok", reason=None, cost=cost, **facts)

    @classmethod
    def failed(cls, bag: Bag, reason: str) -> Self:
        """The outcome of a bag without one."""
        return cls(id=bag.id, status="failed", reason=reason, cost=None)

    @classmethod
    def from_json(cls, value: object, path: str | PathLike[str], line: int) -> Self:
        """Read a record back; `path` and `line` are its place for errors."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            found = error.errors()[0]
            place = ".".join(map(str, found["loc"]))
            message = f"found no result of a bag: {place}: {found['msg']}"
            raise InputError(message, path=path, line=line) from error

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def searches(self) -> list[Search]:
        """The search of the whole bag, or those of its pieces."""
        return self.pieces or [self]

    @property
    def is_proved(self) -> bool:
        """Whether the optimum is proved; of a bag that was cut, that of each of its pieces."""
        return all(search.proved is True for search in self.searches)

    def to_json(self) -> dict[str, Any]:
        """The object of results.jsonl: first what all outcomes have."""
        facts = super().to_json()
        return {**{key: facts.pop(key) for key in ("id", "status", "reason", "cost")}, **facts}


@dataclass(frozen=True)
class Ordering:
    """The orders of a bag as a lattice, and how they were found."""

    lattice: Lattice
    outcome: Outcome

    @property
    def proved(self) -> bool:
        """Whether the best order is the optimum."""
        return self.outcome.proved is True

    @property
    def rung(self) -> str | None:
        """The try that gave the order."""
        return self.outcome.rung

    def best(self) -> Hypothesis:
        """The cheapest string."""
        return self.lattice.best()

    def nbest(self, n: int) -> list[Hypothesis]:
        """The n cheapest strings, without duplicates."""
        return self.lattice.nbest(n)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the lattice as an OpenFst binary."""
        self.lattice.write(path)

    def __repr__(self) -> str:
        if self.lattice.empty():
            return f"Ordering(no order: {self.outcome.reason})"
        best, proved = self.best(), "proved" if self.proved else "not proved"
        return f"Ordering({shorten(best.tokens)!r}, cost {best.cost:.4f}, {proved}, {self.lattice.num_arcs:,} arcs)"

    def _repr_html_(self) -> str:
        return ordering_to_html(self)

    def _repr_svg_(self) -> str:
        return self.lattice._repr_svg_()
