"""`gyro tune` as a user types it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import main
from rescoring.neural_stage import NeuralStage

if TYPE_CHECKING:
    from tests.conftest import World


def test_weights_of_every_model(rescored: Path, tmp_path: Path) -> None:
    assert main(["tune", str(rescored / "third"), "-o", str(tmp_path / "tuned.toml"), "--restarts", "2"]) == 0
    tables = tomllib.loads((tmp_path / "tuned.toml").read_text())
    assert set(tables) == {"rescore", "dependency"}
    assert abs(tables["rescore"]["keep"]) + sum(map(abs, tables["rescore"]["weights"])) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("run", "options", "tables"),
    [
        ("{rescored}/third", [], {"rescore", "dependency", "neural"}),
        ("{ordered}/first", [], {"neural"}),
        ("{ordered}/first", ["--search", "40", "--guide", "{lm}"], {"neural"}),
    ],
)
def test_the_weight_of_a_neural_model(
    world: World,
    ordered: Path,
    rescored: Path,
    neural: str,
    tmp_path: Path,
    run: str,
    options: list[str],
    tables: set[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = {"ordered": ordered, "rescored": rescored, "lm": world.model_path}
    words = [word.format(**names) for word in ("rescore", run, *options)]
    assert main([*words, "-o", str(tmp_path / "run"), "--neural", neural, "-n", "10"]) == 0
    assert main(["tune", str(tmp_path / "run"), "-o", str(tmp_path / "tuned.toml"), "--restarts", "2"]) == 0
    found = tomllib.loads((tmp_path / "tuned.toml").read_text())
    assert set(found) == tables
    NeuralStage(**found["neural"])  # what a pipeline makes of it
    tells_phrases = run == "{ordered}/first" and not options  # of which the stage has kept the column alone
    assert ("# [generate] phrase_cost: that of the first pass times " in capsys.readouterr().out) == tells_phrases


def test_costs_of_phrases(ordered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(ordered / "first"), "--restarts", "2"]) == 0
    assert "phrase_cost" in capsys.readouterr().out


def test_a_grid_of_mbr_parameters(ordered: Path, tmp_path: Path) -> None:
    mt = ["--mt", str(ordered / "mt.jsonl"), "--mt-by", "id", "--mt-tokenized"]
    grid = ["--scale", "0.2,0.4", "--precision", "0.74", "--ratio", "0.62", "--prune", "5", "--alpha", "0,0.25"]
    assert main(["tune", str(ordered / "first"), "--mbr", *mt, *grid, "-o", str(tmp_path / "mbr.toml")]) == 0
    found = tomllib.loads((tmp_path / "mbr.toml").read_text())["mbr"]
    assert set(found) == {"scale", "precision", "ratio", "prune", "alpha"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{ordered}/first", "--start", "LM=x"], "a number is allowed"),
        (["{ordered}/first", "--start", "XM=1"], "'XM'"),
        (["{ordered}"], "run.json"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["tune", *words], message)
