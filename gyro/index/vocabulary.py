"""The vocabulary of a text while it is read, and as it is written.

Vocabulary       numbers for words in the order in which they come
sort_vocabulary  its words in order, with the marks, and the numbers that they get by it
frequent_words   which of its words are not left out for their least count
count_type       the type of all counts
WordWriter       the files of the words and of how often they occur
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.index.levels import ArrayWriter
from gyro.index.reader import BEGIN, END, OFFSETS, WORDS, counts_name
from gyro.text.corpus import TOKEN_RULE, is_token

# While text is read, 0 ends a sentence, and the words of the text are numbered after the marks.
BEGIN_NUMBER, END_NUMBER, FIRST_NUMBER = 1, 2, 3
WORDS_AT_ONCE = 1 << 16


class Vocabulary(dict[str, int]):
    """Numbers for words in the order in which they come; a word is checked when it gets its number.

    The marks have theirs but are not in it while text is read: there they are refused.
    """

    def __missing__(self, word: str) -> int:
        if not is_token(word):
            raise InputError(f"found the token {word!r}; {TOKEN_RULE}")
        self[word] = number = len(self) + FIRST_NUMBER
        return number


def sort_vocabulary(vocabulary: Vocabulary) -> tuple[list[str], NDArray[np.int32]]:
    """Add the marks; all words sorted, and the new number of each old one: the place of its word, from 1."""
    vocabulary |= {BEGIN: BEGIN_NUMBER, END: END_NUMBER}
    words = sorted(vocabulary)  # by code points, which is also the order of their UTF-8 bytes
    new_number = np.zeros(len(words) + 1, np.int32)
    new_number[np.fromiter(map(vocabulary.__getitem__, words), np.int32, len(words))] = np.arange(1, len(words) + 1)
    return words, new_number


def frequent_words(words: Sequence[str], counts: NDArray[np.int64], least: int) -> NDArray[np.bool_]:
    """Which of the words occur often enough; the marks stay in any case."""
    marks = np.fromiter((word in (BEGIN, END) for word in words), np.bool_, len(words)) if least > 1 else False
    kept: NDArray[np.bool_] = (counts >= least) | marks
    return kept


def count_type(most: int) -> str:
    """The type of all counts, by the greatest of the words: no n-gram is more frequent than its words."""
    return "<u4" if most < 1 << 32 else "<u8"


class WordWriter:
    """The files of the words and of level 1, written in pieces of sorted words with their counts."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._offsets = ArrayWriter(folder / OFFSETS, "<u8")
        self._words = ArrayWriter(folder / WORDS, "|u1")
        self._counts = ArrayWriter(folder / counts_name(1), kind)
        self._offsets.append(np.zeros(1, np.uint64))

    @property
    def num_words(self) -> int:
        return self._counts.length

    def append(self, words: Sequence[str], counts: NDArray[Any]) -> None:
        """Add words, which come after all before them, and how often they occur."""
        for start in range(0, len(words), WORDS_AT_ONCE):
            piece = [word.encode() for word in words[start : start + WORDS_AT_ONCE]]
            ends = np.cumsum(np.fromiter(map(len, piece), np.uint64, len(piece))) + np.uint64(self._words.length)
            self._offsets.append(ends)
            self._words.append(np.frombuffer(b"".join(piece), np.uint8))
        self._counts.append(counts)

    def __enter__(self) -> WordWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in (self._offsets, self._words, self._counts):
            file.__exit__(kind, error, trace)
