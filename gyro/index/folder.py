"""The folder of an index while it is made, and its header.

new_folder    a hidden folder that takes the place of the index when all went well
write_header  the header of the files in a folder
file_facts    the size and the checksum of a file, as the header has them
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from gyro.checksum import file_checksum
from gyro.errors import InputError
from gyro.files import read_json, write_json
from gyro.index.levels import array_length, array_type
from gyro.index.pruning import is_pruned
from gyro.index.reader import FORMAT, HEADER, VERSION, WORDS, counts_name, file_names, header_checksum
from gyro.text.corpus import Normalisation

AnyPath = str | PathLike[str]


def write_header(
    folder: Path,
    order: int,
    normalisation: Normalisation,
    num_tokens: int,
    num_sentences: int,
    *,
    least: Sequence[int] = (1,),
    shards: Sequence[dict[str, Any]] | None = None,
    num_ngrams: Sequence[int] | None = None,
    files: dict[str, dict[str, Any]] | None = None,
) -> None:
    """Write it; `files` are the facts of files that are known, in shards or not.

    Least counts and shards stand in it only where there are some, so an index without is the same to the byte as ever.
    """
    known = files or {}
    facts = {name: known.get(name) or file_facts(folder / name) for name in file_names(order, len(shards or ()))}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "order": order,
        "normalisation": normalisation.to_json(),
        "tokens": num_tokens,
        "sentences": num_sentences,
        "ngrams": num_ngrams or [array_length(folder / counts_name(n)) for n in range(1, order + 1)],
        "word_bytes": array_length(folder / WORDS),
        "count_type": array_type(folder / counts_name(1)),
        "files": facts,
    }
    header |= {"least_counts": list(least)} if is_pruned(least) else {}
    header |= {"shards": list(shards)} if shards is not None else {}
    write_json(folder / HEADER, header | {"checksum": header_checksum(header)})


def file_facts(path: Path) -> dict[str, Any]:
    """The size and the checksum of a file."""
    return {"bytes": path.stat().st_size, "xxh128": file_checksum(path)}


@contextmanager
def new_folder(path: AnyPath) -> Iterator[Path]:
    """Yield a hidden folder beside the target; it takes the target's name and place when all went well.

    It is locked while in use: what a killed build left is removed, what another process is building is not.
    """
    target = Path(os.path.realpath(path))
    _check_replaceable(target, path)
    folder = target.with_name(f".{target.name}.building")
    old = target.with_name(f".{target.name}.old")
    try:
        folder.mkdir(exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)  # what a link leads to is not ours
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(lock)
            raise InputError("another process is building this index", path=path) from error
        try:
            for entry in folder.iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            yield folder
            shutil.rmtree(old, ignore_errors=True)
            if target.exists():
                os.rename(target, old)
            os.rename(folder, target)
            shutil.rmtree(old, ignore_errors=True)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            os.close(lock)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path=path) from error


def _check_replaceable(target: Path, path: AnyPath) -> None:
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not (target / HEADER).is_file() or read_json(target / HEADER).get("format") != FORMAT:
        raise InputError("something that is not a text index is already there; it is left alone", path=path)
