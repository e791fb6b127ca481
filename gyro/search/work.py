"""What a search may spend.

Work        steps, which alone decide what a search finds, and a deadline that stands behind them
EXTENSION   the steps that it takes to extend a node by a word
read_clock  for compiled code: the clock of time.monotonic

A step is the work on one arc in a table of the bound, about two billionths of a second on one core. All budgets of a
search are shares of its steps, so that the same bag gives the same result on a fast, a slow and a busy machine. Only
the deadline looks at the clock: a search that it stops gives the best order so far and says so.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import types

from gyro.compilation import compiled

EXTENSION = 25
MILLION = 1_000_000
DEFAULT_STEPS = 30_000 * MILLION

_MONOTONIC = np.int32(time.CLOCK_MONOTONIC)
_clock_gettime: Any = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.uintp))


class Work:
    """The steps of one search, of which parts of it are taken; `seconds` from now is its deadline.

    >>> work = Work(1000)
    >>> work.take(400)
    >>> work.left, work.is_late()
    (600.0, False)
    """

    def __init__(self, steps: float = DEFAULT_STEPS, seconds: float = np.inf) -> None:
        self.steps = steps
        self.taken = 0.0
        self.deadline = time.monotonic() + seconds
        self.was_late = False

    @property
    def left(self) -> float:
        """The steps that are left, none when they were overdrawn."""
        return max(0, self.steps - self.taken)

    def share(self, part: float) -> Work:
        """A part of the steps that are left, under the same deadline; what it takes is to be taken here as well."""
        shared = Work(self.left * part)
        shared.deadline = self.deadline
        return shared

    def take(self, steps: float) -> None:
        """Count steps that were made."""
        self.taken += steps

    def is_late(self) -> bool:
        """Whether the deadline has passed; `was_late` keeps that it did."""
        self.was_late = self.was_late or time.monotonic() > self.deadline
        return self.was_late


@compiled
def read_clock() -> float:
    """The seconds of time.monotonic."""
    moment = np.empty(2, np.int64)
    _clock_gettime(_MONOTONIC, moment.ctypes.data)
    return moment[0] + moment[1] * 1e-9  # type: ignore[no-any-return]
