"""Functions that are compiled by numba, and where their machine code is kept.

compiled       compile a function when it is first called, and keep the code for other processes
kept_folders   the folders where code is kept: the first is written to, if any can be
used_modules   the modules whose compiled code this process has used; Used is one of them
is_kept        whether the code of one is kept and not old
QUIET          the variable of the environment that keeps the one line on compiling from being said

numba's own cache looks at the file of a function alone: when a function that is called from there changes in another
file, its old code stays in the caller's. Here code is kept by module under a digest of all sources that the module
imports, of the versions of numba and NumPy and of the processor (gyro.source_digest), so that old code is never found.
It is kept in __pycache__ of the package, or in the user's cache folder where that cannot be written.

Of several processes that need a function, one compiles it and the others wait for it.
"""

from __future__ import annotations

import fcntl
import importlib.util
import inspect
import mmap
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, overload

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache, _CacheLocator
from numba.core.compiler_lock import global_compiler_lock

from gyro.source_digest import module_file, source_digest

F = TypeVar("F", bound=Callable[..., Any])

QUIET = "GYRO_COMPILE_QUIETLY"
NOTICE = (
    "gyro: compiling for this machine, once after each installation or update: seconds, or a minute for some systems"
    " (gyro compile does all at once)"
)

_VERSIONS_KEPT = 3  # of the code of each module: what branches and other environments use
_LONGEST_WAIT = 300.0  # seconds; a process that holds a lock so long is stopped, and we compile for ourselves
_WAIT = 0.02

_told = mmap.mmap(-1, 1)  # shared with forked processes: one of all tells


class Used(NamedTuple):
    """A module whose compiled code is used, the rooms that go into it, and the digest of its sources."""

    module: str
    rooms: tuple[str, ...]
    digest: str

    @property
    def folder(self) -> str:
        """The name of the folder of the code."""
        return f"{self.module}-{self.digest}"


_used: set[Used] = set()


@overload
def compiled(function: F, /) -> F: ...
@overload
def compiled(*, rooms: tuple[str, ...] = ..., **options: Any) -> Callable[[F], F]: ...
def compiled(function: Callable[..., Any] | None = None, /, *, rooms: tuple[str, ...] = (), **options: Any) -> Any:
    """Compile a function when it is first called; the options are numba's.

    `rooms` are packages whose functions come into the code although the module of the function does not import them.

    >>> @compiled
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21)
    42
    """
    if function is None:
        return partial(_compiled, rooms=rooms, options=options)
    return _compiled(function, rooms, options)


def _compiled(function: Callable[..., Any], rooms: tuple[str, ...], options: dict[str, Any]) -> Any:
    dispatcher: Any = njit(**options)(function)
    if dispatcher is function:  # numba is turned off
        return function
    try:
        digest = source_digest(inspect.getfile(function), rooms)
    except OSError:  # it was typed in, and has no file
        return dispatcher
    kept = _KeptCode(function, rooms, digest)
    dispatcher._cache = kept
    dispatcher.compile = kept.alone(dispatcher.compile)
    return dispatcher


@cache
def kept_folders() -> tuple[list[Path], bool]:
    """The folders where code is looked for, and whether the first can be written to."""
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        places = [Path(given, "gyro").absolute()]
    else:
        pycache = os.path.dirname(importlib.util.cache_from_source(__file__))
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        places = [Path(pycache, "compiled"), Path(home, "gyro", "compiled")]
    for place in places:
        if place.is_absolute() and _can_write(place):
            return ([place] if place == places[0] else places[::-1]), True
    return places[:1], False


def used_modules() -> list[Used]:
    """The modules whose compiled code this process has used."""
    return sorted(_used)


def is_kept(used: Used) -> bool:
    """Whether this code is kept, and would be made of the same sources by the same compiler now."""
    path = module_file(used.module)
    if path is None or source_digest(path, used.rooms) != used.digest:
        return False
    return any((folder / used.folder).is_dir() for folder in kept_folders()[0])


