"""Worker processes with limits: each task gets so much time and memory, and one that fails harms no other.

run_tasks     run a function over tasks in forked processes; yield each task's end as it comes
stream_tasks  run a function over a stream of tasks without a known end; yield the results in order
LastingPool   one such process that stays between calls, each with tasks of its own
Remote        processes of other machines that do the same (gyro.spark.pool)
Ended         a task, its result or failure, its seconds and its peak memory in bytes
Failure       why a task has no result, in one line

Workers are forked, so they share the parent's mapped index and model. The tasks of `run_tasks` they see without any
transport: only the number of a task goes to a worker, and JSON comes back. Memory is what the worker has taken since it
was forked: mapped files and what the parent had loaded before are shared and do not count.

A fault of the machine (a full disk, a permission) is no property of a task: it ends the work as a MachineError.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, takewhile
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from gyro.errors import GyroError, InputError, MachineError, ResourceError
from gyro.memory import peak_memory, reset_peak
from gyro.worker import Worker, Workers, answer

T = TypeVar("T")
R = TypeVar("R")

_POLL_SECONDS = 0.05
_TASKS_AHEAD = 2  # for each process of a stream: one to work on, one at hand
# Quick tasks are given ahead, about so many seconds of them, so that a worker need not wait while the parent writes.
_SECONDS_AHEAD = 0.05
_MOST_AHEAD = 16


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


class Remote(Protocol):
    """Processes that share nothing with this one: they open the work themselves, and get each task as a JSON value."""

    def run_tasks(
        self, tasks: Sequence[T], describe: Callable[[T], Any], *, idle: Callable[[], None]
    ) -> Iterator[Ended[T, Any]]:
        """Like `run_tasks` below; `describe` makes the JSON value."""

    def stream_tasks(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Like `stream_tasks` below."""


def run_tasks(
    tasks: Iterable[T],
    work: Callable[[T], R],
    *,
    jobs: int = 1,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    idle: Callable[[], None] = lambda: None,
) -> Iterator[Ended[T, R]]:
    """Yield the end of every task, in the order in which they end; `work` returns a JSON value.

    >>> sorted(end.result for end in run_tasks([1, 2, 3], lambda n: n * n, jobs=2))
    [1, 4, 9]

    A task over a limit is killed and reported as a Failure, like one that raises or whose process dies. `idle` is
    called whenever no task has ended for a moment.
    """
    if jobs < 1:
        raise InputError(f"found {jobs} jobs; 1 or more are allowed")
    for name, limit in (("time limit", time_limit), ("memory limit", memory_limit)):
        if limit is not None and not limit > 0:
            raise InputError(f"found a {name} of {limit}; a number above 0 is allowed")
    known = tasks if isinstance(tasks, Sequence) else list(tasks)
    pool = _Pool(known, work, time_limit, memory_limit)
    try:
        yield from pool.run(jobs, idle)
    finally:
        pool.kill()


def stream_tasks(tasks: Iterable[T], work: Callable[[T], R], *, jobs: int) -> Iterator[R]:
    """Yield the result of every task, in order; tasks and results are JSON values.

    >>> list(stream_tasks(iter([[1, 2], [3]]), sum, jobs=2))
    [3, 3]

    No more than two tasks a process are taken before their results are, so a long stream fits into the memory. What a
    task raises ends the stream, as does a process that dies.
    """
    if jobs < 1:
        raise InputError(f"found {jobs} jobs; 1 or more are allowed")
    stream: _Stream[T, R] = _Stream(work)
    try:
        yield from stream.run(iter(tasks), jobs)
    finally:
        stream.kill()


