"""What an executor does with its tasks, in this process: Spark brings messages there and answers back, and no more."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gyro.errors import InputError
from gyro.spark import executor
from gyro.spark.executor import do_tasks, relocated
from gyro.version import __version__

MEGABYTE = 1 << 20
Answer = list[dict[str, Any]]


def do(task: Any) -> Any:
    match task:
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "sleep":
            time.sleep(60)
        case "eat":
            held = b"x" * (200 * MEGABYTE)
            time.sleep(60)
            return len(held)
        case "raise":
            raise InputError("found\nthis")
        case "disk":
            raise OSError(28, "No space left on device")
        case "where":
            return [os.getpid(), os.getcwd()]
    return [task, task]


@pytest.fixture
def send(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Answer]]:
    """Send tasks to a work that is opened by a head with these limits; the answer without the host."""
    opened: list[Any] = []

    def open_work(arguments: Any, _copies: Any) -> Callable[[Any], Any]:
        opened.append(arguments)
        if arguments == "absent":
            raise InputError("no such file", path="a/b")
        return do

    module = ModuleType("work_of_a_test")
    module.open_work = open_work  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(executor.WORKS, "test", module.__name__)
    monkeypatch.setattr(executor, "shipped", lambda name: tmp_path / name)

    def send(tasks: list[Any], head: str = "head", seconds: float = 60, times: int = 1, **changes: Any) -> Answer:
        facts = {"work": "test", "gyro": __version__, "folder": str(tmp_path), "environment": {}, "copies": {}}
        facts |= {"time_limit": None, "memory_limit": None, "arguments": head}
        (tmp_path / head).write_text(json.dumps(facts | changes))
        answer = do_tasks(json.dumps({"head": head, "seconds": seconds, "tasks": tasks}).encode())
        assert len(opened) == times
        return [json.loads(line) for line in answer.splitlines()[1:]]

    yield send
    executor._close()


def test_each_task_ends_for_itself(send: Callable[..., Answer], tmp_path: Path) -> None:
    limits = {"time_limit": 4.0, "memory_limit": 100 * MEGABYTE}
    found = {end["task"]: end for end in send(["a", "die", "sleep", "eat", "raise", ["ä"]], **limits)}
    assert [found[place].get("result") for place in range(6)] == [["a"] * 2, None, None, None, None, [["ä"]] * 2]
    reasons = [found[place]["failure"] for place in range(1, 5)]
    assert reasons == [
        "the process died: signal 9",
        "time limit of 4 s reached",
        "memory limit of 100 MB reached",
        "found this",
    ]
    assert all(end["seconds"] >= 0 and end["memory"] >= 0 for end in found.values())


def test_work_is_opened_once_and_its_process_stays(send: Callable[..., Answer], tmp_path: Path) -> None:
    (first,), (second,) = send(["where"]), send(["where"])
    assert first["result"] == second["result"]
    process, folder = first["result"]
    assert process != os.getpid()
    assert folder == str(tmp_path) != os.getcwd()
    (other,) = send(["where"], head="other", times=2)
    assert other["result"][0] != process


def test_what_is_left_when_the_time_is_over_is_not_begun(send: Callable[..., Answer]) -> None:
    assert [end["task"] for end in send(["a", "b", "c"], seconds=0)] == [0]


def test_a_fault_of_the_machine_is_no_failure_of_a_task(send: Callable[..., Answer]) -> None:
    first, second = send(["a", "disk", "b"])
    assert first["result"] == ["a", "a"]
    assert "No space left on device" in second["fault"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"arguments": "absent"}, "a/b: no such file"), ({"gyro": "0"}, f"found gyro {__version__}; the driver has 0")],
)
def test_what_cannot_be_opened_is_told(send: Callable[..., Answer], change: dict[str, str], reason: str) -> None:
    (line,) = send(["a"], times=int("arguments" in change), **change)
    assert line["unopened"].startswith(reason)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("in/file", "COPY"),
        ("kenlm:in/file", "kenlm:COPY"),
        ("--lm=in/file", "--lm=COPY"),
        ("in/file:5", "COPY:5"),
        ("in/file2", "in/file2"),
        ("x/in/file", "x/in/file"),
        ("folder", "FOLDER/folder"),
        ("stupid-backoff:folder:5", "stupid-backoff:FOLDER/folder:5"),
        ("folder/b/c", "FOLDER/folder/b/c"),
    ],
)
def test_words_name_the_copies(tmp_path: Path, word: str, found: str) -> None:
    (tmp_path / "one").write_text("1")
    (tmp_path / "two").write_text("2")
    copies = {"in/file": [("", "COPY")], "folder": [("a", str(tmp_path / "one")), ("b/c", str(tmp_path / "two"))]}
    assert relocated(word, copies) == found.replace("FOLDER", str(tmp_path / "one.folder"))
    if "folder" in word:
        made = tmp_path / "one.folder" / "folder"
        assert [(made / name).read_text() for name in ("a", "b/c")] == ["1", "2"]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "one.folder", "two"]
