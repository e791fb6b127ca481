"""Models as folders: what was written comes back, and what is not whole is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from comparison.learning.model_folder import ModelFormat, read_head, read_model, write_model
from gyro.errors import InputError


@dataclass(frozen=True)
class Settings:
    bits: int = 4
    beam: int = 8


FORMAT = ModelFormat("a model of tests", 3, Settings)
GRAMMAR = {"tags": ["NN", "VB"]}


def weights() -> NDArray[np.float32]:
    found = np.zeros(16, dtype=np.float32)
    found[[0, 7, 15]] = 1.5, -0.1, 3e-20
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_model(tmp_path / "model", FORMAT, GRAMMAR, weights(), Settings(), {"treebank": "here"})
    return tmp_path / "model"


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_a_model_comes_back(folder: Path) -> None:
    stored = read_model(folder, FORMAT)
    assert stored.settings == Settings()
    assert stored.grammar == GRAMMAR
    assert stored.weights.tobytes() == weights().tobytes()
    assert stored.signature == read_head(folder, FORMAT).signature
    assert json.loads((folder / "model.json").read_text())["facts"] == {"treebank": "here"}
    assert sorted(path.name for path in folder.iterdir()) == ["grammar.json", "model.json", "weights.npz"]


def test_the_signature_is_that_of_weights_and_grammar_alone(folder: Path, tmp_path: Path) -> None:
    def write(grammar: dict[str, Any], values: NDArray[np.float32], settings: Settings) -> str:
        return write_model(tmp_path / "other", FORMAT, grammar, values, settings, {})

    first = read_head(folder, FORMAT).signature
    assert write(GRAMMAR, weights(), Settings(beam=9)) == first
    assert write({"tags": ["NN"]}, weights(), Settings()) != first
    assert write(GRAMMAR, weights() * 2, Settings()) != first


def test_settings_of_other_versions_are_passed_over(folder: Path) -> None:
    change(folder / "model.json", settings={"bits": 4, "colour": "blue"})
    assert read_head(folder, FORMAT).settings == Settings()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"format": "another"}, "found 'another'; 'a model of tests' version 3 is allowed"),
        ({"version": 2}, "'a model of tests' version 3 is allowed"),
        ({"settings": {"bits": "four"}}, "settings of a model"),
        ({"settings": None}, "settings of a model"),
        ({"signature": "0"}, "grammar and weights are not those that model.json was written with"),
        ({"settings": {"bits": 3}}, "do not fit to their places"),
    ],
)
def test_another_model_json(values: dict[str, Any], message: str, folder: Path) -> None:
    change(folder / "model.json", **values)
    with pytest.raises(InputError, match=message):
        read_model(folder, FORMAT)


def test_a_grammar_that_was_changed_is_seen(folder: Path) -> None:
    change(folder / "grammar.json", tags=["VB"])
    with pytest.raises(InputError, match=r"not those that model\.json was written with"):
        read_model(folder, FORMAT)


@pytest.mark.parametrize("name", ["model.json", "grammar.json", "weights.npz"])
def test_a_file_that_is_not_there(name: str, folder: Path) -> None:
    (folder / name).unlink()
    with pytest.raises(InputError):
        read_model(folder, FORMAT)
