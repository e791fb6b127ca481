"""The levels of a text index as arrays: sorting a chunk of text into them, and merging those of several sources.

array_length     the length of an array on disk; array_type is its type
ArrayWriter      write a .npy file piece by piece
sort_chunk       the levels from 2 up of one chunk of text, each with sorted keys and counts
sort_rows        the same of the first words of n-grams, given in rows with how often each occurs
sorted_positions the positions of a chunk of text in the order of what they start, and what they share with each other
LevelSource      a folder with levels on disk, read block by block with its words renumbered
merge_level      merge one level of several sources into one, and note where each n-gram went
read_entries     keys and counts of a part of a level on disk

Nothing here is memory-mapped: mapped pages would count against the memory that a build may use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.index.reader import Keys, Ranks, counts_name, keys_name

Tokens = NDArray[np.int32]
Small = NDArray[np.uint8]


class ArrayWriter:
    """A one-dimensional .npy file that grows; its header gets the length at the end.

    NumPy pads headers so that a longer shape fits in the place of a shorter one.
    """

    def __init__(self, path: Path, dtype: str) -> None:
        self._file = open(path, "wb")  # noqa: SIM115 - closed by __exit__
        self._dtype = dtype
        self.length = 0
        self._write_header()

    def _write_header(self) -> None:
        self._file.seek(0)
        npy.write_array_header_1_0(self._file, {"descr": self._dtype, "fortran_order": False, "shape": (self.length,)})

    def append(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        np.ascontiguousarray(values, self._dtype).tofile(self._file)
        self.length += len(values)

    def __enter__(self) -> ArrayWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        with self._file:
            if kind is None:
                self._file.flush()
                self._write_header()


@compiled
def _sort_positions(tokens: Tokens, order: int, num_words: int) -> Tokens:
    """The positions of a chunk, sorted by the `order` symbols from there on: counting sorts from the last to the first.

    One pass brings the positions p, given in the order of p+1, into the order of the symbol at p; positions wrap round,
    which does not matter because the chunk ends with zeros. Every pass has the same histogram.
    """
    size = len(tokens)
    starts = np.zeros(num_words + 2, np.int64)
    for token in tokens:
        starts[token + 1] += 1
    for i in range(1, num_words + 2):
        starts[i] += starts[i - 1]
    now = np.empty(size, np.int32)
    for i in range(size):
        now[i] = i
    after = np.empty(size, np.int32)
    place = np.empty_like(starts)
    for _ in range(order):
        place[:] = starts
        for i in range(size):
            position = now[i] - 1 if now[i] > 0 else size - 1
            token = tokens[position]
            after[place[token]] = position
            place[token] += 1
        now, after = after, now
    return now


@compiled
def _sort_rows(rows: Tokens, order: int, num_words: int) -> Tokens:
    """Where the rows of a table begin in it, sorted by the rows: the same counting sorts, one for each column."""
    size = len(rows) // order
    now = np.empty(size, np.int32)
    for i in range(size):
        now[i] = i * order
    after = np.empty(size, np.int32)
    place = np.empty(num_words + 2, np.int64)
    for column in range(order - 1, -1, -1):
        place[:] = 0
        for i in range(size):
            place[rows[i * order + column] + 1] += 1
        for i in range(1, num_words + 2):
            place[i] += place[i - 1]
        for i in range(size):
            token = rows[now[i] + column]
            after[place[token]] = now[i]
            place[token] += 1
        now, after = after, now
    return now


@compiled
def _compare_rows(tokens: Tokens, positions: Tokens, owned: int, order: int, shared: Small, depth: Small) -> int:
    """Drop the positions that start no n-gram of this chunk; note how many words each row has (`depth`) and how many
    symbols it shares with the row before, the symbols after the end of a sentence being equal to each other."""
    kept = 0
    before = -1
    for i in range(len(positions)):
        position = positions[i]
        if position >= owned or tokens[position] == 0:
            continue
        length = 0
        while length < order and tokens[position + length] != 0:
            length += 1
        same = 0
        if before >= 0:
            while same < length and tokens[before + same] == tokens[position + same]:
                same += 1
            if same == length and (length == order or tokens[before + same] == 0):
                same = order
        positions[kept] = position
        shared[kept] = same
        depth[kept] = length
        before = position
        kept += 1
    return kept


@compiled
def _count_entries(shared: Small, depth: Small, n: int) -> int:
    entries = 0
    for i in range(len(shared)):
        if shared[i] < n and depth[i] >= n:
            entries += 1
    return entries


@compiled
def _fill_level(
    tokens: Tokens,
    positions: Tokens,
    shared: Small,
    depth: Small,
    times: Any,
    n: int,
    num_words: int,
    keys: Keys,
    counts: Any,
) -> None:
    """Write the keys and counts of level n; level n-1 is numbered on the way."""
    parent = -1
    entry = -1
    for i in range(len(shared)):
        if n == 2:
            parent = tokens[positions[i]] - 1
        elif shared[i] < n - 1 and depth[i] >= n - 1:
            parent += 1
        if depth[i] >= n:
            if shared[i] < n:
                entry += 1
                keys[entry] = np.uint64(parent) * np.uint64(num_words) + np.uint64(tokens[positions[i] + n - 1] - 1)
                counts[entry] = 0
            counts[entry] += times[i]


def sorted_positions(tokens: Tokens, owned: int, order: int, num_words: int) -> tuple[Tokens, Small, Small]:
    """The first `owned` positions of a chunk, sorted by the up to `order` words from there to the end of the sentence;
    how many symbols each shares with the one before (`order`: all), and how many words it has.

    Tokens are word numbers from 1, sentences end with 0, and `order` zeros stand at the end.
    """
    positions = _sort_positions(tokens, order, num_words)
    shared, depth = np.empty(len(tokens), np.uint8), np.empty(len(tokens), np.uint8)
    kept = _compare_rows(tokens, positions, owned, order, shared, depth)
    return positions[:kept], shared[:kept], depth[:kept]


Levels = Iterator[tuple[int, Keys, NDArray[Any]]]


def sort_chunk(tokens: Tokens, owned: int, order: int, num_words: int, count_type: str) -> Levels:
    """Yield (n, keys, counts) for n from 2 to `order`: the n-grams that start at the first `owned` tokens.

    The tokens are as for `sorted_positions`.
    """
    positions, shared, depth = sorted_positions(tokens, owned, order, num_words)
    once = np.broadcast_to(np.int64(1), positions.shape)
    yield from _levels(tokens, positions, shared, depth, once, order, num_words, count_type)


def sort_rows(rows: Tokens, times: NDArray[np.int64], order: int, num_words: int, count_type: str) -> Levels:
    """The same for n-grams in rows of `order` symbols, zeros after the end of a sentence, that occur so many times."""
    tokens = np.ascontiguousarray(rows, np.int32).ravel()
    positions = _sort_rows(tokens, order, num_words)
    shared, depth = np.empty(len(positions), np.uint8), np.empty(len(positions), np.uint8)
    _compare_rows(tokens, positions, len(tokens), order, shared, depth)
    yield from _levels(tokens, positions, shared, depth, times[positions // order], order, num_words, count_type)


def _levels(
    tokens: Tokens, positions: Tokens, shared: Small, depth: Small, times: Any, order: int, num_words: int, kind: str
) -> Levels:
    for n in range(2, order + 1):
        entries = _count_entries(shared, depth, n)
        keys, counts = np.empty(entries, np.uint64), np.empty(entries, kind)
        _fill_level(tokens, positions, shared, depth, times, n, num_words, keys, counts)
        yield n, keys, counts


def _read_array(path: Path, start: int, size: int) -> NDArray[Any]:
    with open(path, "rb") as file:
        npy.read_magic(file)
        _, _, dtype = npy.read_array_header_1_0(file)
        return np.fromfile(file, dtype, size, offset=start * dtype.itemsize)


def array_length(path: Path) -> int:
    """The length of an array on disk."""
    with open(path, "rb") as file:
        npy.read_magic(file)
        ((length,), _, _) = npy.read_array_header_1_0(file)
    return int(length)


def array_type(path: Path) -> str:
    """The type of an array on disk."""
    with open(path, "rb") as file:
        npy.read_magic(file)
        _, _, dtype = npy.read_array_header_1_0(file)
    return str(dtype.str)


def read_entries(folder: Path, order: int, start: int, size: int) -> tuple[Keys, NDArray[np.uint64]]:
    """Keys and counts of some entries of a level on disk, from `start` on, at most `size`."""
    keys = _read_array(folder / keys_name(order), start, size)
    return keys, _read_array(folder / counts_name(order), start, size).astype(np.uint64)


@dataclass(frozen=True)
class LevelSource:
    """The levels in `folder`, to be merged into an index of `num_words` words, where word w becomes `word_map[w]`.

    No map means that the words keep their numbers. The files `scratch`.n.npy say where the n-grams went.
    """

    folder: Path
    num_ngrams: Sequence[int]
    num_words: int
    word_map: Ranks | None
    scratch: Path

    def ranks_path(self, order: int) -> Path:
        return self.scratch.with_name(f"{self.scratch.name}.{order}.npy")

    def read(self, order: int, start: int, size: int) -> tuple[Keys, NDArray[np.uint64]]:
        """Keys, numbered as in the merged index, and counts of some entries from `start` on, at most `size`."""
        keys, counts = self._entries(order, start, size)
        own_words = np.uint64(self.num_ngrams[0])
        parents = keys // own_words
        # The parents' map is read from the first to the last of them: entries with far parents wait for the next block.
        near = int(np.searchsorted(parents, parents[0] + np.uint64(max(size, 1024))))
        parents = parents[:near]
        words = keys[:near] - parents * own_words
        if order > 2:
            low = int(parents[0])
            ranks = _read_array(self.ranks_path(order - 1), low, int(parents[-1]) - low + 1)
            parents = ranks[(parents - np.uint64(low)).astype(np.int64)]
        elif self.word_map is not None:
            parents = self.word_map[parents.astype(np.int64)].astype(np.uint64)
        if self.word_map is not None:
            words = self.word_map[words.astype(np.int64)].astype(np.uint64)
        return parents * np.uint64(self.num_words) + words, counts[:near]

    def _entries(self, order: int, start: int, size: int) -> tuple[Keys, NDArray[np.uint64]]:
        """Keys as the source has them, and counts."""
        return read_entries(self.folder, order, start, size)


class _Cursor:
    """One source while one of its levels is merged: a block in memory and the rest on disk."""

    def __init__(self, source: LevelSource, order: int, block: int) -> None:
        self._source, self._order, self._block = source, order, block
        self._read = 0
        self.keys: Keys = np.empty(0, np.uint64)
        self._counts: NDArray[np.uint64] = np.empty(0, np.uint64)

    @property
    def has_more(self) -> bool:
        """Is there more on disk than the block holds?"""
        return self._read < self._source.num_ngrams[self._order - 1]

    def fill(self) -> None:
        """Read the next block if this one is used up."""
        if len(self.keys) == 0 and self.has_more:
            self.keys, self._counts = self._source.read(self._order, self._read, self._block)
            self._read += len(self.keys)

    def take(self, last: np.uint64 | None) -> tuple[Keys, NDArray[np.uint64]]:
        """Hand over what lies up to and including the key `last`; all of the block without one."""
        size = len(self.keys) if last is None else int(np.searchsorted(self.keys, last, side="right"))
        keys, counts = self.keys[:size], self._counts[:size]
        self.keys, self._counts = self.keys[size:], self._counts[size:]
        return keys, counts


def merge_level(
    sources: Sequence[LevelSource],
    order: int,
    keys_file: ArrayWriter,
    counts_file: ArrayWriter,
    block: int,
    progress: Callable[[int], None],
) -> None:
    """Merge one level, from the second on, of all sources; `block` entries of each are in memory at a time.

    Levels are merged in turn, because the keys of one are made of the ranks that the merge of the one before gave.
    """
    cursors = [_Cursor(source, order, block) for source in sources]
    with ExitStack() as stack:
        ranks = [stack.enter_context(ArrayWriter(source.ranks_path(order), "<u8")) for source in sources]
        while True:
            for cursor in cursors:
                cursor.fill()
            ends = [cursor.keys[-1] for cursor in cursors if cursor.has_more]
            parts = [cursor.take(min(ends, default=None)) for cursor in cursors]
            taken = sum(len(keys) for keys, _ in parts)
            if taken == 0:
                return
            keys, counts, places = _merge_sorted(parts)
            places += np.uint64(keys_file.length)
            for file, piece in zip(ranks, np.split(places, np.cumsum([len(k) for k, _ in parts])[:-1]), strict=True):
                file.append(piece)
            keys_file.append(keys)
            counts_file.append(counts)
            progress(taken)


def _merge_sorted(
    parts: Sequence[tuple[Keys, NDArray[np.uint64]]],
) -> tuple[Keys, NDArray[np.uint64], NDArray[np.uint64]]:
    """The distinct keys of sorted parts, their counts added, and for each key of each part its place among them."""
    keys = np.concatenate([part for part, _ in parts])
    counts = np.concatenate([part for _, part in parts])
    by_key = np.argsort(keys, kind="stable")  # merges sorted runs rather than sorting from nothing
    keys = keys[by_key]
    is_first = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    firsts = np.flatnonzero(is_first)
    places = np.empty(len(keys), np.uint64)
    places[by_key] = np.cumsum(is_first) - 1
    return keys[firsts], np.add.reduceat(counts[by_key], firsts), places
