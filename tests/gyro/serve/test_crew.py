"""Workers do tasks, within limits; what one does to itself harms no other."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import pytest

from gyro.errors import GyroError
from gyro.serve.crew import Crew, Ended, TooBusy
from gyro.serve.limit import Limits

MB = 1 << 20


def work(task: dict[str, Any]) -> Any:
    match task["do"]:
        case "square":
            return task["n"] ** 2
        case "sleep":
            time.sleep(task["seconds"])
            return os.getpid()
        case "take":
            taken = bytearray(task["bytes"])
            time.sleep(30)
            return len(taken)
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "refuse":
            raise GyroError("found nothing")
        case "fault":
            raise PermissionError(13, "Permission denied")


@contextmanager
def crew_of(**limits: Any) -> Iterator[Crew]:
    crew = Crew(work, Limits(**limits))
    crew.start()
    try:
        yield crew
    finally:
        crew.stop()


def run(crew: Crew, scene: Callable[[], Awaitable[Any]], when_gone: Callable[[], None] = lambda: None) -> Any:
    async def all_of_it() -> Any:
        crew.attach(when_gone)
        return await asyncio.wait_for(scene(), 60)

    return asyncio.run(all_of_it())


SLEEP = {"do": "sleep", "seconds": 30}


def square(n: int) -> dict[str, Any]:
    return {"do": "square", "n": n}


def test_tasks_are_done() -> None:
    with crew_of(jobs=2) as crew:

        async def scene() -> list[int]:
            done = await asyncio.gather(*(crew.do(square(n)) for n in range(15)))
            return [each.result for each in done]

        assert run(crew, scene) == [n * n for n in range(15)]


FAILURES = [
    ({"do": "refuse"}, "found nothing", True),
    ({"do": "die"}, "the process that worked on it died", False),
    ({"do": "fault"}, "Permission denied", False),
    ({"do": "take", "bytes": 400 * MB}, "took more than the 100 MB that are allowed", False),
]


def test_what_fails_is_told_and_harms_no_other() -> None:
    with crew_of(jobs=1, memory=100 * MB) as crew:

        async def scene() -> None:
            for task, message, is_mistake in FAILURES:
                with pytest.raises(Ended, match=message) as caught:
                    await crew.do(task)
                assert caught.value.is_mistake == is_mistake
                assert (await crew.do(square(3))).result == 9

        run(crew, scene)


def test_what_takes_too_long_is_ended() -> None:
    with crew_of(jobs=1, seconds=1, grace=0.5) as crew:

        async def scene() -> None:
            with pytest.raises(Ended, match="took more than the 2 s that are allowed"):
                await crew.do(SLEEP)
            assert (await crew.do(square(3))).result == 9

        run(crew, scene)


def test_no_more_than_may_wait_are_taken() -> None:
    with crew_of(jobs=1, waiting=1) as crew:

        async def scene() -> None:
            some = [asyncio.ensure_future(crew.do(SLEEP)) for _ in range(2)]
            await asyncio.sleep(0)
            with pytest.raises(TooBusy, match="2 bags are being worked on or wait"):
                await crew.do(square(2))
            for each in some:
                each.cancel()
            await asyncio.gather(*some, return_exceptions=True)
            assert (await crew.do(square(4))).result == 16  # the workers of the cancelled ones are free

        run(crew, scene)


def test_patient_tasks_wait_for_their_turn() -> None:
    with crew_of(jobs=2, waiting=0) as crew:

        async def scene() -> list[int]:
            done = await asyncio.gather(*(crew.do(square(n), patient=True) for n in range(9)))
            return [each.result for each in done]

        assert run(crew, scene) == [n * n for n in range(9)]


def test_what_is_cancelled_while_it_waits_is_never_begun() -> None:
    with crew_of(jobs=1) as crew:

        async def scene() -> int:
            first = asyncio.ensure_future(crew.do({"do": "sleep", "seconds": 0.3}))
            second = asyncio.ensure_future(crew.do(SLEEP))
            third = asyncio.ensure_future(crew.do(square(5)))
            await asyncio.sleep(0)
            second.cancel()
            await first
            return int((await third).result)

        assert run(crew, scene) == 25


def test_the_server_is_told_when_the_workers_are_gone() -> None:
    told: list[bool] = []
    with crew_of(jobs=1) as crew:

        async def scene() -> None:
            waiting = asyncio.ensure_future(crew.do(SLEEP))
            await crew_is_busy(crew)
            crew._process.kill()
            with pytest.raises(Ended, match="the worker processes are gone"):
                await waiting
            with pytest.raises(Ended, match="the worker processes are gone"):
                await crew.do(square(1))

        run(crew, scene, lambda: told.append(True))
    assert told


def test_no_process_is_left() -> None:
    with crew_of(jobs=2) as crew:
        pids = run(crew, lambda: asyncio.gather(*(crew.do({"do": "sleep", "seconds": 0.2}) for _ in range(2))))
        processes = [psutil.Process(done.result) for done in pids]
    for process in processes:
        process.wait(10)  # else it raises TimeoutExpired


async def crew_is_busy(crew: Crew) -> None:
    while not psutil.Process(crew._process.pid).children():
        await asyncio.sleep(0.01)
