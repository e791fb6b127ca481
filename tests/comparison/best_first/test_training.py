from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comparison.best_first.learner import Example
from comparison.best_first.model import BestFirstModel, ModelSettings, load_model
from comparison.best_first.training import train
from comparison.best_first.treebank import TrainingSet, ccg_training, dependency_training
from comparison.learning import training
from comparison.learning.development import DevScore
from comparison.learning.training import Treebank, read_history
from gyro.errors import InputError

SETTINGS = {
    "dependency": ModelSettings(bits=14, iterations=2, budget=5000),
    "ccg": ModelSettings(grammar="ccg", bits=14, iterations=2, budget=5000, cutoff=0),
}

Material = tuple[ModelSettings, TrainingSet]


def silent(_: str) -> None:
    pass


@pytest.fixture(scope="module", params=SETTINGS)
def material(request: pytest.FixtureRequest, conllu_file: Path, auto_file: Path) -> Material:
    settings = SETTINGS[request.param]
    if request.param == "ccg":
        return settings, ccg_training([auto_file], settings)
    return settings, dependency_training([conllu_file], settings)


@pytest.fixture(scope="module")
def whole(material: Material, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training that nobody stopped."""
    settings, (grammar, treebank, *_) = material
    folder = tmp_path_factory.mktemp("whole")
    train(treebank, grammar, settings, folder, report=silent)
    return folder


def interrupted(treebank: Treebank[Example], after: int) -> Treebank[Example]:
    """The same treebank, but somebody stops the training at its (after + 1)th sentence."""
    asked = 0

    def example(number: int) -> Example | None:
        nonlocal asked
        asked += 1
        if asked > after:
            raise KeyboardInterrupt
        return treebank.example(number)

    return treebank._replace(example=example)


@pytest.mark.parametrize("after", [1, 5, 13])
def test_a_training_that_was_stopped_gives_the_same_model(
    after: int, material: Material, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, (grammar, treebank, *_) = material
    monkeypatch.setattr(training, "_SENTENCES_PER_CHECKPOINT", 3)
    with pytest.raises(KeyboardInterrupt):
        train(interrupted(treebank, after), grammar, settings, tmp_path, report=silent)
    found = train(treebank, grammar, settings, tmp_path, report=silent)
    assert [replace(i, seconds=0.0) for i in found] == [replace(i, seconds=0.0) for i in read_history(whole)]
    ours, theirs = load_model(tmp_path), load_model(whole)
    assert ours.weights.any()
    assert ours.weights.tobytes() == theirs.weights.tobytes()
    assert ours.signature == theirs.signature
    checkpoints = [sorted(folder.glob("checkpoint-*.npz")) for folder in (tmp_path, whole)]
    assert [len(files) for files in checkpoints] == [1, 1]
    with np.load(checkpoints[0][0], allow_pickle=False) as a, np.load(checkpoints[1][0], allow_pickle=False) as b:
        assert all(a[name].tobytes() == b[name].tobytes() for name in ("weights", "totals"))


def test_more_iterations_go_on_where_the_training_was(material: Material, whole: Path, tmp_path: Path) -> None:
    settings, (grammar, treebank, *_) = material
    train(treebank, grammar, replace(settings, iterations=1), tmp_path, report=silent)
    train(treebank, grammar, settings, tmp_path, report=silent)
    assert load_model(tmp_path).signature == load_model(whole).signature
    assert len(read_history(tmp_path)) == 2
    assert len(train(treebank, grammar, settings, tmp_path, report=silent)) == 2  # nothing is left to do


@pytest.mark.parametrize("change", [{"seed": 1}, {"beam": 8}, {"method": "perceptron"}, {"given": ()}])
def test_a_folder_with_other_settings_is_refused(change: dict[str, Any], material: Material, whole: Path) -> None:
    settings, (grammar, treebank, *_) = material
    with pytest.raises(InputError, match="holds another training; choose another folder, or remove this one"):
        train(treebank, grammar, replace(settings, **change), whole, report=silent)


def test_a_folder_with_another_treebank_is_refused(material: Material, whole: Path) -> None:
    settings, (grammar, treebank, *_) = material
    with pytest.raises(InputError, match="holds another training"):
        train(treebank._replace(signature="other"), grammar, settings, whole, report=silent)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"no weights"])
def test_damaged_weights_of_a_checkpoint(content: bytes, material: Material, whole: Path, tmp_path: Path) -> None:
    settings, (grammar, treebank, *_) = material
    shutil.copytree(whole, tmp_path / "copy")
    next((tmp_path / "copy").glob("checkpoint-*.npz")).write_bytes(content)
    with pytest.raises(InputError, match="not the weights of a training"):
        train(treebank, grammar, settings, tmp_path / "copy", report=silent)


def test_the_best_iteration_on_development_data_is_kept(material: Material, tmp_path: Path) -> None:
    settings, (grammar, treebank, *_) = material
    bleu = iter([30.0, 20.0])
    models: list[BestFirstModel] = []

    def evaluate(model: BestFirstModel) -> DevScore:
        models.append(model)
        return DevScore(next(bleu), 1.0, 0.0, 0.1)

    lines: list[str] = []
    history = train(treebank, grammar, settings, tmp_path, evaluate=evaluate, report=lines.append)
    assert [iteration.dev_bleu for iteration in history] == [30.0, 20.0]
    assert load_model(tmp_path).weights.tobytes() == models[0].weights.tobytes()
    assert json.loads((tmp_path / "model.json").read_text())["facts"]["iteration"]["number"] == 1
    assert len(lines) == 2
    assert all("dev BLEU" in line and "\n" not in line for line in lines)
    assert read_history(tmp_path) == history
    assert (tmp_path / "training.svg").read_text().lstrip().startswith("<?xml")


def test_a_training_ends_when_the_development_score_has_settled(material: Material, tmp_path: Path) -> None:
    settings, (grammar, treebank, *_) = material
    bleu = iter([30.0, 20.0, 25.0, 40.0])

    def evaluate(model: BestFirstModel) -> DevScore:
        return DevScore(next(bleu), 1.0, 0.0, 0.1)

    longer = replace(settings, iterations=4)
    history = train(treebank, grammar, longer, tmp_path, evaluate=evaluate, patience=2, report=silent)
    assert [iteration.dev_bleu for iteration in history] == [30.0, 20.0, 25.0]


def test_settings_of_the_learner_reach_it(material: Material, tmp_path: Path) -> None:
    settings, (grammar, treebank, *_) = material
    folders = []
    for name, change in {"last": {"average": False}, "mean": {}, "small": {"step": 0.01}}.items():
        folders.append(tmp_path / name)
        train(treebank, grammar, replace(settings, **change), folders[-1], report=silent)
    assert len({load_model(folder).weights.tobytes() for folder in folders}) == 3


def test_a_treebank_that_the_grammar_cannot_derive(material: Material, tmp_path: Path) -> None:
    settings, (grammar, treebank, *_) = material
    with pytest.raises(InputError, match="found no sentence that something can be learned from"):
        train(treebank._replace(example=lambda _: None), grammar, settings, tmp_path, report=silent)
