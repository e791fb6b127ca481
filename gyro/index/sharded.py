"""An index in shards: folders that hold the n-grams from one to the next of some places in their order.

Shards         where each shard begins, in words and in ranks
ShardedIndex   one index of several shards: a TextIndex like any other, with the ranks of the whole one
ShardedSource  its levels, to be merged

The words and their counts stand once for all shards. A shard begins with an n-gram of one or more words; what begins
that n-gram may be in the shard before as well, and then both have its whole count. The levels of a shard are as those
of a whole index, but that the parents of the third level and above have the ranks that they have in the shard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.index.levels import LevelSource, read_entries
from gyro.index.reader import Keys, Ranks, TextIndex, counts_name, keys_name, map_file, shard_name


@dataclass(frozen=True)
class Shards:
    """`sizes[n-2][s]` n-grams of n words are in the shard s; the first has the rank `starts[n-2][s]` in all.

    An n-gram is sought in the last shard whose `parents[n-2]` and `words[n-2]` are not after its own parent and word.
    """

    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]
    parents: NDArray[np.int64]
    words: NDArray[np.int64]

    @classmethod
    def from_header(cls, entries: Sequence[dict[str, Any]], order: int, num_words: int) -> Shards:
        """What the header says of the shards: the numbers of the words that each begins with (none: it is empty, and
        so are all after it), its sizes, and up to which level it starts with an n-gram that the one before has too.
        """
        sizes = np.array([entry["ngrams"] for entry in entries], np.int64).reshape(len(entries), order - 1).T
        shared = np.array([entry["shared"] for entry in entries], np.int64)
        starts, parents, words = (np.zeros_like(sizes) for _ in range(3))
        for row in range(order - 1):
            level = row + 2
            starts[row] = np.cumsum(sizes[row] - (shared >= level)) - (sizes[row] - (shared >= level))
            starts[row] -= shared >= level
            for shard, entry in enumerate(entries):
                first = entry["start"]
                if level == 2:
                    parents[row, shard] = first[0] if first else num_words
                if len(first) >= level:
                    words[row, shard] = first[level - 1]
            if level > 2:
                parents[row] = starts[row - 1]
        return cls(sizes, starts, parents, words)

    def of_ngrams(self, order: int, parents: Ranks, words: Ranks) -> Ranks:
        """The one shard that can hold each of these n-grams."""
        row = order - 2
        shards = np.searchsorted(self.parents[row], parents, side="right") - 1
        while True:
            after = (self.parents[row][shards] == parents) & (self.words[row][shards] > words) & (shards > 0)
            if not after.any():
                return shards
            shards = shards - after

    def of_ranks(self, order: int, ranks: Ranks) -> Ranks:
        """A shard that holds each of the n-grams of these ranks."""
        return np.searchsorted(self.starts[order - 2], ranks, side="right") - 1


class ShardedIndex(TextIndex):
    """An index in shards. The files of a shard are mapped when it is first asked."""

    def __init__(self, path: Path, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        super().__init__(path, header, arrays)
        self.shards = Shards.from_header(header["shards"], self.order, self.num_ngrams[0])
        self._levels: dict[tuple[int, int], tuple[Keys, NDArray[Any]]] = {}

    def extend(self, order: int, parents: Ranks, words: Ranks) -> Ranks:
        row, found = order - 2, np.full(len(parents), -1, np.int64)
        shards = self.shards
        for shard, here in _groups(shards.of_ngrams(order, parents, words)):
            keys = self._level(shard, order)[0]
            own = parents[here] - shards.starts[row - 1, shard] if row else parents[here]
            wanted = own.astype(np.uint64) * np.uint64(self.num_ngrams[0]) + words[here].astype(np.uint64)
            places = np.searchsorted(keys, wanted)
            known = places < len(keys)
            known[known] = keys[places[known]] == wanted[known]
            found[here] = np.where(known, places + shards.starts[row, shard], -1)
        return found

    def counts(self, order: int, ranks: Ranks) -> NDArray[np.int64]:
        if order == 1:
            return super().counts(1, ranks)
        counts = np.empty(np.shape(ranks), np.int64)
        for shard, here in _groups(self.shards.of_ranks(order, ranks)):
            counts[here] = self._level(shard, order)[1][ranks[here] - self.shards.starts[order - 2, shard]]
        return counts

    def _level(self, shard: int, order: int) -> tuple[Keys, NDArray[Any]]:
        """The keys and the counts of a level of a shard."""
        level = self._levels.get((shard, order))
        if level is None:
            length = int(self.shards.sizes[order - 2, shard])
            names = f"{shard_name(shard)}/{keys_name(order)}", f"{shard_name(shard)}/{counts_name(order)}"
            kinds = "<u8", self._header["count_type"]
            keys, counts = (
                np.asarray(map_file(self.path / name, self._header["files"][name]["bytes"], kind, length))
                for name, kind in zip(names, kinds, strict=True)
            )
            level = self._levels[shard, order] = keys, counts
        return level


def _groups(shards: Ranks) -> Iterator[tuple[int, Any]]:
    """Each shard and where it stands; a slice where equal ones stand together, as they do for sorted n-grams."""
    if len(shards) == 0:
        return
    changes = np.flatnonzero(shards[1:] != shards[:-1]) + 1
    bounds = [0, *changes.tolist(), len(shards)]
    firsts = shards[bounds[:-1]]
    if len(bounds) == 2 or (np.diff(firsts) > 0).all():
        for shard, start, end in zip(firsts.tolist(), bounds, bounds[1:], strict=False):
            yield shard, slice(start, end)
    else:
        for shard in np.unique(firsts).tolist():
            yield shard, np.flatnonzero(shards == shard)


@dataclass(frozen=True)
class ShardedSource(LevelSource):
    """The levels of an index in shards as those of the whole one."""

    shards: Shards

    def _entries(self, order: int, start: int, size: int) -> tuple[Keys, NDArray[np.uint64]]:
        row = order - 2
        shard = int(self.shards.of_ranks(order, np.array([start], np.int64))[0])
        own = start - int(self.shards.starts[row, shard])
        keys, counts = read_entries(self.folder / shard_name(shard), order, own, size)
        if order > 2:
            keys += np.uint64(int(self.shards.starts[row - 1, shard]) * self.num_ngrams[0])
        return keys, counts
