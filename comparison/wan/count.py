"""Dependency events of treebanks, counted: arcs, pairs of one sentence, and numbers of arguments.

Symbols       what is counted: the root, tags, words with their tags, each with a number
Counts        how often each
SIDES         after and before the head
count_events  count trees

Wan et al. (2009) write l for a modifier that comes after its head ("the head is to the left"); here that is AFTER.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.wan.vertex import Reduced, Vertex
from gyro.text.corpus import ROOT

AFTER, BEFORE = SIDES = (0, 1)
MOST_ARGUMENTS = 7  # positions beyond have no probability; the last column of `arguments` counts heads with more
ROOT_SYMBOL = 0
_EVENTS_TOGETHER = 4_000_000

Keys = NDArray[np.int64]
Numbers = NDArray[np.int32]


class Symbols:
    """The root is 0, then come the tags, then the words with their tags; what is not known is -1.

    >>> symbols = Symbols(("NN", "VB"), (("dog", "NN"), ("run", "NN"), ("run", "VB")))
    >>> symbols.size, symbols.tag_numbers[("VB")], symbols.word_numbers["run", "VB"]
    (6, 2, 5)
    """

    def __init__(self, tags: Sequence[str], words: Sequence[tuple[str, str]]) -> None:
        self.tags = tuple(tags)
        self.words = tuple(words)

    @cached_property
    def tag_numbers(self) -> dict[str, int]:
        return {tag: number for number, tag in enumerate(self.tags, 1)}

    @cached_property
    def word_numbers(self) -> dict[tuple[str, str], int]:
        return {word: number for number, word in enumerate(self.words, 1 + len(self.tags))}

    @property
    def size(self) -> int:
        return 1 + len(self.tags) + len(self.words)

    def numbers(self, vertices: Sequence[Vertex]) -> tuple[Keys, Keys]:
        """The numbers of the words and those of the tags."""
        words = [self.word_numbers.get((vertex.word, vertex.tag), -1) for vertex in vertices]
        tags = [self.tag_numbers.get(vertex.tag, -1) for vertex in vertices]
        return np.array(words, np.int64), np.array(tags, np.int64)


class Counts(NamedTuple):
    """Sorted keys with how often each was seen, N being the number of symbols.

    pairs      a·N + b for a ≤ b: tokens of two symbols in one sentence, each ordered pair of a symbol with itself
    arcs       (head·N + modifier)·2 + side
    arguments  symbols × sides × (0, 1 … 7, more): heads with so many modifiers on that side
    """

    pair_keys: Keys
    pair_counts: Numbers
    arc_keys: Keys
    arc_counts: Numbers
    arguments: Numbers


def count_events(trees: Iterable[Reduced]) -> tuple[Symbols, Counts]:
    """Count the events of trees on all four levels of back-off: word or tag as head, word or tag as modifier."""
    kept = list(trees)
    words = sorted({(vertex.word, vertex.tag) for tree in kept for vertex in tree.vertices})
    symbols = Symbols(sorted({tag for _, tag in words}), words)
    pairs, arcs = _Tally(), _Tally()
    arguments = np.zeros((symbols.size, len(SIDES), MOST_ARGUMENTS + 2), np.int32)
    for tree in kept:
        numbers = symbols.numbers(tree.vertices)
        pairs.add(_pair_keys(numbers, symbols.size))
        arcs.add(_arc_keys(numbers, tree.heads, symbols.size))
        _count_arguments(arguments, numbers, tree.heads)
    return symbols, Counts(*pairs.counted(), *arcs.counted(), arguments)


class _Tally:
    """Keys with their counts; the raw keys never take up much memory."""

    def __init__(self) -> None:
        self._waiting: list[Keys] = []
        self._size = 0
        self._keys = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int32)

    def add(self, keys: Iterator[Keys]) -> None:
        for some in keys:
            self._waiting.append(some)
            self._size += len(some)
        if self._size > max(_EVENTS_TOGETHER, len(self._keys)):
            self._merge()

    def counted(self) -> tuple[Keys, Numbers]:
        self._merge()
        return self._keys, self._counts

    def _merge(self) -> None:
        new, new_counts = np.unique(np.concatenate([self._keys[:0], *self._waiting]), return_counts=True)
        keys, places = np.unique(np.concatenate([self._keys, new]), return_inverse=True)
        counts = np.zeros(len(keys), np.int32)
        counts[places[: len(self._keys)]] = self._counts
        counts[places[len(self._keys) :]] += new_counts.astype(np.int32)
        self._keys, self._counts, self._waiting, self._size = keys, counts, [], 0


def _pair_keys(numbers: tuple[Keys, Keys], size: int) -> Iterator[Keys]:
    """Every two tokens of a sentence; the root is in each. Tags have lower numbers than words."""
    words, tags = numbers
    different = ~np.eye(len(words), dtype=bool)
    for low, high in ((words, words), (tags, tags), (tags, words)):
        a, b = np.broadcast_arrays(low[:, None], high[None, :])
        kept = different & (a <= b)
        yield a[kept] * size + b[kept]
    yield ROOT_SYMBOL * size + np.concatenate(numbers)


def _arc_keys(numbers: tuple[Keys, Keys], heads: Sequence[int], size: int) -> Iterator[Keys]:
    words, tags = numbers
    head = np.array(heads, np.int64)
    is_root = head == ROOT
    side = np.where(is_root | (np.arange(len(head)) > head), AFTER, BEFORE)
    for above in (words, tags):
        for below in (words, tags):
            kept = ~is_root
            yield ((above[head] * size + below) * 2 + side)[kept]
    for below in (words, tags):
        yield ((ROOT_SYMBOL * size + below) * 2 + AFTER)[is_root]


def _count_arguments(arguments: Numbers, numbers: tuple[Keys, Keys], heads: Sequence[int]) -> None:
    words, tags = numbers
    found = np.zeros((len(heads) + 1, len(SIDES)), np.int64)  # the last row is the root's
    for vertex, head in enumerate(heads):
        found[head, AFTER if head == ROOT or vertex > head else BEFORE] += 1
    np.minimum(found, MOST_ARGUMENTS + 1, out=found)
    for side in SIDES:
        for symbols in (words, tags):
            for symbol, count in zip(symbols.tolist(), found[:-1, side].tolist(), strict=True):
                arguments[symbol, side, count] += 1
        arguments[ROOT_SYMBOL, side, found[ROOT, side]] += 1
