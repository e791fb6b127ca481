"""The journal of a run: what has become of each bag so far, with its share of the final files.

Journal  the records of a run that is going on, by the numbers of their bags
Record   what is known of one bag, with its lines of best.txt, nbest.txt and nbest.jsonl

A record is a line of JSON and after it those lines as they are: `{"bag": 3, "result": …, "seconds": 0.1, "memory": 9,
"nbest": 100, "bytes": [14, 900, 1800]}`. The last record of a bag counts. In memory is the place of each alone.
"""

from __future__ import annotations

import os
from array import array
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gyro.errors import InputError, MachineError
from gyro.files import sync_file_system
from gyro.run.folder import Entry, to_line
from gyro.run.outcome import Outcome

Count = Annotated[int, Field(ge=0)]
Lists = tuple[bytes, bytes, bytes]  # of best.txt, nbest.txt and nbest.jsonl

NO_LISTS: Lists = (b"\n", b"", b"")  # of a bag that failed


class _Header(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    bag: Count
    result: Outcome
    seconds: float
    memory: int
    nbest: Count
    bytes: tuple[Count, Count, Count]


class Record(NamedTuple):
    """What is known of one bag; `nbest` is the length that was asked of its list, 0 where none was made."""

    entry: Entry
    nbest: int
    lists: Lists


class Journal:
    """The records of a run; what was appended is on the disk after `commit`."""

    def __init__(self, path: Path, bags: int) -> None:
        """Open the journal of a run with so many bags; what a kill left half written at its end is cut off."""
        self.path = path
        self._places, self._nbest, self._is_ok = array("q", [-1]) * bags, array("q", [0]) * bags, bytearray(bags)
        self._pending: list[bytes] = []
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", path=path) from error
        self._end = self._scan()
        self._reader = path.open("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()
        os.close(self._file)

    # ---- what is known

    @property
    def is_empty(self) -> bool:
        """Whether there is no record."""
        return self._end == 0

    def knows(self, number: int) -> bool:
        return self._places[number] >= 0

    def is_ok(self, number: int) -> bool:
        """Whether the bag has an order."""
        return bool(self._is_ok[number])

    def has_list(self, number: int, nbest: int) -> bool:
        """Whether its record has a list of this length; one that failed needs none."""
        return not self.is_ok(number) or self._nbest[number] == nbest

    def read(self, number: int) -> Record:
        """The last record of a bag; what was appended must be on the disk."""
        self._reader.seek(self._places[number])
        header = self._parse(self._reader.readline(), number + 1)
        best, moses, jsonl = (self._reader.read(length) for length in header.bytes)
        return Record(Entry(header.result, header.seconds, header.memory), header.nbest, (best, moses, jsonl))

    def _scan(self) -> int:
        """Find the records of the file; give the end of the last whole one, where the file ends from now on."""
        size, place, number = os.fstat(self._file).st_size, 0, 0
        with self.path.open("rb") as file:
            while place < size:
                line = file.readline()
                if not line.endswith(b"\n"):
                    break
                number += 1
                header = self._parse(line, number)
                end = place + len(line) + sum(header.bytes)
                if end > size:
                    break
                if header.bag < len(self._places):
                    self._note(header.bag, place, header.nbest, header.result.ok)
                place = file.seek(end)
        if place < size:
            os.truncate(self._file, place)
        return place

    def _parse(self, line: bytes, number: int) -> _Header:
        try:
            return _Header.model_validate_json(line)
        except ValidationError as error:
            found = error.errors()[0]
            where = ".".join(map(str, found["loc"]))
            message = f"found no record of a bag: {where + ': ' if where else ''}{found['msg']}"
            raise InputError(message, path=self.path, line=number) from error

    def _note(self, number: int, place: int, nbest: int, is_ok: bool) -> None:
        self._places[number], self._nbest[number], self._is_ok[number] = place, nbest, is_ok

    # ---- what comes

    def append(
        self, number: int, result: dict[str, Any], seconds: float, memory: int, nbest: int, lists: Lists = NO_LISTS
    ) -> None:
        """Add a record; `result` is the JSON object of an outcome."""
        line = {"bag": number, "result": result, "seconds": seconds, "memory": memory, "nbest": nbest}
        record = b"".join((to_line(line | {"bytes": list(map(len, lists))}).encode(), *lists))
        self._note(number, self._end, nbest, result["status"] == "ok")
        self._pending.append(record)
        self._end += len(record)

    def commit(self) -> None:
        """Put what was appended on the disk, after all that it tells of; after an error, nothing of it is there."""
        if not self._pending:
            return
        data = memoryview(b"".join(self._pending))
        before = self._end - len(data)
        try:
            sync_file_system(self.path.parent)
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.truncate(self._file, before)
            raise MachineError(f"{self.path}: cannot write: {error.strerror}") from error
        self._pending.clear()
