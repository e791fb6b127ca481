"""The options: what they say when nothing is said, a run from the command line, one line for each mistake."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from comparison.transition import options
from comparison.transition.model import TransitionModel, TransitionSettings, read_settings, save_model
from comparison.transition.system import GenerationSettings
from gyro.cli import main
from gyro.run.folder import open_run
from lm.kenlm.model import KenlmModel
from tests.comparison.transition.bank import trees
from tests.refusal import error_line


def training(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    options.add_training_arguments(parser)
    return parser.parse_args(["bank.conllu", "-o", "model", *words])


def generation(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    options.add_arguments(parser)
    return parser.parse_args(words)


def test_without_options_all_settings_are_the_usual_ones() -> None:
    assert options.model_settings(training(), None) == TransitionSettings()
    found = generation()
    assert GenerationSettings(found.beam, found.trees) == GenerationSettings()


CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("--beam 5 --iterations 7 --patience 2 --seed 3", {"beam": 5, "iterations": 7, "patience": 2, "seed": 3}),
    ("--bits 10 --templates zgen --shift-tags", {"bits": 10, "templates": "zgen", "shift_tags": True}),
    ("--pos none", {"given": ()}),
    ("--heads --units base-np --tags upos", {"given": ("pos", "heads", "units"), "tags": "upos"}),
]


@pytest.mark.parametrize(("words", "changes"), CHANGES)
def test_what_an_option_of_training_changes(words: str, changes: dict[str, Any]) -> None:
    assert options.model_settings(training(*words.split()), None) == replace(TransitionSettings(), **changes)


@pytest.mark.parametrize(("words", "bins"), [("", "lexical"), ("--bare-bins", "bare"), ("--bins both", "both")])
def test_bins_go_with_a_language_model(words: str, bins: str, model: KenlmModel) -> None:
    found = options.model_settings(training(*words.split()), model)
    assert found == TransitionSettings(lm=model.signature, bins=bins)


@pytest.mark.parametrize("lm", [False, True])
def test_from_a_treebank_to_ordered_bags(lm: bool, conllu_file: Path, model: KenlmModel, tmp_path: Path) -> None:
    with_lm = ["--lm", str(model.path), "--bins", "both", "--lm-weight", "1"] if lm else []
    learning = ["--beam", "4", "--bits", "14", "--iterations", "3", "--pos", "none", "--dev", str(conllu_file)]
    folder = tmp_path / "model"
    assert main(["train", "transition", str(conllu_file), "-o", str(folder), *learning, *with_lm]) == 0
    assert read_settings(folder).settings.lm == (model.signature if lm else "")
    bags = tmp_path / "bags.txt"
    bags.write_text("".join(" ".join(sorted(tree.forms)) + "\n" for tree in trees()))
    command = ["generate", str(bags), "--system", "transition", "--model", str(folder), "-o", str(tmp_path / "run")]
    assert main([*command, *with_lm[:2], "--beam", "16"]) == 0
    found = open_run(tmp_path / "run").best()
    assert sum(words == " ".join(tree.forms) for words, tree in zip(found, trees(), strict=True)) >= 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--limit", "0"], "found --limit 0; at least 1 is allowed"),
        (["--jobs", "0"], "found --jobs 0; at least 1 is allowed"),
        (["--beam", "0"], "found beam 0; at least 1 is allowed"),
        (["--bits", "50"], "found 50 bits; 10 to 28 are allowed"),
        (["--patience", "2"], "--patience goes with --dev"),
        (["--bare-bins"], "found --bins bare without --lm MODEL"),
        (["--lm-weight", "2"], "found --lm-weight 2.0 without --lm MODEL"),
        (["--templates", "x"], "invalid choice: 'x'"),
        (["--lm", "nowhere.lm"], "nowhere.lm: no such file"),
        (["--dev", "nowhere.conllu"], "nowhere.conllu"),
    ],
)
def test_mistakes_of_training(
    words: list[str], message: str, conllu_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", "transition", str(conllu_file), "-o", str(tmp_path / "model"), *words]
    assert message in error_line(capsys, command)


def test_mistakes_of_generation(learned: TransitionModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bags = tmp_path / "bags.txt"
    bags.write_text("the dog barks\n")
    save_model(tmp_path / "saved", learned.grammar, learned.weights, learned.settings, {})
    command = ["generate", str(bags), "--system", "transition", "-o", str(tmp_path / "run")]
    assert "--model MODEL is needed" in error_line(capsys, command)
    assert "no model.json here" in error_line(capsys, [*command, "--model", str(tmp_path)])
    assert "found beam -1" in error_line(capsys, [*command, "--model", str(tmp_path / "saved"), "--beam", "-1"])
