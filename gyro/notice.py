"""What a program says of its work besides its results: on standard error, and as much of it as is wished.

Volume         nothing but errors, the usual, or more
at_volume      the time in which a program says so much
is_verbose     whether more than the usual is wished
Bar            how far the work on some items is: a bar on a terminal, lines where more is wished
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from enum import Enum
from typing import Any

from tqdm import tqdm

_SECONDS_BETWEEN = 10.0  # of the lines of one bar


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


class Bar(tqdm):  # type: ignore[misc]
    """A count of items that is shown when somebody looks, or where more than the usual is wished."""

    monitor_interval = 0  # tqdm's monitor is a thread, and processes with threads should not fork

    def __init__(self, items: Iterable[Any] | None = None, **options: Any) -> None:
        self.in_lines = is_verbose()
        if self.in_lines:
            options |= {"mininterval": _SECONDS_BETWEEN, "leave": False}
        file = options.pop("file", None) or sys.stderr
        super().__init__(items, file=file, disable=not (self.in_lines or file.isatty()), **options)

    def display(self, msg: str | None = None, pos: int | None = None) -> Any:
        """Draw the bar, or write the line that tells the same."""
        if not self.in_lines:
            return super().display(msg, pos)
        print(str(self), file=self.fp, flush=True)
        return False
