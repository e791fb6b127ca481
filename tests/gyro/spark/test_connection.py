from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gyro.errors import GyroError, InputError, ResourceError
from gyro.spark.connection import Spark, open_spark, shipped, spark_master
from gyro.spark.driver import FROM_SETTINGS
from gyro.spark.question import writing_function
from tests.outside import needs_spark


@pytest.fixture(scope="module")
def spark() -> Iterator[Spark]:
    with open_spark("local[2]") as spark:
        yield spark


def doubled(task: bytes) -> bytes:
    return task + task


def refused(task: bytes) -> bytes:
    raise InputError("found an x; a y is allowed", path="some file.txt", line=3)


def exhausted(task: bytes) -> bytes:
    raise ResourceError("the memory did not suffice")


def broken(task: bytes) -> bytes:
    return b"%d" % (1 // len(task[1:]))


def content(task: bytes) -> bytes:
    path = shipped(task.decode())
    return (path / "file" if path.is_dir() else path).read_bytes()


KILLED = """
import sys
from pyspark import SparkContext
from gyro.spark.connection import open_spark
from tests.gyro.spark.test_connection import doubled
try:
    with open_spark("local[1]") as spark:
        SparkContext._gateway.proc.kill()
        SparkContext._gateway.proc.wait()
        list(spark.run([b"x"], doubled))
except Exception as error:
    print(type(error).__name__)
    print(error, file=sys.stderr)
with open_spark("local[1]") as spark:
    print(next(spark.run([b"x"], doubled))[1].decode())
"""


@needs_spark
def test_every_task_ends_once_with_its_result(spark: Spark) -> None:
    tasks = [b"%d" % number for number in range(7)]
    assert sorted(spark.run(iter(tasks), doubled)) == list(enumerate(map(doubled, tasks)))
    assert list(spark.run([], doubled)) == []


@needs_spark
def test_work_that_is_left_off_leaves_spark_usable(spark: Spark) -> None:
    results = spark.run((b"%d" % number for number in range(1000)), doubled)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert list(spark.run([b"x"], doubled)) == [(0, b"xx")]


@needs_spark
@pytest.mark.parametrize(
    ("work", "kind", "message"),
    [
        (refused, InputError, r"^some file\.txt:3: found an x; a y is allowed$"),
        (exhausted, ResourceError, "^the memory did not suffice$"),
        (broken, GyroError, "ZeroDivisionError: .*its log is"),
    ],
)
def test_what_a_task_raises_arrives_in_one_line(
    spark: Spark, work: object, kind: type[GyroError], message: str
) -> None:
    with pytest.raises(kind, match=message) as error:
        list(spark.run([b"x"], work))  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


@needs_spark
def test_files_are_shipped_and_paths_asked_for(spark: Spark, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"first")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"second")
    names = [spark.ship(tmp_path / name).encode() for name in ("one", "folder")]
    assert sorted(spark.run(names, content)) == [(0, b"first"), (1, b"second")]
    spark.check_input([tmp_path / "one", tmp_path])
    with pytest.raises(InputError, match=r"missing: the executor on .* does not see it"):
        spark.check_input([tmp_path / "missing"])
    spark.check_output(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["folder", "one"]


@needs_spark
def test_a_process_connects_once_at_a_time(spark: Spark) -> None:
    with pytest.raises(InputError, match="in use"), open_spark("local[1]"):
        pass


@needs_spark
def test_a_java_that_was_killed_is_told_and_the_next_work_has_a_new_one() -> None:
    """In a process of its own: the Java of this one is of other tests, too."""
    ended = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True)
    assert ended.stdout.splitlines() == ["GyroError", "xx"], ended.stderr
    log = re.fullmatch(r"the Java process of Spark has ended; its log is (.*)", ended.stderr.strip())
    assert log, ended.stderr
    Path(log[1]).unlink()  # what an error has named stays


def test_an_executor_that_has_another_folder_of_the_name_says_so(tmp_path: Path) -> None:
    """Asked as an executor is asked, of a folder that is not there."""
    host, fault = writing_function(str(tmp_path / "gone" / "mark"))(0)
    assert (host, fault) == (socket.gethostname(), "it is not there")


def test_the_master_is_the_one_nearest_to_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_MASTER", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    assert spark_master(None) is None
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert spark_master(None) == FROM_SETTINGS
    monkeypatch.setenv("SPARK_MASTER", "yarn")
    assert (spark_master(None), spark_master("local[3]"), spark_master("")) == ("yarn", "local[3]", None)


@pytest.mark.parametrize(
    ("master", "message"),
    [
        ("spark://127.0.0.1:1", "spark://127.0.0.1:1 does not answer"),
        ("spark://nowhere", r"spark://HOST:PORT is allowed"),
        ("yarn", "HADOOP_CONF_DIR"),
    ],
)
def test_a_master_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch, master: str, message: str) -> None:
    pytest.importorskip("pyspark", reason="needs pyspark: pip install 'gyro-order[spark]'")
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match=message), open_spark(master):
        pass


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(InputError, match="pip install"), open_spark("local[2]"):
        pass


def test_without_java(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="needs pyspark: pip install 'gyro-order[spark]'")
    (tmp_path / "text").write_text("a b\n")
    environment = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "PATH")}
    command = ["index", str(tmp_path / "text"), "--tokenized", "-o", str(tmp_path / "index"), "--spark", "local[2]"]
    ended = subprocess.run(
        [sys.executable, "-m", "gyro", *command], env=environment | {"PATH": ""}, capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1].startswith("gyro: Spark needs Java 17 or later")
    assert os.listdir(tmp_path) == ["text"]
