"""`gyro generate` as a user types it; with --system best-first see test_train.py."""

from __future__ import annotations

import io
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


def test_several_files_are_one_run(
    world: World, ordered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bytes as of one file, whatever the pieces come from."""
    lines = (ordered / "bags.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "a").write_text("".join(lines[:2]))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("".join(lines[2:4]).encode())))
    options = ["--index", str(world.index_path), "--lm", str(world.model_path), "--phrase-cost", "phrase=0.5"]
    words = ["generate", str(tmp_path / "a"), "-", "-o", str(tmp_path / "run"), "--beta", "6", *options]
    assert main(words) == 0
    assert open_run(tmp_path / "run").best() == open_run(ordered / "first").best()[:4]
    (tmp_path / "b").write_text("the people\n")
    words = ["generate", str(tmp_path / "b"), str(tmp_path / "b"), "-o", str(tmp_path / "numbered"), *options]
    assert main(words) == 0
    assert [bag.id for bag in open_run(tmp_path / "numbered").bags] == ["1", "2"]


def test_the_environment_names_index_and_model(
    world: World, ordered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GYRO_INDEX", str(world.index_path))
    monkeypatch.setenv("GYRO_LM", str(world.model_path))
    words = ["generate", str(ordered / "bags.jsonl"), "-o", str(tmp_path / "run"), "--range", "1:1"]
    assert main([*words, "--algorithm", "beam"]) == 0
    assert open_run(tmp_path / "run").settings["algorithm"] == "beam"


@pytest.mark.parametrize("options", [[], ["--search", "40"]])
def test_a_neural_model_in_one_go(
    world: World, ordered: Path, neural: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    """What `gyro generate` and then `gyro rescore` give with the same settings, to the byte."""
    one, first, second = (str(tmp_path / name) for name in ("one", "first", "second"))
    words = [
        str(ordered / "bags.jsonl"),
        "--index",
        str(world.index_path),
        "--lm",
        str(world.model_path),
        "--beta",
        "5",
    ]
    lists = ["--range", "1:4", "-n", "20"]
    assert main(["generate", *words, *lists, "-o", one, "--neural", neural, "--neural-weight", "1.5", *options]) == 0
    told = capsys.readouterr().out
    assert "  not proved                        4 (100.0 %)\n" in told
    assert "in the first pass" in told
    whole = ["--max-tokens", "0", "--steps", "1000", "--max-arcs", "50000"]
    assert main(["generate", *words, *lists, "-o", first, *whole]) == 0
    guide = ["--guide", str(world.model_path)] if options else []
    assert (
        main(["rescore", first, "-o", second, "-n", "20", "--neural", neural, "--weight", "1.5", *options, *guide]) == 0
    )
    names = ["best.txt", "nbest.txt", "nbest.jsonl", *(f"lattices/00000{number}.fst" for number in range(1, 5))]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no.txt", "-o", "{tmp}/r", "--index", "{index}", "--lm", "{lm}"], "no.txt"),
        (["{bad}", "-o", "{tmp}/r", "--index", "{index}", "--lm", "{lm}"], "bad.jsonl:2: "),
        (["{ordered}/bags.jsonl", "-o", "{tmp}/r", "--range", "90:99"], "bags.jsonl: no bags in that range"),
        (["{ordered}/bags.jsonl", "-o", "{tmp}/r", "--index", "{index}", "--lm", ""], "--lm MODEL"),
        (["{ordered}/bags.jsonl", "-o", "{tmp}/r", "--search"], "--search, which goes with --neural MODEL"),
        (["{ordered}/bags.jsonl", "-o", "{tmp}/r", "--neural", "{lm}"], "model.lm: found no GGUF file"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["generate", *words], message)


def test_a_constraint_that_is_not_known_stops_the_run_before_anything_is_written(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bags = tmp_path / "bags.jsonl"
    bags.write_text('{"tokens": ["the", "cat"]}\n{"id": "x", "tokens": ["the", "cat", "sat"], "heads": [1, 2, -1]}\n')
    options = ["--index", str(world.index_path), "--lm", str(world.model_path)]
    assert main(["generate", str(bags), "-o", str(tmp_path / "run"), *options]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "bag 'x': found the constraint heads" in error
    assert not (tmp_path / "run").exists()
