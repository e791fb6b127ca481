"""Models in GGUF files; the one module that touches the package gguf, which knows how numbers are packed.

read_gguf  a model whose facts, tokenizer and tensors have been checked; its matrices are unpacked when asked for
KINDS      the kinds of packed numbers that are read
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from gyro.checksum import file_checksum
from gyro.errors import InputError
from lm.neural.family import (
    FAMILIES,
    GEMMA_27B_LAYERS,
    LOCAL_BASE,
    MODELS_READ,
    LazyLayers,
    Size,
    check_size,
    model_shape,
    part_shapes,
)
from lm.neural.gguf_header import Header, Tensor, field, read_header
from lm.neural.tokenizer import Vocabulary, build_tokenizer, text_marks
from lm.neural.weights import Checkpoint, Layer, Matrix, Shape, Weights

KINDS_READ = "F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS"
KINDS = {kind.value: kind for kind in (gguf.GGMLQuantizationType[name] for name in KINDS_READ.split(", "))}

EMBEDDING, NORM, HEAD, FACTORS = "token_embd.weight", "output_norm.weight", "output.weight", "rope_freqs.weight"
PARTS = {
    "attention_norm": "attn_norm.weight",
    "query": "attn_q.weight",
    "key": "attn_k.weight",
    "value": "attn_v.weight",
    "output": "attn_output.weight",
    "feed_norm": "ffn_norm.weight",
    "gate": "ffn_gate.weight",
    "up": "ffn_up.weight",
    "down": "ffn_down.weight",
    "query_bias": "attn_q.bias",
    "key_bias": "attn_k.bias",
    "value_bias": "attn_v.bias",
    "query_norm": "attn_q_norm.weight",
    "key_norm": "attn_k_norm.weight",
    "attention_post_norm": "post_attention_norm.weight",
    "feed_post_norm": "post_ffw_norm.weight",
}


def read_gguf(path: Path) -> Checkpoint:
    """Read a model; all that can be wrong with the file is found here, before the matrices take memory."""
    data = _mapped(path)
    header = read_header(path, data)
    family = field(header, "general.architecture", str)
    if family not in FAMILIES:
        raise InputError(f"found a model of the family {family[:80]!r}; {MODELS_READ}", path=path)
    file = _File(header, data)
    size = _read_size(header, family, file)
    file.check(family, size)
    vocabulary = _read_vocabulary(header)
    if len(vocabulary.pieces) != size.vocabulary:
        found = f"found {len(vocabulary.pieces)} pieces in the vocabulary and {size.vocabulary} rows in the embedding"
        raise InputError(f"{found}; as many are read", path=path)
    numbers = {piece: number for number, piece in enumerate(vocabulary.pieces)}
    start, end = text_marks(numbers, (vocabulary.start, vocabulary.end), size.vocabulary, path)
    shape = model_shape(family, size)
    return Checkpoint(
        path=path,
        shape=shape,
        tokenizer=build_tokenizer(vocabulary, path),
        start=start,
        end=end,
        signature=file_checksum(path)[:16],
        read_weights=lambda: file.weights(shape),
        packing=file.packing(),
        parameters=sum(tensor.items for name, tensor in header.tensors.items() if name != FACTORS),
        marks=(vocabulary.pieces[start], vocabulary.pieces[end]),
    )


def _mapped(path: Path) -> memoryview:
    """The bytes of the file; pages of it come into memory when they are read, and leave it when there is need."""
    try:
        with open(path, "rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise InputError(f"cannot read: {getattr(error, 'strerror', None) or error}", path=path) from error


def _read_size(header: Header, family: str, file: _File) -> Size:
    """The numbers of the model, out of facts that begin with the name of its family."""

    def number(name: str, default: int | None = None) -> int:
        return field(header, f"{family}.{name}", int, default)

    def fraction(name: str, default: float) -> float:
        return field(header, f"{family}.{name}", float, default)

    heads, width = number("attention.head_count"), number("embedding_length")
    head_width = number("attention.key_length", width // max(heads, 1))
    for name in ("attention.value_length", "rope.dimension_count"):
        if number(name, head_width) != head_width:
            found = f"found {number(name)} as {family}.{name}"
            raise InputError(f"{found}; the width of a head, {head_width}, is read", path=header.path)
    layers, context = number("block_count"), number("context_length")
    size = Size(
        layers=layers,
        width=width,
        heads=heads,
        key_heads=number("attention.head_count_kv", heads),
        head_width=head_width,
        inner=number("feed_forward_length"),
        vocabulary=file.tensor(EMBEDDING).shape[0],
        epsilon=fraction("attention.layer_norm_rms_epsilon", 1e-5),
        # Beyond its window a layer would not see a string's beginning: strings end there.
        context=min(context, number("attention.sliding_window", context) or context),
        base=fraction("rope.freq_base", 10_000.0),
        local_base=fraction("rope.freq_base_swa", LOCAL_BASE),
        factors=tuple(file.matrix(file.tensor(FACTORS)).tolist()) if FACTORS in header.tensors else (),
        stretch=_stretch(header, family),
        local_layers=FAMILIES[family].local_layers,
        attention_width=width / max(heads, 1) if family == "gemma3" and layers == GEMMA_27B_LAYERS else None,
    )
    check_size(size, header.path)
    return size


def _stretch(header: Header, family: str) -> float:
    kind = field(header, f"{family}.rope.scaling.type", str, "none")
    if kind not in ("none", "linear"):
        raise InputError(f"found rotary positions scaled by {kind[:40]!r}; none and linear are read", path=header.path)
    return field(header, f"{family}.rope.scaling.factor", float, 1.0) if kind == "linear" else 1.0


def _read_vocabulary(header: Header) -> Vocabulary:
    def numbers(name: str) -> list[Any]:
        value = header.facts.get(f"tokenizer.ggml.{name}")
        return value.tolist() if isinstance(value, np.ndarray) else []

    def strings(name: str) -> list[str]:
        value = header.facts.get(f"tokenizer.ggml.{name}")
        return value if isinstance(value, list) else []

    def mark(name: str) -> int | None:
        value = header.facts.get(f"tokenizer.ggml.{name}")
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    kind = field(header, "tokenizer.ggml.model", str)
    return Vocabulary(
        kind=kind,
        pieces=strings("tokens"),
        classes=numbers("token_type"),
        merges=strings("merges"),
        scores=numbers("scores"),
        splitting=field(header, "tokenizer.ggml.pre", str, "default"),
        blank_first=field(header, "tokenizer.ggml.add_space_prefix", bool, kind == "llama"),
        start=mark("bos_token_id"),
        end=mark("eos_token_id"),
    )


class _File:
    """The tensors of a file."""

    def __init__(self, header: Header, data: memoryview) -> None:
        self.header, self.data = header, data
        total = 0
        for tensor in header.tensors.values():
            size = self._bytes(tensor)
            total += size
            if tensor.offset + size > len(data) or total > len(data):
                found = f"found {len(data)} bytes where {tensor.name[:80]} ends at {tensor.offset + size}"
                raise InputError(f"{found}; the file is cut off or damaged", path=header.path)

    def tensor(self, name: str) -> Tensor:
        """The tensor of this name."""
        if name not in self.header.tensors:
            raise InputError(f"found no tensor {name}; {MODELS_READ}, with all their parts", path=self.header.path)
        return self.header.tensors[name]

    def check(self, family: str, size: Size) -> None:
        """Refuse tensors that are missing, of another shape, or of no use to this family: then it is another model."""
        expected: dict[str, tuple[int, ...]] = {EMBEDDING: (size.vocabulary, size.width), NORM: (size.width,)}
        if HEAD in self.header.tensors:
            expected[HEAD] = expected[EMBEDDING]
        if FACTORS in self.header.tensors:
            expected[FACTORS] = (size.head_width // 2,)
        parts = part_shapes(FAMILIES[family], size)
        for layer in range(size.layers):
            expected |= {f"blk.{layer}.{PARTS[part]}": shape for part, shape in parts.items()}
        for name, shape in expected.items():
            if self.tensor(name).shape != shape:
                found = f"found the tensor {name} of shape {self.tensor(name).shape}"
                raise InputError(f"{found}; {shape} is read", path=self.header.path)
        if unknown := sorted(self.header.tensors.keys() - expected.keys()):
            found = f"found the tensor {unknown[0][:80]}, which models of the family {family} do not have"
            raise InputError(f"{found}; {MODELS_READ}", path=self.header.path)

    def matrix(self, tensor: Tensor) -> Matrix:
        """The tensor unpacked."""
        packed = np.frombuffer(self.data, np.uint8, self._bytes(tensor), tensor.offset)
        unpacked = gguf.quants.dequantize(packed.reshape(*tensor.shape[:-1], -1), KINDS[tensor.kind])
        return np.ascontiguousarray(unpacked, np.float32)

    def weights(self, shape: Shape) -> Weights:
        """All matrices, each layer when it is asked for."""
        embedding = self.matrix(self.tensor(EMBEDDING))
        head = self.matrix(self.tensor(HEAD)) if HEAD in self.header.tensors else embedding
        layers = LazyLayers(shape.layers, lambda number: self.layer(shape, number))
        return Weights(shape, embedding, layers, self.matrix(self.tensor(NORM)), head)

    def layer(self, shape: Shape, number: int) -> Layer:
        """One layer, with the pairs of rotary positions in halves."""
        names = {part: f"blk.{number}.{name}" for part, name in PARTS.items()}
        parts = {
            part: self.matrix(self.header.tensors[name]) for part, name in names.items() if name in self.header.tensors
        }
        if FAMILIES[shape.family].interleaved:
            parts["query"] = _halves(parts["query"], shape.heads)
            parts["key"] = _halves(parts["key"], shape.key_heads)
        return Layer(**parts)

    def packing(self) -> str:
        """The kind of numbers that most of the model is packed in."""
        items: dict[int, int] = {}
        for tensor in self.header.tensors.values():
            items[tensor.kind] = items.get(tensor.kind, 0) + tensor.items
        return str(KINDS[max(items, key=lambda kind: items[kind])].name)

    def _bytes(self, tensor: Tensor) -> int:
        if tensor.kind not in KINDS:
            names = {kind.value: kind.name for kind in gguf.GGMLQuantizationType}
            found = f"found {tensor.name[:80]} packed as {names.get(tensor.kind, f'number {tensor.kind}')}"
            raise InputError(f"{found}; {KINDS_READ} are read", path=self.header.path)
        items, size = gguf.GGML_QUANT_SIZES[KINDS[tensor.kind]]
        if tensor.items == 0 or tensor.shape[-1] % items:
            found = f"found {tensor.name[:80]} of shape {tensor.shape}"
            raise InputError(f"{found}; rows of a multiple of {items} numbers are read", path=self.header.path)
        return int(tensor.items // items * size)


def _halves(matrix: Matrix, heads: int) -> Matrix:
    """Rows of each head that come in pairs of neighbours, with the first ones of all pairs before the second ones."""
    pairs = matrix.reshape(heads, -1, 2, matrix.shape[-1])
    return np.ascontiguousarray(pairs.swapaxes(1, 2).reshape(matrix.shape))