class _Pool(Workers, Generic[T, R]):
    """Workers that get the numbers of tasks, quick ones a few at a time, and are ended at a limit."""

    most_ahead = _MOST_AHEAD

    def __init__(
        self, tasks: Sequence[T], work: Callable[[T], R], time_limit: float | None, memory_limit: int | None
    ) -> None:
        super().__init__(self._serve)
        self.tasks = tasks
        self.work = work
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.waiting: Iterator[int] = iter(range(len(tasks)))
        self.returned: deque[int] = deque()  # of workers that ended before they came to them

    def run(self, jobs: int, idle: Callable[[], None]) -> Iterator[Ended[T, R]]:
        self._give_out(jobs)
        next_look = 0.0
        while any(worker.busy for worker in self.workers):
            ready = wait([worker.pipe for worker in self.workers if worker.busy], _POLL_SECONDS)
            if not ready:
                idle()
            ended = [self._collect(worker) for worker in list(self.workers) if worker.pipe in ready]
            if time.monotonic() >= next_look:
                ended += [end for worker in list(self.workers) if (end := self._look_at(worker))]
                next_look = time.monotonic() + _POLL_SECONDS
            self._give_out(jobs)
            yield from ended

    def _give_out(self, jobs: int) -> None:
        """Give every worker as many tasks as it should have at hand; those that have died meanwhile are replaced."""
        while len(self.workers) < jobs and (task := self._next_task()) >= 0:
            self._assign(self.fork(), task)
        for worker in list(self.workers):
            while len(worker.tasks) <= worker.ahead and (task := self._next_task()) >= 0:
                try:
                    self._assign(worker, task)
                except OSError:
                    self.returned.append(task)
                    if worker.busy:
                        break  # its pipe tells how it died
                    self.remove(worker)
                    self._assign(self.fork(), self.returned.pop())
                    break

    def _assign(self, worker: Worker, task: int) -> None:
        worker.assign(task, self._message(task))

    def _message(self, task: int) -> bytes:
        """What tells a worker which task it has."""
        return b"%d" % task

    def _task(self, message: bytes) -> T:
        """In the worker: the task that it has."""
        return self.tasks[int(message)]

    def _next_task(self) -> int:
        return self.returned.popleft() if self.returned else next(self.waiting, -1)

    def _collect(self, worker: Worker) -> Ended[T, R]:
        """Read the worker's answer, or find out how it died."""
        try:
            reply = json.loads(worker.pipe.recv_bytes())
        except (EOFError, OSError):
            worker.process.join()
            return self._end(worker, Failure(f"the process died: {_cause(worker.process.exitcode)}"), replace=True)
        if "fault" in reply:
            raise MachineError(reply["fault"])
        worker.peak = max(worker.peak, reply["memory"])
        # What a large task leaves behind (free blocks that the allocator keeps) must not count against the next.
        most = None if self.memory_limit is None else self.memory_limit / 4
        grown = most is not None and worker.peak > most and worker.memory() > most
        result = Failure(reply["failure"]) if "failure" in reply else reply["result"]
        worker.ahead = min(self.most_ahead, int(_SECONDS_AHEAD / max(reply["seconds"], 1e-6)))
        return self._end(worker, result, replace=grown, seconds=reply["seconds"])

    def _look_at(self, worker: Worker) -> Ended[T, R] | None:
        """End a busy worker that is over a limit."""
        if not worker.busy:
            return None
        held = worker.memory()
        is_late = self.time_limit is not None and time.monotonic() - worker.started > self.time_limit
        if is_late and not worker.pipe.poll():  # else the answer is there, and it was we who were late
            return self._end(worker, Failure(f"time limit of {self.time_limit:g} s reached"), replace=True)
        if self.memory_limit is not None and held > self.memory_limit:
            return self._end(worker, Failure(f"memory limit of {_size(self.memory_limit)} reached"), replace=True)
        return None

    def _end(self, worker: Worker, result: R | Failure, *, replace: bool, seconds: float | None = None) -> Ended[T, R]:
        spent = time.monotonic() - worker.started if seconds is None else seconds
        peak = worker.peak
        ended = Ended(self.tasks[worker.end_task()], result, spent, peak)
        if replace:
            self.returned.extend(worker.tasks)
            self.remove(worker)
        return ended

    def _serve(self, pipe: Connection, inherited: int) -> None:
        """The worker's side: read which task it is, do it, answer in JSON."""
        while True:
            task = self._task(pipe.recv_bytes())
            reset_peak()
            begin = time.monotonic()

            def facts(begin: float = begin) -> dict[str, float]:
                return {"memory": peak_memory() - inherited, "seconds": time.monotonic() - begin}

            pipe.send_bytes(answer(self.work, task, facts))


