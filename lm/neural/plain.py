"""The forward pass in plain numpy, string by string: what the fast one is compared with.

log_probabilities  after each piece of a string, the log-probability of every piece as the next one
hidden_states      after each piece of a string, the vector that the head is multiplied with
string_cost        minus the log-probability of a string and its end

Formulas: Llama (Touvron et al. 2023, arXiv:2302.13971): root-mean-square norms, rotary positions, grouped keys and
values, gated feed-forward; Qwen 2 adds biases, Qwen 3 (arXiv:2505.09388) norms of each head, Gemma 3 (arXiv:2503.19786)
norms after each part and scaled embeddings. Which of these a model has is told by what its layers hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lm.neural.weights import Layer, Shape, Weights

Values = NDArray[Any]  # float32, or float64 where that is asked for


def log_probabilities(weights: Weights, ids: Sequence[int], dtype: DTypeLike = np.float32) -> Values:
    """A row for each piece of the string, with the log-probabilities of all pieces after it."""
    logits = hidden_states(weights, ids, dtype) @ weights.head.T.astype(dtype)
    highest = logits.max(axis=-1, keepdims=True)
    shifted = logits - highest
    rows: Values = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return rows


def string_cost(weights: Weights, ids: Sequence[int], dtype: DTypeLike = np.float32) -> float:
    """The natural-log cost of all pieces but the first, each after those before it: of a string between its marks."""
    rows = log_probabilities(weights, ids[:-1], dtype)
    return -float(sum(rows[place, piece] for place, piece in enumerate(ids[1:])))


def hidden_states(weights: Weights, ids: Sequence[int], dtype: DTypeLike = np.float32) -> Values:
    """A row for each piece of the string, after the last norm."""
    shape = weights.shape
    stream = weights.embedding[list(ids)].astype(dtype) * np.asarray(shape.embedding_scale, dtype)
    for layer, frequencies in zip(weights.layers, shape.frequencies, strict=True):
        added = _attend(_normalise(stream, layer.attention_norm, shape), layer, frequencies, shape)
        stream = stream + _normalise_if(added, layer.attention_post_norm, shape)
        added = _feed_forward(_normalise(stream, layer.feed_norm, shape), layer, shape)
        stream = stream + _normalise_if(added, layer.feed_post_norm, shape)
    return _normalise(stream, weights.norm, shape)


def _normalise(rows: Values, norm: Values, shape: Shape) -> Values:
    """Each row divided by the root of the mean of its squares, times the weights of the norm."""
    mean = np.square(rows).mean(axis=-1, keepdims=True)
    normal: Values = rows / np.sqrt(mean + rows.dtype.type(shape.epsilon)) * norm.astype(rows.dtype)
    return normal


def _normalise_if(rows: Values, norm: Values | None, shape: Shape) -> Values:
    return rows if norm is None else _normalise(rows, norm, shape)


def _linear(rows: Values, matrix: Values, bias: Values | None = None) -> Values:
    product: Values = rows @ matrix.T.astype(rows.dtype)
    return product if bias is None else product + bias.astype(rows.dtype)


def _attend(rows: Values, layer: Layer, frequencies: Sequence[float], shape: Shape) -> Values:
    """What each place takes over from those up to it."""
    places = len(rows)
    queries = _linear(rows, layer.query, layer.query_bias).reshape(places, shape.heads, shape.head_width)
    keys = _linear(rows, layer.key, layer.key_bias).reshape(places, shape.key_heads, shape.head_width)
    values = _linear(rows, layer.value, layer.value_bias).reshape(places, shape.key_heads, shape.head_width)
    queries = _turn(_normalise_if(queries, layer.query_norm, shape), frequencies)
    keys = _turn(_normalise_if(keys, layer.key_norm, shape), frequencies)
    later = np.triu(np.ones((places, places), bool), 1)
    found = np.empty_like(queries)
    for head in range(shape.heads):
        group = head // (shape.heads // shape.key_heads)  # so many neighbouring heads share their keys and values
        products = queries[:, head] @ keys[:, group].T * rows.dtype.type(shape.attention_scale)
        products[later] = -np.inf
        shares = np.exp(products - products.max(axis=-1, keepdims=True))
        found[:, head] = shares / shares.sum(axis=-1, keepdims=True) @ values[:, group]
    return _linear(found.reshape(places, -1), layer.output)


def _turn(vectors: Values, frequencies: Sequence[float]) -> Values:
    """Rotary positions: the vectors of each place, first halves against second ones, turned by its number."""
    # The angles in float64, since 8,000 turns times a frequency has no digits to spare in float32.
    angles = np.arange(len(vectors))[:, None, None] * np.asarray(frequencies, np.float64)
    cosine, sine = np.cos(angles).astype(vectors.dtype), np.sin(angles).astype(vectors.dtype)
    first, second = np.split(vectors, 2, axis=-1)
    return np.concatenate([first * cosine - second * sine, second * cosine + first * sine], axis=-1)


def _feed_forward(rows: Values, layer: Layer, shape: Shape) -> Values:
    gate = _linear(rows, layer.gate)
    if shape.activation == "silu":
        gate = gate / (1 + np.exp(-np.maximum(gate, -80)))  # beyond it the result is zero, and exp is not
    else:
        gate = 0.5 * gate * (1 + np.tanh(np.sqrt(2 / np.pi).astype(rows.dtype) * (gate + 0.044715 * gate**3)))
    return _linear(gate * _linear(rows, layer.up), layer.down)
