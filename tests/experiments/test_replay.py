"""An executor that goes through a step of an experiment comes to the batch that the driver ran, and writes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.laboratory import Laboratory
from experiments.place import Executor, Place, SparkPlace
from experiments.replay import hand_over
from gyro.errors import InputError
from gyro.files import read_json
from gyro.run.bag_work import HandOver
from gyro.run.folder import open_run
from gyro.spark.pool import Cluster
from gyro.text.bag import Bag

STEPS = ["exact, soft, dev", "full, short, test", "+2g, test", "+LMBR-MT, dev"]


def described(finished: Laboratory, step: str) -> dict[str, Any]:
    """What a driver sends of a step."""
    folder = finished.folder
    place = SparkPlace(Cluster("local[2]"), "", str(folder.parents[1] / "tiny.toml"), str(folder), None)
    place.begin(step)
    executors = place.options()["executors"]
    assert executors.command == "experiment"
    return dict(json.loads(json.dumps(executors.arguments)))


def modified(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.parametrize("name", STEPS)
def test_an_executor_comes_to_the_same_batch(finished: Laboratory, name: str) -> None:
    step = next(step for step in finished.steps if step.name == name)
    before = modified(finished.folder)
    with pytest.raises(HandOver) as found:
        hand_over(described(finished, name), Bag(("a",)), {})
    assert modified(finished.folder) == before
    run = open_run(step.target)
    assert json.loads(json.dumps(found.value.settings)) == read_json(run.folder.run)["settings"]
    number = next(number for number, outcome in enumerate(run.outcomes) if outcome.ok)
    _, _, (best, moses, jsonl) = found.value.work.order(number, run.bags[number], lambda lattice: None)
    assert best == list(run.folder.best.open())[number]
    assert moses in run.folder.nbest_moses.read_text()
    assert jsonl in run.folder.nbest_jsonl.read_text()


def test_a_folder_that_is_not_seen_is_told(finished: Laboratory, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        hand_over({**described(finished, STEPS[0]), "folder": str(tmp_path / "runs")}, Bag(("a",)), {})


def test_places() -> None:
    assert Place().options() == {}
    assert Executor().options() == {"hand_over": True}
