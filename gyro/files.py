"""Writing files so that nobody ever sees half of one; reading JSON that others wrote.

write_atomically   open a temporary name beside the target; rename it when the block ends without an error
write_text         the same for a string
write_json         the same for a JSON value, with sorted keys so that equal values give equal bytes
sync_file_system   wait until all that was written near a path is on the disk
scratch_folder     a folder beside the target that is gone when the block ends
remove_leftovers   remove the temporary files and folders of processes that were killed
parse_json         a JSON value, or ValueError in words: the one reader of JSON that others wrote
parse_object       the JSON object of one line of a JSON Lines file, or say in one line why not
read_json          the same for a whole file
check_type         refuse a value that is not of a type (for pydantic) in one line

Temporary names cannot be guessed, and a link under such a name is not followed. Whoever uses one holds a lock on it,
which ends with the process: what is not locked was left by a process that was killed. The first time that a process
writes into a folder, it removes what is left there.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import math
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, TypeVar

from gyro.errors import InputError

T = TypeVar("T")
AnyPath = str | os.PathLike[str]

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.(?:tmp|scratch)")
_LONGEST_NAME = 200  # bytes of the target's name in a temporary one; a file name has at most 255
_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_swept: set[Path] = set()

# Numbers that may be too large, and halves of surrogate pairs: what holds them is read with more care.
_LARGE_NUMBER = re.compile(r"\d{19}|[eE]\+?\d{3}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_MOST = 1 << 63


@contextmanager
def write_atomically(path: AnyPath, mode: str = "wb") -> Iterator[IO[Any]]:
    """Yield a file under a temporary name in the target's folder; it takes its own name when all went well.

    What is no regular file, like /dev/null or a named pipe, is written to as it is.
    """
    target = Path(path)
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    temporary: Path | None = None
    try:
        if _is_special(target):
            with open(target, mode, **text) as file:  # type: ignore[call-overload]
                yield file
            return
        _sweep_once(target.parent)
        temporary, descriptor = _new_file(target)
        lock = os.dup(descriptor)  # held until it has its name: no other process may take it for a leftover before
        try:
            with open(descriptor, mode, **text) as file:  # type: ignore[call-overload]
                yield file
            os.replace(temporary, target)
            temporary = None
        finally:
            os.close(lock)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path=path) from error
    finally:
        if temporary is not None:
            with suppress(OSError):  # on a read-only or broken disk it stays; the next start removes it
                temporary.unlink()


def write_text(path: AnyPath, text: str) -> None:
    """Write a whole text file at once."""
    with write_atomically(path, "w") as file:
        file.write(text)


def write_json(path: AnyPath, value: object) -> None:
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


@contextmanager
def scratch_folder(target: Path) -> Iterator[Path]:
    """A folder beside the target: on its disk, so that large files move by name, and gone whatever happens.

    What a killed process left of such folders is removed first.
    """
    remove_leftovers(target.parent)
    folder, lock = _new_folder(target)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files and folders in this folder whose process is no more."""
    with suppress(OSError), os.scandir(folder) as entries:
        for name in [entry.name for entry in entries if _TEMPORARY.fullmatch(entry.name)]:
            with suppress(OSError):
                _remove_unlocked(folder / name)


def _remove_unlocked(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            shutil.rmtree(path)
        else:
            path.unlink()
    finally:
        os.close(descriptor)


def _sweep_once(folder: Path) -> None:
    place = folder.absolute()
    if place not in _swept:
        _swept.add(place)
        remove_leftovers(place)


def _is_special(target: Path) -> bool:
    """Whether the target is to be written to and not replaced: a device, a pipe, or a link in /dev to a file."""
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    return (not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)) or target.absolute().parent == Path("/dev")


def _temporary_name(target: Path, ending: str) -> Path:
    name = os.fsdecode(os.fsencode(target.name)[:_LONGEST_NAME])
    return target.with_name(f".{name}.{os.urandom(8).hex()}.{ending}")


def _new_file(target: Path) -> tuple[Path, int]:
    while True:
        path = _temporary_name(target, "tmp")
        descriptor = os.open(path, _NEW_FILE, 0o666)
        if _locked(descriptor):
            return path, descriptor


def _new_folder(target: Path) -> tuple[Path, int]:
    while True:
        path = _temporary_name(target, "scratch")
        path.mkdir(mode=0o700)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        if _locked(descriptor):
            return path, descriptor


def _locked(descriptor: int) -> bool:
    """Lock what was just made; False if another process took it for a leftover before that, and it is gone."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    except OSError:
        return True  # a file system without locks: there nothing can be locked, and nothing is removed
    if os.fstat(descriptor).st_nlink:
        return True
    os.close(descriptor)
    return False


def parse_json(text: str) -> Any:
    """The JSON value; ValueError tells in words what is wrong.

    Whole numbers fit into 64 bits, others are not so large that they become infinite, and text can be written as UTF-8.

    >>> parse_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    try:
        if _LARGE_NUMBER.search(text):
            value = json.loads(text, parse_int=_whole_number, parse_float=_finite_number)
        else:
            value = json.loads(text)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except UnicodeEncodeError:
        raise ValueError("found half of a surrogate pair; Unicode text is allowed") from None
    return value


def _whole_number(text: str) -> int:
    if len(text) > 20 or not -_MOST <= int(text) < _MOST:
        raise ValueError(f"the number {text:.20}… is too large")
    return int(text)


def _finite_number(text: str) -> float:
    if math.isinf(value := float(text)):
        raise ValueError(f"the number {text:.20}… is too large")
    return value


def parse_object(line: str, path: AnyPath, number: int | None) -> dict[str, Any]:
    """Read the JSON object of one line."""
    try:
        value = parse_json(line)
    except ValueError as error:
        raise InputError(f"found a line that is not JSON: {error}", path=path, line=number) from error
    if not isinstance(value, dict):
        raise InputError("found JSON that is not an object", path=path, line=number)
    return value


def read_json(path: AnyPath) -> dict[str, Any]:
    """Read a JSON object."""
    try:
        value = parse_json(Path(path).read_bytes().decode())
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path=path) from error
    except ValueError as error:
        raise InputError(f"not a JSON file: {error}", path=path) from error
    if not isinstance(value, dict):
        raise InputError("found JSON that is not an object", path=path)
    return value


def check_type(kind: type[T], value: object, what: str, path: AnyPath, line: int | None = None) -> T:
    """A JSON value as pydantic reads it strictly: whole numbers go for floats, nothing else is made another type.

    `kind` is a type of annotations, a dataclass or a pydantic model; `what` names the value in errors.

    >>> check_type(list[int], [1, 2], "numbers", "numbers.json")
    [1, 2]
    """
    from pydantic import ValidationError  # it takes a while to import

    try:
        checked: T = _adapter(kind).validate_json(json.dumps(value), strict=True)  # type: ignore[arg-type]
        return checked
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(map(str, fault["loc"]))
        message = f"{place}: {fault['msg']}" if place else fault["msg"]
        raise InputError(f"found no {what}: {message}", path=path, line=line) from error


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
