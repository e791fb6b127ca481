"""Models by name, and Hugging Face folders: the same model as its GGUF file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyro.errors import InputError
from lm.neural.checkpoint import open_checkpoint, read_folder
from lm.neural.gguf_file import read_gguf
from lm.neural.weights import Weights
from tests.lm.neural.tiny import FAMILIES, tiny_model, write_folder, write_gguf

SMALL = 2**-24  # the step between the smallest numbers of float16
TEXTS = ["the cat sat", "They don't know 1984.", "", "naïve \U0001f600 <|endoftext|> </s>"]


def _same(left: Weights, right: Weights, tolerance: float = 0.0) -> bool:
    pairs = [(left.embedding, right.embedding), (left.norm, right.norm), (left.head, right.head)]
    for one, other in zip(left.layers, right.layers, strict=True):
        assert [name for name, part in vars(one).items() if part is None] == [
            name for name, part in vars(other).items() if part is None
        ]
        pairs += [(part, getattr(other, name)) for name, part in vars(one).items() if part is not None]
    return all(
        a.dtype == b.dtype == np.float32 and np.allclose(a, b, rtol=tolerance, atol=SMALL * (tolerance > 0))
        for a, b in pairs
    )


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kind", FAMILIES)
def test_a_folder_and_a_gguf_file_hold_the_same_model(kind: str, tied: bool, tmp_path: Path) -> None:
    model = tiny_model(kind, seed=5, tied=tied)
    folder = open_checkpoint(write_folder(model, tmp_path / "folder"))
    file = open_checkpoint(write_gguf(model, tmp_path / "tiny.gguf"))
    for name in ("family", "layers", "heads", "key_heads", "head_width", "inner", "activation", "longest"):
        assert getattr(folder.shape, name) == getattr(file.shape, name), name
    assert np.allclose(folder.shape.frequencies, file.shape.frequencies, rtol=1e-6)
    assert np.isclose(folder.shape.attention_scale, file.shape.attention_scale)
    assert _same(folder.read_weights(), file.read_weights())
    assert (folder.start, folder.end, folder.marks) == (file.start, file.end, file.marks)
    assert folder.parameters == file.parameters
    assert folder.tokenizer.encode(TEXTS) == file.tokenizer.encode(TEXTS)
    assert folder.signature != file.signature


@pytest.mark.parametrize(("dtype", "tolerance"), [("F16", 2**-11), ("BF16", 2**-8)])
def test_halves_are_read_without_pytorch(dtype: str, tolerance: float, tmp_path: Path) -> None:
    model = tiny_model("qwen3")
    exact = read_folder(write_folder(model, tmp_path / "exact")).read_weights()
    half = read_folder(write_folder(model, tmp_path / "half", dtype))
    assert half.packing == dtype
    assert _same(exact, half.read_weights(), tolerance)
    assert not _same(exact, half.read_weights())


def test_shards_are_one_model(tmp_path: Path) -> None:
    model = tiny_model("gemma3")
    whole, parts = (read_folder(write_folder(model, tmp_path / str(shards), shards=shards)) for shards in (1, 3))
    assert _same(whole.read_weights(), parts.read_weights())
    assert whole.parameters == parts.parameters


def _rewritten(folder: Path, name: str, **changes: Any) -> Path:
    """The folder with values of a JSON file changed; None takes one away."""
    values = json.loads((folder / name).read_text(encoding="utf-8")) | changes
    kept = {key: value for key, value in values.items() if value is not None}
    (folder / name).write_text(json.dumps(kept), encoding="utf-8")
    return folder


LLAMA3 = tiny_model("llama3").config["rope_scaling"]


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("llama", {"rope_theta": None, "rope_parameters": {"rope_theta": 10_000.0, "rope_type": "default"}}),
        ("llama3", {"rope_scaling": None, "rope_parameters": {"rope_theta": 500_000.0, **LLAMA3}}),
        (
            "gemma3",
            {
                "rope_theta": None,
                "rope_local_base_freq": None,
                "sliding_window_pattern": None,
                "layer_types": [*["sliding_attention"] * 5, "full_attention", "sliding_attention"],
                "rope_parameters": {
                    "full_attention": {"rope_theta": 1_000_000.0, "rope_type": "default"},
                    "sliding_attention": {"rope_theta": 10_000.0, "rope_type": "default"},
                },
            },
        ),
    ],
)
def test_new_names_of_rotary_positions_are_read(kind: str, changes: dict[str, Any], tmp_path: Path) -> None:
    model = tiny_model(kind)
    old = read_folder(write_folder(model, tmp_path / "old"))
    new = read_folder(_rewritten(write_folder(model, tmp_path / "new"), "config.json", **changes))
    assert old.shape == new.shape


def test_linear_scaling_slows_all_frequencies(tmp_path: Path) -> None:
    model = tiny_model("llama")
    plain = read_folder(write_folder(model, tmp_path / "plain")).shape.frequencies
    scaling = {"rope_type": "linear", "factor": 4.0}
    slow = read_folder(_rewritten(write_folder(model, tmp_path / "slow"), "config.json", rope_scaling=scaling))
    assert np.allclose(slow.shape.frequencies, np.array(plain) / 4)


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        ("config.json", {"model_type": "mamba"}, "found a model of the type 'mamba'; llama, qwen2, qwen3, gemma3_text"),
        ("config.json", {"hidden_act": "relu"}, "found the activation 'relu'; models of llama have silu"),
        ("config.json", {"num_hidden_layers": 3}, "found no tensor model.layers.2.input_layernorm.weight"),
        ("config.json", {"num_hidden_layers": 1}, "model.layers.1.input_layernorm.weight, which models of the family"),
        ("config.json", {"num_hidden_layers": 10**9}, "found 1000000000 as layers of the model; 1 to 512 are read"),
        ("config.json", {"head_dim": 10**9}, "found heads of width 1000000000"),
        ("config.json", {"vocab_size": 400}, "embed_tokens.weight of shape (302, 32); (400, 32) is read"),
        ("config.json", {"hidden_size": "32"}, "found text as hidden_size; a whole number is read there"),
        ("config.json", {"tie_word_embeddings": False}, "found no tensor lm_head.weight"),
        ("config.json", {"rope_scaling": {"rope_type": "yarn"}}, "scaled by 'yarn'; default, linear and llama3 are"),
        ("config.json", {"rope_scaling": LLAMA3 | {"factor": 0}}, "not above zero"),
        ("tokenizer.json", {"model": {"type": "Unigram"}}, "found a tokenizer of the type 'Unigram'; BPE"),
        ("tokenizer.json", {"pre_tokenizer": None}, "found a tokenizer that leaves out what it does not know"),
        ("tokenizer.json", {"pre_tokenizer": {"type": "ByteLevel"}}, "found a tokenizer that cannot be read"),
        ("tokenizer.json", {"added_tokens": [{"id": 302, "content": "x"}]}, "found a piece of number 302"),
    ],
)
def test_other_folders_are_refused(file: str, changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    folder = _rewritten(write_folder(tiny_model("llama"), tmp_path / "folder"), file, **changes)
    with pytest.raises(InputError) as refusal:
        open_checkpoint(folder)
    assert message in str(refusal.value)
    assert str(refusal.value).startswith(str(folder))


def test_files_that_are_missing_are_named(tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        folder = write_folder(tiny_model("llama"), tmp_path / "folder")
        (folder / name).unlink()
        with pytest.raises(InputError, match=rf"{name}: cannot read.*No such file"):
            open_checkpoint(folder)


def test_an_index_names_files_of_its_folder_only(tmp_path: Path) -> None:
    folder = write_folder(tiny_model("llama"), tmp_path / "folder", shards=2)
    _rewritten(folder, "model.safetensors.index.json", weight_map={"a": "../secret.safetensors"})
    with pytest.raises(InputError, match=r"found the file '\.\./secret.safetensors'; safetensors files of the folder"):
        open_checkpoint(folder)


def test_a_truncated_safetensors_file_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tiny_model("llama"), tmp_path / "folder")
    data = (folder / "model.safetensors").read_bytes()
    for size in (0, 4, 100, len(data) - 1):
        (folder / "model.safetensors").write_bytes(data[:size])
        with pytest.raises(InputError, match=r"model\.safetensors: cannot read as safetensors: "):
            open_checkpoint(folder)


def test_default_is_what_the_variable_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf")
    monkeypatch.setenv("GYRO_NEURAL", str(path))
    assert open_checkpoint("default").signature == read_gguf(path).signature


def test_without_a_model_the_command_that_gets_one_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GYRO_NEURAL", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    for name in ("default", str(tmp_path / "none.gguf")):
        with pytest.raises(InputError, match="`gyro neural --install` gets"):
            open_checkpoint(name)
    with pytest.raises(InputError, match="a GGUF file, a Hugging Face folder or `default` is allowed"):
        open_checkpoint("none\0.gguf")


@pytest.mark.parametrize("package", ["gguf", "tokenizers", "safetensors"])
def test_without_the_packages_the_extra_is_named(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model("llama")
    path = (
        write_folder(model, tmp_path / "folder") if package == "safetensors" else write_gguf(model, tmp_path / "a.gguf")
    )
    for name in ("gguf_file", "tokenizer"):
        monkeypatch.delitem(sys.modules, f"lm.neural.{name}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        InputError, match=rf"the package {package} is not installed.*pip install 'gyro-order\[neural\]'"
    ):
        open_checkpoint(path)
