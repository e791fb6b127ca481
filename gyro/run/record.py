"""What the files of a run hold, with types checked: they may have been changed by others, or damaged.

FORMAT         the format of run.json
SUMS           the file of checksums (gyro.run.checksum)
RunFacts       run.json: whose run the folder holds
read_run       read it
JournalLine    a line of the journal
parse_journal  read one
"""

from __future__ import annotations

from os import PathLike
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from gyro.errors import InputError
from gyro.files import check_type, read_json

FORMAT = "gyro-run-1"
SUMS = "checksums.xxh128"


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


class JournalLine(NamedTuple):
    """What came of a bag, given by its number from 0, and what it took."""

    bag: int
    result: dict[str, Any]
    seconds: float
    memory: int


def read_run(path: str | PathLike[str]) -> dict[str, Any]:
    """The object of run.json."""
    facts = read_json(path)
    if facts.get("format") != FORMAT:
        raise InputError(f"found the format {facts.get('format')!r:.60}; {FORMAT!r} is allowed", path=path)
    check_type(RunFacts, facts, "run", path)
    return facts


def parse_journal(line: dict[str, Any], path: str | PathLike[str], number: int) -> JournalLine:
    """One line; `number` is its own, from 1."""
    match line:
        case {
            "bag": int() as bag,
            "result": dict() as result,
            "seconds": int() | float() as seconds,
            "memory": int() as memory,
        }:
            return JournalLine(bag, result, seconds, memory)
    raise InputError("found a line that is no result of a bag", path=path, line=number)
