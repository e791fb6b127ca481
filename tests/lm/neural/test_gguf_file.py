"""Models in GGUF files: the matrices that were put in, and all that is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from gyro.errors import InputError
from lm.neural.gguf_file import KINDS, read_gguf
from tests.lm.neural.tiny import FAMILIES, TinyModel, needs_default, tiny_model, write_gguf

PARTS = {
    "attention_norm": "input_layernorm.weight",
    "query": "self_attn.q_proj.weight",
    "key": "self_attn.k_proj.weight",
    "value": "self_attn.v_proj.weight",
    "output": "self_attn.o_proj.weight",
    "gate": "mlp.gate_proj.weight",
    "up": "mlp.up_proj.weight",
    "down": "mlp.down_proj.weight",
    "query_bias": "self_attn.q_proj.bias",
    "key_bias": "self_attn.k_proj.bias",
    "value_bias": "self_attn.v_proj.bias",
    "query_norm": "self_attn.q_norm.weight",
    "key_norm": "self_attn.k_norm.weight",
}
LLAMA = PARTS | {"feed_norm": "post_attention_layernorm.weight"}
GEMMA = PARTS | {
    "attention_post_norm": "post_attention_layernorm.weight",
    "feed_norm": "pre_feedforward_layernorm.weight",
    "feed_post_norm": "post_feedforward_layernorm.weight",
}


def _expected(model: TinyModel, name: str) -> Any:
    """A tensor of the model as the forward pass wants it: Gemma's norms with their one."""
    tensor = model.tensors.get(name)
    one = np.float32(1) if model.family == "gemma3" and "norm" in name else np.float32(0)
    return None if tensor is None else tensor + one


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kind", FAMILIES)
def test_the_matrices_are_those_that_were_put_in(kind: str, tied: bool, tmp_path: Path) -> None:
    model = tiny_model(kind, seed=3, tied=tied)
    checkpoint = read_gguf(write_gguf(model, tmp_path / "tiny.gguf"))
    weights = checkpoint.read_weights()
    assert np.array_equal(weights.embedding, model.tensors["model.embed_tokens.weight"])
    assert np.array_equal(weights.norm, _expected(model, "model.norm.weight"))
    assert (weights.head is weights.embedding) == tied
    assert np.array_equal(weights.head, model.tensors["model.embed_tokens.weight" if tied else "lm_head.weight"])
    assert len(weights.layers) == model.config["num_hidden_layers"] == checkpoint.shape.layers
    assert checkpoint.parameters == sum(tensor.size for tensor in model.tensors.values())
    names = GEMMA if model.family == "gemma3" else LLAMA
    for number, layer in enumerate(weights.layers):
        for part in dataclasses.fields(layer):
            found = getattr(layer, part.name)
            expected = _expected(model, f"model.layers.{number}.{names.get(part.name, '')}")
            assert (found is None) == (expected is None), part.name
            if found is not None:
                assert np.array_equal(found, expected), part.name
                assert found.dtype == np.float32


def test_layers_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    layers = read_gguf(write_gguf(tiny_model("gemma3"), tmp_path / "tiny.gguf")).read_weights().layers
    assert layers[0] is not layers[0]
    assert np.array_equal(layers[-1].query, layers[6].query)
    assert [np.array_equal(a.up, b.up) for a, b in zip(layers[2:4], (layers[2], layers[3]), strict=True)] == [
        True,
        True,
    ]
    with pytest.raises(IndexError):
        layers[7]


