from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from gyro.errors import InputError
from gyro.pool import Ended, Failure, _Pool, run_tasks

MEGABYTE = 2**20


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
    ends = list(run_tasks(range(9), misbehave, jobs=jobs, time_limit=0.3))
    assert results(ends) == [
        0,
        Failure("time limit of 0.3 s reached"),
        Failure("the process died: signal 11"),
        Failure("ValueError: found a bad value"),
        Failure("bags.txt:3: found 'x'; a number is allowed"),
        Failure("the process died: exit code 7"),
        Failure("TypeError: Object of type set is not JSON serializable"),
        7,
        8,
    ]


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
    next(ends)
    children = psutil.Process().children()
    assert children
    ends.close()  # type: ignore[attr-defined]
    assert not any(child.is_running() for child in children)


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


SCRIPT = """
    import os, sys, time
    from gyro.pool import run_tasks

    def work(task):
        open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
        time.sleep(60)

    try:
        list(run_tasks(range(2), work, jobs=2))
    except KeyboardInterrupt:
        sys.exit(33)
"""


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 33), (signal.SIGKILL, -9), (signal.SIGTERM, -15)])
def test_workers_die_with_the_parent(tmp_path: Path, number: signal.Signals, exit_code: int) -> None:
    script = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path)]
    # A test run that was started in the background ignores Ctrl-C, and would hand that on.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    parent = subprocess.Popen(script, stderr=subprocess.PIPE, start_new_session=True, preexec_fn=heed)
    while len(list(tmp_path.iterdir())) < 2:
        assert parent.poll() is None
        time.sleep(0.01)
    workers = [psutil.Process(int(path.name)) for path in tmp_path.iterdir()]
    if number is signal.SIGINT:
        os.killpg(parent.pid, number)  # as a terminal does it: to the workers as well
    else:
        parent.send_signal(number)
    _, errors = parent.communicate(timeout=20)
    assert parent.returncode == exit_code
    assert b"Traceback" not in errors
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not [worker for worker in alive if worker.status() != psutil.STATUS_ZOMBIE]


def test_a_worker_that_died_between_two_tasks_is_replaced() -> None:
    pool: _Pool[int, int] = _Pool([5, 6], lambda task: task, None, None)
    try:
        worker = pool._fork()
        os.kill(worker.status.pid, signal.SIGKILL)
        worker.process.join()
        assert not worker.busy
        pool._give(1)
        (replaced,) = pool.workers
        assert replaced is not worker
        assert pool._collect(replaced).result == 6
    finally:
        pool.kill()
