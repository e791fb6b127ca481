"""NumPy's files that somebody may have damaged.

map_array    the array of a .npy file, mapped into memory
read_arrays  the one-dimensional arrays of a file by name, each of the type that is asked for
"""

from __future__ import annotations

import struct
import tokenize
import zipfile
import zlib
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError

# Whatever zip files, NumPy's headers and sizes in them can raise; a size that no memory holds is damage too.
_DAMAGE = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, SyntaxError, MemoryError, OverflowError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError),
)


def map_array(path: str | PathLike[str], what: str) -> NDArray[Any]:
    """Map the array of a file; `what` is the file's content in errors."""
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except _DAMAGE as error:
        raise _refused(error, what, path) from error
    return array


def read_arrays(path: str | PathLike[str], what: str, **types: type[np.generic]) -> list[NDArray[Any]]:
    """Read the named arrays; `what` is the file's content in errors."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = [arrays[name] for name in types]
    except _DAMAGE as error:
        raise _refused(error, what, path) from error
    for (name, kind), array in zip(types.items(), found, strict=True):
        if array.ndim != 1 or array.dtype != kind:
            message = (
                f"not {what}: found {array.dtype} × {array.shape} under {name!r}; a row of {np.dtype(kind)} is needed"
            )
            raise InputError(message, path=path)
    return found


def _refused(error: Exception, what: str, path: str | PathLike[str]) -> InputError:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return InputError(f"not {what}: {reason}", path=path)
