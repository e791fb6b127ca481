"""KenLM's probing binary files, read in bulk and in place: no copy of the model is made.

Header         what the first bytes of any KenLM binary say
read_header    read them; None for a file that is no KenLM binary (an ARPA file, for instance)
ProbingFile    an open file: words to numbers, and some of its words
open_probing   open a file of the type "probing"; None for the other types

The layout, all little-endian and in multiples of four bytes: header; vocabulary (eight bytes, then a table of word hash
→ number); unigrams (probability, backoff); a table of n-gram hash → probability, backoff for each middle order; one of
n-gram hash → probability for the longest; the words as NUL-ended strings. The sign bit of a probability is free, since
log10 p <= 0: it is clear when a longer n-gram ends in this one. The backoff -0.0 says that no n-gram continues this.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from lm.kenlm.probing_kernel import (
    LONGEST_WIDTH,
    MIDDLE_WIDTH,
    UNIGRAM_WIDTH,
    VOCABULARY_WIDTH,
    ProbingTables,
    find_words,
)

MAGIC = b"mmap lm http://kheafield.com/code format version 5\n\0\0"
# After the magic (padded to 8 bytes) come test values: 0, 1 and -1/2 as floats, 1, the largest word number, padding, 1.
SANITY = struct.pack("<56s3f3IQ", MAGIC, 0.0, 1.0, -0.5, 1, 0xFFFFFFFF, 0, 1)
FIXED = struct.Struct("<B3xfi?3xI")  # order, multiplier of the table sizes, model type, has words, search version
PROBING, MODEL_TYPES = 0, 6
HIGHEST_ORDER = 6  # what the kenlm module is compiled for


class Header(NamedTuple):
    """The facts in front of a KenLM binary."""

    order: int
    multiplier: float
    model_type: int
    has_words: bool
    search_version: int
    counts: tuple[int, ...]

    @property
    def size(self) -> int:
        """Its length in the file, in bytes."""
        return -(-(len(SANITY) + FIXED.size + 8 * self.order) // 8) * 8

    def buckets(self) -> list[int]:
        """The entries of each table of a probing file: vocabulary, unigrams, n-grams from length 2 upward."""
        # KenLM multiplies in single precision.
        hashed = [max(count + 1, int(np.float32(self.multiplier) * np.float32(count))) for count in self.counts]
        return [hashed[0], self.counts[0] + 1, *hashed[1:]]

    def table_starts(self) -> list[int]:
        """Where each table of a probing file begins, in cells of four bytes, and at last where they all end."""
        widths = [VOCABULARY_WIDTH, UNIGRAM_WIDTH, *[MIDDLE_WIDTH] * (self.order - 2), LONGEST_WIDTH]
        sizes = [width * size for width, size in zip(widths, self.buckets(), strict=True)]
        return list(accumulate(sizes, initial=self.size // 4 + 2))


def read_header(path: str | os.PathLike[str]) -> Header | None:
    """The header of a KenLM binary of any type, or None if the file does not begin like one."""
    try:
        with open(path, "rb") as file:
            head = file.read(len(SANITY) + FIXED.size + 8 * HIGHEST_ORDER)
            file_size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path=path) from error
    if not head.startswith(SANITY):
        return None
    # What follows KenLM leaves unchecked, and crashes on.
    fixed = FIXED.unpack(head[len(SANITY) :][: FIXED.size].ljust(FIXED.size, b"\0"))
    order, multiplier, model_type, has_words, search_version = fixed
    sound = math.isfinite(multiplier) and multiplier >= 1 and 0 <= model_type < MODEL_TYPES
    if not sound or not 2 <= order <= HIGHEST_ORDER:
        raise InputError(f"a damaged KenLM binary, or one of an order other than 2 to {HIGHEST_ORDER}", path=path)
    counts = head[len(SANITY) + FIXED.size :][: 8 * order].ljust(8 * order, b"\xff")
    header = Header(order, multiplier, model_type, has_words, search_version, struct.unpack(f"<{order}Q", counts))
    needed = 4 * header.table_starts()[-1] if model_type == PROBING else max(header.counts) // 8
    if needed > file_size:
        raise InputError(f"a KenLM binary that was cut short: {needed:,} bytes said, {file_size:,} there", path=path)
    return header


class ProbingFile:
    """An open probing file."""

    def __init__(self, path: str | os.PathLike[str], header: Header) -> None:
        self.path, self.header = Path(path), header
        self.tables, self._end_of_tables = _map_tables(self.path, header)
        self.begin_sentence, self.end_sentence = (int(number) for number in self.word_numbers(["<s>", "</s>"]))

    def word_numbers(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of words in the model; 0 for the unknown ones."""
        encoded = [word.encode() for word in words]
        ends = np.cumsum([len(word) for word in encoded], dtype=np.int64)
        numbers: NDArray[np.int64] = find_words(self.tables, np.frombuffer(b"".join(encoded) + b"\0", np.uint8), ends)
        if len(numbers) and int(numbers.max()) > self.header.counts[0]:
            raise InputError("a damaged KenLM binary: a word's number is out of range", path=self.path)
        return numbers

    def some_words(self, number: int) -> list[str]:
        """Words of the vocabulary; lmplz numbers words as they come in the text, so its first ones form n-grams."""
        if not self.header.has_words:
            return []
        with open(self.path, "rb") as file:
            file.seek(self._end_of_tables)
            strings = file.read(64 * number + 64).split(b"\0")[:-1]
        return [string.decode("utf-8", "replace") for string in strings[1 : number + 1]]


def open_probing(path: str | os.PathLike[str], header: Header) -> ProbingFile | None:
    """Open a file of the type "probing" whose sentence marks are there; None says that it cannot be read in bulk."""
    if header.model_type != PROBING or header.search_version != 0:
        return None
    file = ProbingFile(path, header)
    return file if file.begin_sentence and file.end_sentence else None


def _map_tables(path: Path, header: Header) -> tuple[ProbingTables, int]:
    """The tables, and the position in the file where they end."""
    *start, end = header.table_starts()
    try:
        cells = np.asarray(np.memmap(path, np.uint32, "r", shape=(end,)))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot map the model: {error}", path=path) from error
    starts, buckets = np.array(start, np.int64), np.array(header.buckets(), np.uint64)
    return ProbingTables(cells, cells.view(np.float32), starts, buckets), 4 * end
