"""Forked processes that do tasks for their parent, and never outlive it.

Worker           a process and the parent's end of its pipe
Workers          some of them: fork, end, end all
die_with_parent  have the kernel end this process with its parent
answer           do a task, and tell its result or why there is none in JSON
"""

from __future__ import annotations

import ctypes
import json
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TypeVar

import psutil

from gyro.errors import GyroError, MachineError, machine_fault
from gyro.memory import private_memory

T = TypeVar("T")
R = TypeVar("R")

_PR_SET_PDEATHSIG = 1
_log = logging.getLogger(__name__)


class Worker:
    """A forked process, the parent's end of its pipe, and the tasks that it has: the first is the one it works on."""

    def __init__(self, process: BaseProcess, pipe: Connection, inherited: int) -> None:
        self.process = process
        self.pipe = pipe
        self.inherited = inherited
        self.status = psutil.Process(process.pid)
        self.tasks: deque[int] = deque()
        self.ahead = 0
        self.started = 0.0
        self.peak = 0

    @property
    def busy(self) -> bool:
        return bool(self.tasks)

    def assign(self, task: int, message: bytes) -> None:
        """Give it the task with this number, which the message tells it."""
        self.pipe.send_bytes(message)
        if not self.tasks:
            self.started, self.peak = time.monotonic(), 0
        self.tasks.append(task)

    def end_task(self) -> int:
        """Take off the task that has ended; the next one, if there is one, has begun by now."""
        self.started, self.peak = time.monotonic(), 0
        return self.tasks.popleft()

    def memory(self) -> int:
        """The bytes that the process holds now; 0 when it is gone."""
        try:
            held = private_memory(self.status) - self.inherited
        except psutil.Error:
            held = 0
        self.peak = max(self.peak, held)
        return held

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


class Workers:
    """Forked processes that serve tasks."""

    def __init__(self, serve: Callable[[Connection, int], None]) -> None:
        self.serve = serve
        self.workers: list[Worker] = []

    def fork(self) -> Worker:
        try:
            return self._fork()
        except OSError as error:
            raise MachineError(f"cannot start a process: {error.strerror}") from error

    def _fork(self) -> Worker:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        inherited, parent = private_memory(psutil.Process()), os.getpid()
        foreign = [ours, *(worker.pipe for worker in self.workers)]
        # The kernel takes the end of the thread that forked for that of the parent; of other threads, the pipe tells.
        is_main = threading.current_thread() is threading.main_thread()

        def run() -> None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            if is_main:
                die_with_parent(parent)
            for pipe in foreign:
                pipe.close()  # else the death of the parent would not close them
            with suppress(EOFError, OSError):  # the parent is gone
                self.serve(theirs, inherited)

        process = context.Process(target=run, daemon=True)
        # A Ctrl-C between the fork and the child's own signal settings would give it a KeyboardInterrupt.
        previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with _compiler_lock():
                process.start()
            theirs.close()
            worker = Worker(process, ours, inherited)
            self.workers.append(worker)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous)
        return worker

    def remove(self, worker: Worker) -> None:
        self.workers.remove(worker)
        worker.kill()

    def kill(self) -> None:
        while self.workers:
            self.workers.pop().kill()


def _compiler_lock() -> AbstractContextManager[object]:
    """numba's lock, where it is loaded: what is forked while another thread compiles would wait for it forever.

    The process that is forked owns it too, and so can compile.
    """
    module = sys.modules.get("numba.core.compiler_lock")
    lock: AbstractContextManager[object] = module.global_compiler_lock if module else nullcontext()
    return lock


def answer(work: Callable[[T], R], task: T, facts: Callable[[], dict[str, float]]) -> bytes:
    """Do a task: its result or why there is none, in JSON, with the facts that there are after it.

    A fault of the machine is no failure of the task: it is told as such.
    """
    try:
        return json.dumps({"result": work(task)} | facts()).encode()
    except Exception as error:
        is_fault = isinstance(error, MachineError) or machine_fault(error) is not None
        if isinstance(error, GyroError):
            reason = str(error)
        else:
            _log.debug("a task failed", exc_info=True)
            reason = f"{type(error).__name__}: {error}"
    return json.dumps({"fault" if is_fault else "failure": " ".join(reason.split())} | facts()).encode()


def die_with_parent(parent: int) -> None:
    """Called in a child: from now on it is killed when its parent ends, however that comes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the call above
        os._exit(1)
