"""The processes of Spark's executors, to kill some."""

from __future__ import annotations

from contextlib import suppress

import psutil


def executors() -> list[psutil.Process]:
    """Those of a local cluster that this process has started."""
    return [p for p in psutil.Process().children(recursive=True) if any("ExecutorBackend" in w for w in _words(p))]


def _words(process: psutil.Process) -> list[str]:
    """Of a process that has ended meanwhile, none."""
    with suppress(psutil.Error):
        return list(process.cmdline())
    return []
