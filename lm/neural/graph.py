"""The forward pass over the nodes of a trie as ONNX graphs, written straight from the weights.

write_body  hidden states, keys and values of nodes, from their embeddings
write_head  the logarithm of the sum of exponentials of all logits of a hidden state
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path

import numpy as np

from lm.neural.onnx_graph import ROW, Graph, Sizes, TensorFile
from lm.neural.weights import Layer, Matrix, Shape, Weights

TILE = 2048  # columns of the head at a time: their logits stay in the cache
ALIKE = 16  # numbers of the longest vector of a processor


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
    graph = Graph(tensors, eight_bits=eight_bits)
    hidden, new_keys, new_values = _layers(graph, weights)
    graph.rename(graph.norm(hidden, weights.norm, shape.epsilon), "hidden")
    for names, output in ((new_keys, "new_keys"), (new_values, "new_values")):
        layers = [graph.op("Unsqueeze", [name, graph.constant([0], np.int64)]) for name in names]
        graph.rename(graph.op("Concat", layers, axis=0), output)
    heads = (shape.key_heads, shape.head_width)
    inputs: dict[str, tuple[type[np.generic], Sizes]] = {
        "stream": (np.float32, ("N", shape.width)),
        "position": (np.float32, ("N",)),
        "keys": (np.int64, ("blocks", "K")),
        "mask": (np.float32, ("blocks", 1, 1, "size", "K")),
        "kept_keys": (np.float32, (shape.layers, "kept", *heads)),
        "kept_values": (np.float32, (shape.layers, "kept", *heads)),
    }
    new = (shape.layers, "N", *heads)
    outputs: dict[str, Sizes | None] = {"hidden": ("N", shape.width), "new_keys": new, "new_values": new}
    graph.save(path, inputs, outputs)
    if observe is not None:
        graph.save(observe, inputs, outputs | dict.fromkeys(graph.observe()))


def _layers(graph: Graph, weights: Weights) -> tuple[str, list[str], list[str]]:
    shape = weights.shape
    turns = {row: _turn(graph, row) for row in dict.fromkeys(shape.frequencies)}
    blocks = graph.op("Shape", ["mask"])
    counts = [graph.op("Gather", [blocks, graph.constant([axis], np.int64)]) for axis in (0, 3)]
    heads = [shape.key_heads, shape.heads // shape.key_heads, shape.head_width]
    in_blocks = graph.op("Concat", [*counts, graph.constant(heads, np.int64)], axis=0)
    width = graph.op("Gather", [graph.op("Shape", ["keys"]), graph.constant([1], np.int64)])
    ones = graph.filled(graph.op("Concat", [width, graph.constant([ALIKE], np.int64)], axis=0), np.float32(1))
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


def _turn(graph: Graph, frequencies: Sequence[float]) -> tuple[str, str]:
    """Cosines and sines of the rotary positions, [N, 1, head width / 2]."""
    column = graph.op("Unsqueeze", ["position", graph.constant([1, 2], np.int64)])
    angle = graph.op("Mul", [column, graph.constant(np.array(frequencies, np.float32)[None, None])])
    return graph.op("Cos", [angle]), graph.op("Sin", [angle])


def _heads(
    graph: Graph, shape: Shape, layer: Layer, rows: str | tuple[str, str], turn: tuple[str, str]
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


def _rotate(graph: Graph, rows: str, turn: tuple[str, str]) -> str:
    cos, sin = turn
    a, b = graph.op("Split", [rows], 2, axis=-1, num_outputs=2)
    left = graph.op("Sub", [graph.op("Mul", [a, cos]), graph.op("Mul", [b, sin])])
    right = graph.op("Add", [graph.op("Mul", [b, cos]), graph.op("Mul", [a, sin])])
    return str(graph.op("Concat", [left, right], axis=-1))


def _attend(graph: Graph, shape: Shape, number: int, in_blocks: str, ones: str, parts: tuple[str, str, str]) -> str:
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
    top = graph.op("ReduceMax", [scores, graph.constant(ROW)], keepdims=1)
    shares = graph.op("Exp", [graph.op("Sub", [scores, top])])
    total = graph.op("Gather", [graph.op("MatMul", [shares, ones]), graph.constant([0], np.int64)], axis=-1)
    sums = [graph.multiply(shares, part) for part in graph.parts(taken, 4, shape.head_width, 64)]
    mixed = graph.op("Div", [sums[0] if len(sums) == 1 else graph.op("Concat", sums, axis=-1), total])
    mixed = graph.op("Transpose", [mixed], perm=[0, 3, 1, 2, 4])
    return str(graph.op("Reshape", [mixed, graph.constant([-1, shape.heads * shape.head_width], np.int64)]))


def _activate(graph: Graph, shape: Shape, rows: str) -> str:
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
    graph = Graph(tensors, eight_bits=eight_bits)
    rows, row = graph.prepare("hidden"), graph.constant(ROW)
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
    graph.save(path, {"hidden": (np.float32, ("N", head.shape[1]))}, {"normaliser": ("N",)})
