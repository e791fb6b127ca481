"""Worker processes with limits: each task gets so much time and memory, and one that fails harms no other.

run_tasks  run a function over tasks in forked processes; yield each task's end as it comes
Ended      a task, its result or failure, its seconds and its peak memory in bytes
Failure    why a task has no result, in one line

Workers are forked, so they share the parent's mapped index and model and see the tasks without any transport. Only the
number of a task goes to a worker, and JSON comes back. Memory is what the worker has taken since it was forked: mapped
files and what the parent had loaded before are shared and do not count.
"""

from __future__ import annotations

import ctypes
import json
import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import psutil

from gyro.errors import GyroError, InputError

T = TypeVar("T")
R = TypeVar("R")

_POLL_SECONDS = 0.05
_PR_SET_PDEATHSIG = 1
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Failure:
    """Why a task has no result, in one line."""

    reason: str


class Ended(NamedTuple, Generic[T, R]):
    """The end of one task."""

    task: T
    result: R | Failure
    seconds: float
    memory: int


def run_tasks(
    tasks: Iterable[T],
    work: Callable[[T], R],
    *,
    jobs: int = 1,
    time_limit: float | None = None,
    memory_limit: int | None = None,
) -> Iterator[Ended[T, R]]:
    """Yield the end of every task, in the order in which they end; `work` returns a JSON value.

    >>> sorted(end.result for end in run_tasks([1, 2, 3], lambda n: n * n, jobs=2))
    [1, 4, 9]

    A task over a limit is killed and reported as a Failure, like one that raises or whose process dies.
    """
    if jobs < 1:
        raise InputError(f"found {jobs} jobs; 1 or more are allowed")
    for name, limit in (("time limit", time_limit), ("memory limit", memory_limit)):
        if limit is not None and not limit > 0:
            raise InputError(f"found a {name} of {limit}; a number above 0 is allowed")
    pool = _Pool(list(tasks), work, time_limit, memory_limit)
    try:
        yield from pool.run(jobs)
    finally:
        pool.kill()


class _Worker:
    """A forked process, the parent's end of its pipe, and the task that it has."""

    def __init__(self, process: BaseProcess, pipe: Connection, inherited: int) -> None:
        self.process = process
        self.pipe = pipe
        self.inherited = inherited
        self.status = psutil.Process(process.pid)
        self.task = -1
        self.started = 0.0
        self.peak = 0

    @property
    def busy(self) -> bool:
        return self.task >= 0

    def assign(self, task: int) -> None:
        self.pipe.send_bytes(b"%d" % task)
        self.task, self.started, self.peak = task, time.monotonic(), 0

    def memory(self) -> int:
        """The bytes that the process holds now; 0 when it is gone."""
        try:
            held = _private_memory(self.status) - self.inherited
        except psutil.Error:
            held = 0
        self.peak = max(self.peak, held)
        return held

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


