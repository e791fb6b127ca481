from __future__ import annotations

import errno
import faulthandler
import os
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from gyro.errors import GyroError, InputError, MachineError, ResourceError
from gyro.pool import Ended, Failure, _Pool, run_tasks, stream_tasks

MEGABYTE = 2**20


def children() -> set[psutil.Process]:
    """Those of this process; other tests may have left a server at work."""
    return set(psutil.Process().children())


def results(ends: Iterable[Ended[int, Any]]) -> list[Any]:
    return [end.result for end in sorted(ends, key=lambda end: end.task)]


@pytest.mark.parametrize("jobs", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_every_task_ends_once(jobs: int, count: int) -> None:
    ends = list(run_tasks(range(count), lambda n: {"square": n * n, "text": "ä"}, jobs=jobs))
    assert results(ends) == [{"square": n * n, "text": "ä"} for n in range(count)]


def test_tasks_need_no_transport() -> None:
    tasks: list[Callable[[], str]] = [
        lambda: "one",
        lambda: "two",
    ]  # functions cannot be sent; forked workers see them as they are
    assert sorted(str(end.result) for end in run_tasks(tasks, lambda task: task(), jobs=2)) == ["one", "two"]


def misbehave(task: int) -> object:
    if task == 1:
        time.sleep(60)
    if task == 2:
        faulthandler.disable()  # pytest's would print a traceback
        os.kill(os.getpid(), signal.SIGSEGV)
    if task == 3:
        raise ValueError("found\n  a bad value")
    if task == 4:
        raise InputError("found 'x'; a number is allowed", path="bags.txt", line=3)
    if task == 5:
        os._exit(7)
    if task == 6:
        return {1, 2}
    return task


@pytest.mark.parametrize("jobs", [1, 3])
def test_failures_harm_no_other_task(jobs: int) -> None:
    ends = list(run_tasks(range(9), misbehave, jobs=jobs, time_limit=1.5))
    assert results(ends) == [
        0,
        Failure("time limit of 1.5 s reached"),
        Failure("the process died: signal 11"),
        Failure("ValueError: found a bad value"),
        Failure("bags.txt:3: found 'x'; a number is allowed"),
        Failure("the process died: exit code 7"),
        Failure("TypeError: Object of type set is not JSON serializable"),
        7,
        8,
    ]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (PermissionError(errno.EACCES, "Permission denied", "x.fst"), "Permission denied: 'x.fst'"),
        (MachineError("found a broken machine"), "found a broken machine"),
    ],
)
def test_a_fault_of_the_machine_is_no_failure_of_a_task(error: Exception, reason: str) -> None:
    before = children()

    def work(task: int) -> int:
        if task == 5:
            raise InputError("cannot write", path="x.fst") from OSError(errno.EROFS, "Read-only file system")
        if task == 6:
            raise error
        return task

    for task, expected in ((5, "x.fst: cannot write"), (6, reason)):
        for ends in (run_tasks([1, task, 2], work, jobs=2), stream_tasks([1, task, 2], work, jobs=2)):
            with pytest.raises(MachineError, match=re.escape(expected)):
                list(ends)
    assert not children() - before
    missing = FileNotFoundError(errno.ENOENT, "No such file or directory", "x.fst")

    def search(_task: int) -> int:
        raise missing

    assert isinstance(next(run_tasks([1], search)).result, Failure)


def test_quick_tasks_are_given_ahead_and_none_is_lost_with_its_worker(tmp_path: Path) -> None:
    def work(task: int) -> int:
        if task % 50 == 49:
            os._exit(7)  # with others at hand
        return task

    ends = results(run_tasks(range(300), work, jobs=2))
    died = Failure("the process died: exit code 7")
    assert ends == [died if task % 50 == 49 else task for task in range(300)]


def test_idle_is_called_while_no_task_ends() -> None:
    calls = []
    ends = run_tasks([0.3], time.sleep, idle=lambda: calls.append(time.monotonic()))
    assert len(list(ends)) == 1
    assert calls


def allocate(task: int) -> int:
    block = bytearray(task * MEGABYTE)
    if task > 200:
        time.sleep(60)
    return len(block)


@pytest.mark.parametrize("jobs", [1, 2])
def test_memory_limit(jobs: int) -> None:
    ends = list(run_tasks([10, 400, 20], allocate, jobs=jobs, memory_limit=200 * MEGABYTE))
    assert results(ends) == [10 * MEGABYTE, 20 * MEGABYTE, Failure("memory limit of 200 MB reached")]


