"""What several processes of one test run share, each thing made by the first that needs it.

make_once  a folder that one process fills and the others wait for
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def make_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The folder `name`, filled by `make` unless another process of the same test run has done it."""
    base = common_folder(factory)
    folder, done = base / name, base / f".{name}.done"
    with _locked(base / f".{name}.lock"):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)  # what a failed attempt left
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


def is_parallel() -> bool:
    """Is this one of several processes that run tests?"""
    return "PYTEST_XDIST_WORKER" in os.environ


def common_folder(factory: pytest.TempPathFactory) -> Path:
    """A folder for all processes of the test run; those of pytest-xdist have their own folders in it."""
    base = factory.getbasetemp()
    return base.parent if is_parallel() else base


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
