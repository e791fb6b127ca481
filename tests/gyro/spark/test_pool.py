"""Which task goes into which job, and what becomes of lost ones; with real executors in tests/gyro/run."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.errors import GyroError, InputError, MachineError
from gyro.pool import Failure
from gyro.spark.pool import Cluster, SparkPool, _Pace


class Faulty:
    """In Spark's place: jobs that do some of their tasks, squares of numbers, or are lost with one that is in them."""

    cores = 2

    def __init__(self, poison: int = -9, most: int = 1 << 30) -> None:
        self.poison, self.most, self.lock = poison, most, threading.Lock()
        self.done: list[int] = []

    def job(self, message: bytes, _work: Callable[[bytes], bytes]) -> bytes:
        request = json.loads(message)
        assert request["head"] == "head"
        lines: list[Any] = ["host"]
        for place, task in enumerate(request["tasks"][: self.most]):
            if task["number"] == self.poison:
                raise GyroError("Spark ended the work") from RuntimeError("ExecutorLostFailure (executor 1 exited)")
            if task["number"] < 0:
                lines.append({"fault": "full"} if task["number"] == -1 else {"unopened": "no such file"})
                break
            result = {"failure": "seven"} if task["number"] == 7 else {"result": task["number"] ** 2}
            lines.append({"task": place, "seconds": 0.01, "memory": 5} | result)
        with self.lock:
            self.done += [request["tasks"][line["task"]]["number"] for line in lines[1:] if "task" in line]
        return "\n".join(map(json.dumps, lines)).encode()


def pool(spark: Any) -> SparkPool:
    return SparkPool(spark, "head")


def describe(number: int) -> dict[str, int]:
    return {"number": number}


@given(st.integers(0, 60), st.integers(1, 5), st.integers(0, 61))
def test_every_task_ends_once(count: int, most: int, poison: int) -> None:
    """Whatever is left over or lost; one that always loses its executor fails alone."""
    spark = Faulty(poison, most)
    ends = list(pool(spark).run_tasks(range(count), describe))
    assert sorted(end.task for end in ends) == list(range(count))
    for number, result, _, _ in ends:
        if number == poison:
            assert isinstance(result, Failure)
            assert "executor was lost" in result.reason
        else:
            assert result == (Failure("seven") if number == 7 else number**2)
    assert sorted(spark.done) == [number for number in range(count) if number != poison]


def test_faults_end_the_work() -> None:
    with pytest.raises(MachineError, match="the executor on host: full"):
        list(pool(Faulty()).run_tasks([1, -1], describe))
    with pytest.raises(InputError, match="host cannot begin: no such file; give paths that all nodes share"):
        list(pool(Faulty()).run_tasks([-2], describe))


def test_a_stream_has_its_order() -> None:
    results = pool(Faulty()).stream_tasks(describe(number) for number in range(7))
    assert list(results) == [number**2 for number in range(7)]
    with pytest.raises(GyroError, match="seven"):
        list(pool(Faulty()).stream_tasks(map(describe, range(9))))


def test_jobs_are_as_long_as_they_should_be() -> None:
    pace = _Pace(cores=2, left=1000)
    assert pace.tasks_a_job == 4
    pace.note(0.1)
    assert pace.tasks_a_job == 20
    pace.left = 9
    assert pace.tasks_a_job == 3
    pace.seconds = 1000.0
    assert pace.tasks_a_job == 1
    assert _Pace(cores=200, left=1).job_seconds == 10


def test_what_is_shipped_must_be_there() -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        Cluster("local[2]", ["not/there"])
