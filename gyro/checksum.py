"""Checksums of whole files: how damage is noticed that no reader can see.

file_checksum  XXH3 of 128 bits, as the tool xxhsum prints it; many times as fast as a disk
new_checksum   one that is computed while a file is written
check_file     refuse a file whose checksum is another than that noted when it was made
"""

from __future__ import annotations

import hashlib
from os import PathLike
from typing import Any

import xxhash

from gyro.errors import InputError

_KINDS: dict[str, Any] = {"xxh128": xxhash.xxh3_128, "sha256": hashlib.sha256}
_PIECE = 1 << 20


def file_checksum(path: str | PathLike[str], kind: str = "xxh128") -> str:
    """The checksum of a file's bytes in hexadecimal digits."""
    digest = _KINDS[kind]()
    try:
        with open(path, "rb", buffering=0) as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
    except (OSError, ValueError) as error:  # a name with a NUL in it is no name
        raise InputError(f"cannot read: {getattr(error, 'strerror', error)}", path=path) from error
    return str(digest.hexdigest())


def new_checksum() -> Any:
    """A checksum of what `update` is given; `hexdigest` has its digits."""
    return _KINDS["xxh128"]()


def check_file(path: str | PathLike[str], checksum: str, kind: str = "xxh128") -> None:
    """Raise InputError when the file is not what it was."""
    if file_checksum(path, kind) != checksum:
        raise InputError("the file is damaged or was changed: its checksum is another than at its making", path=path)
