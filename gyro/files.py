"""Writing files so that nobody ever sees half of one.

write_atomically  open a temporary name beside the target; rename it when the block ends without an error
write_text        the same for a string
write_json        the same for a JSON value, with sorted keys so that equal values give equal bytes
sync_file_system  wait until all that was written near a path is on the disk
read_json         read a JSON object, or say in one line why not
parse_object      the same for one line of a JSON Lines file
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from gyro.errors import InputError


@contextmanager
def write_atomically(path: str | os.PathLike[str], mode: str = "wb") -> Iterator[IO[Any]]:
    """Yield a file under a temporary name in the target's folder; it takes its own name when all went well."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(
            temporary, mode, encoding=None if "b" in mode else "utf-8", newline=None if "b" in mode else "\n"
        ) as f:
            yield f
        os.replace(temporary, target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"cannot write: {error.strerror}", path=path) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole text file at once."""
    with write_atomically(path, "w") as file:
        file.write(text)


def write_json(path: str | os.PathLike[str], value: object) -> None:
    """Write a JSON value at once; equal values give equal bytes."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n")


def sync_file_system(path: str | os.PathLike[str]) -> None:
    """Wait until all that was written in the file system of this folder is on the disk.

    For many files this is one wait of the disk, where a sync of each would be as many.
    """
    if sys.platform != "linux":
        os.sync()
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syncfs(folder) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(path))
    finally:
        os.close(folder)


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a JSON object."""
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path=path) from error
    except ValueError as error:
        raise InputError(f"not a JSON file: {error}", path=path) from error
    if not isinstance(value, dict):
        raise InputError("found JSON that is not an object", path=path)
    return value


def parse_object(line: str, path: str | os.PathLike[str], number: int) -> dict[str, Any]:
    """Read the JSON object of one line."""
    try:
        value = json.loads(line)
    except ValueError as error:
        raise InputError(f"found a line that is not JSON: {error}", path=path, line=number) from error
    if not isinstance(value, dict):
        raise InputError("found JSON that is not an object", path=path, line=number)
    return value
