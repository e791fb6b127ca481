"""A model made ready for the runtime: graphs and matrices in a folder beside it, made once.

compiled_folder  the folder of a checkpoint; it is made where it is missing
Engine           the model in one precision: states of the nodes of a trie, and logits
States           what an engine computed
PRECISIONS       "f32" decides, "int8" proposes: three times as fast, wrong by a nat or so a string
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.files import read_json, scratch_folder, write_json
from lm.neural.graph import TensorFile, to_eight_bits, write_body, write_head
from lm.neural.runtime import Session
from lm.neural.smoothing import SENTENCES, smooth
from lm.neural.trie import BLOCK, Trie, make_blocks, make_trie
from lm.neural.weights import Checkpoint, Matrix, Shape, Weights

Precision = Literal["f32", "int8"]
PRECISIONS: tuple[Precision, ...] = ("f32", "int8")
FORMAT = 2  # of the folder
_HEAD_ROWS = 128  # hidden states at a time: their logits in one tile stay in the cache


@dataclass(frozen=True)
class States:
    """For each node, kept ones first: hidden state and normaliser; of the new nodes alone, keys and values by layer."""

    hidden: Matrix
    normaliser: Matrix
    keys: Matrix
    values: Matrix


class Engine:
    """One precision of a model. Node 0, the start of every string, is computed once and for all, in float32."""

    def __init__(self, folder: Path, precision: Precision, shape: Shape) -> None:
        self.shape = shape
        self._body = Session(folder / f"{precision}-body.onnx")
        self._head = Session(folder / f"{precision}-head.onnx")
        self._embedding = np.load(folder / "embedding.npy", mmap_mode="r")
        self._rows = np.load(folder / f"{precision}-rows.npy", mmap_mode="r")
        self._row_scale = np.load(folder / "int8-scale.npy") if precision == "int8" else None
        with np.load(folder / f"{precision}-start.npz") as start:
            self.start = States(start["hidden"], start["normaliser"], start["keys"], start["values"])

    def compute(self, trie: Trie, kept: States | None = None) -> States:
        """The states of a trie on top of kept ones, the start alone where none are given."""
        kept = kept or self.start
        if not len(trie):
            return States(kept.hidden, kept.normaliser, kept.keys[:, :0], kept.values[:, :0])
        hidden, keys, values = _run_body(self._body, self.shape, self._embedding, trie, (kept.keys, kept.values))
        parts = [hidden[row : row + _HEAD_ROWS] for row in range(0, len(hidden), _HEAD_ROWS)]
        normaliser = [self._head.run(["normaliser"], {"hidden": part})[0] for part in parts]
        hidden = self._rounded(hidden)
        return States(
            np.concatenate([kept.hidden, hidden]), np.concatenate([kept.normaliser, *normaliser]), keys, values
        )

    def costs(self, states: States, nodes: NDArray[np.int64], pieces: NDArray[np.int64]) -> Matrix:
        """The cost of each piece behind its node."""
        logits = np.einsum("ij,ij->i", states.hidden[nodes], self._head_rows(pieces))
        return np.asarray(states.normaliser[nodes] - logits)

    def table(self, states: States, nodes: NDArray[np.int64], pieces: NDArray[np.int64]) -> Matrix:
        """The costs of all pieces behind each node: [nodes, pieces]."""
        return np.asarray(states.normaliser[nodes, None] - states.hidden[nodes] @ self._head_rows(pieces).T)

    def _head_rows(self, pieces: NDArray[np.int64]) -> Matrix:
        rows = self._rows[pieces].astype(np.float32, copy=False)
        return rows if self._row_scale is None else rows * self._row_scale[pieces, None]

    def _rounded(self, hidden: Matrix) -> Matrix:
        """In eight bits, the states as the head's graph reads them, so that probabilities sum to one."""
        if self._row_scale is None:
            return hidden
        scale = np.maximum(np.abs(hidden).max(axis=1, keepdims=True), np.float32(1e-8)) * np.float32(1 / 127)
        return np.asarray(np.round(hidden / scale) * scale)


def _run_body(
    body: Session, shape: Shape, embedding: Matrix, trie: Trie, kept: tuple[Matrix, Matrix]
) -> tuple[Matrix, Matrix, Matrix]:
    inputs = _body_inputs(shape, embedding, trie, kept)
    hidden, keys, values = body.run(["hidden", "new_keys", "new_values"], inputs)
    count = len(trie)
    return hidden[:count], keys[:, :count], values[:, :count]


def _body_inputs(shape: Shape, embedding: Matrix, trie: Trie, kept: tuple[Matrix, Matrix]) -> dict[str, Matrix]:
    """The last node is repeated until its block is full."""
    blocks = make_blocks(trie)
    rows = np.minimum(np.arange(len(blocks.keys) * BLOCK), len(trie) - 1)
    stream = embedding[trie.piece[rows]]
    return {
        "stream": stream * np.float32(shape.embedding_scale) if shape.embedding_scale != 1 else stream,
        "position": trie.depth[rows].astype(np.float32),
        "keys": blocks.keys,
        "mask": blocks.mask[:, None, None],
        "kept_keys": kept[0],
        "kept_values": kept[1],
    }


