"""What the files of a run hold, with types checked: they may have been changed by others, or damaged.

FORMAT       the format of run.json
FLAT_FORMAT  that of earlier versions, with all lattices in one folder
RunFacts     run.json: whose run the folder holds
read_run     read it
"""

from __future__ import annotations

from os import PathLike
from typing import Any

from pydantic import BaseModel, ConfigDict

from gyro.errors import InputError
from gyro.files import check_type, read_json

FORMAT, FLAT_FORMAT = "gyro-run-2", "gyro-run-1"


class RunFacts(BaseModel):
    """run.json, as far as its types are fixed."""

    model_config = ConfigDict(extra="allow")

    format: str
    gyro: str
    settings: dict[str, Any]
    bags: int
    bags_sha256: str
    nbest: int = 0
    limits: dict[str, Any] = {}


def read_run(path: str | PathLike[str]) -> dict[str, Any]:
    """The object of run.json."""
    facts = read_json(path)
    if facts.get("format") not in (FORMAT, FLAT_FORMAT):
        raise InputError(f"found the format {facts.get('format')!r:.60}; {FORMAT!r} is allowed", path=path)
    check_type(RunFacts, facts, "run", path)
    return facts
