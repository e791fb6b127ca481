"""A stage of an experiment: one of rescoring.stage, whose parameters are tuned on the development set.

TunedStage  its name, what it starts from, and what is tried
to_stage    from an entry of [[stages]]: the keys of StageTable, and those of the kind's tuning
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gyro.errors import InputError
from gyro.notation import from_table
from rescoring.stage import Tuning, stage_kinds


@dataclass(frozen=True)
class StageTable:
    """What stages of all kinds have: a name, and the name of the part whose lattices it starts from.

    It is run on all sets of its source, or on the `sets` that are named; it is tuned on the experiment's development
    set, or on its own, unless it takes the values of another stage of its kind.
    """

    name: str
    kind: str
    source: str
    oracles: bool = False
    sets: list[str] = field(default_factory=list)
    development: str = ""
    values_of: str = ""


@dataclass(frozen=True)
class TunedStage:
    """A stage with what is tried for it."""

    table: StageTable
    tuning: Tuning

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def kind(self) -> str:
        return self.table.kind

    @property
    def source(self) -> str:
        return self.table.source


def to_stage(table: Mapping[str, Any], place: str) -> TunedStage:
    """Read one entry; `place` is its name for errors."""
    kinds = stage_kinds()
    if table.get("kind") not in kinds:
        raise InputError(f"found the kind {table.get('kind')!r} in {place}; allowed are {', '.join(kinds)}")
    common = StageTable.__dataclass_fields__
    head = from_table(StageTable, {key: value for key, value in table.items() if key in common}, place)
    rest = {key: value for key, value in table.items() if key not in common}
    try:
        return TunedStage(head, from_table(kinds[head.kind].tuning, rest, place))
    except InputError as error:
        raise InputError(f"{head.name!r}: {error}") from error
