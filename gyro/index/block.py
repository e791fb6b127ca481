"""Text as blocks of bytes that processes send each other: what an index is made of, away from files.

pack         some arrays and bytes as one piece of bytes
unpack       and back
Block        sentences as numbers of the block's own words, sorted, with how often each occurs
text_blocks  the blocks of a stream of sentences
find_words   the numbers of sorted words in the vocabulary of an index
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.index.vocabulary import BEGIN_NUMBER, END_NUMBER, Vocabulary, sort_vocabulary

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int32]


def pack(*parts: bytes | NDArray[Any]) -> bytes:
    """Some arrays and bytes as one piece of bytes."""
    pieces = [part if isinstance(part, bytes) else np.ascontiguousarray(part).tobytes() for part in parts]
    return b"".join([struct.pack(f"<{len(pieces) + 1}Q", len(pieces), *map(len, pieces)), *pieces])


def unpack(data: bytes) -> list[bytes]:
    """The parts of a piece of bytes, all as bytes: `np.frombuffer` makes arrays of them.

    >>> unpack(pack(b"ab", b""))
    [b'ab', b'']
    """
    (number,) = struct.unpack_from("<Q", data)
    lengths = struct.unpack_from(f"<{number}Q", data, 8)
    parts, start = [], 8 * (number + 1)
    for length in lengths:
        parts.append(data[start : start + length])
        start += length
    return parts


@dataclass(frozen=True)
class Block:
    """Sentences with their marks: the tokens are numbers of `words` from 1, and 0 stands after each sentence."""

    words: list[str]
    counts: NDArray[np.int64]
    tokens: Numbers

    def to_bytes(self) -> bytes:
        """No token has a line feed in it."""
        return pack("\n".join(self.words).encode(), self.counts, self.tokens)

    @classmethod
    def from_bytes(cls, data: bytes) -> Block:
        words, counts, tokens = unpack(data)
        return cls(words.decode().split("\n"), np.frombuffer(counts, np.int64), np.frombuffer(tokens, np.int32))


def text_blocks(sentences: Iterable[Sequence[str]], tokens: int) -> Iterator[Block]:
    """Blocks of about so many tokens, cut between sentences."""
    vocabulary, buffer = Vocabulary(), array("i")
    number, after = vocabulary.__getitem__, array("i", [END_NUMBER, 0])
    for sentence in sentences:
        if sentence:
            buffer.append(BEGIN_NUMBER)
            buffer.extend(map(number, sentence))
            buffer.extend(after)
            if len(buffer) >= tokens:
                yield _block(vocabulary, buffer)
                vocabulary, buffer = Vocabulary(), array("i")
                number = vocabulary.__getitem__
    if buffer:
        yield _block(vocabulary, buffer)


def _block(vocabulary: Vocabulary, buffer: array[int]) -> Block:
    words, new_number = sort_vocabulary(vocabulary)
    tokens = new_number[np.frombuffer(buffer, np.int32)]
    return Block(words, np.bincount(tokens, minlength=len(words) + 1)[1:], tokens)


def find_words(words: Sequence[str], vocabulary: Bytes, offsets: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The numbers of these words, which are sorted, in the arrays of an index; -1 for those that it does not have."""
    encoded = "\n".join(words).encode() + b"\n"
    wanted = np.frombuffer(encoded, np.uint8)
    found: NDArray[np.int64] = _find_words(wanted, np.flatnonzero(wanted == 10), vocabulary, offsets)
    return found


@compiled
def _find_words(wanted: Any, ends: Any, vocabulary: Any, offsets: Any) -> Any:
    numbers = np.full(len(ends), -1, np.int64)
    low, start = 0, 0
    for i in range(len(ends)):
        high = len(offsets) - 1
        while low < high:
            middle = (low + high) // 2
            if _compare(wanted[start : ends[i]], vocabulary[offsets[middle] : offsets[middle + 1]]) > 0:
                low = middle + 1
            else:
                high = middle
        if low < len(offsets) - 1 and (
            _compare(wanted[start : ends[i]], vocabulary[offsets[low] : offsets[low + 1]]) == 0
        ):
            numbers[i] = low
        start = ends[i] + 1
    return numbers


@compiled
def _compare(a: Any, b: Any) -> int:
    for i in range(min(len(a), len(b))):
        if a[i] != b[i]:
            return 1 if a[i] > b[i] else -1
    return len(a) - len(b)
