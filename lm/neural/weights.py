"""The weights of a causal language model of the Llama family, whatever file they came from.

Shape       numbers and switches: how large it is, and what sets its family apart
Layer       the matrices of one layer
Weights     a shape, its layers, and the matrices before and after them
Checkpoint  weights, tokenizer and marks: all that a file or folder of a model holds

One form for all families: matrices are float32, [outputs, inputs]; rotary positions turn the first half of a head
against its second half; norms multiply (where a file adds one to its weights, the reader has done so).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]  # or a vector


@dataclass(frozen=True)
class Shape:
    """What the forward pass has to know besides the matrices."""

    family: str
    layers: int
    width: int
    heads: int
    key_heads: int
    head_width: int
    inner: int  # width of the feed-forward part
    vocabulary: int
    epsilon: float
    frequencies: tuple[tuple[float, ...], ...]  # of the rotary positions: for each layer, head_width / 2 of them
    attention_scale: float  # of the products of queries and keys
    activation: Literal["silu", "gelu"] = "silu"  # gelu by its tanh formula
    embedding_scale: float = 1.0
    longest: int = 2048  # tokens that a string may have


@dataclass(frozen=True)
class Layer:
    """One layer; None where its family has no such part."""

    attention_norm: Matrix
    query: Matrix
    key: Matrix
    value: Matrix
    output: Matrix
    feed_norm: Matrix
    gate: Matrix
    up: Matrix
    down: Matrix
    query_bias: Matrix | None = None
    key_bias: Matrix | None = None
    value_bias: Matrix | None = None
    query_norm: Matrix | None = None  # over each head
    key_norm: Matrix | None = None
    attention_post_norm: Matrix | None = None  # of what attention adds to the stream
    feed_post_norm: Matrix | None = None


@dataclass(frozen=True)
class Weights:
    """All matrices; `layers` may read each layer when it is asked for."""

    shape: Shape
    embedding: Matrix
    layers: Sequence[Layer]
    norm: Matrix
    head: Matrix  # the embedding itself where the two are tied


class Pieces(Protocol):
    """A tokenizer."""

    def encode(self, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """For each text the numbers of its pieces, and for each piece where it ends in the text, in characters."""


@dataclass(frozen=True)
class Checkpoint:
    """A model as it lies on the disk; `read_weights` takes the memory, what comes before it is checked on opening."""

    path: Path
    shape: Shape
    tokenizer: Pieces
    start: int  # the piece that every string begins with
    end: int  # and the one that ends it
    signature: str  # a short hash of the contents
    read_weights: Callable[[], Weights]
    packing: str = "F32"  # the kind of numbers that most of the file is made of
    parameters: int = 0  # how many numbers it holds
    marks: tuple[str, str] = ("", "")  # the names of start and end
