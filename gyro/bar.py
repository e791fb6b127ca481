"""How far the work on some items is.

Bar   a bar on a terminal, lines where more is wished (gyro.notice), else nothing
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from tqdm import tqdm

from gyro.notice import is_verbose

_SECONDS_BETWEEN = 10.0  # of the lines of one bar


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