def test_memory_that_the_parent_holds_does_not_count() -> None:
    held = b"x" * (150 * MEGABYTE)
    ends = list(run_tasks([10], lambda task: len(held) + task, memory_limit=100 * MEGABYTE))
    assert results(ends) == [150 * MEGABYTE + 10]


def test_each_task_has_its_own_time_and_peak_memory() -> None:
    large, small = sorted(run_tasks([100, 1], allocate), key=lambda end: -end.task)
    assert 95 * MEGABYTE <= large.memory <= 120 * MEGABYTE
    assert small.memory <= 30 * MEGABYTE
    (slow,) = run_tasks([0.2], lambda seconds: time.sleep(seconds))
    assert slow.seconds >= 0.2


def test_a_large_task_does_not_count_against_the_next() -> None:
    kept: list[bytes] = []

    def work(task: int) -> int:
        kept.append(b"x" * (60 * MEGABYTE))  # a leak: a worker that stayed would be over the limit at its second task
        time.sleep(0.15)
        return len(kept)

    ends = list(run_tasks(range(3), work, memory_limit=100 * MEGABYTE))
    assert results(ends) == [1, 1, 1]


def test_workers_are_ended_when_the_caller_stops_early() -> None:
    ends = run_tasks(range(50), lambda task: os.getpid(), jobs=2)
    before = children()
    next(ends)
    workers = children() - before
    assert workers
    ends.close()  # type: ignore[attr-defined]
    assert not any(worker.is_running() for worker in workers)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "found 0 jobs"),
        ({"time_limit": 0.0}, "found a time limit of 0.0"),
        ({"memory_limit": -1}, "found a memory limit of -1"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(run_tasks([1], lambda task: task, **options))


def test_a_worker_that_died_between_two_tasks_is_replaced() -> None:
    pool: _Pool[int, int] = _Pool([5, 6], lambda task: task, None, None)
    try:
        worker = pool.fork()
        os.kill(worker.status.pid, signal.SIGKILL)
        worker.process.join()
        assert not worker.busy
        pool._give_out(1)
        (replaced,) = pool.workers
        assert replaced is not worker
        assert pool._collect(replaced).result == 5
    finally:
        pool.kill()


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 11])
def test_a_stream_keeps_the_order(jobs: int, count: int) -> None:
    def work(task: int) -> int:
        time.sleep(0.02 * (task % 3))  # the later of two tasks often ends first
        return task * task

    assert list(stream_tasks(iter(range(count)), work, jobs=jobs)) == [task * task for task in range(count)]


def test_tasks_and_results_of_a_stream_may_be_larger_than_a_pipe() -> None:
    large = "ä" * MEGABYTE
    assert list(stream_tasks([[large, n] for n in range(9)], lambda task: task, jobs=2)) == [
        [large, n] for n in range(9)
    ]


def test_a_stream_reads_few_tasks_ahead_and_works_while_nobody_asks(tmp_path: Path) -> None:
    before = children()
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    results = stream_tasks(tasks(), lambda task: (tmp_path / str(task)).write_text(""), jobs=2)
    for asked in range(1, 4):
        next(results)
        assert len(taken) <= asked + 3
    while len(list(tmp_path.iterdir())) < len(taken):
        time.sleep(0.01)
    results.close()  # type: ignore[attr-defined]
    assert not children() - before


@pytest.mark.parametrize(
    ("task", "error", "message"),
    [
        (2, ResourceError, "a process was killed, perhaps for lack of memory; try fewer jobs"),
        (3, GyroError, "ValueError: found a bad value"),
        (4, GyroError, "bags.txt:3: found 'x'; a number is allowed"),
        (6, GyroError, "TypeError: Object of type set is not JSON serializable"),
    ],
)
def test_a_failure_ends_a_stream_in_one_line(task: int, error: type[GyroError], message: str) -> None:
    before = children()
    with pytest.raises(error) as raised:
        list(stream_tasks([0, 7, 8, task, *range(7, 50)], misbehave, jobs=2))
    assert str(raised.value) == message
    assert not children() - before


def test_an_error_in_reading_the_tasks_of_a_stream_is_the_callers() -> None:
    before = children()

    def tasks() -> Iterator[int]:
        yield from range(10)
        raise InputError("found a bad line")

    with pytest.raises(InputError, match="found a bad line"):
        list(stream_tasks(tasks(), lambda task: task, jobs=2))
    assert not children() - before
    with pytest.raises(InputError, match="found 0 jobs"):
        list(stream_tasks([1], lambda task: task, jobs=0))
