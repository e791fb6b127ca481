"""What the tests of commands share: runs of twelve short bags, and a look at mistakes.

ordered   a folder with what the commands after generation need: bags, what MT systems say, and the run `first`
neural    a tiny random neural model
rescored  the run of `ordered` rescored, in `second` by n-grams and in `third` by dependencies too
bleu      tells the BLEU of a run as `gyro score` prints it
refused   runs a command that must be refused with one line
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import main
from tests.once import make_once
from tests.tiny_neural import NAME, write_tiny_neural

if TYPE_CHECKING:
    from tests.conftest import World

STAGES = ("second", "third", "trees")


@pytest.fixture(scope="session")
def ordered(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve short bags, ordered."""

    def write(folder: Path) -> None:
        references = [s for s in world.held_out if 5 <= len(s) <= 9][:12]
        lines = [{"id": f"s{i}", "tokens": s, "reference": s} for i, s in enumerate(references)]
        (folder / "bags.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        outputs = [
            {"id": f"s{i}", "outputs": {"A": " ".join(s), "B": " ".join(s[::-1])}} for i, s in enumerate(references)
        ]
        (folder / "mt.jsonl").write_text("".join(json.dumps(line) + "\n" for line in outputs))
        options = ["--index", str(world.index_path), "--lm", str(world.model_path), "--phrase-cost", "phrase=0.5"]
        assert main(["generate", str(folder / "bags.jsonl"), "-o", str(folder / "first"), "--beta", "6", *options]) == 0

    return make_once(tmp_path_factory, "ordered", write)


@pytest.fixture(scope="session")
def neural(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_once(tmp_path_factory, "tiny-neural", write_tiny_neural) / NAME)


@pytest.fixture(scope="session")
def rescored(world: World, ordered: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The twelve bags by stupid backoff, and then by dependencies."""

    def write(folder: Path) -> None:
        first, second, third, trees = (str(path) for path in (ordered / "first", *map(folder.joinpath, STAGES)))
        backoff = f"stupid-backoff:{world.index_path}:5"
        assert main(["rescore", first, "-o", second, "--lm", backoff, "--weight", "0.4", "--add"]) == 0
        options = ["--tokenized", "--limit", "300", "--memory", "64M"]
        assert main(["dependency-lm", str(world.text), "-o", trees, *options]) == 0
        words = ["rescore", second, "-o", third, "--dependency-lm", trees, "--weight", "0.2"]
        assert main([*words, "-n", "10"]) == 0

    return make_once(tmp_path_factory, "rescored", write)


@pytest.fixture
def bleu(capsys: pytest.CaptureFixture[str]) -> Callable[[Path], float]:
    def score(run: Path) -> float:
        capsys.readouterr()
        assert main(["score", str(run), "--json"]) == 0
        return float(json.loads(capsys.readouterr().out)["bleu"])

    return score


@pytest.fixture
def refused(
    world: World, ordered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[[list[str], str], None]:
    """Run a command with the names of files filled in: it ends with 2, one line that has the message, and no files."""
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "1", "tokens": ["a"]}\n{"id": "2", "tokens": 3}\n')
    names = {"tmp": tmp_path, "index": world.index_path, "lm": world.model_path, "bad": bad, "ordered": ordered}

    def check(words: list[str], message: str) -> None:
        capsys.readouterr()
        assert main([word.format(**names) for word in words]) == 2
        error = capsys.readouterr().err
        assert error.startswith("gyro: ")
        assert error.count("\n") == 1
        assert message.format(**names) in error
        assert [path.name for path in tmp_path.iterdir()] == ["bad.jsonl"]

    return check