def compiled_folder(checkpoint: Checkpoint) -> Path:
    """The folder of a checkpoint's graphs; beside it, or in the user's cache where that cannot be written."""
    wanted = {"format": FORMAT, "signature": checkpoint.signature}
    beside = checkpoint.path.with_name(checkpoint.path.name + ".gyro")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gyro" / checkpoint.signature
    for folder in (beside, cache):
        if _facts(folder) == wanted:
            return folder
    folder = beside if os.access(beside.parent, os.W_OK) else cache
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        print(f"preparing {checkpoint.path.name} for the runtime (once; about ten seconds) …", file=sys.stderr)
        with scratch_folder(folder) as scratch:
            _compile(checkpoint, scratch)
            write_json(scratch / "facts.json", wanted)
            _take_place(scratch, folder, wanted)
    except OSError as error:
        raise InputError(f"cannot write the graphs of the model: {error.strerror or error}", path=folder) from error
    return folder


def _facts(folder: Path) -> object:
    path = folder / "facts.json"
    return read_json(path) if path.exists() else None


def _take_place(scratch: Path, folder: Path, wanted: object) -> None:
    """Give what was made its name, unless another process was faster."""
    if _facts(folder) == wanted:
        return
    made = scratch / "made"
    made.mkdir()
    for path in [path for path in scratch.iterdir() if path != made]:
        path.rename(made / path.name)
    if folder.exists():
        folder.rename(scratch / "old")
    made.rename(folder)


def _compile(checkpoint: Checkpoint, folder: Path) -> None:
    weights = checkpoint.read_weights()
    np.save(folder / "embedding.npy", weights.embedding)
    np.save(folder / "f32-rows.npy", weights.head)
    observer = folder / "observer.onnx"
    with TensorFile(folder / "f32.bin") as tensors:
        write_body(folder / "f32-body.onnx", weights, tensors, observe=observer)
        write_head(folder / "f32-head.onnx", weights.head, tensors)
    _save_start(folder, "f32", weights, Session(folder / "f32-body.onnx"), checkpoint.start)
    smoothed = _smoothed(checkpoint, weights, folder, observer)
    observer.unlink()
    # What the eight bits start from is computed with the smoothed weights, but in float32: at the start of a string the
    # activations are so large that eight bits would spoil all that follows.
    with scratch_folder(folder / "smooth") as scratch:
        with TensorFile(scratch / "f32.bin") as tensors:
            write_body(scratch / "f32-body.onnx", smoothed, tensors)
        _save_start(folder, "int8", smoothed, Session(scratch / "f32-body.onnx"), checkpoint.start)
    with TensorFile(folder / "int8.bin") as tensors:
        write_body(folder / "int8-body.onnx", smoothed, tensors, eight_bits=True)
        write_head(folder / "int8-head.onnx", smoothed.head, tensors, eight_bits=True)
    scale, rows = to_eight_bits(smoothed.head)
    np.save(folder / "int8-rows.npy", rows)
    np.save(folder / "int8-scale.npy", scale)


def _save_start(folder: Path, precision: Precision, weights: Weights, body: Session, start: int) -> None:
    shape = weights.shape
    none = np.zeros((shape.layers, 0, shape.key_heads, shape.head_width), np.float32)
    alone = Trie(0, np.array([start]), np.zeros(1, np.int64), np.full(1, -1), np.zeros(1, np.int64), np.array([0, 1]))
    hidden, keys, values = _run_body(body, shape, weights.embedding, alone, (none, none))
    logits = (hidden @ weights.head.T).astype(np.float64)
    top = logits.max(axis=1)
    normaliser = (top + np.log(np.exp(logits - top[:, None]).sum(axis=1))).astype(np.float32)
    np.savez(folder / f"{precision}-start.npz", hidden=hidden, normaliser=normaliser, keys=keys, values=values)


def _smoothed(checkpoint: Checkpoint, weights: Weights, folder: Path, observer: Path) -> Weights:
    """The weights, smoothed by what the model does with some sentences."""
    with np.load(folder / "f32-start.npz") as start:
        kept = start["keys"], start["values"]
    session = Session(observer)
    names = [name for name in session.output_names() if name not in ("hidden", "new_keys", "new_values")]
    trie = make_trie([pieces for pieces, _ in checkpoint.tokenizer.encode(SENTENCES)])
    inputs = _body_inputs(weights.shape, weights.embedding, trie, kept)
    hidden, *ranges = session.run(["hidden", *names], inputs)
    return smooth(weights, dict(zip(names, ranges, strict=True)), np.abs(hidden).max(axis=0))
