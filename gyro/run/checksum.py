"""Checksums of a finished run: what was swapped or damaged afterwards is found.

write_sums  note the checksums of the lattices and of the files made of them in checksums.xxh128
verify_run  compute them anew and refuse a run that is not as it was written

The file has the format of the tool xxhsum: `xxhsum -c checksums.xxh128` checks it too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from os import PathLike
from pathlib import Path

from gyro.checksum import check_file, file_checksum
from gyro.errors import InputError
from gyro.files import write_text
from gyro.run.folder import open_run
from gyro.run.record import SUMS, read_run
from gyro.text.corpus import read_lines

# Not run.json, which has a checksum of its settings in it and tells the limits of the last start, and not times.jsonl,
# which is never the same again.
FILES = ("bags.jsonl", "words.syms", "references.txt", "results.jsonl", "best.txt", "nbest.txt", "nbest.jsonl")


def write_sums(folder: Path, lattices: Iterable[Path]) -> None:
    """Note the checksums; the lattices are files somewhere in the folder."""
    files = (*lattices, *(folder / name for name in FILES if (folder / name).exists()))
    lines = (f"{file_checksum(file)}  {file.relative_to(folder).as_posix()}\n" for file in files)
    write_text(folder / SUMS, "".join(lines))


def verify_run(path: str | PathLike[str]) -> int:
    """The number of files that are as they were written; InputError names the first that is not."""
    folder = Path(path)
    open_run(folder)  # finished, and its files can be read
    facts = read_run(folder / "run.json")
    settings = json.dumps(facts["settings"], ensure_ascii=False, sort_keys=True)
    if sha256(settings.encode()).hexdigest() != facts.get("settings_sha256"):
        raise InputError("the settings were changed: their checksum is another", path=folder / "run.json")
    if not (folder / SUMS).exists():
        raise InputError(f"found no {SUMS}: an older version made the run, which noted no checksums", path=path)
    number = 0
    for number, line in enumerate(read_lines(folder / SUMS), 1):
        checksum, blanks, name = line.partition("  ")
        file = folder / name
        if not blanks or not name or file.is_absolute() != folder.is_absolute() or ".." in Path(name).parts:
            raise InputError(f"found {line!r:.60}; a checksum and a file are needed", path=folder / SUMS, line=number)
        check_file(file, checksum)
    return number
