"""`gyro generate` as a user types it; with --system best-first see test_train.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import main
from gyro.run.folder import open_run

if TYPE_CHECKING:
    from tests.conftest import World


def test_a_range_of_bags_on_two_processes(
    world: World, ordered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same strings as those bags had in the run of all."""
    bags, run = str(ordered / "bags.jsonl"), tmp_path / "run"
    options = ["--index", str(world.index_path), "--lm", str(world.model_path), "--phrase-cost", "phrase=0.5"]
    words = ["generate", bags, "-o", str(run), "--beta", "6", *options, "--range", "3:7", "--jobs", "2"]
    assert main(words) == 0
    assert "ordered           5 (100.0 %)" in capsys.readouterr().out
    assert open_run(run).best() == open_run(ordered / "first").best()[2:7]
    assert [bag.id for bag in open_run(run).bags] == [f"s{number}" for number in range(2, 7)]


def test_the_environment_names_index_and_model(
    world: World, ordered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GYRO_INDEX", str(world.index_path))
    monkeypatch.setenv("GYRO_LM", str(world.model_path))
    words = ["generate", str(ordered / "bags.jsonl"), "-o", str(tmp_path / "run"), "--range", "1:1"]
    assert main([*words, "--algorithm", "beam"]) == 0
    assert open_run(tmp_path / "run").settings["algorithm"] == "beam"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no.txt", "-o", "{tmp}/r", "--index", "{index}", "--lm", "{lm}"], "no.txt"),
        (["{bad}", "-o", "{tmp}/r", "--index", "{index}", "--lm", "{lm}"], "bad.jsonl:2: "),
        (["{ordered}/bags.jsonl", "-o", "{tmp}/r", "--range", "90:99"], "bags.jsonl: no bags in that range"),
        (["{ordered}/bags.jsonl", "-o", "{tmp}/r", "--index", "{index}", "--lm", ""], "--lm MODEL"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["generate", *words], message)


def test_a_constraint_that_is_not_known_stops_the_run_before_anything_is_written(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bags = tmp_path / "bags.jsonl"
    bags.write_text('{"tokens": ["the", "cat"]}\n{"id": "x", "tokens": ["the", "cat", "sat"], "order": [[2, 0]]}\n')
    options = ["--index", str(world.index_path), "--lm", str(world.model_path)]
    assert main(["generate", str(bags), "-o", str(tmp_path / "run"), *options]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "bag 'x': found the constraint order" in error
    assert not (tmp_path / "run").exists()