class _Pool(Generic[T, R]):
    def __init__(
        self, tasks: Sequence[T], work: Callable[[T], R], time_limit: float | None, memory_limit: int | None
    ) -> None:
        self.tasks = tasks
        self.work = work
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.workers: list[_Worker] = []

    def run(self, jobs: int) -> Iterator[Ended[T, R]]:
        waiting = iter(range(len(self.tasks)))
        for task in (next(waiting, -1) for _ in range(min(jobs, len(self.tasks)))):
            self._fork().assign(task)
        next_look = 0.0
        while any(worker.busy for worker in self.workers):
            ready = wait([worker.pipe for worker in self.workers if worker.busy], _POLL_SECONDS)
            ended = [self._collect(worker) for worker in list(self.workers) if worker.pipe in ready]
            if time.monotonic() >= next_look:
                ended += [end for worker in list(self.workers) if (end := self._look_at(worker))]
                next_look = time.monotonic() + _POLL_SECONDS
            for _ in ended:
                if (task := next(waiting, -1)) >= 0:
                    self._give(task)
            yield from ended

    def kill(self) -> None:
        while self.workers:
            self.workers.pop().kill()

    def _give(self, task: int) -> None:
        """Hand a task to an idle worker, or to a new one when that has died meanwhile."""
        idle = next((worker for worker in self.workers if not worker.busy), None)
        try:
            (idle or self._fork()).assign(task)
        except OSError:
            if idle is None:
                raise
            self._remove(idle)
            self._fork().assign(task)

    def _fork(self) -> _Worker:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        inherited = _private_memory(psutil.Process())
        foreign = [ours, *(worker.pipe for worker in self.workers)]
        serve = _Server(self.tasks, self.work, theirs, foreign, os.getpid(), inherited).run
        process = context.Process(target=serve, daemon=True)
        # A Ctrl-C between the fork and the child's own signal settings would give it a KeyboardInterrupt.
        previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
            theirs.close()
            worker = _Worker(process, ours, inherited)
            self.workers.append(worker)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous)
        return worker

    def _remove(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        worker.kill()

    def _collect(self, worker: _Worker) -> Ended[T, R]:
        """Read the worker's answer, or find out how it died."""
        try:
            reply = json.loads(worker.pipe.recv_bytes())
        except (EOFError, OSError):
            worker.process.join()
            return self._end(worker, Failure(f"the process died: {_cause(worker.process.exitcode)}"), replace=True)
        # What a large task leaves behind (free blocks that the allocator keeps) must not count against the next.
        grown = self.memory_limit is not None and worker.memory() > self.memory_limit / 4
        worker.peak = max(worker.peak, reply["memory"])
        result = Failure(reply["failure"]) if "failure" in reply else reply["result"]
        return self._end(worker, result, replace=grown)

    def _look_at(self, worker: _Worker) -> Ended[T, R] | None:
        """End a busy worker that is over a limit."""
        if not worker.busy:
            return None
        held = worker.memory()
        if self.time_limit is not None and time.monotonic() - worker.started > self.time_limit:
            return self._end(worker, Failure(f"time limit of {self.time_limit:g} s reached"), replace=True)
        if self.memory_limit is not None and held > self.memory_limit:
            return self._end(worker, Failure(f"memory limit of {_size(self.memory_limit)} reached"), replace=True)
        return None

    def _end(self, worker: _Worker, result: R | Failure, *, replace: bool) -> Ended[T, R]:
        ended = Ended(self.tasks[worker.task], result, time.monotonic() - worker.started, worker.peak)
        worker.task = -1
        if replace:
            self._remove(worker)
        return ended


class _Server(Generic[T, R]):
    """The worker's side: read the number of a task, do it, answer in JSON."""

    def __init__(
        self,
        tasks: Sequence[T],
        work: Callable[[T], R],
        pipe: Connection,
        foreign: Sequence[Connection],
        parent: int,
        inherited: int,
    ) -> None:
        self.tasks = tasks
        self.work = work
        self.pipe = pipe
        self.foreign = foreign
        self.parent = parent
        self.inherited = inherited

    def run(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        _die_with_parent(self.parent)
        for pipe in self.foreign:
            pipe.close()  # else the death of the parent would not close them
        while True:
            try:
                task = int(self.pipe.recv_bytes())
                self.pipe.send_bytes(self._answer(task))
            except (EOFError, OSError):
                return  # the parent is gone

    def _answer(self, task: int) -> bytes:
        _reset_peak()
        try:
            reply = {"result": self.work(self.tasks[task])}
            memory = _peak_memory() - self.inherited
            return json.dumps(reply | {"memory": memory}).encode()
        except GyroError as error:
            reason = str(error)
        except Exception as error:
            _log.debug("task %d failed", task, exc_info=True)
            reason = f"{type(error).__name__}: {error}"
        return json.dumps({"failure": " ".join(reason.split()), "memory": _peak_memory() - self.inherited}).encode()


def _die_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the call above
        os._exit(1)


def _private_memory(process: Any) -> int:
    """Resident bytes apart from mapped files, which all workers share."""
    memory = process.memory_info()
    return int(memory.rss - getattr(memory, "shared", 0))


def _reset_peak() -> None:
    """Let Linux count the process' highest memory from here on."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_memory() -> int:
    """The highest private memory since `_reset_peak`; where the system does not tell, the present one."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
        return (kilobytes["VmHWM"] - kilobytes["RssFile"] - kilobytes["RssShmem"]) * 1024
    except (OSError, KeyError):
        return _private_memory(psutil.Process())


def _cause(exitcode: int | None) -> str:
    return f"signal {-exitcode}" if exitcode is not None and exitcode < 0 else f"exit code {exitcode}"


def _size(number: int) -> str:
    return f"{number / 2**30:.1f} GB" if number >= 2**30 else f"{number / 2**20:.0f} MB"
