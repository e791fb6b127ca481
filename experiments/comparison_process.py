"""Commands of gyro as processes, side by side; one that fails does not stop the others.

Command       what one would type, what it makes, and what must be there before
run_commands  run those that are not done, each when what it needs is there; tell those that failed
read_used, read_arguments   how long a command took, and what was typed

Beside its target TARGET a command leaves TARGET.log, what it printed, and TARGET.done.json: the facts that it was made
from, and the seconds that it took. A command with other facts starts anew, and one that was stopped goes on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gyro.errors import InputError
from gyro.files import read_json, write_json
from gyro.pipeline.stamp import fingerprint
from gyro.version import __version__
from gyro.worker import die_with_parent

_LOOK_SECONDS = 0.05
_NOT_ORDERED = 1  # the exit code of a run in which some bags have no order
_LONGEST_REASON = 300
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Used(NamedTuple):
    """Seconds by the clock and of the processor, those of its own processes included."""

    wall: float
    cpu: float

    @property
    def share(self) -> float:
        """How much of the clock's time the processor worked for it: less than all where others were at work too."""
        return min(1.0, self.cpu / self.wall) if self.wall else 1.0


@dataclass(frozen=True)
class Command:
    """`inputs` are files, or folders with a done-file beside them; `is_whole` says whether the target is complete.

    `arguments` may raise InputError; `weight` is the time that it is likely to take: long ones go first.
    """

    name: str
    target: Path
    arguments: Callable[[], Sequence[str]]
    inputs: Sequence[Path]
    is_whole: Callable[[], bool]
    weight: Callable[[], float]

    @property
    def log(self) -> Path:
        return _beside(self.target, ".log")

    def facts(self) -> dict[str, Any] | None:
        """What it is made from; None as long as something of it is not there."""
        prints = []
        for path in self.inputs:
            seen = _beside(path, ".done.json") if path.is_dir() or _beside(path, ".done.json").exists() else path
            if not seen.exists():
                return None
            prints.append(fingerprint(seen))
        return {"gyro": __version__, "arguments": list(self.arguments()), "inputs": prints}

    def is_done(self) -> bool:
        done = _beside(self.target, ".done.json")
        if not (done.exists() and self.is_whole()):
            return False
        try:
            return bool(read_json(done).get("facts") == self.facts())
        except InputError:
            return False

    def is_begun(self) -> bool:
        """Whether what is there is a part of what it would make: a longer training is more of a shorter one."""
        begun = _beside(self.target, ".begun.json")
        return begun.exists() and _without_length(read_json(begun)) == _without_length(self.facts() or {})

    def reason(self) -> str:
        """What it said last."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines() if self.log.exists() else []
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")[:_LONGEST_REASON]


def read_used(target: Path) -> Used | None:
    """How long the command took, all its starts together; None before it is done."""
    done = _beside(target, ".done.json")
    record = read_json(done) if done.exists() else {}
    return Used(float(record["wall"]), float(record["cpu"])) if {"wall", "cpu"} <= set(record) else None


def read_arguments(target: Path) -> list[str]:
    """What was typed for it; nothing before it is done."""
    done = _beside(target, ".done.json")
    return [str(argument) for argument in read_json(done)["facts"]["arguments"]] if done.exists() else []


def run_commands(commands: Iterable[Command], jobs: int, report: Callable[[str], None] = print) -> dict[str, str]:
    """The names of those that failed, and why. What needs something that failed fails too."""
    waiting = [command for command in commands if not command.is_done()]
    running: dict[int, _Process] = {}
    failed: dict[str, str] = {}
    total, ended = len(waiting), 0
    try:
        while waiting or running:
            missing = {command.target for command in waiting} | {process.command.target for process in running.values()}
            ready = [command for command in waiting if not missing & set(command.inputs)]
            for command in sorted(ready, key=lambda command: -command.weight())[: jobs - len(running)]:
                waiting.remove(command)
                try:
                    process = _Process(command)
                    running[process.popen.pid] = process
                except (InputError, OSError) as error:
                    failed[command.name] = str(error)
                    report(f"failed: {command.name}: {error}")
            for pid, process in list(running.items()):
                if process.has_ended():
                    del running[pid]
                    ended += 1
                    reason = process.finish()
                    report(f"[{ended}/{total}] {process.command.name}: {reason or f'{process.used.wall:.0f} s'}")
                    failed |= {process.command.name: reason} if reason else {}
            time.sleep(_LOOK_SECONDS if running else 0)
    finally:
        for process in running.values():
            process.popen.kill()
            process.popen.wait()
    return failed


class _Process:
    """A command that is running."""

    def __init__(self, command: Command) -> None:
        self.command, self.facts = command, command.facts()
        if self.facts is None:
            raise InputError("something that it needs was not made")
        target, begun = command.target, _beside(command.target, ".begun.json")
        target.parent.mkdir(parents=True, exist_ok=True)
        _beside(target, ".done.json").unlink(missing_ok=True)
        if not command.is_begun():
            shutil.rmtree(target, ignore_errors=True)
            self.before = Used(0.0, 0.0)
        else:
            record = read_json(begun)
            self.before = Used(float(record.get("wall", 0.0)), float(record.get("cpu", 0.0)))
        self.used = self.before
        self._write_begun()
        self.began = time.monotonic()
        with command.log.open("w", encoding="utf-8") as log:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", "gyro", *self.facts["arguments"]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=_environment(),
                preexec_fn=partial(die_with_parent, os.getpid()),  # else it would go on when we are killed
            )

    def has_ended(self) -> bool:
        """Whether it has; then its seconds are known."""
        pid, status, usage = os.wait4(self.popen.pid, os.WNOHANG)
        if not pid:
            return False
        self.popen.returncode = os.waitstatus_to_exitcode(status)
        wall, cpu = time.monotonic() - self.began, usage.ru_utime + usage.ru_stime
        self.used = Used(round(self.before.wall + wall, 2), round(self.before.cpu + cpu, 2))
        return True

    def finish(self) -> str:
        """Write what is known of it; why it failed, or nothing."""
        self._write_begun()
        command, code = self.command, self.popen.returncode
        if code not in (0, _NOT_ORDERED) or not command.is_whole():
            return (
                command.reason() if code > 0 else f"ended by signal {-code}" if code < 0 else "its result is not whole"
            )
        write_json(_beside(command.target, ".done.json"), {"facts": self.facts, **self.used._asdict()})
        return ""

    def _write_begun(self) -> None:
        write_json(_beside(self.command.target, ".begun.json"), {**(self.facts or {}), **self.used._asdict()})


def _environment() -> dict[str, str]:
    """Ours with one thread for each library, and without Spark: what is compared is done on this machine."""
    spark = ("SPARK_MASTER", "PYSPARK_GATEWAY_PORT")
    return {name: value for name, value in os.environ.items() if name not in spark} | _ONE_THREAD


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _without_length(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts but for the seconds and the number of iterations."""
    arguments = list(facts.get("arguments", ()))
    if "--iterations" in arguments:
        place = arguments.index("--iterations")
        del arguments[place : place + 2]
    return {"arguments": arguments, "inputs": facts.get("inputs"), "gyro": facts.get("gyro")}
