"""How far a run has come, told while it goes on: a bar on a terminal, else lines.

Progress  of one run
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, TypeVar

from gyro.bar import Bar
from gyro.errors import printable
from gyro.notice import is_verbose

T = TypeVar("T")

_SECONDS_BETWEEN = 10.0  # of lines that tell how far the final files are


class Progress:
    """A bar on a terminal, else or with --verbose a line for each bag."""

    def __init__(self, bags: int, done: int, file: IO[str]) -> None:
        self.bags, self.done, self.failed, self.file = bags, done, 0, file
        self._has_bars = file.isatty() and not is_verbose()
        self._bar = self._new_bar("ordering", bags, done) if self._has_bars and done < bags else None
        if not self._has_bars and done:
            print(f"going on: {done} of {bags} bags are known", file=file, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, result: Mapping[str, Any], tokens: int, seconds: float) -> None:
        """Tell what came of one bag."""
        is_ok = result["status"] == "ok"
        self.done += 1
        self.failed += not is_ok
        if self._bar is not None:
            self._bar.set_postfix(failed=self.failed, refresh=False)
            self._bar.update()
            return
        facts = f"cost {result['cost']:.2f}" if is_ok else f"({result['reason']})"
        size = f"{tokens} tokens " if tokens else ""
        line = f"{self.done}/{self.bags} id={result['id']} {result['status']} {size}{facts}"
        print(f"{printable(line)} {seconds:.2f} s", file=self.file, flush=True)

    def over(self, items: Iterable[T], what: str, total: int) -> Iterator[T]:
        """Tell how far the work on these is, now and then."""
        bar = self._new_bar(what, total, 0) if self._has_bars else None
        last = time.monotonic()
        for number, item in enumerate(items, 1):
            yield item
            if bar is not None:
                bar.update()
            elif time.monotonic() > last + _SECONDS_BETWEEN:
                print(f"{what}: {number} of {total}", file=self.file, flush=True)
                last = time.monotonic()
        if bar is not None:
            bar.close()

    def _new_bar(self, what: str, total: int, done: int) -> Bar:
        return Bar(total=total, initial=done, unit=" bags", file=self.file, desc=what)
