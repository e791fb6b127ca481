"""Hashes of 64 bits, the same on every machine: what stands for strings, features and structures in compiled code.

text_hash  the number that stands for a string
mix        one step of a hash, for compiled code
start      the hash of a feature without values yet
Hashes     an array of them
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled

Hashes = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
SEED = np.uint64(0xD1B54A32D192ED03)


@lru_cache(maxsize=1 << 18)
def text_hash(text: str) -> int:
    """A number of 64 bits for a word, tag, label or category."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


@compiled
def mix(state: Any, value: Any) -> Any:
    """One step of a hash: both are unsigned numbers of 64 bits."""
    state = (state ^ value) * _GOLDEN
    return state ^ (state >> _HALF)


@compiled
def start(template: Any) -> Any:
    """The hash of a feature without values yet."""
    return mix(SEED, np.uint64(template))
