"""Cutting the n-grams of a text into shards: where shards begin, and what each is sent of a block of text.

Plan          what all must know who take part in making an index in shards
sample_rows   a sample of the distinct first words of n-grams, the same however the text is divided
choose_starts where shards begin, so that each has about as much of a sample
cut_block     for each shard its part of a block: a slice
read_slice    the n-grams of a slice, in rows

What starts at one position of the text, up to `order` words and zeros after the end of its sentence, is a row. Rows are
sorted before they are sent, and of each goes only what differs from the one before: 11 bytes a word of the text instead
of 20.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.index.block import Block, find_words, pack, unpack
from gyro.index.levels import sorted_positions
from gyro.index.reader import OFFSETS, WORDS

Rows = NDArray[np.int32]
Numbers = NDArray[np.int32]

# A shard that could begin with another word may be so much smaller or larger for that.
UNEVEN = 1 / 8


@dataclass(frozen=True)
class Plan:
    """The folder in which the vocabulary is and the shards are made, how many there are, and with what they begin.

    `starts` has the numbers, from 1, of the words that each shard begins with, from the second on; where there are
    fewer starts than shards, the last shards are empty.
    """

    folder: str
    work: str
    order: int
    num_words: int
    count_type: str
    least: tuple[int, ...]
    memory: int
    shards: int = 1
    starts: tuple[tuple[int, ...], ...] = ()
    chunk: int | None = None  # rows that are sorted at once, for tests

    def start(self, shard: int) -> tuple[int, ...]:
        """What a shard begins with: nothing for the first and for empty ones."""
        return self.starts[shard - 1] if 0 < shard <= len(self.starts) else ()


def sample_rows(data: bytes, plan: Plan, share: float) -> bytes:
    """About this share of the distinct rows of a block: those whose checksum is low, wherever they are."""
    tokens = _numbered(Block.from_bytes(data), plan)[1]
    limit = np.uint64(min(int(share * 2.0**64), (1 << 64) - 1))
    rows = _sample(np.concatenate([tokens, np.zeros(plan.order, np.int32)]), len(tokens), plan.order, limit)
    return np.unique(rows, axis=0).astype(np.int32).tobytes() if len(rows) else b""


def choose_starts(rows: Rows, shards: int) -> tuple[tuple[int, ...], ...]:
    """Where shards begin, from the second on, by distinct sorted rows: at a new word if possible, else within one.

    >>> rows = np.array([[1, 1], *([2, word] for word in range(1, 8)), [3, 1]], np.int32)
    >>> choose_starts(rows, 3)
    ((2, 3), (2, 6))
    """
    total, order = rows.shape
    if total < 2:
        return ()
    differ = rows[1:] != rows[:-1]
    new_at = np.append(-1, np.argmax(differ, axis=1))  # the first column in which a row differs from the one before
    new_at[0] = order  # where the first shard begins is no choice
    edges = [np.flatnonzero(new_at < depth) for depth in range(1, order + 1)]
    chosen = set()
    for shard in range(1, shards):
        wanted = shard * total / shards
        for places in edges:
            nearest = places[np.argmin(np.abs(places - wanted))] if len(places) else total
            if abs(nearest - wanted) <= max(1, total / shards * UNEVEN):
                chosen.add(int(nearest))
                break
    return tuple(tuple(rows[place, : new_at[place] + 1].tolist()) for place in sorted(chosen))


def cut_block(data: bytes, plan: Plan) -> Iterator[tuple[int, bytes]]:
    """The shards to which a block has something to send, and their slices of it."""
    own_tokens, tokens, num_words = _numbered(Block.from_bytes(data), plan)
    padding = np.zeros(plan.order, np.int32)
    own_tokens, tokens = np.concatenate([own_tokens, padding]), np.concatenate([tokens, padding])
    positions, shared, depth = sorted_positions(
        own_tokens, len(own_tokens) - plan.order, plan.order, num_words
    )  # numbers of the block's own words sort alike, and there are fewer of them
    keys = np.zeros((len(plan.starts) + 2, plan.order), np.int32)
    for row, start in zip(keys[1:], plan.starts, strict=False):
        row[: len(start)] = start
    keys[-1] = np.iinfo(np.int32).max
    bounds = [_first_at(tokens, positions, key) for key in keys]
    totals = [_totals(tokens, positions, plan.start(shard), plan.order) for shard in range(len(plan.starts) + 2)]
    for shard, (low, high) in enumerate(pairwise(bounds)):
        of_ends = np.stack(totals[shard : shard + 2])
        if high > low or of_ends.any():
            new, symbols, times = _encode(
                tokens, positions[low:high], shared[low:high], depth[low:high], plan.order
            )  # fmt: skip
            large = times[times >= 255]
            yield shard, pack(of_ends, new, symbols, np.minimum(times, 255).astype(np.uint8), large)


class Slice(NamedTuple):
    """Sorted distinct rows and how often each occurs; how often that which begins the shard, and that which begins the
    next one, occurs in the block by its first word, its first two, and so on."""

    rows: Rows
    times: NDArray[np.int64]
    totals: NDArray[np.int64]


def read_slice(data: bytes, order: int) -> Slice:
    """What `cut_block` made."""
    totals, new, symbols, small, large = unpack(data)
    times = np.frombuffer(small, np.uint8).astype(np.int64)
    times[times == 255] = np.frombuffer(large, np.int64)
    rows = _decode(np.frombuffer(new, np.uint8), np.frombuffer(symbols, np.int32), order)
    return Slice(rows, times, np.frombuffer(totals, np.int64).reshape(2, order))


def _numbered(block: Block, plan: Plan) -> tuple[Numbers, Numbers, int]:
    """The tokens of a block as numbers of its own words and of the whole vocabulary; 0 for words that are left out."""
    words, offsets = (np.load(Path(plan.folder, name), mmap_mode="r") for name in (WORDS, OFFSETS))
    numbers = np.append(0, find_words(block.words, np.asarray(words), np.asarray(offsets)) + 1).astype(np.int32)
    tokens = numbers[block.tokens]
    own = block.tokens if (numbers[1:] > 0).all() else np.where(tokens > 0, block.tokens, np.int32(0))
    return own, tokens, len(block.words)


def _totals(tokens: Numbers, positions: Numbers, start: Sequence[int], order: int) -> NDArray[np.int64]:
    """How often the first 1, 2 … words of what begins a shard occur, without all of them."""
    totals, key = np.zeros(order, np.int64), np.zeros(order, np.int32)
    for place, word in enumerate(start[:-1]):
        key[place] = word
        after = key.copy()
        after[place] += 1
        totals[place] = _first_at(tokens, positions, after) - _first_at(tokens, positions, key)
    return totals


@compiled
def _first_at(tokens: Any, positions: Any, key: Any) -> int:
    """The first of the sorted positions whose row is not before the key."""
    low, high = 0, len(positions)
    while low < high:
        middle = (low + high) // 2
        place, is_before = positions[middle], False
        for column in range(len(key)):
            symbol = tokens[place + column]
            if symbol != key[column]:
                is_before = symbol < key[column]
                break
            if symbol == 0:
                break
        if is_before:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _encode(tokens: Any, positions: Any, shared: Any, depth: Any, order: int) -> Any:
    """For each distinct row how many symbols it has from the one before, the others, and how often it occurs."""
    rows, size = 0, 0
    for i in range(len(positions)):
        same = shared[i] if i > 0 else 0
        if same < order:
            rows += 1
            size += depth[i] - same + (1 if depth[i] < order else 0)
    old, symbols, times = np.empty(rows, np.uint8), np.empty(size, np.int32), np.zeros(rows, np.int64)
    row, place = -1, 0
    for i in range(len(positions)):
        same = shared[i] if i > 0 else 0
        if same < order:
            row += 1
            old[row] = same
            for column in range(same, min(depth[i] + 1, order)):
                symbols[place] = tokens[positions[i] + column]
                place += 1
        times[row] += 1
    return old, symbols, times


@compiled
def _decode(old: Any, symbols: Any, order: int) -> Any:
    rows = np.zeros((len(old), order), np.int32)
    place = 0
    for i in range(len(old)):
        for column in range(old[i]):
            rows[i, column] = rows[i - 1, column]
        for column in range(old[i], order):
            rows[i, column] = symbols[place]
            place += 1
            if rows[i, column] == 0:
                break
    return rows


@compiled
def _sample(tokens: Any, size: int, order: int, limit: Any) -> Any:
    """The rows whose checksum is not above the limit."""
    chosen = np.zeros(size, np.bool_)
    for i in range(size):
        if tokens[i] == 0:
            continue
        mixed, ended = np.uint64(0x9E3779B97F4A7C15), False
        for column in range(order):
            symbol = np.uint64(0) if ended else np.uint64(tokens[i + column])
            ended = symbol == 0
            mixed = (mixed ^ symbol) * np.uint64(0xBF58476D1CE4E5B9)
            mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0x94D049BB133111EB)
        chosen[i] = (mixed ^ (mixed >> np.uint64(32))) <= limit
    places = np.flatnonzero(chosen)
    rows = np.zeros((len(places), order), np.int32)
    for row in range(len(places)):
        for column in range(order):
            rows[row, column] = tokens[places[row] + column]
            if rows[row, column] == 0:
                break
    return rows
