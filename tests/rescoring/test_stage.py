"""One table of stages: what is in it is seen by the commands, the pipeline, the experiments and tuning."""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from experiments.stage import to_stage
from gyro.cli import main
from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.nbest import read_moses
from gyro.pipeline.config import BUILT_IN, load_config
from gyro.run.batch import run_batch
from gyro.run.folder import open_run
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from rescoring.source import LatticeSource, open_lattices
from rescoring.stage import (
    NO_LATTICE,
    STAGES,
    Columns,
    Development,
    Place,
    Stage,
    Tuned,
    Tuning,
    run_stage,
    stage_kinds,
)
from tests.orders import failed, ordered

BAGS = [Bag(tuple("ab"), id="1", reference=tuple("ba")), Bag(("x",), id="2"), Bag(tuple("cd"), id="3")]


class ReadyLength:
    """Each word costs `weight`."""

    most_strings = None

    def __init__(self, weight: float) -> None:
        self.weight = weight
        self.settings = {"command": "rescore", "length": weight}

    def verify(self) -> None:
        pass

    def title(self, before: str) -> str:
        return f"{before} + length"

    def rescore(self, number: int, bag: Bag, lattice: Lattice) -> Ordering:
        strings = [Hypothesis(h.tokens, h.cost + self.weight * len(h.tokens)) for h in lattice.strings()]
        return Ordering(Lattice.from_strings(lattice.words, strings), Outcome.ordered(bag, strings[0].cost))

    def features(self, number: int, lattice: Lattice, hypotheses: Sequence[Hypothesis]) -> Columns:
        return [{"LENGTH": -float(len(h.tokens))} for h in hypotheses]


@dataclass(frozen=True)
class LengthTuning(Tuning):
    tries: int = 3

    bag_seconds = 0.1

    def tune(self, development: Development) -> Tuned:
        return Tuned({"weight": 0.5}, 12.0)

    def stage(self, values: Mapping[str, Any], place: Place) -> Stage:
        return LengthStage(values["weight"])


@dataclass(frozen=True)
class LengthStage(Stage):
    weight: float = 1.0

    kind = "length"
    command = "rescore"
    table = "length"
    folder = "length"
    bag_seconds = 0.1
    tuning = LengthTuning

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--length", type=float, metavar="W")

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Self | None:
        return None if arguments.length is None else cls(arguments.length)

    @classmethod
    def owns(cls, feature: str) -> bool:
        return feature == "LENGTH"

    @classmethod
    def weights_to_table(cls, weights: Mapping[str, float]) -> dict[str, Any]:
        return {"weight": weights["LENGTH"]} if weights else {}

    def ready(self, source: LatticeSource, place: Place) -> ReadyLength:
        return ReadyLength(self.weight)


@pytest.fixture
def length(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage is a file and its line in the table."""
    monkeypatch.setitem(STAGES, "length", f"{__name__}:LengthStage")


@pytest.fixture
def first(tmp_path: Path) -> Path:
    def work(_number: int, bag: Bag) -> Ordering | Outcome:
        both = [Hypothesis(bag.tokens, 1.0), Hypothesis(bag.tokens[::-1], 2.0)]
        return failed(bag) if "x" in bag.words else ordered(bag, both)

    run_batch(BAGS, tmp_path / "first", work, settings={}, log=io.StringIO())
    return tmp_path / "first"


@pytest.mark.usefixtures("length")
def test_a_new_stage_is_its_file_and_a_line(first: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rescore", str(first), "-o", str(tmp_path / "run"), "--length", "0.25"]) == 1  # one bag had failed
    run = open_run(tmp_path / "run")
    assert run.best() == ["a b", "", "c d"]
    assert run.settings["length"] == 0.25
    entries = list(read_moses(run.folder.nbest_moses))
    assert [(entry.cost, entry.features["LENGTH"]) for entry in entries[:2]] == [(1.5, (-2.0,)), (2.5, (-2.0,))]
    config = tmp_path / "config.toml"
    config.write_text(BUILT_IN + "\n[length]\nweight = 0.5\n")
    assert load_config(config).stages["length"] == LengthStage(0.5)
    stage = to_stage({"name": "+len", "kind": "length", "source": "first", "tries": 2}, "[[stages]] 1")
    assert stage.tuning == LengthTuning(2)
    with pytest.raises(InputError, match="found the key 'rounds'"):
        to_stage({"name": "+len", "kind": "length", "source": "first", "rounds": 2}, "[[stages]] 1")
    with pytest.raises(SystemExit):
        main(["rescore", "--help"])
    assert "--length" in capsys.readouterr().out


def test_a_bag_that_failed_before_fails_again_and_says_so(first: Path, tmp_path: Path) -> None:
    summary = run_stage(LengthStage(), open_lattices(first), tmp_path / "run", log=io.StringIO())
    assert summary.failures == (("2", NO_LATTICE),)
    record = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert record == {"command": "rescore", "length": 1.0, "lattices": open_lattices(first).signature}


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_is_whole(name: str) -> None:
    kind = stage_kinds()[name]
    assert kind.kind == name
    assert issubclass(kind, Stage)
    assert issubclass(kind.tuning, Tuning)
    assert kind.command in ("rescore", "mbr")
    assert kind.bag_seconds > 0
    assert kind.tuning.bag_seconds > 0


def test_stages_share_no_column_table_or_folder() -> None:
    kinds = list(stage_kinds().values())
    for feature in ("LATTICE", "LM", "LM4", "SB5", "LM4.2", "DEP", "MBR"):
        assert sum(kind.owns(feature) for kind in kinds) == 1, feature
    for name in ("table", "folder"):
        assert len({getattr(kind, name) for kind in kinds}) == len(kinds)
    assert not any(kind.owns("PHRASES") for kind in kinds)
