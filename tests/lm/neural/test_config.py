"""The config.json of Hugging Face folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gyro.errors import InputError
from lm.neural.config import Config, read_config
from tests.lm.neural.tiny import FAMILIES, tiny_model


def _read(folder: Path, kind: str, **changes: Any) -> Config:
    (folder / "config.json").write_text(json.dumps(tiny_model(kind).config | changes), encoding="utf-8")
    return read_config(folder / "config.json")


@pytest.mark.parametrize("kind", FAMILIES)
def test_the_size_is_that_of_the_file(kind: str, tmp_path: Path) -> None:
    model, config = tiny_model(kind), _read(tmp_path, kind)
    size, facts = config.size, model.config
    assert config.family == model.family
    assert (size.layers, size.width, size.inner) == (facts["num_hidden_layers"], 32, 64)
    assert (size.heads, size.key_heads, size.head_width) == (4, 2, facts["head_dim"])
    assert (size.vocabulary, size.base, size.epsilon) == (len(model.pieces), facts["rope_theta"], 1e-6)
    assert (size.local_layers, bool(size.factors)) == (6 if kind == "gemma3" else 1, kind == "llama3")


@pytest.mark.parametrize(
    ("value", "mark"), [(7, 7), ([128001, 128008], 128001), (None, None), ([], None), ("x", None), (True, None)]
)
def test_marks_may_be_one_or_several(value: Any, mark: int | None, tmp_path: Path) -> None:
    assert _read(tmp_path, "llama", eos_token_id=value).marks == (0, mark)


def test_what_is_left_out_has_its_usual_value(tmp_path: Path) -> None:
    config = _read(tmp_path, "llama", head_dim=None, num_key_value_heads=None, tie_word_embeddings=None)
    assert (config.size.head_width, config.size.key_heads, config.tied) == (8, 4, False)
    assert _read(tmp_path, "gemma3", tie_word_embeddings=None).tied


@pytest.mark.parametrize(
    ("kind", "changes", "context"),
    [
        ("llama", {}, 512),
        ("qwen2", {"sliding_window": 100, "use_sliding_window": False}, 512),
        ("qwen2", {"sliding_window": 100, "use_sliding_window": True}, 100),
        ("gemma3", {"sliding_window": 128}, 128),
    ],
)
def test_strings_end_with_the_window(kind: str, changes: dict[str, Any], context: int, tmp_path: Path) -> None:
    assert _read(tmp_path, kind, **changes).size.context == context


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layer_types": ["full_attention"] * 7}, "other layer_types than one global layer in 6"),
        ({"sliding_window_pattern": 0}, "found 0 as local_layers of the model"),
        ({"query_pre_attn_scalar": 0}, "that is not a positive number"),
        ({"hidden_activation": "gelu"}, "found the activation 'gelu'; models of gemma3 have gelu_pytorch_tanh"),
        ({"model_type": "gemma3"}, "found a model of the type 'gemma3'; llama, qwen2, qwen3, gemma3_text are read"),
        ({"rope_scaling": []}, "found a list as rope_scaling; an object is read there"),
    ],
)
def test_other_settings_are_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        _read(tmp_path, "gemma3", **changes)
