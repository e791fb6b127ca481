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

import fcntl
import os
import shutil
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from heapq import merge as merge_sorted
from itertools import groupby, repeat
from operator import itemgetter
from os import PathLike
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

from gyro.checksum import file_checksum
from gyro.errors import InputError, ResourceError
from gyro.files import read_json, write_json
from gyro.index.levels import ArrayWriter, LevelSource, merge_level, sort_chunk
from gyro.index.reader import (
    BEGIN,
    END,
    FORMAT,
    HEADER,
    MOST_ORDER,
    OFFSETS,
    VERSION,
    WORDS,
    Ranks,
    TextIndex,
    counts_name,
    file_names,
    header_checksum,
    keys_name,
    open_index,
)
from gyro.text.corpus import TOKEN_RULE, Normalisation, check_normalisation, is_token

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
# While text is read, 0 ends a sentence, and the words of the text are numbered after the marks.
BEGIN_NUMBER, END_NUMBER, FIRST_NUMBER = 1, 2, 3


def build_index(
    sentences: Iterable[Sequence[str]],
    path: AnyPath,
    *,
    order: int = 5,
    memory: int = 2 << 30,
    normalisation: Normalisation,
    progress: Progress | None = None,
    block: int | None = None,
) -> None:
    """Index all n-grams of up to `order` words of the sentences; an index that is already at `path` is replaced.

    `memory` bounds the resident memory of the process in bytes. `block` sets the size of chunks and of merged blocks
    instead, for tests.
    """
    if not 1 <= order <= MOST_ORDER:
        raise InputError(f"found the order {order}; 1 to {MOST_ORDER} is allowed")
    budget = _Budget(memory)
    report = progress or (lambda stage, done, total: None)
    with _new_folder(path) as folder:
        token_file = folder / "tokens.tmp"
        vocabulary, counts = _number_tokens(sentences, token_file, budget, report)
        if not vocabulary:
            raise InputError("the text has no sentences", path=path)
        vocabulary |= {BEGIN: BEGIN_NUMBER, END: END_NUMBER}
        words = sorted(vocabulary)  # by code points, which is also the order of their UTF-8 bytes
        new_number = np.zeros(len(words) + 1, np.int32)
        old_number = np.fromiter(map(vocabulary.__getitem__, words), np.int32, len(words))
        new_number[old_number] = np.arange(1, len(words) + 1)
        del vocabulary
        count_type = _write_words(folder, words, counts[old_number])
        num_words = len(words)
        del words
        chunk = block or min(budget.left() // BYTES_PER_TOKEN, MOST_TOKENS_PER_CHUNK)
        runs = list(_sort_chunks(token_file, folder, order, new_number, chunk, count_type, report))
        token_file.unlink()
        if len(runs) > 1:
            entries = block or budget.left() // BYTES_PER_ENTRY // len(runs)
            sources = [LevelSource(run, sizes, num_words, None, run / "ranks") for run, sizes in runs]
            _merge_levels(sources, folder, order, count_type, entries, report)
            for run, _ in runs:
                shutil.rmtree(run)
        _write_header(folder, order, normalisation, int(counts[FIRST_NUMBER:].sum()), int(counts[0]))


def merge_indexes(
    paths: Sequence[AnyPath],
    path: AnyPath,
    *,
    memory: int = 2 << 30,
    progress: Progress | None = None,
    block: int | None = None,
) -> None:
    """Merge indexes of one order and normalisation; the result is that of building from all their texts."""
    if not paths:
        raise InputError("found no index to merge; one or more are allowed")
    budget = _Budget(memory)
    indexes = [open_index(one) for one in paths]
    first = indexes[0]
    for other in indexes:
        other.verify()  # damage must not get a new checksum
        check_normalisation(first.normalisation, str(first.path), other.normalisation, str(other.path))
        if first.order != other.order:
            raise InputError(f"found the order {other.order}; that of {first.path} is {first.order}", path=other.path)
    with _new_folder(path) as folder:
        words, word_maps = _merge_words(indexes)
        counts = np.zeros(len(words), np.int64)
        for index, word_map in zip(indexes, word_maps, strict=True):
            counts[word_map] += index.counts(1, np.arange(index.num_ngrams[0]))
        count_type = _write_words(folder, words, counts)
        sources = [
            LevelSource(index.path, index.num_ngrams, len(words), word_map, folder / f"ranks-{number}")
            for number, (index, word_map) in enumerate(zip(indexes, word_maps, strict=True))
        ]
        del words
        entries = block or budget.left() // BYTES_PER_ENTRY // len(sources)
        _merge_levels(sources, folder, first.order, count_type, entries, progress or (lambda stage, done, total: None))
        versions = sorted({index.normalisation.spacy for index in indexes if index.normalisation.spacy})
        normalisation = Normalisation(
            first.normalisation.tokenizer, first.normalisation.lowercase, ", ".join(versions) or None
        )
        num_tokens, num_sentences = sum(i.num_tokens for i in indexes), sum(i.num_sentences for i in indexes)
        _write_header(folder, first.order, normalisation, num_tokens, num_sentences)


class _Budget:
    """The memory that a build may use, and what is left of it."""

    def __init__(self, memory: int) -> None:
        if memory < LEAST_MEMORY:
            raise InputError(f"found {memory >> 20} MB of memory; {LEAST_MEMORY >> 20} MB or more is allowed")
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


class _Vocabulary(dict[str, int]):
    """Numbers for words in the order in which they come; a word is checked when it gets its number.

    The marks have theirs but are not in it while text is read: there they are refused.
    """

    def __missing__(self, word: str) -> int:
        if not is_token(word):
            raise InputError(f"found the token {word!r}; {TOKEN_RULE}")
        self[word] = number = len(self) + FIRST_NUMBER
        return number


def _number_tokens(
    sentences: Iterable[Sequence[str]], path: Path, budget: _Budget, report: Progress
) -> tuple[_Vocabulary, NDArray[np.int64]]:
    """Write the marked sentences as numbers, 0 after each; return the vocabulary and how often each number occurs."""
    vocabulary = _Vocabulary()
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


def _write_words(folder: Path, words: Sequence[str], counts: NDArray[np.int64]) -> str:
    """Write the vocabulary and level 1; return the type of all counts: no n-gram is more frequent than its words."""
    lengths = np.fromiter((len(word.encode()) for word in words), np.uint64, len(words))
    with ArrayWriter(folder / OFFSETS, "<u8") as file:
        file.append(np.zeros(1, np.uint64))
        file.append(np.cumsum(lengths))
    with ArrayWriter(folder / WORDS, "|u1") as file:
        for start in range(0, len(words), 1 << 16):
            file.append(np.frombuffer("".join(words[start : start + (1 << 16)]).encode(), np.uint8))
    count_type = "<u4" if int(counts.max()) < 1 << 32 else "<u8"
    with ArrayWriter(folder / counts_name(1), count_type) as file:
        file.append(counts)
    return count_type


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
    chunk: int,
    count_type: str,
    report: Progress,
) -> Iterator[tuple[Path, list[int]]]:
    """Sort the token file chunk by chunk into runs; yield the folder of each and its numbers of n-grams.

    A single run goes into the index folder itself. A chunk sees the first tokens of the next, because its last n-grams
    end there.
    """
    total = token_file.stat().st_size // 4
    num_words = len(new_number) - 1
    for start in range(0, total, chunk):
        run = folder if total <= chunk else folder / f"run-{start // chunk}"
        run.mkdir(exist_ok=True)
        owned = min(chunk, total - start)
        numbers = np.fromfile(token_file, np.int32, owned + order - 1, offset=4 * start)
        tokens = np.zeros(len(numbers) + order, np.int32)
        np.take(new_number, numbers, out=tokens[: len(numbers)])
        del numbers
        sizes = [num_words]
        for n, keys, counts in sort_chunk(tokens, owned, order, num_words, count_type):
            with (
                ArrayWriter(run / keys_name(n), "<u8") as keys_file,
                ArrayWriter(run / counts_name(n), count_type) as file,
            ):
                keys_file.append(keys)
                file.append(counts)
            sizes.append(len(keys))
        yield run, sizes
        report("sorting", start + owned, total)


