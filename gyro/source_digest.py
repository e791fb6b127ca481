"""What decides how a function is compiled, as one short string: the sources that it can be made of, and the machine.

source_digest  of a file and all project files that it imports, directly or not; of all files of other rooms if wished
source_files   these files
module_file    the file of a module of the project
PACKAGES       the packages of the project

Only imports at the left margin count: no other binds a name for compiled code. A file is read once in a process.
"""

from __future__ import annotations

import importlib.util
import os
import pkgutil
import re
import sys
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

PACKAGES = ("gyro", "grammars", "lm", "rescoring", "comparison")

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# How code is kept does not come into it; nor do these settings.
_KEEPING = ("gyro.compilation", "gyro.source_digest")
_IRRELEVANT = ("NUMBA_CACHE_DIR", "NUMBA_DEBUG_CACHE", "NUMBA_NUM_THREADS")
_IMPORT = re.compile(
    rf"^(?:from ((?:{'|'.join(PACKAGES)})\b[\w.]*) import (\([^)]*\)|[^\n]*)|import ([^\n]+))".encode(), re.MULTILINE
)
_NAME = re.compile(rb"[\w.]+")


class _Source(NamedTuple):
    """The hash of a file's bytes, and the project files that it imports."""

    content: bytes
    imported: tuple[str, ...]


@cache
def source_digest(path: str, rooms: tuple[str, ...] = ()) -> str:
    """The digest of a file and what it imports, of the files of these rooms, and of what compiles them.

    >>> source_digest(__file__) == source_digest(__file__, ("gyro.text",))
    False
    """
    hashes = blake2b(repr(_compiler()).encode(), digest_size=12)
    for name in sorted(source_files(path, rooms)):
        # Not the path: the same sources give the same code wherever they are.
        hashes.update(os.path.relpath(name, _ROOT).encode() if name != path else b".")
        hashes.update(_source(name).content)
    return hashes.hexdigest()


def source_files(path: str, rooms: tuple[str, ...] = ()) -> set[str]:
    """The file, those of the rooms, and all project files that they import, directly or not."""
    found: set[str] = set()
    waiting = [path, *(name for room in rooms for name in _room_files(room))]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_source(name).imported)
    return found


@cache
def _source(path: str) -> _Source:
    text = _read(path)
    found: dict[str, None] = {}
    for match in _IMPORT.finditer(text):
        origin, names, modules = match.groups()
        if origin is not None:
            wanted = [origin, *(origin + b"." + name for name in _NAME.findall(names))]
        else:
            wanted = _NAME.findall(modules)
        for module in wanted:
            if (name := module.decode()) not in _KEEPING and (file := module_file(name)):
                found[file] = None
    return _Source(blake2b(text, digest_size=16).digest(), tuple(found))


@cache
def module_file(module: str) -> str | None:
    """The file of a module of the project; None for a name that is no module, or of another package."""
    first, *rest = module.split(".")
    if first not in PACKAGES:
        return None
    stem = os.path.join(_ROOT, first, *rest)
    for file in (f"{stem}.py", os.path.join(stem, "__init__.py")):
        try:
            _read(file)
        except OSError:
            continue
        return file
    return None


def _room_files(room: str) -> list[str]:
    folder = os.path.join(_ROOT, *room.split("."))
    names = ["__init__", *(module.name for module in pkgutil.iter_modules([folder]) if not module.ispkg)]
    return [os.path.join(folder, f"{name}.py") for name in names]


@cache
def _read(path: str) -> bytes:
    """The bytes of a source file, which may be in an archive that Python imports from."""
    loader = importlib.util.find_spec(__name__).loader  # type: ignore[union-attr]
    return loader.get_data(path)  # type: ignore[union-attr, no-any-return]


@cache
def _compiler() -> list[str]:
    """What turns sources into machine code, and what for."""
    import llvmlite
    import llvmlite.binding as llvm
    import numba
    import numpy as np

    # NUMBA_BOUNDSCHECK, NUMBA_OPT and others change the code.
    settings = sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("NUMBA_") and k not in _IRRELEVANT)
    versions = [str(sys.implementation.cache_tag), numba.__version__, llvmlite.__version__, np.__version__]
    machine = [llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
    return [*versions, *machine, *settings]
