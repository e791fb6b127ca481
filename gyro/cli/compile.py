"""`gyro compile`: compile what the parts of the program use, now and in parallel, so that their first use need not."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from gyro.cli.exercise import PARTS, perform, prepare
from gyro.errors import InputError, exit_code
from gyro.files import read_json, write_json

_LOG = "log-{}.txt"  # in the scratch folder: what the commands of a part print
_USED = "used-{}.json"  # the modules whose code it used


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parts = "\n".join(f"  {name:<11} {part.about}" for name, part in PARTS.items())
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"parts:\n{parts}\n\nWhat is compiled already is not compiled again."
    parser.add_argument("what", nargs="*", metavar="WHAT", help="parts to compile (default: all)")
    parser.add_argument(
        "--jobs", "-j", type=int, default=os.cpu_count() or 1, metavar="N", help="processes (default: one a core)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Compile; 1 when some part could not be."""
    if unknown := [name for name in arguments.what if name not in PARTS]:
        raise InputError(f"found {unknown[0]!r}; parts are {', '.join(PARTS)}")
    if arguments.jobs < 1:
        raise InputError(f"found {arguments.jobs} jobs; 1 or more are allowed")
    wanted = [name for name in PARTS if not arguments.what or name in arguments.what]
    missing = [name for name in wanted if not _is_compiled(name)]
    absent = {name: reason for name in missing if (reason := _absent(name))}
    for name, reason in absent.items():
        if name in arguments.what:
            raise InputError(f"{name}: {reason}")
        print(f"left out: {name} ({reason})")
    if todo := [name for name in missing if name not in absent]:
        return _Work(todo).run(arguments.jobs)
    print(f"compiled already: {', '.join(name for name in wanted if name not in absent)}")
    return 0


def _absent(name: str) -> str | None:
    """What is not installed that a part needs."""
    from lm.kenlm.toolchain import find_program
    from lm.neural.embedded import find_default

    try:
        if PARTS[name].needs_text or name == "text":
            find_program("lmplz")
        if PARTS[name].needs_neural:
            find_default()
    except InputError as error:
        return str(error)
    return None


def _record(name: str) -> Path:
    """Where it is written which modules a part uses."""
    from gyro.compilation import kept_folders

    folders, can_write = kept_folders()
    if not can_write:
        raise InputError("cannot write; compiled code is kept there", path=folders[0])
    return folders[0] / f"part-{name}.{sys.implementation.cache_tag}.json"


def _is_compiled(name: str) -> bool:
    """Whether all code is kept that the part used when it was compiled, and none of its sources has changed."""
    from gyro.compilation import Used, is_kept

    path = _record(name)
    if not path.exists():
        return False
    used = read_json(path)["used"]
    return all(is_kept(Used(module, tuple(rooms), digest)) for module, rooms, digest in used)


class _Work:
    """The parts to compile, each in a process of its own."""

    def __init__(self, parts: Sequence[str]) -> None:
        needs_text = any(PARTS[name].needs_text for name in parts)
        self.waiting = ["text"] * (needs_text and "text" not in parts) + list(parts)
        self.total, self.done, self.failed = len(self.waiting), 0, 0
        self.has_text = False
        self.running: dict[Any, tuple[str, BaseProcess]] = {}
        self.started = time.monotonic()

    def run(self, jobs: int) -> int:
        with tempfile.TemporaryDirectory(prefix="gyro-compile-") as scratch:
            folder = Path(scratch)
            prepare(folder)
            self._tell("")
            try:
                while self.waiting or self.running:
                    while len(self.running) < jobs and (name := self._next()):
                        self._start(name, folder)
                    for sentinel in wait(list(self.running)):
                        self._end(*self.running.pop(sentinel), folder)
            finally:
                for _, process in self.running.values():
                    process.terminate()
                    process.join()
        return 1 if self.failed else 0

    def _next(self) -> str | None:
        """The next part that can begin: those that need the text wait for it."""
        for name in self.waiting:
            if self.has_text or not PARTS[name].needs_text:
                self.waiting.remove(name)
                return name
        return None

    def _start(self, name: str, folder: Path) -> None:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        # Forked, so that what all import is imported once; and no worker, because commands have workers of their own.
        process = multiprocessing.get_context("fork").Process(target=_compile_part, args=(name, folder))
        process.start()
        self.running[process.sentinel] = (name, process)

    def _end(self, name: str, process: BaseProcess, folder: Path) -> None:
        process.join()
        self.done += 1
        if process.exitcode == 0:
            write_json(_record(name), read_json(folder / _USED.format(name)))
            self.has_text = self.has_text or name == "text"
            self._tell(name)
            return
        self.failed += 1
        lines = (folder / _LOG.format(name)).read_text(encoding="utf-8", errors="replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "it said nothing")
        print(f"could not compile {name}: {last}", file=sys.stderr)
        if name == "text":
            dropped = [other for other in self.waiting if PARTS[other].needs_text]
            self.waiting = [other for other in self.waiting if other not in dropped]
            self.failed += len(dropped)
            print(f"nor what needs it: {', '.join(dropped)}", file=sys.stderr)

    def _tell(self, name: str) -> None:
        """The line of progress."""
        seconds = time.monotonic() - self.started
        now = f"compiled {self.done} of {self.total} parts, {seconds:.0f} s"
        print(f"{now}: {name}" if name else f"compiling {self.total} parts: {', '.join(self.waiting)}", flush=True)


def _compile_part(name: str, folder: Path) -> None:
    """The work of a process: what it prints goes to a log."""
    from gyro.compilation import QUIET

    os.environ[QUIET] = "1"
    log = os.open(folder / _LOG.format(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)

    def work() -> int:
        write_json(folder / _USED.format(name), {"used": perform(name, folder)})
        return 0

    sys.exit(exit_code("gyro", work))
