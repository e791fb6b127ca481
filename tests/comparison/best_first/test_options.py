"""The options of the best-first decoder: what they say when nothing is said, and one line for each mistake."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from comparison.best_first import options
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.learner import METHODS
from comparison.best_first.model import BestFirstModel, ModelSettings, save_model
from comparison.best_first.system import GenerationSettings
from comparison.best_first.template import TEMPLATE_SETS
from gyro.errors import InputError
from lm.kenlm.model import KenlmModel
from tests.refusal import error_line

Models = Callable[[int], KenlmModel]


@pytest.fixture(scope="module")
def saved(learned: BestFirstModel, dependency: DependencyGrammar, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model."""
    folder = tmp_path_factory.mktemp("saved") / "model"
    save_model(folder, dependency, learned.weights, learned.settings, {})
    return folder


def training(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    options.add_training_arguments(parser)
    return parser.parse_args(["bank.conllu", "-o", "model", *words])


def generation(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    options.add_arguments(parser)
    return parser.parse_args(words)


def test_without_options_all_settings_are_the_usual_ones() -> None:
    assert options.model_settings(training(), None) == ModelSettings()
    found = vars(generation())
    assert {name: found[name] for name in asdict(GenerationSettings())} == asdict(GenerationSettings())


# What each option of training changes in the settings, and that it changes nothing else.
CHANGES: list[tuple[str, dict[str, Any]]] = [
    *((f"--method {method}", {"method": method}) for method in METHODS),
    ("--iterations 7 --budget 100 --bits 10 --seed 3", {"iterations": 7, "budget": 100, "bits": 10, "seed": 3}),
    ("--beam 5 --by-size", {"beam": 5, "by_size": True}),
    ("--drop-leaves", {"keep_leaves": False}),
    ("--variants 4", {"variants": 4}),
    ("--no-dp", {"dp": False}),
    ("--templates ours", {"templates": "ours"}),
    ("--step 0.5", {"step": 0.5}),
    ("--no-cap", {"step": 0.0}),
    (
        "--method perceptron --by-size --no-average",
        {"method": "perceptron", "by_size": True, "average": False},
    ),
    ("--pos none", {"given": ()}),
    ("--heads", {"given": ("pos", "heads")}),
    ("--pos none --heads --units base-np", {"given": ("heads", "units")}),
    ("--labels", {"labels": True}),
    ("--tags upos", {"tags": "upos"}),
    ("--lemmas", {"given": ("pos", "heads", "lemmas"), "labels": True, "tags": "upos"}),
    ("--lemmas --tags xpos --pos none", {"given": ("heads", "lemmas"), "labels": True}),
    ("--grammar ccg", {"grammar": "ccg"}),
    ("--grammar ccg --no-dp --cutoff 0 --tagger-cutoff 0.1", {"grammar": "ccg", "dp": False, "cutoff": 0, "beta": 0.1}),
    ("--lm-weight 0.5", {}),  # there is no model that it could be the weight of
]


@pytest.mark.parametrize(("words", "changes"), CHANGES)
def test_what_an_option_of_training_changes(words: str, changes: dict[str, Any]) -> None:
    assert options.model_settings(training(*words.split()), None) == replace(ModelSettings(), **changes)


@pytest.mark.parametrize(("words", "weight"), [("", 0.2), ("--lm-weight 0.5", 0.5), ("--lm-weight 0", 0.0)])
def test_a_language_model_is_known_by_its_signature(words: str, weight: float, language_models: Models) -> None:
    model = language_models(2)
    found = options.model_settings(training(*words.split()), model)
    assert found == ModelSettings(lm=model.signature, lm_weight=weight)


@pytest.mark.parametrize("add", [options.add_arguments, options.add_training_arguments])
def test_the_help_tells_the_values_in_force(add: Callable[[argparse.ArgumentParser], None]) -> None:
    parser = argparse.ArgumentParser()
    add(parser)
    told = 0
    for action in parser._actions:
        found = re.search(r"default:? ([\d.]+)\)?$|\((\d+)\)$", action.help or "")
        if found:
            assert action.default == float(found[1] or found[2]), action.help
            told += 1
    assert told >= 2


def test_the_methods_are_those_of_the_learner() -> None:
    """They are said again there, so that the help comes without compiled code."""
    assert sorted(options.METHODS) == sorted(METHODS)


def test_sets_of_templates_are_those_of_the_features() -> None:
    assert options.TEMPLATE_SETS == TEMPLATE_SETS
    assert options.TEMPLATE_SETS[0] == ModelSettings().templates


def test_a_system_has_what_its_options_say(saved: Path, learned: BestFirstModel) -> None:
    words = "--goals 4 --beam 9 --time-limit 2.5 --edge-limit 77 --complete"
    system = options.open_system(generation("--model", str(saved), *words.split()))
    assert system.settings == GenerationSettings(2.5, 77, 4, 9, True)
    assert (system.decoder.options.goals, system.decoder.options.beam) == (4, 9)
    assert system.decoder.limits == (2.5, 77)
    assert system.model.settings == learned.settings
    assert system.language_model is None
    assert options.open_system(generation("--model", str(saved))).decoder.options.beam == learned.settings.beam


def test_the_language_model_may_come_from_the_environment(
    saved: Path, language_models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = (str(language_models(order).path) for order in (2, 3))
    monkeypatch.setenv("GYRO_LM", path)
    assert generation().lm == path
    assert generation("--lm", other).lm == other
    system = options.open_system(generation("--model", str(saved)))
    assert system.language_model is not None
    assert system.language_model.signature == language_models(2).signature
    assert training().lm is None  # a model is trained with what the command says


@pytest.mark.parametrize("name", ["limit", "dev-sample", "jobs"])
def test_numbers_of_training_are_checked_before_any_work(name: str) -> None:
    for number in ("0", "-3"):
        with pytest.raises(InputError, match=f"^found --{name} {number}; at least 1 is allowed$"):
            options.train_system(training(f"--{name}={number}"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--grammar", "ccg", "--heads"], "--heads, --labels and --lemmas go with --grammar dependency"),
        (["--grammar", "ccg", "--labels"], "--heads, --labels and --lemmas go with --grammar dependency"),
        (["--grammar", "ccg", "--lemmas"], "--heads, --labels and --lemmas go with --grammar dependency"),
        (["--tagger-cutoff", "0.1"], "--tagger-cutoff goes with --grammar ccg"),
        (["--beta", "0.1"], "found --beta, which has another name here: --tagger-cutoff"),
        (["--grammar", "ccg", "--tagger-cutoff=-0.1"], "found beta -0.1; at least 0 is allowed"),
        (["--lemmas", "--units", "base-np"], "--units and --lemmas do not go together"),
        (["--grammar", "ccg", "--templates", "all"], "--templates goes with --grammar dependency"),
        (["--templates", "none"], "invalid choice: 'none'"),
        (["--variants=-1"], "found variants -1; at least 0 is allowed"),
        (["--step=-1"], "found step -1.0; at least 0 is allowed"),
        (["--patience=-1"], "found --patience -1; at least 0 is allowed"),
        (["--patience", "2"], "--patience goes with --dev"),
        (["--limit", "0"], "found --limit 0; at least 1 is allowed"),
        (["--beam", "0"], "found beam 0; at least 1 is allowed"),
        (["--iterations", "0"], "found iterations 0; at least 1 is allowed"),
        (["--budget", "99"], "found budget 99; at least 100 is allowed"),
        (["--seed=-1"], "found seed -1; at least 0 is allowed"),
        (["--bits", "50"], "found 50 bits; 10 to 28 are allowed"),
        (["--method", "svm"], "invalid choice: 'svm'"),
        (["--lm", "nowhere.lm"], "nowhere.lm: no such file"),
        (["--dev", "nowhere.conllu"], "nowhere.conllu"),
    ],
)
def test_mistakes_of_training(
    options: list[str], message: str, conllu_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", "best-first", str(conllu_file), "-o", str(tmp_path / "model"), *options]
    assert message in error_line(capsys, command)


def test_mistakes_of_generation(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bags = tmp_path / "bags.txt"
    bags.write_text("the dog barks\n")
    command = ["generate", str(bags), "--system", "best-first", "-o", str(tmp_path / "run")]
    assert "--model MODEL is needed: a folder that gyro train wrote" in error_line(capsys, command)
    assert "no model.json here" in error_line(capsys, [*command, "--model", str(tmp_path)])
    known = [*command, "--model", str(saved)]
    assert "found the time limit 0.0" in error_line(capsys, [*known, "--time-limit", "0"])
    assert "found goals 0" in error_line(capsys, [*known, "--goals", "0"])
    assert "found n-best lists of 0" in error_line(capsys, [*known, "-n", "0"])
