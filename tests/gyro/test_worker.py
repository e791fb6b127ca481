"""Forked workers: what they answer, what they hold, and that they never outlive their parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil
import pytest
from numba.core.compiler_lock import global_compiler_lock

from gyro.errors import InputError
from gyro.pool import run_tasks, stream_tasks
from gyro.worker import Workers, answer

MEGABYTE = 2**20


SCRIPT = """
    import os, sys, time
    from gyro.pool import run_tasks, stream_tasks

    def work(task):
        open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
        time.sleep(60)

    try:
        list(CALL)
    except KeyboardInterrupt:
        sys.exit(33)
"""


@pytest.mark.parametrize("call", ["run_tasks(range(2), work, jobs=2)", "stream_tasks(range(9), work, jobs=2)"])
@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 33), (signal.SIGKILL, -9), (signal.SIGTERM, -15)])
def test_workers_die_with_the_parent(tmp_path: Path, number: signal.Signals, exit_code: int, call: str) -> None:
    script = [sys.executable, "-c", textwrap.dedent(SCRIPT).replace("CALL", call), str(tmp_path)]
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


def fail(task: str) -> object:
    if task == "mistake":
        raise InputError("found 'x'; a number is allowed", path="bags.txt", line=3)
    if task == "error":
        raise ValueError("found\n  a bad value")
    return {"set": {1, 2}, "text": ["ä", None]}[task]


@pytest.mark.parametrize(
    ("task", "reply"),
    [
        ("text", {"result": ["ä", None]}),
        ("mistake", {"failure": "bags.txt:3: found 'x'; a number is allowed"}),
        ("error", {"failure": "ValueError: found a bad value"}),
        ("unknown", {"failure": "KeyError: 'unknown'"}),
        ("set", {"failure": "TypeError: Object of type set is not JSON serializable"}),
    ],
)
def test_an_answer_is_a_result_or_one_line(task: str, reply: dict[str, Any]) -> None:
    facts: list[int] = []

    def count() -> dict[str, int]:
        facts.append(len(facts))
        return {"memory": len(facts)}

    found = json.loads(answer(fail, task, count))
    assert found == reply | {"memory": len(facts)}
    assert "\n" not in found.get("failure", "")


def serve(pipe: Connection, inherited: int) -> None:
    """Hold so many megabytes as each message says, and tell the number of the process."""
    while True:
        held = b"x" * (int(pipe.recv_bytes()) * MEGABYTE)
        pipe.send_bytes(json.dumps([os.getpid(), len(held), inherited]).encode())


@pytest.fixture
def workers() -> Iterator[Workers]:
    workers = Workers(serve)
    yield workers
    workers.kill()


def test_a_worker_is_another_process_until_it_is_removed(workers: Workers) -> None:
    first, second = workers.fork(), workers.fork()
    for number, worker in enumerate((first, second)):
        assert not worker.busy
        worker.assign(number, b"%d" % number)
        assert worker.busy
    replies = [json.loads(worker.pipe.recv_bytes()) for worker in (first, second)]
    assert [reply[:2] for reply in replies] == [[first.process.pid, 0], [second.process.pid, MEGABYTE]]
    assert len({os.getpid(), *(reply[0] for reply in replies)}) == 3
    statuses = [worker.status for worker in (first, second)]
    workers.remove(first)
    assert workers.workers == [second]
    assert [status.is_running() for status in statuses] == [False, True]
    workers.kill()
    assert workers.workers == []
    assert not statuses[1].is_running()


def test_a_worker_holds_what_it_took_since_it_was_forked(workers: Workers) -> None:
    parents = b"x" * (80 * MEGABYTE)
    worker = workers.fork()
    worker.assign(40, b"40")
    _, held, inherited = json.loads(worker.pipe.recv_bytes())
    assert held == 40 * MEGABYTE
    assert inherited == worker.inherited >= len(parents)
    assert 35 * MEGABYTE <= worker.memory() <= 70 * MEGABYTE
    assert worker.peak >= 35 * MEGABYTE
    worker.assign(0, b"0")
    worker.pipe.recv_bytes()
    assert worker.memory() <= 25 * MEGABYTE
    status = worker.status
    os.kill(status.pid, signal.SIGKILL)
    worker.process.join()
    assert worker.memory() == 0


def test_a_closed_pipe_ends_its_worker_and_no_other(workers: Workers) -> None:
    """A worker that held the pipe of an earlier one would keep that one waiting for ever."""
    first, second = workers.fork(), workers.fork()
    first.pipe.close()
    first.process.join(20)
    assert first.process.exitcode == 0
    second.assign(1, b"1")
    assert json.loads(second.pipe.recv_bytes())[1] == MEGABYTE


def test_ctrl_c_is_the_business_of_the_parent(workers: Workers) -> None:
    worker = workers.fork()
    worker.assign(1, b"1")
    worker.pipe.recv_bytes()  # now it has its signal settings
    os.kill(worker.status.pid, signal.SIGINT)
    worker.assign(2, b"2")
    assert json.loads(worker.pipe.recv_bytes())[:2] == [worker.process.pid, 2 * MEGABYTE]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.parametrize("stream", [False, True])
def test_a_process_forked_while_another_thread_compiles_can_compile(stream: bool) -> None:
    """It is forked when that has ended; else it would have a lock that nobody opens."""
    held, ended = threading.Event(), threading.Event()

    def compile_something() -> None:
        with global_compiler_lock:
            held.set()
            ended.wait(0.3)

    def work(task: int) -> int:
        with global_compiler_lock:
            return task + 1

    thread = threading.Thread(target=compile_something)
    thread.start()
    held.wait()
    if stream:
        assert list(stream_tasks([1, 2, 3], work, jobs=2)) == [2, 3, 4]
    else:
        assert {end.result for end in run_tasks([1, 2, 3], work, jobs=2, time_limit=20)} == {2, 3, 4}
    thread.join()
