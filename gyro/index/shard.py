"""Writing a shard of an index out of the slices that blocks of text have sent it.

write_shard   sort, merge, prune and write the n-grams of a shard; what the header must know of it
join_words    the words of one part of the vocabulary with their counts
read_words    what `join_words` wrote
count_words   what a block sends to the parts of the vocabulary
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import compress
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gyro.files import write_atomically
from gyro.index.block import Block, pack, unpack
from gyro.index.build import BYTES_PER_ENTRY, LEAST_WORKING_MEMORY, Budget, merge_levels, write_levels
from gyro.index.cut import Plan, Rows, read_slice
from gyro.index.folder import file_facts
from gyro.index.levels import LevelSource, sort_rows
from gyro.index.pruning import is_pruned, prune_levels
from gyro.index.reader import BEGIN, END, counts_name, keys_name, shard_name
from gyro.index.vocabulary import frequent_words

BYTES_PER_ROW = 96  # of a chunk while it is sorted: rows twice, how often they occur, their order, a level
BYTES_PER_WORD = 8  # of the whole vocabulary, for the counts of a sort


def count_words(data: bytes, parts: int) -> Iterator[tuple[int, bytes]]:
    """Divide the words of a block among the parts of the vocabulary, each with its count."""
    block = Block.from_bytes(data)
    words = np.array(block.words, object)
    part_of = np.fromiter((crc32(word.encode()) % parts for word in block.words), np.int64, len(block.words))
    for part in range(parts):
        here = part_of == part
        if here.any():
            yield part, pack("\n".join(words[here]).encode(), block.counts[here])


def join_words(part: int, pieces: Iterable[bytes], folder: str, least: int) -> bytes:
    """Write the words of a part and their counts, sorted; JSON tells what all of them are together."""
    found: dict[str, int] = {}
    for piece in pieces:
        text, numbers = unpack(piece)
        for word, count in zip(text.decode().split("\n"), np.frombuffer(numbers, np.int64).tolist(), strict=True):
            found[word] = found.get(word, 0) + count
    words = sorted(found)
    counts = np.fromiter(map(found.__getitem__, words), np.int64, len(words))
    kept = frequent_words(words, counts, least)
    path = Path(folder, f"words-{part:05d}")
    with write_atomically(path) as file:
        file.write(pack("".join(f"{word}\n" for word in compress(words, kept)).encode(), counts[kept]))
    marks = found.get(BEGIN, 0) + found.get(END, 0)
    facts = {"path": str(path), "tokens": int(counts.sum()) - marks, "sentences": found.get(BEGIN, 0)}
    return json.dumps(facts | {"most": int(counts.max(initial=0)), "words": int(kept.sum())}).encode()


def read_words(path: str) -> Iterator[tuple[str, int]]:
    """The words of a part with their counts; no more of the words than a buffer is in memory."""
    with open(path, "rb") as file:
        _, size, _ = struct.unpack("<3Q", file.read(24))  # as `pack` writes two parts
        for count in np.fromfile(path, np.int64, offset=24 + size).tolist():
            yield file.readline()[:-1].decode(), count


def write_shard(shard: int, slices: Iterable[bytes], plan: Plan) -> bytes:
    """Write the folder of a shard under a name of its own and give it its name; JSON tells what is in it.

    However often it is done, the folder is the same, so whoever comes later leaves that of the first.
    """
    target = Path(plan.work, shard_name(shard))
    folder = target.with_name(f".{target.name}.{os.urandom(8).hex()}")
    folder.mkdir()
    try:
        sizes, last, totals = _write_levels(folder, slices, plan)
        _set_counts(folder, shard, last, totals, plan)
        if is_pruned(plan.least):
            sizes = prune_levels(folder, plan.num_words, plan.least, plan.count_type)
        names = [name for n in range(2, plan.order + 1) for name in (keys_name(n), counts_name(n))]
        facts = {name: file_facts(folder / name) for name in names}
        with suppress(OSError):  # it is there already
            folder.rename(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    facts_of_start = {"totals": totals[0].tolist(), "last": list(last)}
    return json.dumps({"ngrams": sizes, "files": facts} | facts_of_start).encode()


def _write_levels(
    folder: Path, slices: Iterable[bytes], plan: Plan
) -> tuple[list[int], tuple[int, ...], NDArray[np.int64]]:
    """Sort the slices in chunks that fit into the memory, and merge these; the sizes of the levels, the last row, and
    how often that occurs which begins this shard and the next."""
    budget = Budget(plan.memory)
    room = max(budget.left() - BYTES_PER_WORD * plan.num_words, LEAST_WORKING_MEMORY)
    chunk = plan.chunk or min(room // BYTES_PER_ROW, (1 << 31) // plan.order - 1)
    waiting: list[tuple[Rows, NDArray[np.int64]]] = []
    totals, last = np.zeros((2, plan.order), np.int64), tuple[int, ...]()
    runs: list[LevelSource] = []
    with tempfile.TemporaryDirectory(prefix="gyro-shard-", dir=_scratch_place()) as scratch:

        def sort_waiting(into: Path) -> list[int]:
            rows = np.concatenate([np.zeros((0, plan.order), np.int32), *(rows for rows, _ in waiting)])
            times = np.concatenate([np.zeros(0, np.int64), *(times for _, times in waiting)])
            waiting.clear()
            return write_levels(
                into, sort_rows(rows, times, plan.order, plan.num_words, plan.count_type), plan.count_type
            )

        def add_run() -> None:
            run = Path(scratch, f"run-{len(runs)}")
            run.mkdir()
            runs.append(LevelSource(run, [plan.num_words, *sort_waiting(run)], plan.num_words, None, run / "ranks"))

        for data in slices:
            rows, times, of_ends = read_slice(data, plan.order)
            totals += of_ends
            if len(rows):
                last = max(last, tuple(rows[-1].tolist()))
                if waiting and sum(len(rows) for rows, _ in waiting) + len(rows) > chunk:
                    add_run()
                waiting.append((rows, times))
        if not runs:
            return sort_waiting(folder), last, totals
        if waiting:
            add_run()
        entries = plan.chunk or budget.left() // BYTES_PER_ENTRY // len(runs)
        sizes = merge_levels(runs, folder, plan.order, plan.count_type, entries, lambda stage, done, total: None)
        return sizes, last, totals


def _set_counts(folder: Path, shard: int, last: tuple[int, ...], totals: NDArray[np.int64], plan: Plan) -> None:
    """What begins this shard or the next one, and is in the shard before or after as well, gets its count of all."""
    for start, ends, place in ((plan.start(shard), totals[0], 0), (plan.start(shard + 1), totals[1], -1)):
        for n in range(2, len(start)):
            if place == 0 or last[:n] == start[:n]:
                counts: Any = np.load(folder / counts_name(n), mmap_mode="r+")
                counts[place] = ends[n - 1]
                counts.flush()


def _scratch_place() -> str | None:
    """Spark tells its workers which disks are for what is not to stay."""
    place = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return place if os.path.isdir(place) else None
