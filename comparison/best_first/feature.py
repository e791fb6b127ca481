"""The compiled features of edges: their hashes, and the sums of their weights, which are remembered.

MEMO          what is remembered of a group of templates with its values: the sum of the weights, and their places
hashes        write the hashes of all features of an edge
sum_weights   the sum of the weights of its features
"""

from __future__ import annotations

from typing import Any

import numpy as np

from comparison.best_first.compilation import inline, inner
from comparison.best_first.template import (
    BETWEEN,
    BT,
    EACH,
    HASHED,
    KEYS,
    KINDS,
    NEED,
    NEED_TOO,
    NEXT,
    NUM_HASHED,
    NUM_KEYS,
    START,
)
from comparison.learning.hashing import SEED, mix

# A place of the memo: which group with which values (0: none), the sum by the weights of a version, and how many
# places of weights are kept beside it; -1 when there are too many for that.
MEMO = np.dtype([("key", np.uint64), ("sum", np.float64), ("version", np.int64), ("count", np.int64)])
MOST_PLACES = 32
MEMO_SIZE = 1 << 14


@inner
def _write_templates(code: Any, at: int, end: int, values: Any, out: Any, n: int) -> int:
    """Write the features of the templates between two places of the code to `out` from place n on."""
    while at < end:
        last = at + HASHED + code[at + NUM_HASHED]
        need, too = code[at + NEED], code[at + NEED_TOO]
        if need < 0 or (values[need] != 0 and values[too] != 0):
            state = np.uint64(code[at + START])
            for i in range(at + HASHED, last):
                state = mix(state, values[code[i]])
            out[n] = state
            n += 1
        at = last
    return n


@inner
def _write_group(code: Any, at: int, values: Any, out: Any, n: int) -> int:
    """Write the features of the group at a place of the code, and return the place after them."""
    first, end = at + KEYS + code[at + NUM_KEYS], code[at + NEXT]
    if not code[at + EACH]:
        return _write_templates(code, first, end, values, out, n)
    tags = values[BETWEEN]
    tag = np.uint64(1)
    while tags:
        if tags & np.uint64(1):
            values[BT] = tag
            n = _write_templates(code, first, end, values, out, n)
        tags >>= np.uint64(1)
        tag += np.uint64(1)
    return n


@inner
def write_features(code: Any, kinds: int, values: Any, out: Any) -> int:
    """Write the hashes of the features of an edge of these kinds with these values; return their number."""
    at, n = 0, 0
    while at < code.size:
        if code[at + KINDS] & kinds:
            n = _write_group(code, at, values, out, n)
        at = code[at + NEXT]
    return n


@inline
def _sum_group(code: Any, at: int, values: Any, out: Any, memo: Any, places: Any, weights: Any, version: int) -> float:
    """The sum of a group's weights: remembered, or found and kept."""
    key = SEED ^ np.uint64(at)
    for i in range(at + KEYS, at + KEYS + code[at + NUM_KEYS]):
        key = mix(key, values[code[i]])
    slot = np.int64(key & np.uint64(memo.size - 1))
    known = memo[slot]
    total = 0.0
    if known.key == key:
        if known.version == version:
            return known.sum  # type: ignore[no-any-return]
        if known.count >= 0:
            for i in range(known.count):
                total += weights[places[slot, i]]
            known.sum, known.version = total, version
            return total
    count = _write_group(code, at, values, out, 0)
    mask = np.uint64(weights.size - 1)
    keep = count <= places.shape[1]
    for i in range(count):
        place = np.int64(out[i] & mask)
        total += weights[place]
        if keep:
            places[slot, i] = place
    known.key, known.sum, known.version, known.count = key, total, version, count if keep else -1
    return total


@inner
def sum_weights(
    code: Any, kinds: int, values: Any, out: Any, memo: Any, places: Any, weights: Any, version: int
) -> float:
    """The sum of the weights of the features of an edge of these kinds with these values."""
    at, total = 0, 0.0
    while at < code.size:
        if code[at + KINDS] & kinds:
            total += _sum_group(code, at, values, out, memo, places, weights, version)
        at = code[at + NEXT]
    return total
