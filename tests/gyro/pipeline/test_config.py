"""Configurations of whole runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.pipeline.config import BUILT_IN, load_config
from rescoring.mbr_stage import MbrStage
from rescoring.neural_stage import NeuralStage
from rescoring.ngram_stage import NgramStage


def test_the_built_in_configuration_loads() -> None:
    config = load_config()
    assert config.source == BUILT_IN
    assert config.generate.algorithm == "exact"
    assert config.text.normalisation.tokenizer == "spacy-en"


def test_tables_that_are_missing_have_defaults(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('[run]\nfolder = "out"\n[text]\nfiles = ["a"]\n[bags]\nreferences = ["b"]\n')
    config = load_config(file)
    assert (config.index.order, config.lm.order, config.run.jobs) == (5, 4, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[run", "not TOML"),
        ('[run]\nfolder = "x"\n', r"\[text\] is missing"),
        ("[runs]\n", r"\[runs\]; allowed are \[run\]"),
        (BUILT_IN.replace("jobs = 2", 'jobs = "2"'), "jobs = '2'"),
        (BUILT_IN.replace("jobs = 2", "job = 2"), "'job' in"),
        (BUILT_IN.replace('"exact"', '"exakt"'), "'exakt'"),
        (BUILT_IN.replace("weights = [0.4]", 'weights = ["0.4"]'), "a list of float"),
        (
            BUILT_IN.replace("[mbr]", "[mt]").replace("scale = 0.1\nprune = 30.0", 'file = "x"'),
            r"\[mt\] goes with \[mbr\]",
        ),
        ("run = 3\n", r"\[run\]; allowed"),
        (BUILT_IN.replace("weight = 2.5", "weight = 0.0"), "found the weight 0.0 of the neural model"),
        (BUILT_IN.replace("budget = 120", "budget = -1"), "found a budget of -1 pieces a word"),
        (BUILT_IN.replace("budget = 120", "buget = 120"), "'buget' in"),
        (BUILT_IN.replace('memory = "1G"', 'memory = "1Q"'), "'1Q'"),
    ],
)
def test_a_wrong_configuration_is_one_line_with_the_file(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "run.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as raised:
        load_config(file)
    assert str(raised.value).startswith(f"{file}: ")
    assert "\n" not in str(raised.value)


def test_a_second_file_changes_values_of_the_first(tmp_path: Path) -> None:
    first, second = tmp_path / "run.toml", tmp_path / "tuned.toml"
    first.write_text(BUILT_IN)
    second.write_text("[rescore]\nkeep = 0\nweights = [1]\n[mbr]\nscale = 0.7\n")
    config = load_config(first, second)
    assert list(config.stages) == ["rescore", "dependency", "neural", "mbr"]
    assert config.stages["rescore"] == NgramStage(["stupid-backoff:5"], [1.0], 0.0)
    assert config.stages["mbr"] == MbrStage(scale=0.7, prune=30.0)
    assert config.stages["neural"] == NeuralStage("default", nbest=50, budget=120)
    assert config.generate == load_config(first).generate


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no\.toml: cannot read"):
        load_config(tmp_path / "no.toml")
