from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.cli import main


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ref").write_text("a b c d\ne f g h i\n")
    (tmp_path / "good").write_text("a b c d\ne f g i h\n")
    (tmp_path / "bad").write_text("d c b a\n\n")
    run = tmp_path / "run"
    run.mkdir()
    (run / "best.txt").write_text("a b d c\ne f g h i\n")
    (run / "references.txt").write_text("a b c d\ne f g h i\n")
    return tmp_path


@pytest.mark.parametrize("words", [["good", "ref"], ["good", "--ref", "ref"]])
def test_one_system(files: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(["score", *words, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["exact_match"] == 50.0
    assert value["by_size"][0]["sentences"] == 2
    # Of two sentences one is right: with 1000 draws of two, both or none are among the middle 95 %.
    assert value["intervals"]["exact_match"] == {"low": 0.0, "high": 100.0}
    assert main(["score", *words]) == 0
    assert "exact match 0.00–100.00" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["good", "bad:B", "ref"], ["good", "B"]),
        (["good", "bad", "--ref", "ref", "--baseline", "bad"], ["good", "bad"]),
        (["run", "good", "ref"], ["run", "good"]),
        (["good", "run"], ["good", "run"]),
    ],
)
def test_many_systems(files: Path, capsys: pytest.CaptureFixture[str], words: list[str], names: list[str]) -> None:
    assert main(["score", *words, "--samples", "20", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert list(value["evaluations"]) == names
    assert value["samples"] == 20
    assert main(["score", *words, "--samples", "20"]) == 0
    assert "paired bootstrap, 20 samples" in capsys.readouterr().out


def test_a_run_alone(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "run", "--sizes", "4"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:4]] == ["1-4", "5+", "all"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["good"], "references"),
        (["good", "no"], "no: cannot read"),
        (["run", "ref", "--sizes", "x"], "rising whole numbers"),
        (["good", "bad", "ref", "--baseline", "none"], "found the baseline 'none'"),
        (["run", "ref", "--tokenize", "no"], "found the tokeniser 'no'"),
    ],
)
def test_mistakes(files: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["score", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_mistake_is_one_line(refused: Callable[[list[str], str], None]) -> None:
    refused(["score", "{bad}"], "references")
