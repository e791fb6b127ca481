"""What a program says of its work besides its results: on standard error, and as much of it as is wished.

Volume         nothing but errors, the usual, or more
at_volume      the time in which a program says so much
is_verbose     whether more than the usual is wished
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from enum import Enum


class Volume(Enum):
    """Nothing but errors; bars on a terminal and notes; how far everything is, line by line."""

    QUIET = "quiet"
    USUAL = "usual"
    VERBOSE = "verbose"


_volume = Volume.USUAL


@contextmanager
def at_volume(volume: Volume) -> Iterator[None]:
    """What is said on standard error in this time, also by worker processes that begin in it.

    An error that ends it is told behind it, as a rule by `gyro.errors.exit_code`.
    """
    global _volume
    before, _volume = _volume, volume
    try:
        if volume is Volume.QUIET:
            with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
                yield
        else:
            yield
    finally:
        _volume = before


def is_verbose() -> bool:
    """Whether lines are wished instead of bars, and also where standard error is no terminal."""
    return _volume is Volume.VERBOSE
