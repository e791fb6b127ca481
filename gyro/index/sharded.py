"""An index in shards: folders that hold the n-grams from one to the next of some places in their order.

Shards         where each shard begins, in words and in ranks
ShardedIndex   one index of several shards: a TextIndex like any other, with the ranks of the whole one
ShardedSource  its levels, to be merged

The words and their counts stand once for all shards. A shard begins with an n-gram of one or more words; what begins
that n-gram may be in the shard before as well, and then both have its whole count. The levels of a shard are as those
of a whole index, but that the parents of the third level and above have the ranks that they have in the shard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.index.levels import LevelSource, read_entries
from gyro.index.reader import Keys, Ranks, TextIndex, counts_name, keys_name, map_file, shard_name


@dataclass(frozen=True)
class Shards:
    """`sizes[n-2][s]` n-grams of n words are in the shard s; the first has the rank `starts[n-2][s]` in all.

    The n-grams from the shard s on have `parents[n-2][s]` with the word `words[n-2][s]`, or come after that.
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

    def of_ranks(self, order: int, ranks: Ranks) -> Ranks:
        """A shard that holds each of the n-grams of these ranks."""
        return np.searchsorted(self.starts[order - 2], ranks, side="right") - 1


class ShardedIndex(TextIndex):
    """An index in shards. The files of a shard are mapped when it is first asked.

    A bag's phrases are in a dozen shards, and a call of NumPy for each would take longer than the search itself:
    compiled code goes from shard to shard by the addresses of the mapped arrays, which `_levels` keeps alive.
    """

    def __init__(self, path: Path, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        super().__init__(path, header, arrays)
        self.shards = Shards.from_header(header["shards"], self.order, self.num_ngrams[0])
        self._levels: dict[tuple[int, int], tuple[Keys, NDArray[Any]]] = {}
        self._addresses = np.zeros(
            (self.order - 1, 2, len(header["shards"])), np.int64
        )  # of keys and counts; 0: unknown
        self._of_counts = _counts_of_4_bytes if header["count_type"] == "<u4" else _counts_of_8_bytes

    def extend(self, order: int, parents: Ranks, words: Ranks) -> Ranks:
        row, shards = order - 2, self.shards
        found = np.full(len(parents), -1, np.int64)
        done = 0
        before = shards.starts[row - 1] if row else np.zeros_like(shards.starts[0])
        while done < len(parents):
            done, missing = _extend(
                *(self._addresses[row, 0], shards.sizes[row], shards.starts[row], before),
                *(shards.parents[row], shards.words[row], self.num_ngrams[0]),
                *(np.asarray(parents, np.int64), np.asarray(words, np.int64), found, done),
            )
            if missing >= 0:
                self._map_level(int(missing), order)
        return found

    def counts(self, order: int, ranks: Ranks) -> NDArray[np.int64]:
        if order == 1:
            return super().counts(1, ranks)
        row, shards = order - 2, self.shards
        wanted = np.asarray(ranks, np.int64).ravel()
        counts = np.empty(len(wanted), np.int64)
        done = 0
        while done < len(wanted):
            done, missing = self._of_counts(
                self._addresses[row, 1], shards.sizes[row], shards.starts[row], wanted, counts, done
            )
            if missing >= 0:
                self._map_level(int(missing), order)
        return counts.reshape(np.shape(ranks))

    def _map_level(self, shard: int, order: int) -> None:
        """Map the keys and the counts of a level of a shard."""
        length = int(self.shards.sizes[order - 2, shard])
        names = f"{shard_name(shard)}/{keys_name(order)}", f"{shard_name(shard)}/{counts_name(order)}"
        kinds = "<u8", self._header["count_type"]
        keys, counts = (
            np.asarray(map_file(self.path / name, self._header["files"][name]["bytes"], kind, length))
            for name, kind in zip(names, kinds, strict=True)
        )
        self._levels[shard, order] = keys, counts
        self._addresses[order - 2, :, shard] = keys.ctypes.data, counts.ctypes.data


def _type_pointer(context: Any, address: Any) -> Any:
    """For numba: a function from an address to the place in memory that has it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.voidptr(types.int64), generate


_pointer: Any = intrinsic(_type_pointer)


@compiled
def _last_at(starts: Any, value: int) -> int:
    """The last of the sorted starts that is not above the value; 0 if all are."""
    low, high = 0, len(starts)
    while low < high:
        middle = (low + high) // 2
        if starts[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return max(low - 1, 0)


@compiled
def _extend(
    addresses: Any,
    sizes: Any,
    starts: Any,
    before: Any,
    first_parents: Any,
    first_words: Any,
    num_words: Any,
    parents: Any,
    words: Any,
    found: Any,
    done: Any,
) -> Any:
    """Fill in the ranks of n-grams from `done` on; how many are done, and the shard that must be mapped to go on.

    An n-gram is sought in the last shard that begins with it or before it. N-grams mostly come in order: the search
    begins where the last one ended.
    """
    last_shard, last_key, place = -1, np.uint64(0), 0
    for i in range(done, len(parents)):
        shard = _last_at(first_parents, parents[i])
        while shard > 0 and first_parents[shard] == parents[i] and first_words[shard] > words[i]:
            shard -= 1
        size = sizes[shard]
        if size == 0:
            continue
        if addresses[shard] == 0:
            return i, shard
        keys = carray(_pointer(addresses[shard]), (size,), np.uint64)
        key = np.uint64(parents[i] - before[shard]) * np.uint64(num_words) + np.uint64(words[i])
        if shard != last_shard or key < last_key:
            place = 0
        step = 1
        while place + step < size and keys[place + step] < key:
            step *= 2
        low, high = place + step // 2 if step > 1 else place, min(place + step, size)
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        last_shard, last_key, place = shard, key, low
        if low < size and keys[low] == key:
            found[i] = starts[shard] + low
    return len(parents), -1


@compiled
def _counts_of_4_bytes(addresses: Any, sizes: Any, starts: Any, ranks: Any, counts: Any, done: Any) -> Any:
    """Fill in the counts of n-grams by their ranks, like `_extend`."""
    for i in range(done, len(ranks)):
        shard = _last_at(starts, ranks[i])
        if addresses[shard] == 0:
            return i, shard
        counts[i] = carray(_pointer(addresses[shard]), (sizes[shard],), np.uint32)[ranks[i] - starts[shard]]
    return len(ranks), -1


@compiled
def _counts_of_8_bytes(addresses: Any, sizes: Any, starts: Any, ranks: Any, counts: Any, done: Any) -> Any:
    """The same for very frequent words."""
    for i in range(done, len(ranks)):
        shard = _last_at(starts, ranks[i])
        if addresses[shard] == 0:
            return i, shard
        counts[i] = carray(_pointer(addresses[shard]), (sizes[shard],), np.uint64)[ranks[i] - starts[shard]]
    return len(ranks), -1


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
