"""Experiments with texts of several sizes: random parts, and a tiny one from end to end and again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.__main__ import main
from experiments.text_size import choose_lines
from gyro.files import read_json
from gyro.run.folder import open_run
from tests.experiments.text_size_tiny import REFERENCES, SENTENCES, laboratory, write_tiny


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.data())
def test_a_part_is_large_enough_and_within_every_larger_one(lengths: list[int], data: st.DataObject) -> None:
    one, other = sorted(data.draw(st.tuples(*[st.integers(1, sum(lengths))] * 2)))
    seed = data.draw(st.integers(0, 5))
    small, large = (np.array(choose_lines(np.array(lengths), size, seed)) for size in (one, other))
    assert (small <= large).all()
    taken = np.array(lengths)[small]
    assert taken.sum() >= one
    assert taken.sum() - one < max(lengths)


def test_another_seed_is_another_part() -> None:
    parts = {tuple(choose_lines(np.full(50, 3), 75, seed)) for seed in range(4)}
    assert len(parts) == 4


def test_runs_of_the_whole_text_are_not_done_twice(tmp_path: Path) -> None:
    place = laboratory(write_tiny(tmp_path))
    names = [each.name for each in place.tries()]
    assert names == [
        "rules 3–4, 60 tokens, own model",
        "rules 3–4, 60 tokens, model of the whole",
        "rules 3–4, whole text",
        "1-gram rules, 60 tokens, own model",
        "1-gram rules, whole text",
    ]
    assert len({place.run_folder("test", each) for each in place.tries()}) == 5


def test_a_size_beyond_the_text_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_tiny(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("sizes = [60]", "sizes = [60000]"), encoding="utf-8")
    assert main(["tiny", "-j", "1"], folder=tmp_path, runs=tmp_path / "runs") == 2
    assert "found a size of 60000 tokens; the text has 360" in capsys.readouterr().err


def test_results_of_nothing_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_tiny(tmp_path)
    assert main(["tiny", "--results"], folder=tmp_path, runs=tmp_path / "runs") == 2
    assert "nothing measured" in capsys.readouterr().err


def test_a_tiny_experiment_runs_and_is_not_done_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, runs = write_tiny(tmp_path), tmp_path / "runs"
    assert main(["tiny", "-j", "1"], folder=tmp_path, runs=runs) == 0
    place = laboratory(path)
    part = (runs / "tiny" / "parts" / "60" / "text.tok").read_text(encoding="utf-8").splitlines()
    assert set(part) < set(SENTENCES)
    assert len(part) == 12
    model_of_the_whole = place.tries()[1]
    settings = open_run(place.run_folder("test", model_of_the_whole)).settings
    assert settings["model"] != open_run(place.run_folder("test", place.tries()[0])).settings["model"]
    assert settings["index"] == open_run(place.run_folder("test", place.tries()[0])).settings["index"]
    pieces = place.pieces("test", place.whole)
    assert pieces is not None
    assert len(pieces) == sum(-(-len(line.split()) // 4) for line in REFERENCES)
    assert read_json(place.coverage_file("test", place.whole))["rules"] == ["3-4", "2-4"]
    text = (runs / "tiny" / "results.md").read_text(encoding="utf-8")
    for expected in ("| 360 ", "## Set test", "rules 3-4, %", "model of the whole", "no more than an indication"):
        assert expected in text
    assert (runs / "tiny" / "text-size.svg").read_text(encoding="utf-8").startswith("<?xml")
    capsys.readouterr()
    assert main(["tiny", "--estimate"], folder=tmp_path, runs=runs) == 0
    count = len(place.steps)
    assert f"{count} of {count} steps are done" in capsys.readouterr().out
