"""The process that keeps the workers: it starts them, gives them jobs, and ends them at a limit.

Foreman  its loop; it is forked before the server has threads and connections, so that no worker inherits any

Jobs come and ends go through one pipe, in JSON: {"job": 7, "task": …} and {"cancel": 7} come, {"job": 7, "result": …}
goes, or with `limit`, `failure` or `fault` in the place of the result a line that says why there is none.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

from gyro.errors import MachineError
from gyro.memory import peak_memory, reset_peak
from gyro.serve.limit import Limits
from gyro.worker import Worker, Workers, answer

_POLL_SECONDS = 0.05

Task = dict[str, Any]
Work = Callable[[Task], Any]


class Foreman(Workers):
    """Workers that are forked from this process, and share what it has loaded."""

    def __init__(self, front: Connection, work: Work, limits: Limits) -> None:
        super().__init__(self._serve)
        self.front = front
        self.work = work
        self.limits = limits
        self.waiting: dict[int, Task] = {}  # in the order in which they came

    def run(self) -> None:
        """Work until the server is gone."""
        try:
            while True:
                self._give_out()
                is_busy = any(worker.busy for worker in self.workers)
                pipes = [self.front, *(worker.pipe for worker in self.workers)]
                ready = wait(pipes, _POLL_SECONDS if is_busy else None)
                if self.front in ready:
                    self._read(json.loads(self.front.recv_bytes()))
                for worker in list(self.workers):
                    if worker.pipe in ready:
                        self._collect(worker)
                    elif worker.busy:
                        self._look_at(worker)
        except (EOFError, OSError):
            return  # the server is gone
        except MachineError as error:
            self._tell(0, {"fault": str(error)})
        finally:
            self.kill()

    def _read(self, message: dict[str, Any]) -> None:
        if "task" in message:
            self.waiting[message["job"]] = message["task"]
            return
        job = message["cancel"]
        self.waiting.pop(job, None)
        for worker in list(self.workers):
            if worker.busy and worker.tasks[0] == job:
                self.remove(worker)

    def _give_out(self) -> None:
        while len(self.workers) < self.limits.jobs:
            self.fork()
        for worker in list(self.workers):
            if self.waiting and not worker.busy:
                job = next(iter(self.waiting))
                task = self.waiting.pop(job)
                try:
                    worker.pipe.send_bytes(json.dumps(task).encode())
                except OSError:  # it died while it had nothing to do
                    self.waiting = {job: task, **self.waiting}
                    self.remove(worker)
                    continue
                worker.started, worker.peak = time.monotonic(), 0
                worker.tasks.append(job)

    def _collect(self, worker: Worker) -> None:
        """Read the worker's answer, or find out that it died."""
        try:
            reply = json.loads(worker.pipe.recv_bytes())
        except (EOFError, OSError):
            if worker.busy:
                self._tell(
                    worker.end_task(), {"limit": "the process that worked on it died, perhaps for lack of memory"}
                )
            self.remove(worker)
            return
        # What a large task leaves behind must not count against the next.
        most = self.limits.memory / 4
        if reply["memory"] > most and worker.memory() > most:
            self._tell(worker.end_task(), reply)
            self.remove(worker)
        else:
            self._tell(worker.end_task(), reply)

    def _look_at(self, worker: Worker) -> None:
        """End a busy worker that is over a limit."""
        limits, held = self.limits, worker.memory()
        if held > limits.memory:
            reason = f"the work on it took more than the {limits.memory >> 20} MB that are allowed"
        elif time.monotonic() - worker.started > limits.last_second and not worker.pipe.poll():
            reason = f"the work on it took more than the {limits.last_second:g} s that are allowed"
        else:
            return
        self._tell(worker.end_task(), {"limit": reason, "memory": held})
        self.remove(worker)

    def _tell(self, job: int, reply: dict[str, Any]) -> None:
        self.front.send_bytes(json.dumps({"job": job, **reply}).encode())

    def _serve(self, pipe: Connection, inherited: int) -> None:
        """The worker's side: read a task, do it, answer in JSON."""
        self.front.close()
        while True:
            task = json.loads(pipe.recv_bytes())
            reset_peak()
            begin = time.monotonic()

            def facts(begin: float = begin) -> dict[str, float]:
                return {"memory": peak_memory() - inherited, "seconds": time.monotonic() - begin}

            pipe.send_bytes(answer(self.work, task, facts))
