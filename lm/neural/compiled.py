"""A model made ready for the runtime: graphs and matrices in a folder beside it, made once.

compiled_folder  the folder of a checkpoint; it is made where it is missing
Engine           the model in one precision: states of the nodes of a trie, and logits
States           what an engine computed
Precision        "f32" decides, "int8" proposes: three times as fast, wrong by a nat or so a string
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Literal
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.files import read_json, scratch_folder, write_json
from lm.neural.graph import ALIKE, write_body, write_head
from lm.neural.onnx_graph import TensorFile, to_eight_bits
from lm.neural.runtime import Array, Session
from lm.neural.smoothing import SENTENCES, smooth
from lm.neural.trie import BLOCK, Trie, make_blocks, make_trie
from lm.neural.weights import Checkpoint, Matrix, Shape, Weights

Precision = Literal["f32", "int8"]
FORMAT = 5  # of the folder
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
        try:
            self._embedding = np.load(folder / "embedding.npy", mmap_mode="r")
            self._rows = np.load(folder / f"{precision}-rows.npy", mmap_mode="r")
            self._row_scale = np.load(folder / "int8-scale.npy") if precision == "int8" else None
            with np.load(folder / f"{precision}-start.npz") as start:
                self.start = States(start["hidden"], start["normaliser"], start["keys"], start["values"])
        except (OSError, ValueError, EOFError, KeyError, BadZipFile) as error:
            found = f"found a damaged file, {error!s:.120}"
            raise InputError(f"{found}; remove the folder, and it is made anew", path=folder) from error

    def compute(self, trie: Trie, kept: States | None = None) -> States:
        """The states of a trie on top of kept ones, the start alone where none are given."""
        kept = kept or self.start
        if not len(trie):
            return States(kept.hidden, kept.normaliser, kept.keys[:, :0], kept.values[:, :0])
        hidden, keys, values = _run_body(self._body, self.shape, self._embedding, trie, (kept.keys, kept.values))
        normaliser = self._normalisers(hidden)
        hidden = self._rounded(hidden)
        return States(
            np.concatenate([kept.hidden, hidden]), np.concatenate([kept.normaliser, normaliser]), keys, values
        )

    def costs(self, states: States, nodes: NDArray[np.int64], pieces: NDArray[np.int64]) -> Matrix:
        """The cost of each piece behind its node."""
        logits = np.einsum("ij,ij->i", states.hidden[nodes], self._head_rows(pieces))
        return np.asarray(states.normaliser[nodes] - logits)

    def table(self, states: States, nodes: NDArray[np.int64], pieces: NDArray[np.int64]) -> Matrix:
        """The costs of all pieces behind each node: [nodes, pieces]."""
        return np.asarray(states.normaliser[nodes, None] - states.hidden[nodes] @ self._head_rows(pieces).T)

    def _normalisers(self, hidden: Matrix) -> Matrix:
        padded = np.concatenate([hidden, np.zeros((-len(hidden) % ALIKE, hidden.shape[1]), np.float32)])
        parts = [padded[row : row + _HEAD_ROWS] for row in range(0, len(padded), _HEAD_ROWS)]
        found = [self._head.run(["normaliser"], {"hidden": part})[0] for part in parts]
        return np.concatenate(found)[: len(hidden)]

    def _head_rows(self, pieces: NDArray[np.int64]) -> Matrix:
        rows: Matrix = self._rows[pieces].astype(np.float32, copy=False)
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


def _body_inputs(shape: Shape, embedding: Matrix, trie: Trie, kept: tuple[Matrix, Matrix]) -> dict[str, Array]:
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
    folder = beside if _can_hold_folders(beside.parent) else cache
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        print(f"preparing {checkpoint.path.name} for the runtime (once; about ten seconds) …", file=sys.stderr)
        with scratch_folder(folder) as scratch:
            made = scratch / "made"
            made.mkdir()
            _compile(checkpoint, made)
            write_json(made / "facts.json", wanted)
            _take_place(made, folder, wanted)
    except OSError as error:
        raise InputError(f"cannot write the graphs of the model: {error.strerror or error}", path=folder) from error
    return folder


def _facts(folder: Path) -> object:
    """What a folder was made of; None where there is none, or not a whole one."""
    try:
        return read_json(folder / "facts.json")
    except InputError:
        return None


def _can_hold_folders(place: Path) -> bool:
    try:
        with scratch_folder(place / "trial"):
            return True
    except OSError:
        return False


def _take_place(made: Path, folder: Path, wanted: object) -> None:
    """Give what was made its name, unless another process was faster; an older one goes with the scratch folder."""
    for attempt in count():
        if _facts(folder) == wanted:
            return
        try:
            made.rename(folder)  # fails if there is one, also if it came just now
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        with suppress(FileNotFoundError):
            folder.rename(made.with_name(f"old{attempt}"))


def _compile(checkpoint: Checkpoint, folder: Path) -> None:
    weights = checkpoint.read_weights()
    np.save(folder / "embedding.npy", weights.embedding)
    np.save(folder / "f32-rows.npy", weights.head)
    observer = folder / "observer.onnx"
    with TensorFile(folder / "f32.bin") as tensors:
        write_body(folder / "f32-body.onnx", weights, tensors, observe=observer)
        write_head(folder / "f32-head.onnx", weights.head, tensors)
    _save_start(folder, "f32", weights, Session(folder / "f32-body.onnx"), weights.head, checkpoint.start)
    smoothed = _smoothed(checkpoint, weights, folder, observer)
    observer.unlink()
    # What the eight bits start from is computed with the smoothed weights, but in float32: at the start of a string the
    # activations are so large that eight bits would spoil all that follows.
    with scratch_folder(folder / "smooth") as scratch:
        with TensorFile(scratch / "f32.bin") as tensors:
            write_body(scratch / "f32-body.onnx", smoothed, tensors)
        scale, rows = to_eight_bits(smoothed.head)
        head = rows * scale[:, None]  # as it is read later, so that probabilities sum to one
        _save_start(folder, "int8", smoothed, Session(scratch / "f32-body.onnx"), head, checkpoint.start)
    with TensorFile(folder / "int8.bin") as tensors:
        write_body(folder / "int8-body.onnx", smoothed, tensors, eight_bits=True)
        write_head(folder / "int8-head.onnx", smoothed.head, tensors, eight_bits=True)
    np.save(folder / "int8-rows.npy", rows)
    np.save(folder / "int8-scale.npy", scale)


def _save_start(folder: Path, precision: Precision, weights: Weights, body: Session, head: Matrix, start: int) -> None:
    shape = weights.shape
    none = np.zeros((shape.layers, 0, shape.key_heads, shape.head_width), np.float32)
    alone = Trie(0, np.array([start]), np.zeros(1, np.int64), np.full(1, -1), np.zeros(1, np.int64), np.array([0, 1]))
    hidden, keys, values = _run_body(body, shape, weights.embedding, alone, (none, none))
    logits = (hidden @ head.T).astype(np.float64)
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
