"""The forward pass over the nodes of a trie as ONNX graphs, written straight from the weights.

write_body  hidden states, keys and values of nodes, from their embeddings
write_head  the logarithm of the sum of exponentials of all logits of a hidden state
TensorFile  the file beside the graphs that holds their matrices; the runtime maps it

In eight bits, each row of activations has a scale of its own (a scale of the whole batch would make scores depend on
what else is in it), and each output of a matrix has one. Sums are in whole numbers, so they are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, ValueInfoProto
from onnx import helper as make
from onnx.numpy_helper import from_array

from gyro.files import write_atomically
from lm.neural.weights import Layer, Matrix, Shape, Weights

TILE = 2048  # columns of the head at a time: their logits stay in the cache
ALIKE = 16  # numbers of the longest vector of a processor
_ALIGNMENT = 4096  # of mapped tensors
_SMALL = 1024  # bytes: smaller tensors are in the graph itself
_ROW = np.array([-1], np.int64)
_MIDDLE = 128  # the zero of unsigned bytes
_MOST = 127.0

Array = NDArray[Any]


class TensorFile:
    """Matrices one after the other; several graphs may use one of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._context = write_atomically(path)
        self._size = 0
        self._file: IO[bytes]

    def __enter__(self) -> Self:
        self._file = self._context.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._context.__exit__(kind, error, trace)

    def add(self, name: str, array: Array) -> TensorProto:
        """Write a matrix, and give the tensor that stands for it in graphs."""
        array = np.ascontiguousarray(array)
        self._file.write(b"\0" * (-self._size % _ALIGNMENT))
        offset = self._size + (-self._size % _ALIGNMENT)
        self._file.write(array.data)
        self._size = offset + array.nbytes
        tensor = TensorProto(
            name=name,
            dims=array.shape,
            data_type=make.np_dtype_to_tensor_dtype(array.dtype),
            data_location=TensorProto.EXTERNAL,
        )
        for key, value in (("location", self._path.name), ("offset", offset), ("length", array.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
        return tensor


class _Graph:
    """Nodes and tensors as they are added."""

    def __init__(self, tensors: TensorFile, *, eight_bits: bool) -> None:
        self.eight_bits = eight_bits
        self._tensors = tensors
        self._nodes: list[Any] = []
        self._observed: dict[str, str] = {}  # what goes into the products, by their names
        self._initializers: list[TensorProto] = []
        self._small: dict[tuple[bytes, str, tuple[int, ...]], str] = {}

    def op(self, kind: str, inputs: Sequence[str], outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
        names = [f"t{len(self._nodes)}.{k}" for k in range(outputs)]
        self._nodes.append(make.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value: Any, dtype: Any = None) -> str:
        array = np.asarray(value, dtype)
        key = (array.tobytes(), str(array.dtype), array.shape) if array.nbytes <= _SMALL else None
        if key in self._small:
            return self._small[key]
        name = f"c{len(self._initializers)}"
        tensor = from_array(array, name) if key else self._tensors.add(name, array)
        self._initializers.append(tensor)
        if key:
            self._small[key] = name
        return name

    def multiply(self, a: str, b: str) -> str:
        return str(self.op("MatMul", [a, b]))

    def parts(self, name: str, axis: int, width: int, most: int) -> list[str]:
        """The tensor cut along an axis of this width into parts of `most` at most."""
        if width <= most:
            return [name]
        sizes = [min(most, width - begin) for begin in range(0, width, most)]
        return list(self.op("Split", [name, self.constant(sizes, np.int64)], len(sizes), axis=axis))

    def rename(self, name: str, output: str) -> None:
        self._nodes.append(make.make_node("Identity", [name], [output]))

    def prepare(self, rows: str, name: str = "") -> str | tuple[str, str]:
        """The rows as a product takes them: as they are, or as bytes with a scale for each row."""
        if name:
            self._observed[name] = rows
        if not self.eight_bits:
            return rows
        largest = self.op("ReduceMax", [self.op("Abs", [rows]), self.constant(_ROW)], keepdims=1)
        scale = self.op("Mul", [self.op("Max", [largest, self.constant(1e-8, np.float32)]), self._f32(1 / _MOST)])
        flat = self.op("Squeeze", [scale, self.constant(_ROW)])
        zero = self.op(
            "ConstantOfShape",
            [self.op("Shape", [flat])],
            value=make.make_tensor("zero", TensorProto.UINT8, [1], [_MIDDLE]),
        )
        return self.op("QuantizeLinear", [rows, flat, zero], axis=0), scale

    def product(self, rows: str | tuple[str, str], matrix: Matrix, bias: Matrix | None = None) -> str:
        """rows · matrixᵀ + bias."""
        if isinstance(rows, str):
            result = self.op("MatMul", [rows, self.constant(np.ascontiguousarray(matrix.T))])
        else:
            scale, eight = to_eight_bits(matrix)
            result = self.op(
                "MatMulIntegerToFloat",
                [
                    rows[0],
                    self.constant(np.ascontiguousarray(eight.T)),
                    self.constant([1.0], np.float32),
                    self.constant(scale),
                    self.constant(_MIDDLE, np.uint8),
                ],
                domain="com.microsoft",
            )
            result = self.op("Mul", [result, rows[1]])
        return result if bias is None else str(self.op("Add", [result, self.constant(bias)]))

    def norm(self, rows: str, weight: Matrix, epsilon: float) -> str:
        return str(
            self.op(
                "SimplifiedLayerNormalization", [rows, self.constant(weight)], axis=-1, epsilon=epsilon, stash_type=1
            )
        )

    def _f32(self, value: float) -> str:
        return self.constant(value, np.float32)

    def observe(self) -> list[str]:
        """Give the largest sizes of what goes into each product as outputs, and their names."""
        for name, rows in self._observed.items():
            largest = self.op("ReduceMax", [self.op("Abs", [rows]), self.constant([0], np.int64)], keepdims=0)
            self.rename(largest, name)
        return list(self._observed)

    def to_model(self, inputs: Sequence[ValueInfoProto], outputs: Sequence[ValueInfoProto]) -> ModelProto:
        graph = make.make_graph(self._nodes, "gyro", list(inputs), list(outputs), self._initializers)
        opsets = [make.make_opsetid("", 18), make.make_opsetid("com.microsoft", 1)]
        return make.make_model(graph, opset_imports=opsets, ir_version=9)


def to_eight_bits(matrix: Matrix) -> tuple[Matrix, NDArray[np.int8]]:
    """The scale of each row, and the row in whole numbers from -127 to 127."""
    scale = np.maximum(np.abs(matrix).max(axis=1), 1e-12).astype(np.float32) / np.float32(_MOST)
    return scale, np.clip(np.round(matrix / scale[:, None]), -_MOST, _MOST).astype(np.int8)


def write_body(
    path: Path, weights: Weights, tensors: TensorFile, *, eight_bits: bool = False, observe: Path | None = None
) -> None:
    """The layers as a graph.

    Inputs: `stream` [N, width], the embeddings of N nodes; `position` [N]; `keys` [blocks, K] and `mask` [blocks, 1, 1,
    size, K] of lm.neural.trie, N = blocks · size; `kept_keys` and `kept_values` [layers, kept, key heads, head width].
    Outputs: `hidden` [N, width], behind the last norm; `new_keys` and `new_values` [layers, N, key heads, head width].
    `observe` gets the same graph with the largest sizes of what goes into each product as outputs besides.
    """
    shape = weights.shape
    graph = _Graph(tensors, eight_bits=eight_bits)
    hidden, new_keys, new_values = _layers(graph, weights)
    graph.rename(graph.norm(hidden, weights.norm, shape.epsilon), "hidden")
    for names, output in ((new_keys, "new_keys"), (new_values, "new_values")):
        layers = [graph.op("Unsqueeze", [name, graph.constant([0], np.int64)]) for name in names]
        graph.rename(graph.op("Concat", layers, axis=0), output)
    f32, i64 = TensorProto.FLOAT, TensorProto.INT64
    kept: list[str | int | None] = [shape.layers, "kept", shape.key_heads, shape.head_width]
    new: list[str | int | None] = [shape.layers, "N", shape.key_heads, shape.head_width]
    inputs = [
        make.make_tensor_value_info("stream", f32, ["N", shape.width]),
        make.make_tensor_value_info("position", f32, ["N"]),
        make.make_tensor_value_info("keys", i64, ["blocks", "K"]),
        make.make_tensor_value_info("mask", f32, ["blocks", 1, 1, "size", "K"]),
        make.make_tensor_value_info("kept_keys", f32, kept),
        make.make_tensor_value_info("kept_values", f32, kept),
    ]
    outputs = [
        make.make_tensor_value_info("hidden", f32, ["N", shape.width]),
        make.make_tensor_value_info("new_keys", f32, new),
        make.make_tensor_value_info("new_values", f32, new),
    ]
    _save(graph.to_model(inputs, outputs), path)
    if observe is not None:
        ranges = [make.make_tensor_value_info(name, f32, None) for name in graph.observe()]
        _save(graph.to_model(inputs, [*outputs, *ranges]), observe)


def _layers(graph: _Graph, weights: Weights) -> tuple[str, list[str], list[str]]:
    shape = weights.shape
    turns = {row: _turn(graph, row) for row in dict.fromkeys(shape.frequencies)}
    blocks = graph.op("Shape", ["mask"])
    counts = [graph.op("Gather", [blocks, graph.constant([axis], np.int64)]) for axis in (0, 3)]
    heads = [shape.key_heads, shape.heads // shape.key_heads, shape.head_width]
    in_blocks = graph.op("Concat", [*counts, graph.constant(heads, np.int64)], axis=0)
    width = graph.op("Gather", [graph.op("Shape", ["keys"]), graph.constant([1], np.int64)])
    ones = graph.op(
        "ConstantOfShape",
        [graph.op("Concat", [width, graph.constant([ALIKE], np.int64)], axis=0)],
        value=make.make_tensor("one", TensorProto.FLOAT, [1], [1.0]),
    )
    stream, new_keys, new_values = "stream", [], []
    for number, layer in enumerate(weights.layers):
        rows = graph.prepare(graph.norm(stream, layer.attention_norm, shape.epsilon), f"{number}.attention")
        query, key, value = _heads(graph, shape, layer, rows, turns[shape.frequencies[number]])
        new_keys.append(key)
        new_values.append(value)
        mixed = _attend(graph, shape, number, in_blocks, ones, (query, key, value))
        added = graph.product(graph.prepare(mixed, f"{number}.output"), layer.output)
        if layer.attention_post_norm is not None:
            added = graph.norm(added, layer.attention_post_norm, shape.epsilon)
        stream = graph.op("Add", [stream, added])
        rows = graph.prepare(graph.norm(stream, layer.feed_norm, shape.epsilon), f"{number}.feed")
        gate = _activate(graph, shape, graph.product(rows, layer.gate))
        inner = graph.op("Mul", [gate, graph.product(rows, layer.up)])
        added = graph.product(graph.prepare(inner, f"{number}.down"), layer.down)
        if layer.feed_post_norm is not None:
            added = graph.norm(added, layer.feed_post_norm, shape.epsilon)
        stream = graph.op("Add", [stream, added])
    return stream, new_keys, new_values


def _turn(graph: _Graph, frequencies: Sequence[float]) -> tuple[str, str]:
    """Cosines and sines of the rotary positions, [N, 1, head width / 2]."""
    column = graph.op("Unsqueeze", ["position", graph.constant([1, 2], np.int64)])
    angle = graph.op("Mul", [column, graph.constant(np.array(frequencies, np.float32)[None, None])])
    return graph.op("Cos", [angle]), graph.op("Sin", [angle])


def _heads(
    graph: _Graph, shape: Shape, layer: Layer, rows: str | tuple[str, str], turn: tuple[str, str]
) -> tuple[str, str, str]:
    """Queries, keys and values, [N, heads, head width]; the scale of the products is in the queries."""
    scale = np.float32(shape.attention_scale)
    query_norm = layer.query_norm
    query, query_bias = layer.query, layer.query_bias
    if query_norm is None:
        query = query * scale
        query_bias = None if query_bias is None else query_bias * scale
    else:
        query_norm = query_norm * scale
    biases = (query_bias, layer.key_bias, layer.value_bias)
    bias = None if query_bias is None else np.concatenate([each for each in biases if each is not None])
    together = graph.product(rows, np.concatenate([query, layer.key, layer.value]), bias)
    width = [0, shape.heads + 2 * shape.key_heads, shape.head_width]
    split = graph.constant([shape.heads, shape.key_heads, shape.key_heads], np.int64)
    q, k, value = graph.op(
        "Split", [graph.op("Reshape", [together, graph.constant(width, np.int64)]), split], 3, axis=1
    )
    if query_norm is not None:
        q = graph.norm(q, query_norm, shape.epsilon)
    if layer.key_norm is not None:
        k = graph.norm(k, layer.key_norm, shape.epsilon)
    return _rotate(graph, q, turn), _rotate(graph, k, turn), value


def _rotate(graph: _Graph, rows: str, turn: tuple[str, str]) -> str:
    cos, sin = turn
    a, b = graph.op("Split", [rows], 2, axis=-1, num_outputs=2)
    left = graph.op("Sub", [graph.op("Mul", [a, cos]), graph.op("Mul", [b, sin])])
    right = graph.op("Add", [graph.op("Mul", [b, cos]), graph.op("Mul", [a, sin])])
    return str(graph.op("Concat", [left, right], axis=-1))


def _attend(graph: _Graph, shape: Shape, number: int, in_blocks: str, ones: str, parts: tuple[str, str, str]) -> str:
    """What each node takes from the nodes before it: block by block, from the block's keys under its mask.

    A product adds up along the keys one after the other, and what is masked adds nothing: so a node gets the same sums
    to the last bit, whatever else is in its block. The sum of the shares must be made that way too, as a column of ones
    beside the values; that of Softmax goes by places, and would make eight bits round differently in other company.
    """
    layer, one = graph.constant(number, np.int64), graph.constant([2], np.int64)
    query, key, value = parts
    keys = graph.op("Concat", [graph.op("Gather", ["kept_keys", layer], axis=0), key], axis=0)
    values = graph.op("Concat", [graph.op("Gather", ["kept_values", layer], axis=0), value], axis=0)
    # blocks, size, key heads, queries a key head, width → blocks, key heads, queries, size, width
    rows = graph.op("Transpose", [graph.op("Reshape", [query, in_blocks])], perm=[0, 2, 3, 1, 4])
    columns = graph.op("Transpose", [graph.op("Gather", [keys, "keys"], axis=0)], perm=[0, 2, 3, 1])
    taken = graph.op("Transpose", [graph.op("Gather", [values, "keys"], axis=0)], perm=[0, 2, 1, 3])
    columns, taken = graph.op("Unsqueeze", [columns, one]), graph.op("Unsqueeze", [taken, one])
    # Wide heads in parts, because the runtime parts long sums by the shape of the matrices: these are summed in one go.
    products = map(
        graph.multiply, graph.parts(rows, 4, shape.head_width, 128), graph.parts(columns, 3, shape.head_width, 128)
    )
    scores = graph.op("Add", [reduce(lambda a, b: graph.op("Add", [a, b]), products), "mask"])
    top = graph.op("ReduceMax", [scores, graph.constant(_ROW)], keepdims=1)
    shares = graph.op("Exp", [graph.op("Sub", [scores, top])])
    total = graph.op("Gather", [graph.op("MatMul", [shares, ones]), graph.constant([0], np.int64)], axis=-1)
    sums = [graph.multiply(shares, part) for part in graph.parts(taken, 4, shape.head_width, 64)]
    mixed = graph.op("Div", [sums[0] if len(sums) == 1 else graph.op("Concat", sums, axis=-1), total])
    mixed = graph.op("Transpose", [mixed], perm=[0, 3, 1, 2, 4])
    return str(graph.op("Reshape", [mixed, graph.constant([-1, shape.heads * shape.head_width], np.int64)]))


def _activate(graph: _Graph, shape: Shape, rows: str) -> str:
    if shape.activation == "silu":
        return str(graph.op("Mul", [rows, graph.op("Sigmoid", [rows])]))
    cube = graph.op("Mul", [graph.op("Mul", [rows, rows]), rows])
    inner = graph.op("Add", [rows, graph.op("Mul", [cube, graph.constant(0.044715, np.float32)])])
    tanh = graph.op("Tanh", [graph.op("Mul", [inner, graph.constant((2 / np.pi) ** 0.5, np.float32)])])
    half = graph.op("Mul", [rows, graph.constant(0.5, np.float32)])
    return str(graph.op("Mul", [half, graph.op("Add", [tanh, graph.constant(1.0, np.float32)])]))


def write_head(path: Path, head: Matrix, tensors: TensorFile, *, eight_bits: bool = False) -> None:
    """The normaliser as a graph: `hidden` [N, width] → `normaliser` [N]; the vocabulary goes by in tiles.

    Where N is a multiple of ALIKE, a row's result is the same to the last bit whatever the other rows are: sums go
    along rows that all begin at a vector of the processor.
    """
    graph = _Graph(tensors, eight_bits=eight_bits)
    rows, row = graph.prepare("hidden"), graph.constant(_ROW)
    tops, sums = [], []
    for begin in range(0, len(head), TILE):
        tile = head[begin : begin + TILE]
        missing = -len(tile) % ALIKE
        none = np.concatenate([np.zeros(len(tile)), np.full(missing, -1e9)]).astype(np.float32) if missing else None
        logits = graph.product(rows, np.pad(tile, ((0, missing), (0, 0))), none)
        top = graph.op("ReduceMax", [logits, row], keepdims=1)
        tops.append(top)
        sums.append(graph.op("ReduceSum", [graph.op("Exp", [graph.op("Sub", [logits, top])]), row], keepdims=1))
    top = graph.op("Max", tops)
    parts = [
        graph.op("Mul", [part, graph.op("Exp", [graph.op("Sub", [own, top])])])
        for part, own in zip(sums, tops, strict=True)
    ]
    result = graph.op("Add", [top, graph.op("Log", [graph.op("Sum", parts)])])
    graph.rename(graph.op("Squeeze", [result, row]), "normaliser")
    f32 = TensorProto.FLOAT
    inputs = [make.make_tensor_value_info("hidden", f32, ["N", head.shape[1]])]
    _save(graph.to_model(inputs, [make.make_tensor_value_info("normaliser", f32, ["N"])]), path)


def _save(model: ModelProto, path: Path) -> None:
    with write_atomically(path) as file:
        file.write(model.SerializeToString())