class LastingPool(_Pool[T, R]):
    """One worker with limits that stays between calls; each call brings tasks of its own, which are JSON values.

    >>> pool = LastingPool(lambda n: n * n)
    >>> [[end.result for end in pool.run_while(tasks, lambda: True)] for tasks in ([1, 2], [3])]
    [[1, 4], [9]]
    >>> pool.kill()
    """

    most_ahead = 0  # else both sides could wait for each other with full pipes

    def __init__(
        self, work: Callable[[T], R], *, time_limit: float | None = None, memory_limit: int | None = None
    ) -> None:
        super().__init__((), work, time_limit, memory_limit)

    def run_while(self, tasks: Sequence[T], goes_on: Callable[[], bool]) -> Iterator[Ended[T, R]]:
        """Yield the end of the first task, and of those after it as long as it goes on."""
        self.tasks = tasks
        self.waiting = takewhile(lambda task: not task or goes_on(), range(len(tasks)))
        yield from self.run(1, lambda: None)

    def _message(self, task: int) -> bytes:
        return json.dumps(self.tasks[task]).encode()

    def _task(self, message: bytes) -> T:
        task: T = json.loads(message)
        return task


class _Stream(Workers, Generic[T, R]):
    """Workers that take turns; each has the next task at hand while it works on one."""

    def __init__(self, work: Callable[[T], R]) -> None:
        super().__init__(self._serve)
        self.work = work

    def run(self, tasks: Iterator[T], jobs: int) -> Iterator[R]:
        given = deque(self._give(task, turn, jobs) for turn, task in enumerate(islice(tasks, _TASKS_AHEAD * jobs)))
        turn = len(given)
        while given:
            yield self._collect(given.popleft())
            for task in islice(tasks, 1):
                given.append(self._give(task, turn, jobs))
                turn += 1

    def _give(self, task: T, turn: int, jobs: int) -> Worker:
        """Send the task to the worker whose turn it is; that is the one who answers."""
        worker = self.workers[turn % jobs] if turn >= jobs else self.fork()
        with _told_when_killed():
            worker.pipe.send_bytes(json.dumps(task).encode())
        return worker

    def _collect(self, worker: Worker) -> R:
        with _told_when_killed():
            reply = json.loads(worker.pipe.recv_bytes())
        if "fault" in reply:
            raise MachineError(reply["fault"])
        if "failure" in reply:
            raise GyroError(reply["failure"])
        result: R = reply["result"]
        return result

    def _serve(self, pipe: Connection, _inherited: int) -> None:
        """The worker's side; threads read and write, so that neither side ever waits with a full pipe."""
        tasks: SimpleQueue[bytes] = SimpleQueue()
        answers: SimpleQueue[bytes] = SimpleQueue()
        for move in (lambda: tasks.put(pipe.recv_bytes()), lambda: pipe.send_bytes(answers.get())):
            threading.Thread(target=_repeat, args=(move,), daemon=True).start()
        while True:
            answers.put(answer(self.work, json.loads(tasks.get()), dict))


def _repeat(move: Callable[[], None]) -> None:
    """Move messages until the parent is gone; then there is nothing left to work for."""
    try:
        while True:
            move()
    except (EOFError, OSError):
        os._exit(1)


@contextmanager
def _told_when_killed() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError) as error:
        raise ResourceError("a process was killed, perhaps for lack of memory; try fewer jobs") from error


def _cause(exitcode: int | None) -> str:
    return f"signal {-exitcode}" if exitcode is not None and exitcode < 0 else f"exit code {exitcode}"


def _size(number: int) -> str:
    return f"{number / 2**30:.1f} GB" if number >= 2**30 else f"{number / 2**20:.0f} MB"
