"""Models by name, and those in Hugging Face folders; the one module that touches the package safetensors.

open_checkpoint  the model that a name stands for: a GGUF file, a folder, or `default`
missing_package  what to say of a package of the extra that is not there
read_folder      the model of a folder with config.json, tokenizer.json and safetensors files
DEFAULT          the name of the embedded model

PyTorch is not needed: safetensors checks the files and tells what is in them, and the numbers are mapped as they lie.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from gyro.checksum import file_checksum
from gyro.errors import InputError, printable
from gyro.files import AnyPath, check_type, read_json
from lm.neural.config import CONFIG, read_config
from lm.neural.embedded import find_default
from lm.neural.family import FAMILIES, MODELS_READ, LazyLayers, Size, model_shape, part_shapes
from lm.neural.weights import Checkpoint, Layer, Matrix, Shape, Weights

DEFAULT = "default"
NAMES_READ = f"a GGUF file, a Hugging Face folder or `{DEFAULT}` is allowed"
PACKAGES = ("gguf", "tokenizers", "safetensors", "onnx", "onnxruntime")

TENSORS, INDEX, TOKENIZER = "model.safetensors", "model.safetensors.index.json", "tokenizer.json"
NUMBERS: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2")}
EMBEDDING, NORM, HEAD = "model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"
OLD_BUFFER = "rotary_emb.inv_freq"  # frequencies, which older files hold besides
PARTS = {
    "attention_norm": "input_layernorm.weight",
    "query": "self_attn.q_proj.weight",
    "key": "self_attn.k_proj.weight",
    "value": "self_attn.v_proj.weight",
    "output": "self_attn.o_proj.weight",
    "feed_norm": "post_attention_layernorm.weight",
    "gate": "mlp.gate_proj.weight",
    "up": "mlp.up_proj.weight",
    "down": "mlp.down_proj.weight",
    "query_bias": "self_attn.q_proj.bias",
    "key_bias": "self_attn.k_proj.bias",
    "value_bias": "self_attn.v_proj.bias",
    "query_norm": "self_attn.q_norm.weight",
    "key_norm": "self_attn.k_norm.weight",
}
GEMMA_PARTS = PARTS | {
    "attention_post_norm": "post_attention_layernorm.weight",
    "feed_norm": "pre_feedforward_layernorm.weight",
    "feed_post_norm": "post_feedforward_layernorm.weight",
}


def open_checkpoint(name: AnyPath) -> Checkpoint:
    """Open a model; its matrices are read when they are asked for.

    open_checkpoint("default")              # the embedded one: `gyro neural --install` gets it
    open_checkpoint("smollm2.q4_1.gguf")
    open_checkpoint("Qwen3-0.6B")           # a folder
    """
    path = find_default() if os.fspath(name) == DEFAULT else Path(name)
    try:
        if path.is_dir():
            return read_folder(path)
        if not path.is_file():
            raise InputError(f"no such model; {NAMES_READ} (`gyro neural --install` gets the default one)", path=path)
        from lm.neural.gguf_file import read_gguf

        return read_gguf(path)
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES:
            raise
        raise missing_package(error.name) from error
    except ValueError as error:  # a name with a NUL in it is no name
        raise InputError(f"cannot read: {error}; {NAMES_READ}", path=path) from error


def missing_package(name: str) -> InputError:
    """What to say of a package of the extra that is not there."""
    found = f"the package {name} is not installed, which neural models need"
    return InputError(f"{found}: pip install 'gyro-order[neural]'")


def read_folder(folder: Path) -> Checkpoint:
    """Read a model; all that can be wrong with its files is found here, before the matrices take memory."""
    from lm.neural.tokenizer import load_tokenizer, text_marks

    config = read_config(folder / CONFIG)
    shards = _shards(folder)
    tensors = {name: tensor for shard in shards for name, tensor in _read_shard(shard).items()}
    family, size = config.family, config.size
    _check_tensors(folder, family, size, tensors, config.tied)
    tokenizer, numbers = load_tokenizer(folder / TOKENIZER, size.vocabulary)
    start, end = text_marks(numbers, config.marks, size.vocabulary, folder)
    names = {number: name for name, number in numbers.items()}
    shape = model_shape(family, size)
    files = (folder / CONFIG, folder / TOKENIZER, *shards)
    kinds = {kind: sum(tensor.items for tensor in tensors.values() if tensor.kind == kind) for kind in NUMBERS}
    return Checkpoint(
        path=folder,
        shape=shape,
        tokenizer=tokenizer,
        start=start,
        end=end,
        signature=xxhash.xxh3_128_hexdigest(" ".join(map(file_checksum, files)).encode())[:16],
        read_weights=lambda: _weights(shape, tensors, config.tied),
        packing=max(kinds, key=lambda kind: kinds[kind]),
        parameters=sum(kinds.values()),
        marks=(names.get(start, ""), names.get(end, "")),
    )


@dataclass(frozen=True)
class _Tensor:
    """Where a tensor lies in the mapped bytes of a file."""

    data: memoryview
    kind: str
    shape: tuple[int, ...]
    offset: int

    @property
    def items(self) -> int:
        return int(np.prod([int(size) for size in self.shape], dtype=object))

    def matrix(self) -> Matrix:
        """As float32; the bits of bfloat16, which numpy does not have, are the upper half of those of float32."""
        found = np.frombuffer(self.data, NUMBERS[self.kind], self.items, self.offset).reshape(self.shape)
        if self.kind == "BF16":
            found = (found.astype(np.uint32) << 16).view(np.float32)
        return np.ascontiguousarray(found, np.float32)


def _shards(folder: Path) -> list[Path]:
    """The files that hold the tensors: one, or those that an index names."""
    if (folder / TENSORS).is_file() or not (folder / INDEX).is_file():
        return [folder / TENSORS]
    index = check_type(dict[str, str], read_json(folder / INDEX).get("weight_map"), "weight_map", folder / INDEX)
    for name in sorted(set(index.values())):
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise InputError(
                f"found the file {name[:80]!r}; safetensors files of the folder are read", path=folder / INDEX
            )
    return [folder / name for name in sorted(set(index.values()))]


def _read_shard(path: Path) -> dict[str, _Tensor]:
    """The tensors of a file. In a sound one they lie close together behind its head, and the package checks that."""
    from safetensors import SafetensorError, safe_open

    try:
        with open(path, "rb") as file:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        with safe_open(path, "numpy") as head:
            slices = {name: head.get_slice(name) for name in head.offset_keys()}
            found = {name: (one.get_dtype(), tuple(one.get_shape())) for name, one in slices.items()}
    except (OSError, ValueError, SafetensorError) as error:
        reason = printable(str(getattr(error, "strerror", None) or error))
        raise InputError(f"cannot read as safetensors: {reason[:200]}", path=path) from error
    tensors, offset = {}, 8 + int.from_bytes(data[:8], "little")
    for name, (kind, shape) in found.items():
        if kind not in NUMBERS:
            raise InputError(f"found {name[:80]} as {kind}; {', '.join(NUMBERS)} are read", path=path)
        tensors[name] = _Tensor(data, kind, shape, offset)
        offset += tensors[name].items * NUMBERS[kind].itemsize
    return tensors


def _part_names(family: str, number: int) -> dict[str, str]:
    parts = GEMMA_PARTS if FAMILIES[family].post_norms else PARTS
    return {part: f"model.layers.{number}.{name}" for part, name in parts.items()}


def _check_tensors(folder: Path, family: str, size: Size, tensors: Mapping[str, _Tensor], tied: bool) -> None:
    """Refuse tensors that are missing, of another shape, or of no use to this family: then it is another model."""
    expected: dict[str, tuple[int, ...]] = {EMBEDDING: (size.vocabulary, size.width), NORM: (size.width,)}
    if not tied:
        expected[HEAD] = expected[EMBEDDING]
    parts = part_shapes(FAMILIES[family], size)
    for layer in range(size.layers):
        names = _part_names(family, layer)
        expected |= {names[part]: shape for part, shape in parts.items()}
    for name, shape in expected.items():
        if name not in tensors:
            raise InputError(f"found no tensor {name}; {MODELS_READ}, with all their parts", path=folder)
        if tensors[name].shape != shape:
            raise InputError(f"found {name} of shape {tensors[name].shape}; {shape} is read", path=folder)
    unknown = sorted(name for name in tensors.keys() - expected.keys() - {HEAD} if not name.endswith(OLD_BUFFER))
    if unknown:
        found = f"found the tensor {unknown[0][:80]}, which models of the family {family} do not have"
        raise InputError(f"{found}; {MODELS_READ}", path=folder)


def _weights(shape: Shape, tensors: Mapping[str, _Tensor], tied: bool) -> Weights:
    """All matrices, each layer when it is asked for."""
    embedding = tensors[EMBEDDING].matrix()
    head = embedding if tied else tensors[HEAD].matrix()
    norm = _with_one(shape.family, "norm", tensors[NORM].matrix())
    return Weights(
        shape, embedding, LazyLayers(shape.layers, lambda number: _layer(shape, tensors, number)), norm, head
    )


def _layer(shape: Shape, tensors: Mapping[str, _Tensor], number: int) -> Layer:
    names = _part_names(shape.family, number)
    matrices = {part: tensors[name].matrix() for part, name in names.items() if name in tensors}
    return Layer(**{part: _with_one(shape.family, part, matrix) for part, matrix in matrices.items()})


def _with_one(family: str, part: str, matrix: Matrix) -> Matrix:
    """Gemma's files hold its norms less one."""
    return matrix + np.float32(1) if family == "gemma3" and part.endswith("norm") else matrix
