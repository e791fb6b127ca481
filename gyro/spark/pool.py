"""The tasks of a batch in Spark's executors instead of forked workers: the same results in the same order.

Cluster    a master, connected when the first task needs it
SparkPool  a `gyro.pool.Remote`: what it runs is opened once in each executor process (gyro.spark.executor)

A Spark job is a handful of tasks, about two seconds of work. What it has done when that is over comes back, and the
rest waits for the next one: so results come as they are made, and a lost executor takes no more with it than those
seconds. Its tasks go to another executor; those that cost Spark several executors one after the other go again alone,
and one that then still does is a Failure, as a task is on one machine whose process dies.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from gyro.errors import GyroError, InputError, MachineError
from gyro.pool import Ended, Failure
from gyro.spark.connection import Spark, open_spark
from gyro.spark.executor import do_tasks
from gyro.version import __version__

T = TypeVar("T")

_POLL_SECONDS = 0.05
_JOB_SECONDS = 2.0  # of work in a job, which costs Spark some 0.1 s of all its processes ...
_JOBS_PER_SECOND = 20  # ... and no more of them than its driver can look after
_FIRST_TASKS, _MOST_TASKS = 4, 256  # in a job: before it is known how long one takes, and at most
_CORES_SECONDS = 5.0  # between questions how many there are
_VARIABLES = ("GYRO_", "XDG_")  # environment that decides what is opened
_LOST = ("ExecutorLostFailure", "ython worker exited", "Connection reset")


class Cluster:
    """A master and what its nodes get copies of; it is connected to at the first use, for all uses."""

    def __init__(self, master: str, ship: Sequence[str] = ()) -> None:
        self.master = master
        self._ship = tuple(ship)
        for path in self._ship:
            if not Path(path).exists():
                raise InputError("no such file or folder", path=path)
        self._open = ExitStack()
        self._spark: Spark | None = None
        self._copies: dict[str, list[tuple[str, str]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        self._spark = None

    @contextmanager
    def pool(
        self, work: str, arguments: Mapping[str, Any], time_limit: float | None = None, memory_limit: int | None = None
    ) -> Iterator[SparkPool]:
        """Executors that do this work, one of `gyro.spark.executor.WORKS`; its arguments are JSON."""
        spark = self._connected()
        head = {
            "work": work,
            "gyro": __version__,
            "folder": str(Path.cwd()),
            "environment": {name: value for name, value in os.environ.items() if name.startswith(_VARIABLES)},
            "time_limit": time_limit,
            "memory_limit": memory_limit,
            "copies": self._copies,
            "arguments": arguments,
        }
        # It stays until the connection ends: an executor that comes late gets all files that were ever sent.
        path = self._folder / f"gyro-head-{os.urandom(8).hex()}.json"
        path.write_text(json.dumps(head))
        yield SparkPool(spark, spark.ship(path))

    def _connected(self) -> Spark:
        if self._spark is None:
            self._folder = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="gyro-spark-")))
            self._spark = self._open.enter_context(open_spark(self.master))
            for number, path in enumerate(self._ship):
                prefix = f"gyro-{os.urandom(4).hex()}-{number}"
                self._copies[path] = list(_send(self._spark, Path(path), self._folder, prefix))
        return self._spark


def _send(spark: Spark, path: Path, folder: Path, prefix: str) -> Iterator[tuple[str, str]]:
    """Send a file, or the files of a folder one by one, under names that nothing else has; Spark sends no folders."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    if not files:
        raise InputError("found an empty folder; there is nothing to ship", path=path)
    for number, file in enumerate(files):
        named = folder / f"{prefix}-{number}"
        try:
            os.link(file.resolve(), named)  # Spark would follow a symbolic link, and take the name from there
        except OSError:  # the folder is on another disk
            shutil.copyfile(file, named)
        yield "" if file == path else str(file.relative_to(path)), spark.ship(named)


class _Job(NamedTuple):
    numbers: list[int]
    texts: list[str]


