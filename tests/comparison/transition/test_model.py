"""Folders of models that are damaged, and settings that are not allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from comparison.transition.model import TransitionModel, TransitionSettings, load_model, read_settings, save_model
from gyro.errors import InputError
from gyro.files import read_json, write_json


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"given": ("lemmas",)}, "found 'lemmas' as given; allowed are pos, heads, units"),
        ({"tags": "x"}, "found the tags 'x'; allowed are xpos, upos"),
        ({"templates": "x"}, "found the templates 'x'"),
        ({"bins": "x"}, "found the bins 'x'"),
        ({"beam": 0}, "found beam 0; at least 1 is allowed"),
        ({"iterations": 0}, "found iterations 0"),
        ({"patience": -1}, "found patience -1"),
        ({"seed": -1}, "found seed -1"),
        ({"bits": 9}, "found 9 bits; 10 to 28 are allowed"),
    ],
)
def test_settings_that_are_not_allowed(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TransitionSettings(**changes)


def test_a_damaged_grammar_is_refused(learned: TransitionModel, tmp_path: Path) -> None:
    signature = save_model(tmp_path, learned.grammar, learned.weights, learned.settings, {})
    assert read_settings(tmp_path) == (learned.settings, signature)
    assert load_model(tmp_path).signature == signature
    grammar = read_json(tmp_path / "grammar.json")
    write_json(tmp_path / "grammar.json", {**grammar, "tags": ["NN"]})
    with pytest.raises(InputError, match="not those that"):
        load_model(tmp_path)
    write_json(tmp_path / "model.json", {**read_json(tmp_path / "model.json"), "format": "other"})
    with pytest.raises(InputError, match="found 'other'"):
        read_settings(tmp_path)
