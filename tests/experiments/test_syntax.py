"""Experiments with the best-first decoder: samples, folders, and a tiny one from end to end and again."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.__main__ import main
from experiments.syntax import given_shares
from experiments.syntax_description import DecodeTable
from experiments.syntax_results import make_syntax_markdown, measure_run
from tests.experiments.syntax_tiny import laboratory


def test_absent_data_is_a_clear_line(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.write_text(f'data = "{tiny.parent}/nowhere"\n' + tiny.read_text(encoding="utf-8"), encoding="utf-8")
    assert main([], folder=tiny.parent, runs=tiny.parent / "runs") == 0
    assert "skipped: it needs the folder" in capsys.readouterr().out


def test_a_small_sample_is_part_of_a_large_one(tiny: Path) -> None:
    place = laboratory(tiny)
    few, many = ({sentence.id for sentence in place.sample("dev", count)} for count in (2, 5))
    assert len(few) == 2
    assert few < many
    assert place.sample("dev", 5) == laboratory(tiny).sample("dev", 5)


def test_bags_are_given_what_the_model_had_unless_told(tiny: Path) -> None:
    place = laboratory(tiny)
    settings = place.experiment.model("dependency").settings()
    assert given_shares(settings, None, None) == (1.0, 0.0)
    assert given_shares(settings, 0.5, 1.0) == (0.5, 1.0)
    bag = place.bags("dev", 1, settings, heads=1.0)[0]
    assert None not in (bag.pos or [None])
    assert None not in (bag.heads or [None])
    assert bag.labels is None


def test_equal_runs_share_a_folder_and_others_do_not(tiny: Path) -> None:
    place = laboratory(tiny)
    table = DecodeTable("x", ["dependency"], bags=[4], pos=[1.0])
    other = DecodeTable("y", ["dependency"], bags=[4])
    assert {place.run_folder(run) for one in (table, other) for run in one.decodes()} == {
        place.run_folder(next(other.decodes()))
    }
    folders = [place.run_folder(run) for run in place.experiment.decodes()]
    assert len(set(folders)) == len(folders) == 7


@pytest.mark.slow
def test_a_tiny_experiment_runs_and_is_not_done_twice(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = tiny.parent / "runs"
    assert main(["-j", "2"], folder=tiny.parent, runs=runs) == 0
    folder = runs / "tiny"
    for name in ("results.md", "report.html", "report-dev.html", "convergence.svg", "time-limits.svg", "config.toml"):
        assert (folder / name).stat().st_size > 100
    text = (folder / "results.md").read_text(encoding="utf-8")
    for part in ("## Learning", "heads 100%", "category precision", "≤ 5", "'GYRO'", "How it was made"):
        assert part in text
    place = laboratory(tiny)
    assert all(step.is_done() for step in place.steps)
    given_all = next(run for run in place.experiment.decodes("dev") if run.heads == 1.0 and run.pos == 1.0)
    found = measure_run(place.run_folder(given_all))
    assert found is not None
    assert found.length_ratio == 1.0
    # Again: nothing is trained or decoded, and a larger number of iterations goes on from where the training was.
    times = {path: path.stat().st_mtime_ns for path in folder.glob("models/*/weights.npz")}
    assert len(times) == 3
    assert main([], folder=tiny.parent, runs=runs) == 0
    assert times == {path: path.stat().st_mtime_ns for path in folder.glob("models/*/weights.npz")}
    tiny.write_text(tiny.read_text(encoding="utf-8").replace("iterations = 2", "iterations = 3"), encoding="utf-8")
    longer = laboratory(tiny)
    assert [step.name for step in longer.steps if not step.is_done()] == [
        f"training: {model.name}" for model in longer.experiment.models
    ]
    assert longer._sentences_to_learn(longer.experiment.models[0]) == 12_500
    assert "## All systems on test" in make_syntax_markdown(longer)
