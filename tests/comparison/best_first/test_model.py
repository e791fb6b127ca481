from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.model import ModelSettings, kernel_options, load_model, read_settings, save_model
from grammars.conllu import ConlluSentence
from gyro.errors import InputError

SETTINGS = {"dependency": ModelSettings(bits=14), "ccg": ModelSettings(grammar="ccg", bits=14, dp=False)}


@pytest.fixture(params=["dependency", "ccg", "labelled", "rich"])
def grammar(request: pytest.FixtureRequest) -> DependencyGrammar | CcgInventory:
    if request.param == "rich":
        trees: list[ConlluSentence] = request.getfixturevalue("tree_bank")
        return DependencyGrammar.from_trees(trees, templates="table2", dp=True)
    found: DependencyGrammar | CcgInventory
    found = request.getfixturevalue({"ccg": "inventory"}.get(request.param, request.param))
    return found


def some_weights() -> Any:
    weights = np.zeros(1 << 14, dtype=np.float32)
    weights[[0, 5, 1000, (1 << 14) - 1]] = 0.1, -2.5, 1e-30, 3e7
    return weights


def test_a_model_comes_back(grammar: DependencyGrammar | CcgInventory, tmp_path: Path) -> None:
    settings, weights = SETTINGS[grammar.name], some_weights()
    signature = save_model(tmp_path, grammar, weights, settings, {"made": "here"})
    model = load_model(tmp_path)
    assert model.grammar == grammar
    assert model.settings == settings
    assert model.signature == signature == read_settings(tmp_path).signature
    assert model.weights.tobytes() == weights.tobytes()
    assert model.weights.dtype == np.float32
    assert save_model(tmp_path / "again", model.grammar, model.weights, settings, {}) == signature
    weights[7] = 1.0
    assert save_model(tmp_path / "other", grammar, weights, settings, {}) != signature


def test_files_are_plain(dependency: DependencyGrammar, tmp_path: Path) -> None:
    save_model(tmp_path, dependency, some_weights(), SETTINGS["dependency"], {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grammar.json", "model.json", "weights.npz"]
    with np.load(tmp_path / "weights.npz", allow_pickle=False) as arrays:
        assert dict(zip(arrays["places"].tolist(), arrays["values"].tolist(), strict=True)).keys() == {
            0,
            5,
            1000,
            (1 << 14) - 1,
        }
    assert json.loads((tmp_path / "model.json").read_text())["settings"]["bits"] == 14


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("model.json", b"", "not a JSON file"),
        ("model.json", b"{}", "found None; 'gyro best-first model' version 2 is allowed"),
        ("model.json", b"[]", "found JSON that is not an object"),
        ("model.json", None, "no model.json here; a folder that gyro train wrote is needed"),
        ("grammar.json", b"{", "not a JSON file"),
        ("grammar.json", None, "cannot read"),
        ("weights.npz", None, "not the weights of a model"),
        ("weights.npz", b"", "not the weights of a model"),
        ("weights.npz", b"PK\x03\x04 and no more", "not the weights of a model"),
        ("weights.npz", pickle.dumps([1, 2]), "not the weights of a model"),
    ],
)
def test_damaged_files(
    name: str, content: bytes | None, message: str, dependency: DependencyGrammar, tmp_path: Path
) -> None:
    save_model(tmp_path, dependency, some_weights(), SETTINGS["dependency"], {})
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        load_model(tmp_path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("grammar.json", {"pairs": None}),
        ("grammar.json", {"templates": None}),
        ("grammar.json", {"dictionary": {}}),
        ("model.json", {"settings": []}),
        ("model.json", {"settings": {"beam": "many"}}),
    ],
)
def test_damage_inside_json(name: str, change: dict[str, Any], dependency: DependencyGrammar, tmp_path: Path) -> None:
    save_model(tmp_path, dependency, some_weights(), SETTINGS["dependency"], {})
    value = {**json.loads((tmp_path / name).read_text()), **change}
    (tmp_path / name).write_text(json.dumps(value))
    with pytest.raises(InputError):
        load_model(tmp_path)


def test_arrays_that_do_not_fit_are_refused(dependency: DependencyGrammar, tmp_path: Path) -> None:
    save_model(tmp_path, dependency, some_weights(), SETTINGS["dependency"], {})
    for arrays in (
        {"places": np.array([1 << 14]), "values": np.ones(1)},
        {"places": np.array([1, 2]), "values": np.ones(3)},
        {"places": np.array([1.5]), "values": np.ones(1)},
        {"places": np.array([1])},
        {"places": np.array([object()]), "values": np.ones(1)},
    ):
        np.savez(tmp_path / "weights.npz", **arrays)
        with pytest.raises(InputError, match="not the weights of a model"):
            load_model(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grammar": "hpsg"}, "found the grammar 'hpsg'; allowed are ccg, dependency"),
        ({"method": "svm"}, "found the method 'svm'; allowed are perceptron"),
        ({"tags": "pos"}, "found the tags 'pos'; allowed are xpos, upos"),
        ({"given": ("trees",)}, "found 'trees' as given; allowed are pos, heads, units and lemmas"),
        ({"templates": "theirs"}, "found the templates 'theirs'; allowed are table2, ours, all"),
        ({"beam": 0}, "found beam 0; at least 1 is allowed"),
        ({"variants": -1}, "found variants -1; at least 0 is allowed"),
        ({"step": -0.5}, "found step -0.5; at least 0 is allowed"),
        ({"step": float("nan")}, "found step nan"),
        ({"budget": 99}, "found budget 99; at least 100 is allowed"),
        ({"iterations": 0}, "found iterations 0; at least 1 is allowed"),
        ({"cutoff": -1}, "found cutoff -1"),
        ({"beta": -0.1}, "found beta -0.1"),
        ({"beta": float("nan")}, "found beta nan"),
        ({"lm_weight": float("inf")}, "found the weight inf"),
        ({"bits": 9}, "found 9 bits; 10 to 28 are allowed"),
        ({"bits": 29}, "found 29 bits"),
    ],
)
def test_settings_that_are_not_allowed(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ModelSettings(**change)


def test_settings_as_options() -> None:
    options = kernel_options(ModelSettings(method="perceptron", beam=5, by_size=True, lm_weight=0.5), 7)
    assert (options.scaled, options.beam, options.by_size, options.goals, options.lm_weight) == (0, 5, 1, 7, 0.5)
    assert kernel_options(ModelSettings()).scaled == 1
    assert kernel_options(ModelSettings(variants=3)).variants == 3
