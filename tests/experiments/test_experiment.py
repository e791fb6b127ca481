"""What the parts of an experiment have to do with each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.description import load_experiment
from experiments.experiment import Experiment, folder_name
from experiments.laboratory import Laboratory
from experiments.stage import TunedStage
from tests.experiments.tiny import PLAIN, write

STAGES = """
[sets.dev-long]
references = ["sotu:1964-1964"]
paragraphs = true
shortest = 13
longest = 20
[[stages]]
name = "list"
kind = "neural"
source = "exact, soft"
[[stages]]
name = "list, long"
kind = "neural"
source = "exact, soft"
sets = ["test"]
development = "dev-long"
[[stages]]
name = "search"
kind = "neural"
source = "exact, soft"
budget = 100
values_of = "list, long"
sets = ["dev", "test"]
[[stages]]
name = "larger search"
kind = "neural"
source = "exact, soft"
budget = 900
values_of = "search"
[[stages]]
name = "fixed"
kind = "neural"
source = "search"
start = 1.5
fixed = true
[[stages]]
name = "as fixed"
kind = "neural"
source = "full, short"
values_of = "fixed"
"""
ALL = ["dev", "test", "dev-long"]


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    return load_experiment(write(tmp_path, PLAIN.split("[[stages]]")[0] + STAGES))


def stage(experiment: Experiment, name: str) -> TunedStage:
    return next(each for each in experiment.stages if each.name == name)


@pytest.mark.parametrize(
    ("name", "sets", "setting", "values_of", "is_tuned"),
    [
        ("list", ALL, "exact, soft", "list", True),
        ("list, long", ["test"], "exact, soft", "list, long", True),
        ("search", ["dev", "test"], "exact, soft", "list, long", False),
        ("larger search", ALL, "exact, soft", "list, long", False),
        ("fixed", ["dev", "test"], "exact, soft", "fixed", False),
        ("as fixed", ["test"], "full, short", "fixed", False),
    ],
)
def test_each_stage_knows_its_sets_and_values(
    name: str, sets: list[str], setting: str, values_of: str, is_tuned: bool, experiment: Experiment
) -> None:
    found = stage(experiment, name)
    assert experiment.stage_sets(found) == sets
    assert experiment.first_setting(found).name == setting
    assert experiment.values_of(found).name == values_of
    assert experiment.is_tuned(found) == is_tuned
    assert experiment.development_of(found) == ("dev-long" if name == "list, long" else "dev")


def test_only_what_is_tuned_has_a_step_for_it(experiment: Experiment, tmp_path: Path) -> None:
    place = Laboratory(experiment, tmp_path / "runs")
    steps = [step.name for step in place.steps if step.kind in ("neural", "tuning neural")]
    runs = [f"{each.name}, {name}" for each in experiment.stages for name in experiment.stage_sets(each)]
    runs.insert(0, "list, tuning")
    runs.insert(runs.index("list, long, test"), "list, long, tuning")
    assert steps == runs


def test_values_are_known_found_or_taken(experiment: Experiment, tmp_path: Path) -> None:
    place = Laboratory(experiment, tmp_path / "runs")
    values = {name: place.values(stage(experiment, name)) for name in ("list, long", "larger search", "as fixed")}
    assert values == {"list, long": None, "larger search": None, "as fixed": {"weight": 1.5}}
    file = place.tuned_file(stage(experiment, "list, long"))
    file.parent.mkdir(parents=True)
    file.write_text('{"weight": 0.7, "bleu": 50}')
    assert place.values(stage(experiment, "larger search")) == {"weight": 0.7, "bleu": 50}
    assert place.values(stage(experiment, "list")) is None


def test_names_of_folders() -> None:
    assert folder_name("+5g +LMBR-MT") == "5g-lmbr-mt"
    assert folder_name("exact, rules 3–5, 4-gram") == "exact-rules-3-5-4-gram"
