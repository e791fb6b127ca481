"""What --spark and --ship are refused with; what they do is in tests/gyro/run/test_executor.py."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from gyro.cli import main, read_words
from gyro.cli.spark_options import cluster_of, executors_of
from gyro.run.executor import Executors

WORDS = ["generate", "bags.jsonl", "-o", "run", "--index", "i", "--lm", "m"]


@pytest.fixture(autouse=True)
def _no_master(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_MASTER", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_master_the_work_is_done_here() -> None:
    with cluster_of(read_words(WORDS)) as cluster, executors_of(read_words(WORDS)) as place:
        assert cluster is None
        assert place == {}


def test_executors_go_through_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [*WORDS, "--spark", "local[3]"]
    with executors_of(read_words(given)) as place:
        executors = place["executors"]
        assert isinstance(executors, Executors)
        assert (executors.cluster.master, executors.command, executors.arguments) == ("local[3]", "command", given)
    monkeypatch.setenv("SPARK_MASTER", "yarn")
    with cluster_of(read_words(WORDS)) as cluster:
        assert cluster is not None
        assert cluster.master == "yarn"
    with cluster_of(argparse.Namespace(spark="", ship=[])) as cluster:
        assert cluster is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*WORDS, "--ship", "i"], "found --ship, which goes with --spark MASTER"),
        (["mbr", "run", "--spark", "local[2]"], "found --spark, which goes with -o DIR"),
        (["dependency-lm", "text", "-o", "m", "--spark", "yarn", "--ship", "no/x"], "no/x: no such file or folder"),
    ],
)
def test_mistakes_are_told(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bags.jsonl").write_text('{"id": "1", "tokens": ["a"]}\n')
    (tmp_path / "text").write_text("a b\n")
    if words[0] == "generate":
        with pytest.raises(Exception, match=message), executors_of(read_words(words)):
            pass
        return
    assert main(words) == 2
    assert message in capsys.readouterr().err
