"""Descriptions of experiments: those that are here, and every mistake as one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.__main__ import DESCRIPTIONS, main
from experiments.description import find_experiments, load_experiment
from gyro.errors import InputError
from gyro.search.settings import ALGORITHMS
from rescoring.stage import STAGES
from tests.experiments.tiny import PLAIN, TINY, write


def test_the_experiments_here_are_as_they_should_be() -> None:
    found = find_experiments(DESCRIPTIONS)
    for path in found.values():
        assert load_experiment(path).sample >= 300
    for name in ("embedded", "news"):
        experiment = load_experiment(found[name])
        assert experiment.sample == 300
        assert experiment.model_orders() == [3, 4, 5]
        assert {setting.generate.algorithm for setting in experiment.settings} == {*ALGORITHMS} - {"beam"}
        assert all(setting.generate.max_tokens == 20 for setting in experiment.settings)
        assert all(setting.generate.steps == 30_000 for setting in experiment.settings)
        assert {stage.kind for stage in experiment.stages} >= {*STAGES} - {"neural"}
        assert any(stage.tuning.needs_mt for stage in experiment.stages) == (name == "news")


def test_configurations_of_whole_runs_are_no_experiments(tmp_path: Path) -> None:
    path = write(tmp_path, PLAIN)
    (tmp_path / "whole.toml").write_text('[run]\nfolder = "runs/whole"\n')
    (tmp_path / "broken.toml").write_text("title =")
    assert find_experiments(tmp_path) == {"broken": tmp_path / "broken.toml", "tiny": path}


SCALES = "scale = [0.3, 1.0]"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "Tiny"', "titel = 1", "found 'titel'; allowed are title"),
        ('title = "Tiny"', "title = 1", "found title = 1; str is allowed"),
        ('title = "Tiny"', "title =", "cannot read"),
        ('development = "dev"', 'development = "tune"', "found the development set 'tune'; allowed are 'dev', 'test'"),
        ('development = "dev"', 'baseline = "best"', "found the baseline 'best'; allowed are 'exact, soft'"),
        ("sample = 6", "sample = 0", "found sample = 0; at least 1 is allowed"),
        ("sample = 6", 'sample = "all"', "found sample = 'all'; int is allowed"),
        ("shortest = 5", "short = 5", "found the key 'short' in [sets.dev]"),
        ("[[settings]]", "[settings]", "cannot read"),
        ('name = "full, short"', 'name = "Exact: soft"', "found the name 'Exact: soft' twice"),
        ("longest = 8", 'longest = "8"', "found longest = '8' in [[settings]] 2; int is allowed"),
        ('sets = ["test"]', 'sets = ["tests"]', "found the set 'tests' of 'full, short'; allowed are 'dev', 'test'"),
        ('algorithm = "full"', 'algorithm = "fast"', "(full, short): found the algorithm 'fast'"),
        ('algorithm = "full", rules = "1"', 'rules = "1-5"', "the rules of 'full, short' need an index of order 5"),
        ("lm = 2", "lm = 9", "found lm = 9 of 'full, short'; orders from 1 to 6 are allowed"),
        (
            'kind = "ngram"',
            'kind = "n"',
            "found the kind 'n' in [[stages]] 1; allowed are ngram, dependency, neural, mbr",
        ),
        ('"kenlm:2"', '"kenlm"', "found the model 'kenlm'; kenlm:ORDER and stupid-backoff:ORDER are allowed"),
        ('source = "exact, soft"', 'source = "+LMBR"', "found the source '+LMBR' of '+2g'; allowed are"),
        ('source = "exact, soft"', 'source = "full, short"', "'+2g' cannot be tuned: 'dev' is not among its sets"),
        (
            SCALES,
            'sets = ["tests"]',
            "found the set 'tests' of '+LMBR'; allowed are 'dev', 'test', those of its source",
        ),
        (SCALES, 'development = "tune"', "found the development set 'tune' of '+LMBR'; allowed are 'dev', 'test'"),
        (SCALES, 'values_of = "+2g"', "found values_of = '+2g' of '+LMBR'; allowed are none, the stages of its kind"),
        (SCALES, 'values_of = "+LMBR-MT"', "found values_of = '+LMBR-MT' of '+LMBR'; allowed are none"),
        ("sample = 6", 'gains = [["+2g"]]', "found ['+2g'] in gains; pairs of names, without and with, are allowed"),
        ("sample = 6", 'gains = [["+2g", "+3g"]]', "found '+3g' in gains; allowed are 'exact, soft'"),
        ("sample = 6", 'gains = "+2g"', "found '+2g' in gains; pairs of names"),
        ("scale = [0.3, 1.0]", "scale = [-1]", "found the MBR parameter scale = -1"),
        ("scale = [0.3, 1.0]", "scale = []", "'+LMBR': found no values for scale"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TINY.format(mt="mt.jsonl")
    assert old in text
    path = write(tmp_path, text.replace(old, new, 1))
    with pytest.raises(InputError, match=r"tiny\.toml: ") as caught:
        load_experiment(path)
    assert message in str(caught.value)
    assert main([], folder=tmp_path, runs=tmp_path / "runs") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_a_stage_with_mt_needs_a_development_set_with_mt(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'\+LMBR-MT' cannot be tuned"):
        load_experiment(write(tmp_path, PLAIN))
