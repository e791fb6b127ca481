"""The worker processes as the server sees them.

Crew      start them, and have them do tasks: `await crew.do(task)`
Done      what came of a task
TooBusy   more tasks than may wait
Ended     why a task has no result, and whether that is its own fault
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from itertools import count
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, NamedTuple

from gyro.errors import GyroError
from gyro.serve.foreman import Foreman, Task, Work
from gyro.serve.limit import Limits
from gyro.worker import die_with_parent

_GONE = "the worker processes are gone; the server has to be started again"


class Done(NamedTuple):
    """The result of a task, the seconds that it took, and the bytes of memory that the worker held at most."""

    result: Any
    seconds: float
    memory: int


class TooBusy(GyroError):
    """More tasks than may wait."""


class Ended(GyroError):
    """A task without a result: a limit, or a fault of the machine (`is_mistake` False), or a mistake in the program."""

    def __init__(self, message: str, *, is_mistake: bool = False) -> None:
        super().__init__(message)
        self.is_mistake = is_mistake


class Crew:
    """A foreman and its workers: `start` before there are threads, `attach` in the event loop, `stop` at the end."""

    def __init__(self, work: Work, limits: Limits) -> None:
        self.limits = limits
        self._work = work
        self._jobs = count(1)
        self._open: dict[int, asyncio.Future[Done]] = {}
        self._single = 0  # tasks that did not ask to wait for their turn
        self._gone = ""
        self._messages: SimpleQueue[bytes | None] = SimpleQueue()

    def start(self, foreign: Sequence[socket.socket] = ()) -> None:
        """Fork the foreman; it closes the sockets of the server."""
        self._pipe, theirs = multiprocessing.Pipe()
        parent = os.getpid()

        def run() -> None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            die_with_parent(parent)
            self._pipe.close()
            for each in foreign:
                each.close()
            Foreman(theirs, self._work, self.limits).run()

        # Not a daemon in the sense of multiprocessing: those may not have children.
        self._process = multiprocessing.get_context("fork").Process(target=run, daemon=False)
        self._process.start()
        theirs.close()

    def attach(self, when_gone: Callable[[], None] = lambda: None) -> None:
        """Let the ends of tasks come into the running event loop."""
        loop = asyncio.get_running_loop()
        self._turns = asyncio.Semaphore(self.limits.jobs)

        def lost(reason: str) -> None:
            self._lost(reason)
            when_gone()

        def read() -> None:
            try:
                while True:
                    loop.call_soon_threadsafe(self._ended, json.loads(self._pipe.recv_bytes()), lost)
            except (EOFError, OSError, RuntimeError):  # the last: the event loop is closed
                if not loop.is_closed():
                    loop.call_soon_threadsafe(lost, _GONE)

        def write(pipe: Connection) -> None:
            try:
                while (message := self._messages.get()) is not None:
                    pipe.send_bytes(message)
            except OSError:
                return  # the reader tells

        threading.Thread(target=read, daemon=True).start()
        threading.Thread(target=write, args=(self._pipe,), daemon=True).start()

    def stop(self) -> None:
        """End the foreman and with it the workers."""
        self._messages.put(None)
        self._process.kill()
        self._process.join()

    @property
    def waiting(self) -> int:
        """Tasks that have not ended."""
        return len(self._open)

    async def do(self, task: Task, *, patient: bool = False) -> Done:
        """The result of a task; TooBusy when too many wait already, unless it is patient: then it waits for its turn.

        Whoever cancels this ends the work on the task.
        """
        if patient:
            async with self._turns:
                return await self._do(task)
        if self._single >= self.limits.jobs + self.limits.waiting:
            raise TooBusy(f"{self._single} bags are being worked on or wait; try again in a moment")
        self._single += 1
        try:
            return await self._do(task)
        finally:
            self._single -= 1

    async def _do(self, task: Task) -> Done:
        if self._gone:
            raise Ended(self._gone)
        job = next(self._jobs)
        future: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self._open[job] = future
        self._messages.put(json.dumps({"job": job, "task": task}).encode())
        try:
            return await future
        except asyncio.CancelledError:
            self._messages.put(json.dumps({"cancel": job}).encode())
            raise
        finally:
            self._open.pop(job, None)

    def _ended(self, reply: dict[str, Any], lost: Callable[[str], None]) -> None:
        if reply["job"] == 0:
            lost(str(reply["fault"]))
            return
        future = self._open.get(reply["job"])
        if future is None or future.done():
            return
        if "result" in reply:
            future.set_result(Done(reply["result"], reply["seconds"], reply["memory"]))
        elif "failure" in reply:
            future.set_exception(Ended(reply["failure"], is_mistake=True))
        else:
            future.set_exception(Ended(reply.get("limit") or reply["fault"]))

    def _lost(self, reason: str) -> None:
        self._gone = reason
        for future in self._open.values():
            if not future.done():
                future.set_exception(Ended(reason))