def _can_write(folder: Path) -> bool:
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        return os.access(folder, os.W_OK | os.X_OK)
    return False


class _Place(_CacheLocator):
    """Where numba keeps the code of a function."""

    def __init__(self, folder: Path, digest: str, path: str, line: int) -> None:
        self._folder, self._digest, self._py_file, self._line = folder, digest, path, line

    def from_function(self, function: Any, path: str) -> _Place:  # type: ignore[override]
        return self

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._digest

    def get_disambiguator(self) -> str:
        return str(self._line)


class _Form(CompileResultCacheImpl):
    """How numba writes the code of a function down."""

    def __init__(self, function: Callable[..., Any], place: _Place) -> None:
        self._locator_classes = [place]  # type: ignore[list-item]
        super().__init__(function)  # type: ignore[no-untyped-call]


class _Store(FunctionCache):
    """The code of a function in one folder."""

    def __init__(self, function: Callable[..., Any], place: _Place) -> None:
        self._impl_class = lambda function: _Form(function, place)  # type: ignore[assignment]
        super().__init__(function)  # type: ignore[no-untyped-call]


class _KeptCode(NullCache):
    """The code of a function in all folders where it may be kept."""

    def __init__(self, function: Callable[..., Any], rooms: tuple[str, ...], digest: str) -> None:
        path, line = inspect.getfile(function), function.__code__.co_firstlineno
        self.used = Used(function.__module__, rooms, digest)
        folders, self.can_write = kept_folders()
        self.folders = [folder / self.used.folder for folder in folders]
        self.stores = [_Store(function, _Place(folder, digest, path, line)) for folder in self.folders]
        self.lock_name = f"{function.__qualname__.replace('<', '').replace('>', '')}-{line}.lock"
        self.is_held = False

    def load_overload(self, signature: Any, target: Any) -> Any:
        _used.add(self.used)
        for folder, store in zip(self.folders, self.stores, strict=True):
            try:
                if (found := store.load_overload(signature, target)) is not None:  # type: ignore[no-untyped-call]
                    return found
            except OSError:
                continue  # a folder that we may not read
            except Exception:  # damaged, as after a fault of the machine: what cannot be read is compiled anew
                shutil.rmtree(folder, ignore_errors=True)
        tell_once()
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        if self.can_write:
            with suppress(OSError):  # a full disk: the code is not kept, and that is all
                self.stores[0].save_overload(signature, result)  # type: ignore[no-untyped-call]

    def alone(self, compile_now: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Load or compile while no other process does so for this function: none loses what another writes."""

        def compile_alone(signature: Any) -> Any:
            # The lock of the process comes first: else a thread could hold the one and another thread the other.
            with global_compiler_lock, self._locked():
                return compile_now(signature)

        return compile_alone

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if self.is_held or not self.can_write:  # held: the function calls itself
            yield
            return
        try:
            lock = os.open(self._own_folder() / self.lock_name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError:
            yield
            return
        self.is_held = True
        try:
            _wait_for(lock)
            yield
        finally:
            self.is_held = False
            os.close(lock)

    def _own_folder(self) -> Path:
        """The folder that is written to; when it is new, old ones of the module go."""
        folder = self.folders[0]
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            _remove_old(folder, self.used.module)
        return folder


def _wait_for(lock: int) -> None:
    end = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < end:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_WAIT)
        except OSError:
            return  # a file system without locks
        else:
            return


def _remove_old(new: Path, module: str) -> None:
    """Remove the code of older versions of a module, but for the latest; who still uses it compiles once more."""
    with suppress(OSError):
        others = [place for place in new.parent.glob(f"{module}-*") if place != new]
        for place in sorted(others, key=lambda place: place.stat().st_mtime, reverse=True)[_VERSIONS_KEPT - 1 :]:
            shutil.rmtree(place, ignore_errors=True)


def tell_once() -> None:
    """Say that something is being compiled, if no process of this program has said so yet."""
    if _told[0] or os.environ.get(QUIET):
        return
    _told[0] = 1
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(NOTICE, file=sys.stderr, flush=True)