@pytest.mark.parametrize("packing", ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"])
def test_packed_numbers_are_unpacked(packing: str, tmp_path: Path) -> None:
    model, kind = tiny_model("qwen2"), gguf.GGMLQuantizationType[packing]
    checkpoint = read_gguf(write_gguf(model, tmp_path / "tiny.gguf", packing))
    assert checkpoint.packing == packing
    weights = checkpoint.read_weights()
    for found, name in (
        (weights.embedding, "model.embed_tokens.weight"),
        (weights.layers[1].down, "model.layers.1.mlp.down_proj.weight"),
    ):
        exact = model.tensors[name]
        assert found.shape == exact.shape
        assert np.array_equal(found, gguf.quants.dequantize(gguf.quants.quantize(exact, kind), kind))
        assert np.abs(found - exact).max() < (0.3 if "4" in packing or "5" in packing else 0.02)


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_every_kind_that_is_said_to_be_read_can_be_unpacked(kind: gguf.GGMLQuantizationType) -> None:
    items, size = gguf.GGML_QUANT_SIZES[kind]
    unpacked = gguf.quants.dequantize(np.zeros((3, 2 * size), np.uint8), kind)
    assert unpacked.shape == (3, 2 * items)
    assert not unpacked.any()


@pytest.mark.parametrize(
    ("kind", "facts"),
    [
        ("llama", {"family": "llama", "frequencies": (1.0, 0.1, 0.01, 0.001), "attention_scale": 8**-0.5}),
        ("qwen3", {"family": "qwen3", "activation": "silu", "embedding_scale": 1.0, "longest": 512}),
        ("gemma3", {"activation": "gelu", "embedding_scale": 32**0.5, "head_width": 16, "attention_scale": 0.25}),
    ],
)
def test_the_shape_is_that_of_the_family(kind: str, facts: dict[str, Any], tmp_path: Path) -> None:
    shape = read_gguf(write_gguf(tiny_model(kind), tmp_path / "tiny.gguf")).shape
    frequencies = facts.pop("frequencies", None)
    assert {name: getattr(shape, name) for name in facts} == facts
    assert frequencies is None or np.allclose(shape.frequencies, [frequencies] * shape.layers)


def test_every_sixth_layer_of_gemma_is_global(tmp_path: Path) -> None:
    shape = read_gguf(write_gguf(tiny_model("gemma3"), tmp_path / "tiny.gguf")).shape
    second = [layer[1] for layer in shape.frequencies]
    near, far = 10_000 ** (-2 / 16), 1_000_000 ** (-2 / 16)
    assert np.allclose(second, [near, near, near, near, near, far, near])


@pytest.mark.parametrize(("window", "longest"), [(128, 128), (0, 512), (9000, 512)])
def test_strings_end_with_the_window(window: int, longest: int, tmp_path: Path) -> None:
    path = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf", llama__attention__sliding_window=window)
    assert read_gguf(path).shape.longest == longest


def test_the_signature_is_that_of_the_contents(tmp_path: Path) -> None:
    paths = [
        write_gguf(tiny_model("llama", seed), tmp_path / f"{name}.gguf")
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    ]
    first, same, other = (read_gguf(path).signature for path in paths)
    assert first == same != other


@pytest.mark.parametrize("kind", FAMILIES)
def test_strings_begin_and_end_with_the_marks_of_texts(kind: str, tmp_path: Path) -> None:
    expected = {
        "tinyllama": ("<s>", "</s>"),
        "gemma3": ("<bos>", "<eos>"),
        "llama3": ("<|begin_of_text|>", "<|end_of_text|>"),
    }
    model = tiny_model(kind, eos_token_id=2)
    checkpoint = read_gguf(write_gguf(model, tmp_path / "tiny.gguf"))
    marks = expected.get(kind, ("<|endoftext|>", "<|endoftext|>"))
    assert checkpoint.marks == marks
    assert (checkpoint.start, checkpoint.end) == (model.pieces.index(marks[0]), model.pieces.index(marks[1]))


def test_without_known_marks_the_facts_count(tmp_path: Path) -> None:
    model = tiny_model("llama", bos_token_id=1, eos_token_id=2)
    model.pieces[0] = "<|nothing|>"
    checkpoint = read_gguf(write_gguf(model, tmp_path / "tiny.gguf"))
    assert (checkpoint.start, checkpoint.end, checkpoint.marks) == (1, 2, ("<|im_start|>", "<|im_end|>"))
    model.config["bos_token_id"] = 7000
    with pytest.raises(InputError, match="found 7000 and 2 as start and end of a text; 0 to 301"):
        read_gguf(write_gguf(model, tmp_path / "wrong.gguf"))


def _changed(model: TinyModel, name: str, tensor: Any) -> TinyModel:
    tensors = {key: value for key, value in model.tensors.items() if key != name}
    return dataclasses.replace(model, tensors=tensors if tensor is None else {**tensors, name: tensor})


UP = "model.layers.1.mlp.up_proj.weight"


@pytest.mark.parametrize(
    ("change", "facts", "message"),
    [
        (
            None,
            {"general__architecture": "mamba"},
            "found a model of the family 'mamba'; models of the families llama,",
        ),
        ((UP, None), {}, "found no tensor blk.1.ffn_up.weight"),
        ((UP, np.zeros((64, 64), np.float32)), {}, "blk.1.ffn_up.weight of shape (64, 64); (64, 32) is read"),
        (
            ("model.layers.0.self_attn.q_proj.bias", np.zeros(32, np.float32)),
            {},
            "attn_q.bias, which models of the family",
        ),
        (
            ("model.embed_tokens.weight", np.zeros((300, 32), np.float32)),
            {},
            "302 pieces in the vocabulary and 300 rows",
        ),
        (None, {"llama__rope__dimension_count": 4}, "found 4 as llama.rope.dimension_count; the width of a head, 8"),
        (None, {"llama__rope__scaling__type": "yarn"}, "scaled by 'yarn'; none and linear are read"),
    ],
)
def test_other_models_are_refused(change: Any, facts: dict[str, Any], message: str, tmp_path: Path) -> None:
    model = tiny_model("llama")
    path = write_gguf(_changed(model, *change) if change else model, tmp_path / "tiny.gguf", **facts)
    with pytest.raises(InputError) as refusal:
        read_gguf(path)
    assert message in str(refusal.value)
    assert str(refusal.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("fact", "value", "message"),
    [
        ("num_hidden_layers", 10**6, "found 1000000 as layers of the model; 1 to 512 are read"),
        ("num_attention_heads", 3, "found 3 heads, 2 key heads"),
        ("hidden_size", 0, "found 0 as width of the model"),
        ("rms_norm_eps", 0.0, "not a positive number"),
        ("rope_theta", float("nan"), "not a positive number"),
        ("head_dim", 10**9, "found 1000000000 as head_width"),
    ],
)
def test_numbers_that_no_model_has_are_refused(fact: str, value: Any, message: str, tmp_path: Path) -> None:
    model = tiny_model("qwen2")
    model.config[fact] = value
    with pytest.raises(InputError, match=message):
        read_gguf(write_gguf(model, tmp_path / "tiny.gguf"))


def test_other_packings_are_refused(tmp_path: Path) -> None:
    path = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf", "F32")
    data = bytearray(path.read_bytes())
    name = b"blk.1.ffn_up.weight"
    at = data.index(name) + len(name) + 4 + 16
    data[at : at + 4] = (28).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"blk\.1\.ffn_up\.weight packed as F64; F32, F16, BF16, Q4_0"):
        read_gguf(path)


@pytest.mark.parametrize("share", [0.99, 0.7])
def test_a_truncated_file_is_refused(share: float, tmp_path: Path) -> None:
    path = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf")
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(InputError, match="the file is cut off or damaged"):
        read_gguf(path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.gguf").touch()
    with pytest.raises(InputError, match=r"empty\.gguf: cannot read"):
        read_gguf(tmp_path / "empty.gguf")


@needs_default
def test_the_embedded_model() -> None:
    from lm.neural.embedded import default_places

    checkpoint = read_gguf(next(place for place in default_places() if place.is_file()))
    shape = checkpoint.shape
    assert (shape.layers, shape.width, shape.heads, shape.key_heads, shape.inner) == (30, 576, 9, 3, 1536)
    assert (checkpoint.parameters, checkpoint.packing, checkpoint.marks) == (
        134_515_008,
        "Q4_1",
        ("<|endoftext|>",) * 2,
    )
