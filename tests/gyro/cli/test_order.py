"""`gyro order` as a user types it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import main
from gyro.lattice.lattice import Lattice

if TYPE_CHECKING:
    from tests.conftest import World


def test_one_bag_at_the_prompt(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--index", str(world.index_path), "--lm", str(world.model_path)]
    assert main(["order", "america", "states", "the", "of", "united", *options]) == 0
    assert capsys.readouterr().out.splitlines() == ["the united states of america"]
    assert main(["order", "america states the of united", "-n", "3", *options]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    costs = [float(row[0]) for row in rows]
    assert len(rows) == 3
    assert costs == sorted(costs)
    for cost, (_, string) in zip(costs, rows, strict=True):
        assert cost == pytest.approx(world.model.score(string.split()), abs=1e-3)


def test_the_lattice_is_written(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bag.fst"
    options = ["--index", str(world.index_path), "--lm", str(world.model_path), "--lattice", str(path)]
    assert main(["order", "america states the of united", *options]) == 0
    assert " ".join(Lattice.read(path).best().tokens) == capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "--index", "{index}"], "--lm MODEL"),
        (["a", "--index", "{index}", "--lm", "{bad}"], "bad.jsonl"),
        (["<s>", "--index", "{index}", "--lm", "{lm}"], "'<s>'"),
        (["a", "--index", "{index}", "--lm", "{lm}", "--rules", "x"], "'x'"),
        (["a", "--index", "{index}", "--lm", "{lm}", "--phrase-cost", "x=1"], "x"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["order", *words], message)
