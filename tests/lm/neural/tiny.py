"""Tiny models of random weights, of each family, as GGUF files and as Hugging Face folders.

TinyModel     a model: its numbers, its tensors by the names of Hugging Face, and its tokenizer
FAMILIES      the kinds: llama, llama3 (stretched positions), tinyllama (SentencePiece), qwen2, qwen3, gemma3
tiny_model    make one; the same seed gives the same model
write_gguf    write it as a GGUF file, packed as one likes
write_folder  write it as a Hugging Face folder, in float32, float16 or bfloat16, in one file or in shards
needs_default mark of tests that want the embedded model

    model = tiny_model("qwen3", seed=7)
    write_gguf(model, tmp_path / "tiny.gguf", packing="Q8_0")
    write_folder(model, tmp_path / "tiny")

Both files hold the same model, the GGUF one as llama.cpp's converter writes it (queries and keys of Llama in pairs of
neighbours, Gemma's norms with the one added). Its pieces are all bytes, a few merges of English words, and the marks.
Rows have multiples of 32 numbers, so that they can be packed.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from lm.neural.embedded import default_places
from tests.lm.neural.tiny_pieces import byte_level_json, byte_pieces, sentence_piece_json, sentence_pieces

needs_default = pytest.mark.skipif(
    not any(place.is_file() for place in default_places()), reason="needs the embedded model: gyro neural --install"
)


@dataclass(frozen=True)
class TinyModel:
    """A model; `tensors` have the names and the form that Hugging Face's files have."""

    kind: str
    family: str
    config: dict[str, Any]
    tensors: dict[str, NDArray[np.float32]]
    pieces: list[str]
    merges: list[tuple[str, str]] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Kind:
    family: str
    marks: tuple[str, ...]
    sentence_piece: bool = False
    splitting: str = ""
    config: dict[str, Any] = field(default_factory=dict)


_LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
_LLAMA3["original_max_position_embeddings"] = 64  # type: ignore[assignment]
FAMILIES = {
    "llama": _Kind("llama", ("<|endoftext|>", "<|im_start|>", "<|im_end|>"), splitting="smollm"),
    "llama3": _Kind(
        "llama",
        ("<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"),
        splitting="llama-bpe",
        config={"rope_scaling": _LLAMA3, "rope_theta": 500_000.0},
    ),
    "tinyllama": _Kind("llama", ("<unk>", "<s>", "</s>"), sentence_piece=True),
    "qwen2": _Kind("qwen2", ("<|endoftext|>", "<|im_start|>", "<|im_end|>"), splitting="qwen2"),
    "qwen3": _Kind("qwen3", ("<|endoftext|>", "<|im_start|>", "<|im_end|>"), splitting="qwen2"),
    "gemma3": _Kind(
        "gemma3",
        ("<pad>", "<eos>", "<bos>", "<unk>"),
        sentence_piece=True,
        config={
            "model_type": "gemma3_text",
            "architectures": ["Gemma3ForCausalLM"],
            "head_dim": 16,
            "rope_theta": 1_000_000.0,
            "rope_local_base_freq": 10_000.0,
            "query_pre_attn_scalar": 16,
            "sliding_window": 512,
            "sliding_window_pattern": 6,
            "hidden_activation": "gelu_pytorch_tanh",
            "num_hidden_layers": 7,  # with a global one
        },
    ),
}


def tiny_model(kind: str, seed: int = 0, *, tied: bool = True, **config: Any) -> TinyModel:
    """A model of a kind of `FAMILIES`; `config` takes other numbers, by their names in config.json."""
    chosen = FAMILIES[kind]
    pieces, merges, scores = (sentence_pieces if chosen.sentence_piece else byte_pieces)(chosen.marks)
    whole = {
        "architectures": [f"{chosen.family.capitalize()}ForCausalLM"],
        "model_type": chosen.family,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10_000.0,
        "max_position_embeddings": 512,
        "hidden_act": "silu",
        "vocab_size": len(pieces),
        "tie_word_embeddings": tied,
        "bos_token_id": 0,
        "eos_token_id": 0,
        "torch_dtype": "float32",
    }
    whole |= chosen.config | config
    tensors = _tensors(chosen.family, whole, np.random.default_rng(seed))
    return TinyModel(kind, chosen.family, whole, tensors, pieces, merges, scores, chosen.marks)


