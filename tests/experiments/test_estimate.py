from __future__ import annotations

from pathlib import Path

import pytest

from experiments.description import load_experiment
from experiments.estimate import BAG_SECONDS, make_estimate, time_text
from experiments.laboratory import Laboratory
from gyro.search.settings import ALGORITHMS
from rescoring.stage import STAGES
from tests.experiments.tiny import TINY, write


def test_each_algorithm_and_kind_has_a_usual_time() -> None:
    assert {*ALGORITHMS, *STAGES, *(f"tuning {kind}" for kind in STAGES), "oracles"} == {*BAG_SECONDS}


def test_an_estimate_grows_with_the_sample_and_takes_measured_times(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, TINY.format(mt="mt.jsonl")))
    few, many = (Laboratory(experiment, tmp_path / "runs", sample=n) for n in (10, 1000))
    assert 0 < make_estimate(few).seconds < make_estimate(many).seconds
    assert few.folder == tmp_path / "runs" / "sample-10"
    # A finished run of another sample tells the seconds a bag of the same setting.
    name = "full-short"
    step = next(step for step in many.steps if step.target.name == name)
    run = few.folder / "test" / name
    run.mkdir(parents=True)
    for file in ("bags.jsonl", "words.syms", "results.jsonl", "best.txt", "nbest.txt", "nbest.jsonl"):
        (run / file).touch()
    (run / "times.jsonl").write_text('{"seconds": 30}\n{"seconds": 50}\n')
    found = next(seconds for each, seconds in make_estimate(many).steps if each is step)
    assert found == pytest.approx(40 * step.bags() / 2)


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (89, "89 s"), (91, "2 min"), (7260, "2 h 1 min")])
def test_times_are_for_people(seconds: float, text: str) -> None:
    assert time_text(seconds) == text