@dataclass
class _Pace:
    """How many tasks make a job."""

    cores: int
    left: int
    tasks: int = 0
    seconds: float = 0.0

    @property
    def job_seconds(self) -> float:
        return max(_JOB_SECONDS, self.cores / _JOBS_PER_SECOND)

    @property
    def tasks_a_job(self) -> int:
        """As many as take the seconds of a job, and towards the end fewer, so that all cores end together."""
        usual = int(self.job_seconds * self.tasks / max(self.seconds, 1e-6)) if self.tasks else _FIRST_TASKS
        return max(1, min(usual, _MOST_TASKS, -(-self.left // (2 * self.cores))))

    def note(self, seconds: float) -> None:
        self.tasks += 1
        self.seconds += seconds
        self.left -= 1


class SparkPool:
    """Executors with a work to be opened, which the file `head` describes."""

    def __init__(self, spark: Spark, head: str) -> None:
        self.spark = spark
        self.head = head

    def run_tasks(
        self, tasks: Sequence[T], describe: Callable[[T], Any], *, idle: Callable[[], None] = lambda: None
    ) -> Iterator[Ended[T, Any]]:
        """Yield the end of every task, in the order in which they end; `describe` makes the JSON value of one."""
        waiting, returned = iter(range(len(tasks))), deque[list[int]]()  # returned: those of one job together
        pace, look = _Pace(self.spark.cores, len(tasks)), time.monotonic() + _CORES_SECONDS
        under_way: dict[Future[bytes], _Job] = {}

        def next_numbers() -> list[int]:
            if returned:
                some = returned.popleft()
                if rest := some[pace.tasks_a_job :]:
                    returned.appendleft(rest)
                return some[: pace.tasks_a_job]
            return list(islice(waiting, pace.tasks_a_job))

        with self._jobs(under_way) as start:
            while True:
                while len(under_way) < 2 * pace.cores and (numbers := next_numbers()):
                    job = _Job(numbers, [json.dumps(describe(tasks[number])) for number in numbers])
                    under_way[start(job, pace.job_seconds)] = job
                if not under_way:
                    return
                ended, _ = wait(under_way, _POLL_SECONDS, FIRST_COMPLETED)
                if not ended:
                    idle()
                if time.monotonic() > look:
                    pace.cores, look = self.spark.cores, time.monotonic() + _CORES_SECONDS
                ends: list[Ended[T, Any]] = []
                for future in ended:
                    job = under_way.pop(future)
                    done = self._ends(future, job, tasks)
                    if done is None:
                        returned.extend([number] for number in job.numbers)
                        continue
                    ends += done.values()
                    if left := [number for number in job.numbers if number not in done]:
                        returned.append(left)
                for end in ends:
                    pace.note(end.seconds)
                yield from ends

    def _ends(self, future: Future[bytes], job: _Job, tasks: Sequence[T]) -> dict[int, Ended[T, Any]] | None:
        """How the tasks of a job ended, by their numbers; None where several were lost, which go again alone."""
        try:
            answer = future.result()
        except GyroError as error:
            if not _is_lost(error):
                raise
            if len(job.numbers) > 1:
                return None
            reason = "the executor was lost, again and again; perhaps it needs more memory"
            return {job.numbers[0]: Ended(tasks[job.numbers[0]], Failure(reason), 0.0, 0)}
        return {job.numbers[place]: Ended(tasks[job.numbers[place]], *rest) for place, *rest in _read(answer)}

    def stream_tasks(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield the result of every task, in order; two for each core are under way. A failure ends the stream."""
        remaining, in_order = iter(tasks), deque[tuple[Future[bytes], _Job]]()
        under_way: dict[Future[bytes], _Job] = {}
        with self._jobs(under_way) as start:
            while True:
                for task in islice(remaining, max(0, 2 * self.spark.cores - len(in_order))):
                    job = _Job([0], [json.dumps(task)])
                    future = start(job, 0.0)
                    under_way[future] = job
                    in_order.append((future, job))
                if not in_order:
                    return
                future, _ = in_order.popleft()
                ((_, result, _, _),) = _read(future.result())
                del under_way[future]
                if isinstance(result, Failure):
                    raise GyroError(result.reason)
                yield result

    @contextmanager
    def _jobs(self, under_way: Mapping[Future[bytes], Any]) -> Iterator[Callable[[_Job, float], Future[bytes]]]:
        """A function that starts a job; at the end, those that are under way are given up."""
        threads = ThreadPoolExecutor(1 << 12, "gyro-spark")  # made as they are needed, two for each core

        def start(job: _Job, seconds: float) -> Future[bytes]:
            head = json.dumps({"head": self.head, "seconds": seconds})[:-1]
            message = f'{head}, "tasks": [{", ".join(job.texts)}]}}'
            return threads.submit(partial(self.spark.job, message.encode(), do_tasks))

        try:
            yield start
        finally:
            for future in under_way:
                future.cancel()
            if under_way:
                with suppress(Exception):  # the connection may be what ended
                    self.spark.context.cancelAllJobs()
            threads.shutdown()


def _read(answer: bytes) -> Iterator[tuple[int, Any, float, int]]:
    """Place, result or failure, seconds and memory of each task of a job."""
    first, *lines = answer.split(b"\n")
    host = json.loads(first)
    for line in lines:
        match json.loads(line):
            case {"task": place, "result": result, "seconds": seconds, "memory": memory}:
                yield place, result, seconds, memory
            case {"task": place, "failure": reason, "seconds": seconds, "memory": memory}:
                yield place, Failure(reason), seconds, memory
            case {"fault": reason}:
                raise MachineError(f"the executor on {host}: {reason}")
            case {"unopened": reason}:
                advice = "give paths that all nodes share, or have Spark copy what they name with --ship"
                raise InputError(f"the executor on {host} cannot begin: {reason}; {advice}")


def _is_lost(error: GyroError) -> bool:
    """Whether it is about executors that ended, and not about what they did."""
    return any(mark in str(error.__cause__) for mark in _LOST)