def write_gguf(model: TinyModel, path: Path, packing: str = "F32", **facts: Any) -> Path:
    """Write a GGUF file; matrices packed as `packing` says (a name of gguf's), the embedding too, norms in float32.

    `facts` takes other facts, by their names with two underscores for a dot: `general__architecture="mamba"`.
    """
    kind = gguf.GGMLQuantizationType[packing]
    writer = gguf.GGUFWriter(path, facts.pop("general__architecture", model.family))
    _write_facts(writer, model)
    for name, value in facts.items():
        add = {str: writer.add_string, int: writer.add_uint32, float: writer.add_float32, bool: writer.add_bool}
        add[type(value)](name.replace("__", "."), value)
    for name, matrix in _gguf_tensors(model).items():
        if matrix.ndim == 1:
            writer.add_tensor(name, matrix)
        else:
            writer.add_tensor(name, gguf.quants.quantize(matrix, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def tokenizer_json(model: TinyModel) -> dict[str, Any]:
    """The tokenizer as Hugging Face writes it."""
    kind = FAMILIES[model.kind]
    if kind.sentence_piece:
        return sentence_piece_json(model.pieces, model.merges, model.marks, model.kind == "tinyllama")
    return byte_level_json(model.pieces, model.merges, model.marks, kind.splitting)


def write_folder(model: TinyModel, folder: Path, dtype: str = "F32", shards: int = 1) -> Path:
    """Write config.json, tokenizer.json and the tensors: model.safetensors, or as many files and their index."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(model.config, indent=2), encoding="utf-8")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_json(model), ensure_ascii=False), encoding="utf-8")
    names = sorted(model.tensors)
    if shards == 1:
        _write_tensors(folder / "model.safetensors", {name: model.tensors[name] for name in names}, dtype)
        return folder
    index = {}
    for number in range(shards):
        file = f"model-{number + 1:05}-of-{shards:05}.safetensors"
        part = {name: model.tensors[name] for name in names[number::shards]}
        index |= dict.fromkeys(part, file)
        _write_tensors(folder / file, part, dtype)
    text = json.dumps({"metadata": {}, "weight_map": index})
    (folder / "model.safetensors.index.json").write_text(text, encoding="utf-8")
    return folder


# ---- tensors


def _tensors(family: str, config: dict[str, Any], dice: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    width, inner, head = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    queries, keys = config["num_attention_heads"] * head, config["num_key_value_heads"] * head
    ones = 0.0 if family == "gemma3" else 1.0  # Gemma's norms are kept without the one

    def matrix(*shape: int) -> NDArray[np.float32]:
        return (dice.standard_normal(shape) / math.sqrt(shape[-1])).astype(np.float32)

    def norm(size: int) -> NDArray[np.float32]:
        return (ones + 0.2 * dice.standard_normal(size)).astype(np.float32)

    tensors = {"model.embed_tokens.weight": matrix(config["vocab_size"], width)}
    for number in range(config["num_hidden_layers"]):
        layer = {
            "input_layernorm.weight": norm(width),
            "self_attn.q_proj.weight": 2 * matrix(queries, width),
            "self_attn.k_proj.weight": 2 * matrix(keys, width),
            "self_attn.v_proj.weight": matrix(keys, width),
            "self_attn.o_proj.weight": matrix(width, queries),
            "post_attention_layernorm.weight": norm(width),
            "mlp.gate_proj.weight": matrix(inner, width),
            "mlp.up_proj.weight": matrix(inner, width),
            "mlp.down_proj.weight": matrix(width, inner),
        }
        if family == "qwen2":
            layer |= {
                f"self_attn.{part}_proj.bias": norm(size)
                for part, size in zip("qkv", (queries, keys, keys), strict=True)
            }
        if family in ("qwen3", "gemma3"):
            layer |= {f"self_attn.{part}_norm.weight": norm(head) for part in "qk"}
        if family == "gemma3":
            layer |= {f"{part}_feedforward_layernorm.weight": norm(width) for part in ("pre", "post")}
        tensors |= {f"model.layers.{number}.{name}": part for name, part in layer.items()}
    tensors["model.norm.weight"] = norm(width)
    if not config["tie_word_embeddings"]:
        tensors["lm_head.weight"] = matrix(config["vocab_size"], width)
    return tensors


_GGUF_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_LLAMA_NAMES = {"post_attention_layernorm": "ffn_norm"}
_GEMMA_NAMES = {
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}
_OUTER_NAMES = {"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output"}


def _gguf_tensors(model: TinyModel) -> dict[str, NDArray[np.float32]]:
    """The tensors by the names and in the form of GGUF files."""
    names = _GGUF_NAMES | (_GEMMA_NAMES if model.family == "gemma3" else _LLAMA_NAMES)
    tensors = {}
    for name, matrix in model.tensors.items():
        stem, ending = name.removeprefix("model.").rsplit(".", 1)
        if stem.startswith("layers."):
            _, number, part = stem.split(".", 2)
            new = f"blk.{number}.{names[part]}.{ending}"
        else:
            part, new = stem, f"{_OUTER_NAMES[stem]}.{ending}"
        if model.family == "gemma3" and "norm" in part:
            matrix = matrix + np.float32(1)
        if model.family == "llama" and matrix.ndim == 2 and part in ("self_attn.q_proj", "self_attn.k_proj"):
            heads = model.config["num_attention_heads" if "q_proj" in part else "num_key_value_heads"]
            matrix = matrix.reshape(heads, 2, -1, matrix.shape[-1]).swapaxes(1, 2).reshape(matrix.shape)
        tensors[new] = np.ascontiguousarray(matrix)
    if model.kind == "llama3":
        tensors["rope_freqs.weight"] = llama3_factors(model.config)
    return tensors


def llama3_factors(config: dict[str, Any]) -> NDArray[np.float32]:
    """What llama.cpp's converter divides the frequencies by: fast ones by 1, slow ones by 8, smoothly between."""
    scaling, half = config["rope_scaling"], config["head_dim"] // 2
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    factors = []
    for pair in range(half):
        wave = 2 * math.pi * config["rope_theta"] ** (pair / half)
        turns = scaling["original_max_position_embeddings"] / wave
        smooth = min(max((turns - low) / (high - low), 0.0), 1.0)
        factors.append(1 / ((1 - smooth) / scaling["factor"] + smooth))
    return np.array(factors, np.float32)


def _write_facts(writer: gguf.GGUFWriter, model: TinyModel) -> None:
    config, kind = model.config, FAMILIES[model.kind]
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    if model.family == "gemma3":
        writer.add_sliding_window(config["sliding_window"])
    writer.add_tokenizer_model("llama" if kind.sentence_piece else "gpt2")
    writer.add_token_list(model.pieces)
    classes = [3] * len(model.marks) + [1] * (len(model.pieces) - len(model.marks))
    if kind.sentence_piece:
        classes[len(model.marks) : len(model.marks) + 256] = [6] * 256
        writer.add_token_scores(model.scores)
        writer.add_add_space_prefix(model.kind == "tinyllama")
    else:
        writer.add_tokenizer_pre(kind.splitting)
        writer.add_token_merges([" ".join(pair) for pair in model.merges])
    writer.add_token_types(classes)
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])


def _write_tensors(path: Path, tensors: dict[str, NDArray[np.float32]], dtype: str) -> None:
    """Write a safetensors file; numpy has no bfloat16, whose bits are the upper half of float32's, rounded."""
    if dtype == "F32":
        save_file(tensors, path)
    elif dtype == "F16":
        save_file({name: matrix.astype(np.float16) for name, matrix in tensors.items()}, path)
    else:
        head, body, at = {}, b"", 0
        for name, matrix in tensors.items():
            bits = np.ascontiguousarray(matrix).view(np.uint32)
            upper = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2").tobytes()
            head[name] = {"dtype": "BF16", "shape": list(matrix.shape), "data_offsets": [at, at + len(upper)]}
            body, at = body + upper, at + len(upper)
        text = json.dumps(head).encode()
        text += b" " * (-len(text) % 8)
        path.write_bytes(len(text).to_bytes(8, "little") + text + body)
