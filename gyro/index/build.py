"""Making text indexes: building them from sentences, and merging them.

build_index    index the n-grams of tokenised sentences within a given memory
merge_indexes  make of several indexes the one that their texts together would give, byte for byte

The way of a build: (1) the tokens, with a mark before and after every sentence, go to a temporary file as numbers while
the vocabulary grows in memory; (2) the vocabulary is sorted; (3) each chunk of the token file that fits in the memory
is sorted into the levels of a small index of its own, a run; (4) the runs are merged level by level in blocks. A single
run is the index already. The vocabulary, about 200 bytes a distinct word, is the only thing in memory that grows with
the text.
"""

from __future__ import annotations

import shutil
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge as merge_sorted
from itertools import compress, groupby, repeat
from operator import itemgetter
from os import PathLike
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

from gyro.errors import InputError, ResourceError
from gyro.index.folder import new_folder, write_header
from gyro.index.levels import ArrayWriter, Levels, LevelSource, merge_level, sort_chunk
from gyro.index.pruning import check_least, is_pruned, prune_levels
from gyro.index.reader import MOST_ORDER, Ranks, TextIndex, counts_name, keys_name, open_index
from gyro.index.sharded import ShardedIndex, ShardedSource
from gyro.index.vocabulary import (
    BEGIN_NUMBER,
    END_NUMBER,
    FIRST_NUMBER,
    Vocabulary,
    WordWriter,
    count_type,
    frequent_words,
    sort_vocabulary,
)
from gyro.text.corpus import Normalisation, check_normalisation

AnyPath = str | PathLike[str]
# The stage ("reading", "sorting", "merging"), how much of it is done, and of how much if that is known.
Progress = Callable[[str, int, int | None], None]

LEAST_MEMORY = 256 << 20
LEAST_WORKING_MEMORY = 16 << 20
RESERVE = 12 << 20  # for what NumPy and the allocator take beside the arrays
# What the process holds at the start is charged to the build up to this much: Python with NumPy and Numba, but not what
# else a caller may have loaded.
MOST_CHARGED_AT_START = 192 << 20
BYTES_PER_TOKEN = 32  # of a chunk while it is sorted: tokens 4 and 4, their order 8, depths 2, a level 12
BYTES_PER_ENTRY = 128  # of the blocks while they are merged
TOKENS_PER_FLUSH = 1 << 20
MOST_TOKENS_PER_CHUNK = 1 << 30


