"""Strings that share their beginnings: each beginning is computed once, in blocks that fit the processor's cache.

Trie         the nodes that must be computed for some strings, in the order of a walk in depth
make_trie    of strings of pieces, on top of what is kept already
Blocks       for each block of nodes the keys that it looks at, and under which mask
make_blocks  of the nodes of a trie

Nodes are numbered behind the kept ones: number 0 is the start of every string, whose keys and values are always kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled

Ints = NDArray[np.int64]

BLOCK = 32  # nodes: enough rows for a matrix product, few enough that the keys of a block stay in the cache
MASKED = np.float32(-1e9)


@dataclass(frozen=True)
class Trie:
    """`piece` and `depth` of the new nodes; `parent` of all nodes, kept ones first.

    `node[first[i] : first[i + 1]]` are the nodes that string i runs through, its root first: one more than its pieces.
    """

    kept: int
    piece: Ints
    depth: Ints
    parent: Ints
    node: Ints
    first: Ints

    def __len__(self) -> int:
        """The number of new nodes."""
        return len(self.piece)

    def path(self, string: int) -> Ints:
        return self.node[self.first[string] : self.first[string + 1]]


def make_trie(
    strings: Sequence[Sequence[int]], roots: Ints | None = None, parent: Ints | None = None, depth: Ints | None = None
) -> Trie:
    """The trie of strings of pieces, the start not among them.

    With kept nodes (their `parent` and `depth`), string i goes on from the kept node roots[i].

    >>> trie = make_trie([[5, 6], [5, 7]])
    >>> trie.piece.tolist(), trie.path(1).tolist()
    ([5, 6, 7], [0, 1, 3])
    """
    kept = np.full(1, -1, np.int64) if parent is None else parent
    depths = np.zeros(1, np.int64) if depth is None else depth
    start = np.zeros(len(strings), np.int64) if roots is None else roots
    order = sorted(range(len(strings)), key=lambda i: (start[i], strings[i]))
    lengths = np.array([len(string) for string in strings], np.int64)
    first = np.zeros(len(strings) + 1, np.int64)
    np.cumsum(lengths + 1, out=first[1:])
    pieces = np.array([piece for string in strings for piece in (-1, *string)], np.int64)
    node = np.empty(len(pieces), np.int64)
    new = _insert(pieces, first, np.array(order, np.int64), start, len(kept), depths, node)
    return Trie(len(kept), new[0], new[1], np.concatenate([kept, new[2]]), node, first)


@compiled
def _insert(pieces: Any, first: Any, order: Any, roots: Any, kept: Any, depths: Any, node: Any) -> Any:
    """Number the nodes in the order of sorted strings: what a string shares with the one before it is there."""
    piece = np.empty(len(pieces), np.int64)
    depth = np.empty(len(pieces), np.int64)
    parent = np.empty(len(pieces), np.int64)
    count = 0
    before = -1
    for string in order:
        begin, end = first[string], first[string + 1]
        node[begin] = roots[string]
        shared = 1
        if before >= 0 and roots[before] == roots[string]:
            other, last = first[before], first[before + 1]
            while begin + shared < end and other + shared < last and pieces[begin + shared] == pieces[other + shared]:
                node[begin + shared] = node[other + shared]
                shared += 1
        for place in range(begin + shared, end):
            piece[count] = pieces[place]
            parent[count] = node[place - 1]
            depth[count] = depths[roots[string]] + place - begin
            node[place] = kept + count
            count += 1
        before = string
    return piece[:count].copy(), depth[:count].copy(), parent[:count].copy()


@dataclass(frozen=True)
class Blocks:
    """`keys[b]` are the nodes that block b looks at; `mask[b, r]` is 0 where its row r may look, else MASKED.

    Keys are in the order of their numbers, so each row meets those before it in the order of its string.
    """

    keys: Ints
    mask: NDArray[np.float32]


def make_blocks(trie: Trie, size: int = BLOCK) -> Blocks:
    """The blocks of a trie's new nodes, in their order; rows behind the last node look where that one does."""
    count = -(-len(trie) // size)
    widths = _block_widths(trie.parent, trie.kept, size, count)
    width = int(widths.max(initial=1))
    keys = np.zeros((count, width), np.int64)
    mask = np.full((count, size, width), MASKED, np.float32)
    _fill_blocks(trie.parent, trie.kept, size, keys, mask)
    return Blocks(keys, mask)


@compiled
def _block_widths(parent: Any, kept: Any, size: Any, count: Any) -> Any:
    widths = np.zeros(count, np.int64)
    seen = np.full(len(parent), -1, np.int64)
    for block in range(count):
        for node in range(kept + block * size, min(len(parent), kept + (block + 1) * size)):
            at = node
            while at >= 0 and seen[at] != block:
                seen[at] = block
                widths[block] += 1
                at = parent[at]
    return widths


@compiled
def _fill_blocks(parent: Any, kept: Any, size: Any, keys: Any, mask: Any) -> None:
    column = np.zeros(len(parent), np.int64)
    seen = np.full(len(parent), -1, np.int64)
    for block in range(len(keys)):
        begin, width = kept + block * size, 0
        for row in range(size):
            at = min(begin + row, len(parent) - 1)
            while at >= 0 and seen[at] != block:
                seen[at] = block
                keys[block, width] = at
                width += 1
                at = parent[at]
        keys[block, :width].sort()
        for place in range(width):
            column[keys[block, place]] = place
        for row in range(size):
            at = min(begin + row, len(parent) - 1)
            while at >= 0:
                mask[block, row, column[at]] = 0.0
                at = parent[at]
