"""Training: what is stopped goes on to the same bits, the folder holds the best model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from comparison.learning import training
from comparison.learning.development import DevScore
from comparison.learning.training import Treebank, read_history
from comparison.transition.model import TransitionModel, TransitionSettings, load_model
from comparison.transition.oracle import Example
from comparison.transition.training import train
from comparison.transition.treebank import TrainingSet, development_bags, read_training
from gyro.errors import InputError
from lm.kenlm.model import KenlmModel

SETTINGS = TransitionSettings(bits=14, iterations=3, beam=4)


def silent(_: str) -> None:
    pass


@pytest.fixture(scope="module", params=["words", "lm"])
def material(
    request: pytest.FixtureRequest, conllu_file: Path, model: KenlmModel
) -> tuple[TransitionSettings, TrainingSet]:
    if request.param == "words":
        return SETTINGS, read_training([conllu_file], SETTINGS)
    settings = replace(SETTINGS, lm=model.signature, bins="both", shift_tags=True, templates="zgen")
    return settings, read_training([conllu_file], settings, model=model)


@pytest.fixture(autouse=True)
def _no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take most of the time, and have tests of their own."""
    monkeypatch.setattr(training, "write_plot", lambda _path, _history: None)


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


@pytest.mark.parametrize("after", [1, 5, 14])
def test_a_training_that_was_stopped_gives_the_same_model(
    after: int, material: tuple[TransitionSettings, TrainingSet], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, (grammar, treebank, _) = material
    train(treebank, grammar, settings, tmp_path / "whole", report=silent)
    monkeypatch.setattr(training, "_SENTENCES_PER_CHECKPOINT", 4)
    with pytest.raises(KeyboardInterrupt):
        train(interrupted(treebank, after), grammar, settings, tmp_path / "parts", report=silent)
    train(treebank, grammar, settings, tmp_path / "parts", report=silent)
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == names
    for name in ("weights.npz", "grammar.json", names[0]):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_a_model_is_read_as_it_was_written(material: tuple[TransitionSettings, TrainingSet], tmp_path: Path) -> None:
    settings, (grammar, treebank, _) = material
    seen: list[TransitionModel] = []

    def evaluate(found: TransitionModel) -> DevScore:
        seen.append(found)
        return DevScore(float(5 - len(seen)), 1.0, 0.0, 0.1)

    train(treebank, grammar, settings, tmp_path, evaluate=evaluate, report=silent)
    read = load_model(tmp_path)
    assert np.array_equal(read.weights, seen[0].weights)  # the first was the best
    assert np.any(seen[2].weights != seen[0].weights)
    assert read.grammar == grammar
    assert read.settings == settings
    assert [iteration.number for iteration in read_history(tmp_path)] == [1, 2, 3]


def test_other_settings_are_another_training(material: tuple[TransitionSettings, TrainingSet], tmp_path: Path) -> None:
    settings, (grammar, treebank, _) = material
    train(treebank, grammar, replace(settings, iterations=1), tmp_path, report=silent)
    train(treebank, grammar, replace(settings, iterations=2, patience=1), tmp_path, report=silent)  # longer is allowed
    with pytest.raises(InputError, match="holds another training"):
        train(treebank, grammar, replace(settings, beam=5), tmp_path, report=silent)


def test_a_limit_draws_sentences_and_more_have_the_same(conllu_file: Path) -> None:
    def forms(limit: int) -> set[str]:
        _, treebank, note = read_training([conllu_file], SETTINGS, limit=limit)
        assert note.endswith(f"; {limit} of them drawn")
        assert treebank.size == limit
        examples = [treebank.example(number) for number in range(limit)]
        return {" ".join(r.words[0] for r in example.prepared.readings) for example in examples if example}

    assert forms(2) < forms(3) < forms(5)


def test_development_bags_have_what_training_was_given(conllu_file: Path) -> None:
    found = development_bags([conllu_file], replace(SETTINGS, given=("heads", "units")), sample=3)
    assert len(found) == 3
    assert all(bag.pos is None and bag.heads is not None for bag in found)
    assert any(bag.units for bag in development_bags([conllu_file], replace(SETTINGS, given=("units",)), sample=6))


def test_a_treebank_without_projective_trees_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "crossing.conllu"
    heads = (3, 4, 0, 3)
    path.write_text("".join(f"{i}\tw{i}\t_\t_\t_\t_\t{h}\t_\t_\t_\n" for i, h in enumerate(heads, 1)) + "\n")
    with pytest.raises(InputError, match="found no projective tree to learn from"):
        read_training([path], SETTINGS)
