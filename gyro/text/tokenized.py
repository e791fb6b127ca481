"""Text that is split into tokens once and for all: a file of sentences, and a record beside it of how they were made.

record_path      TEXT.tokens.json for TEXT
write_tokenized  write both
read_record      how a file's text became tokens, if it has a record; a file that was changed since is refused
common_record    the same for several files, which must all be alike

The file has one sentence a line, its tokens with a blank between them. Indexes and models that are made of it record
the normalisation that its record tells, as if they had split the text themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gyro.checksum import check_file, new_checksum
from gyro.errors import InputError
from gyro.files import check_type, read_json, write_atomically, write_json
from gyro.text.corpus import AnyPath, Normalisation
from gyro.version import __version__

FORMAT, VERSION = "gyro tokenized text", 1


@dataclass(frozen=True)
class Tokenized:
    """What a record tells."""

    normalisation: Normalisation
    sentences: int
    tokens: int


@dataclass(frozen=True)
class _Facts:
    """The part of a record that is of the file."""

    sentences: int
    tokens: int
    xxh128: str


def record_path(path: AnyPath) -> Path:
    """TEXT.tokens.json for TEXT."""
    return Path(f"{os.fspath(path)}.tokens.json")


def write_tokenized(sentences: Iterable[Sequence[str]], path: AnyPath, normalisation: Normalisation) -> Tokenized:
    """Write the sentences and their record, which goes first: beside an older text it is refused, never believed."""
    count, tokens, checksum = 0, 0, new_checksum()
    with write_atomically(path) as file:
        for sentence in sentences:
            line = (" ".join(sentence) + "\n").encode()
            checksum.update(line)
            file.write(line)
            count, tokens = count + 1, tokens + len(sentence)
        if not count:
            raise InputError("found no sentence in the text", path=path)
        facts = {"format": FORMAT, "version": VERSION, "gyro": __version__, "normalisation": normalisation.to_json()}
        facts |= {"sentences": count, "tokens": tokens, "xxh128": checksum.hexdigest()}
        write_json(record_path(path), facts)
    return Tokenized(normalisation, count, tokens)


def read_record(path: AnyPath) -> Tokenized | None:
    """What the record beside a file tells; None without one, InputError when the file is not the one that it is of."""
    beside = record_path(path)
    if str(path) == "-" or not beside.exists():
        return None
    record = read_json(beside)
    if (record.get("format"), record.get("version")) != (FORMAT, VERSION):
        found = f"{record.get('format')!r:.40}, version {record.get('version')!r:.40}"
        raise InputError(f"found {found}; {FORMAT!r}, version {VERSION} is allowed", path=beside)
    known = {name: record.get(name) for name in ("sentences", "tokens", "xxh128")}
    facts = check_type(_Facts, known, "record of tokenised text", beside)
    try:
        normalisation = Normalisation.from_json(record.get("normalisation"))
    except InputError as error:
        raise InputError(str(error), path=beside) from error
    check_file(path, facts.xxh128)
    return Tokenized(normalisation, facts.sentences, facts.tokens)


def common_record(paths: Sequence[AnyPath]) -> Normalisation | None:
    """How the text of all files became tokens; None where none has a record."""
    known = {str(path): read_record(path) for path in paths}
    found = {name: record.normalisation for name, record in known.items() if record is not None}
    if not found:
        return None
    (first, how), *others = found.items()
    for name in known:
        if name not in found:
            raise InputError(f"was not made by gyro tokenize, as {first} was; make them alike", path=name)
    for name, other in others:
        if other != how:
            raise InputError(f"found {other}; that of {first} is {how}: make them alike", path=name)
    return how