def build_index(
    sentences: Iterable[Sequence[str]],
    path: AnyPath,
    *,
    order: int = 5,
    memory: int = 2 << 30,
    normalisation: Normalisation,
    least: Sequence[int] | None = None,
    progress: Progress | None = None,
    block: int | None = None,
) -> None:
    """Index all n-grams of up to `order` words of the sentences; an index that is already at `path` is replaced.

    `memory` bounds the resident memory of the process in bytes. `least` are the counts below which n-grams of 1, 2 …
    words are left out. `block` sets the size of chunks and of merged blocks instead, for tests.
    """
    check_order(order)
    least_counts = check_least(least, order)
    budget = Budget(memory)
    report = progress or (lambda stage, done, total: None)
    with new_folder(path) as folder:
        token_file = folder / "tokens.tmp"
        vocabulary, counts = _number_tokens(sentences, token_file, budget, report)
        if not vocabulary:
            raise InputError("the text has no sentences", path=path)
        words, new_number = sort_vocabulary(vocabulary)
        del vocabulary
        by_word = np.empty(len(words) + 1, np.int64)
        by_word[new_number] = counts
        kept = frequent_words(words, by_word[1:], least_counts[0])
        new_number = np.append(np.int32(0), np.where(kept, np.cumsum(kept), 0).astype(np.int32))[new_number]
        kind = count_type(int(by_word[1:].max()))
        with WordWriter(folder, kind) as file:
            file.append(list(compress(words, kept)), by_word[1:][kept])
        num_words = int(kept.sum())
        del words
        chunk = block or min(budget.left() // BYTES_PER_TOKEN, MOST_TOKENS_PER_CHUNK)
        runs = list(_sort_chunks(token_file, folder, order, new_number, num_words, chunk, kind, report))
        token_file.unlink()
        if len(runs) > 1:
            entries = block or budget.left() // BYTES_PER_ENTRY // len(runs)
            sources = [LevelSource(run, sizes, num_words, None, run / "ranks") for run, sizes in runs]
            merge_levels(sources, folder, order, kind, entries, report)
            for run, _ in runs:
                shutil.rmtree(run)
        if is_pruned(least_counts):
            prune_levels(folder, num_words, least_counts, kind)
        num_tokens, num_sentences = int(counts[FIRST_NUMBER:].sum()), int(counts[0])
        write_header(folder, order, normalisation, num_tokens, num_sentences, least=least_counts)


def check_order(order: int) -> None:
    """Refuse an order that no index has."""
    if not 1 <= order <= MOST_ORDER:
        raise InputError(f"found the order {order}; 1 to {MOST_ORDER} is allowed")


def merge_indexes(
    paths: Sequence[AnyPath],
    path: AnyPath,
    *,
    memory: int = 2 << 30,
    progress: Progress | None = None,
    block: int | None = None,
) -> None:
    """Merge indexes of one order and normalisation; the result is that of building from all their texts.

    Of an index in shards it makes a whole one. One with least counts cannot be merged with others: what was left out of
    one might be frequent enough in all.
    """
    if not paths:
        raise InputError("found no index to merge; one or more are allowed")
    budget = Budget(memory)
    indexes = [open_index(one) for one in paths]
    first = indexes[0]
    for other in indexes:
        other.verify()  # damage must not get a new checksum
        check_normalisation(first.normalisation, str(first.path), other.normalisation, str(other.path))
        if len(indexes) > 1 and is_pruned(other.least_counts):
            raise InputError("it was made with least counts; such an index is not merged with others", path=other.path)
        if first.order != other.order:
            raise InputError(f"found the order {other.order}; that of {first.path} is {first.order}", path=other.path)
    with new_folder(path) as folder:
        words, word_maps = _merge_words(indexes)
        counts = np.zeros(len(words), np.int64)
        for index, word_map in zip(indexes, word_maps, strict=True):
            counts[word_map] += index.counts(1, np.arange(index.num_ngrams[0]))
        kind = count_type(int(counts.max()))
        with WordWriter(folder, kind) as file:
            file.append(words, counts)
        sources = [
            _level_source(index, len(words), word_map, folder / f"ranks-{number}")
            for number, (index, word_map) in enumerate(zip(indexes, word_maps, strict=True))
        ]
        del words
        entries = block or budget.left() // BYTES_PER_ENTRY // len(sources)
        merge_levels(sources, folder, first.order, kind, entries, progress or (lambda stage, done, total: None))
        versions = sorted({index.normalisation.spacy for index in indexes if index.normalisation.spacy})
        normalisation = Normalisation(
            first.normalisation.tokenizer, first.normalisation.lowercase, ", ".join(versions) or None
        )
        num_tokens, num_sentences = sum(i.num_tokens for i in indexes), sum(i.num_sentences for i in indexes)
        least = first.least_counts
        write_header(folder, first.order, normalisation, num_tokens, num_sentences, least=least)


def _level_source(index: TextIndex, num_words: int, word_map: Ranks, scratch: Path) -> LevelSource:
    if isinstance(index, ShardedIndex):
        return ShardedSource(index.path, index.num_ngrams, num_words, word_map, scratch, index.shards)
    return LevelSource(index.path, index.num_ngrams, num_words, word_map, scratch)


def check_memory(memory: int) -> None:
    """Refuse so little memory that nothing can be built in it."""
    if memory < LEAST_MEMORY:
        raise InputError(f"found {memory >> 20} MB of memory; {LEAST_MEMORY >> 20} MB or more is allowed")


class Budget:
    """The memory that a build may use, and what is left of it."""

    def __init__(self, memory: int) -> None:
        check_memory(memory)
        warm_up = np.zeros(2, np.int32)  # compiling takes memory too: it must show before the rest is given away
        for _ in sort_chunk(warm_up, 0, 2, 1, "<u4"):
            pass
        self._memory = memory
        self._process = psutil.Process()
        resident = self._process.memory_info().rss
        self._not_ours = max(0, resident - MOST_CHARGED_AT_START)

    def left(self) -> int:
        """The bytes left; ResourceError when too few to go on."""
        used: int = self._process.memory_info().rss - self._not_ours
        left = self._memory - RESERVE - used
        if left < LEAST_WORKING_MEMORY:
            found = f"program, tokeniser and vocabulary take {used >> 20} MB of the memory of {self._memory >> 20} MB"
            raise ResourceError(f"{found}, and too little is left to sort; give more")
        return left


def _number_tokens(
    sentences: Iterable[Sequence[str]], path: Path, budget: Budget, report: Progress
) -> tuple[Vocabulary, NDArray[np.int64]]:
    """Write the marked sentences as numbers, 0 after each; return the vocabulary and how often each number occurs."""
    vocabulary = Vocabulary()
    number = vocabulary.__getitem__
    counts = np.zeros(1, np.int64)
    buffer, after = array("i"), array("i", [END_NUMBER, 0])
    with open(path, "wb") as file:

        def flush() -> None:
            nonlocal counts
            new = np.bincount(np.frombuffer(buffer, np.int32), minlength=len(vocabulary) + FIRST_NUMBER)
            new[: len(counts)] += counts
            counts = new
            buffer.tofile(file)
            del buffer[:]
            budget.left()
            report("reading", int(counts[FIRST_NUMBER:].sum()), None)

        for sentence in sentences:
            if sentence:
                buffer.append(BEGIN_NUMBER)
                buffer.extend(map(number, sentence))
                buffer.extend(after)
                if len(buffer) >= TOKENS_PER_FLUSH:
                    flush()
        flush()
    return vocabulary, counts


def _merge_words(indexes: Sequence[TextIndex]) -> tuple[list[str], list[Ranks]]:
    """The words of all indexes, sorted, and for each index the new numbers of its words."""
    maps = [np.zeros(index.num_ngrams[0], np.int64) for index in indexes]
    numbered = [zip(index.words(), repeat(source)) for source, index in enumerate(indexes)]
    filled = [0] * len(indexes)
    words: list[str] = []
    for word, group in groupby(merge_sorted(*numbered), key=itemgetter(0)):
        for _, source in group:
            maps[source][filled[source]] = len(words)
            filled[source] += 1
        words.append(word)
    return words, maps


def _sort_chunks(
    token_file: Path,
    folder: Path,
    order: int,
    new_number: NDArray[np.int32],
    num_words: int,
    chunk: int,
    count_type: str,
    report: Progress,
) -> Iterator[tuple[Path, list[int]]]:
    """Sort the token file chunk by chunk into runs; yield the folder of each and its numbers of n-grams.

    A single run goes into the index folder itself. A chunk sees the first tokens of the next, because its last n-grams
    end there.
    """
    total = token_file.stat().st_size // 4
    for start in range(0, total, chunk):
        run = folder if total <= chunk else folder / f"run-{start // chunk}"
        run.mkdir(exist_ok=True)
        owned = min(chunk, total - start)
        numbers = np.fromfile(token_file, np.int32, owned + order - 1, offset=4 * start)
        tokens = np.zeros(len(numbers) + order, np.int32)
        np.take(new_number, numbers, out=tokens[: len(numbers)])
        del numbers
        sizes = write_levels(run, sort_chunk(tokens, owned, order, num_words, count_type), count_type)
        yield run, [num_words, *sizes]
        report("sorting", start + owned, total)


def write_levels(folder: Path, levels: Levels, count_type: str) -> list[int]:
    """Write the files of levels; how many n-grams each has."""
    sizes = []
    for n, keys, counts in levels:
        with (
            ArrayWriter(folder / keys_name(n), "<u8") as keys_file,
            ArrayWriter(folder / counts_name(n), count_type) as file,
        ):
            keys_file.append(keys)
            file.append(counts)
        sizes.append(len(keys))
    return sizes


def merge_levels(
    sources: Sequence[LevelSource], folder: Path, order: int, count_type: str, entries: int, report: Progress
) -> list[int]:
    """Merge all levels from the second on into the files of a folder; how many n-grams each has."""
    total = sum(sum(source.num_ngrams[1:]) for source in sources)
    done, sizes = 0, list[int]()

    def add(number: int) -> None:
        nonlocal done
        done += number
        report("merging", done, total)

    for n in range(2, order + 1):
        with (
            ArrayWriter(folder / keys_name(n), "<u8") as keys_file,
            ArrayWriter(folder / counts_name(n), count_type) as counts_file,
        ):
            merge_level(sources, n, keys_file, counts_file, max(entries, 1), add)
            # The next level multiplies these ranks with the number of words.
            if keys_file.length * sources[0].num_words >= 1 << 64:
                raise ResourceError(
                    f"{keys_file.length} {n}-grams of {sources[0].num_words} words are too many for 64 bits"
                )
        for source in sources:
            source.ranks_path(n - 1).unlink(missing_ok=True)
        sizes.append(keys_file.length)
    for source in sources:
        source.ranks_path(order).unlink(missing_ok=True)
    return sizes