def _merge_levels(
    sources: Sequence[LevelSource], folder: Path, order: int, count_type: str, entries: int, report: Progress
) -> None:
    total = sum(sum(source.num_ngrams[1:]) for source in sources)
    done = 0

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
    for source in sources:
        source.ranks_path(order).unlink(missing_ok=True)


def _write_header(folder: Path, order: int, normalisation: Normalisation, num_tokens: int, num_sentences: int) -> None:
    files = {}
    lengths = {}
    for name in file_names(order):
        stored = np.load(folder / name, mmap_mode="r", allow_pickle=False)
        lengths[name] = stored.size
        files[name] = {"bytes": (folder / name).stat().st_size, "xxh128": file_checksum(folder / name)}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "order": order,
        "normalisation": normalisation.to_json(),
        "tokens": num_tokens,
        "sentences": num_sentences,
        "ngrams": [lengths[counts_name(n)] for n in range(1, order + 1)],
        "word_bytes": lengths[WORDS],
        "count_type": np.load(folder / counts_name(1), mmap_mode="r", allow_pickle=False).dtype.str,
        "files": files,
    }
    write_json(folder / HEADER, header | {"checksum": header_checksum(header)})


@contextmanager
def _new_folder(path: AnyPath) -> Iterator[Path]:
    """Yield a hidden folder beside the target; it takes the target's name and place when all went well.

    It is locked while in use: what a killed build left is removed, what another process is building is not.
    """
    target = Path(os.path.realpath(path))
    _check_replaceable(target, path)
    folder = target.with_name(f".{target.name}.building")
    old = target.with_name(f".{target.name}.old")
    try:
        folder.mkdir(exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)  # what a link leads to is not ours
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(lock)
            raise InputError("another process is building this index", path=path) from error
        try:
            for entry in folder.iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            yield folder
            shutil.rmtree(old, ignore_errors=True)
            if target.exists():
                os.rename(target, old)
            os.rename(folder, target)
            shutil.rmtree(old, ignore_errors=True)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            os.close(lock)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path=path) from error


def _check_replaceable(target: Path, path: AnyPath) -> None:
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not (target / HEADER).is_file() or read_json(target / HEADER).get("format") != FORMAT:
        raise InputError("something that is not a text index is already there; it is left alone", path=path)
