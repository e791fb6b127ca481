"""The head of a GGUF file: what it says of itself, and where its tensors are.

Tensor       where a tensor is, of which shape and of which kind of numbers
Header       the facts of a file by name, and its tensors
read_header  read it from the bytes of a file, of which a damaged one may hold anything
field        a fact of a given type, or say in one line what is there instead

The format is that of github.com/ggml-org/ggml, docs/gguf.md, versions 2 and 3, little-endian: a magic word, two counts,
facts (name, type, value), tensors (name, shape, kind, offset), and after some padding the numbers. The package gguf
reads it as well, but value by value into arrays of numpy, which takes seconds, and it believes every count.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gyro.errors import InputError
from lm.neural.family import typed_value

T = TypeVar("T")

MAGIC = b"GGUF"
VERSIONS = (2, 3)
STRING, ARRAY = 8, 9
SCALARS = {
    0: "<u1",
    1: "<i1",
    2: "<u2",
    3: "<i2",
    4: "<u4",
    5: "<i4",
    6: "<f4",
    7: "?",
    10: "<u8",
    11: "<i8",
    12: "<f8",
}
MOST_DIMENSIONS = 4
MOST_ITEMS = 1 << 22  # of an array; the largest vocabularies have a quarter of a million pieces
LEAST_FACT = 8 + 4 + 1  # bytes: the length of its name, its type, a value
LEAST_TENSOR = 8 + 4 + 4 + 8  # the length of its name, how many dimensions, its kind, its place


@dataclass(frozen=True)
class Tensor:
    """A tensor; the slowest dimension first, as numpy has it, which is the other way round than in the file."""

    name: str
    shape: tuple[int, ...]
    kind: int
    offset: int  # from the beginning of the file

    @property
    def items(self) -> int:
        """How many numbers it has."""
        return int(np.prod([int(size) for size in self.shape], dtype=object))


@dataclass(frozen=True)
class Header:
    """What a file says of itself: numbers, strings, lists of strings, and arrays of numbers."""

    path: Path
    facts: Mapping[str, Any]
    tensors: Mapping[str, Tensor]


def read_header(path: Path, data: memoryview) -> Header:
    """Read facts and tensors; nothing larger than the file is made, whatever its counts say."""
    if bytes(data[:4]) != MAGIC:
        raise InputError("found no GGUF file (it does not begin with GGUF); a model in a GGUF file is read", path=path)
    reader = _Reader(path, data, 4)
    version = reader.number("<I")
    if version not in VERSIONS:
        raise InputError(f"found version {version} of GGUF; 2 and 3, little-endian, are read", path=path)
    tensors, facts = reader.count(LEAST_TENSOR, "tensors"), reader.count(LEAST_FACT, "facts")
    found = {}
    for _ in range(facts):
        name = reader.string()
        found[name] = reader.value(reader.number("<I"))
    alignment = found.get("general.alignment", 32)
    if not isinstance(alignment, int) or not 0 < alignment <= 1 << 16:
        raise InputError(f"found the alignment {alignment!r}; 1 to 65536 are allowed", path=path)
    entries = [reader.tensor() for _ in range(tensors)]
    begin = -(-reader.at // alignment) * alignment
    placed = {entry.name: Tensor(entry.name, entry.shape, entry.kind, begin + entry.offset) for entry in entries}
    if len(placed) != len(entries):
        raise InputError("found two tensors of one name; each name once is allowed", path=path)
    return Header(path, found, placed)


def field(header: Header, name: str, kind: type[T], default: T | None = None) -> T:
    """The fact of this name; whole numbers go for fractions, and a fact that is not there for its default."""
    return typed_value(header.facts.get(name, default), kind, name, header.path)


class _Reader:
    """A place in the bytes of the file that moves on with each value read."""

    def __init__(self, path: Path, data: memoryview, at: int) -> None:
        self.path, self.data, self.at = path, data, at

    def take(self, size: int) -> memoryview:
        if size > len(self.data) - self.at:
            left = len(self.data) - self.at
            raise InputError(
                f"the head of the file is cut off or damaged: {size} bytes asked, {left} left", path=self.path
            )
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, form: str) -> int:
        return int(struct.unpack(form, self.take(struct.calcsize(form)))[0])

    def count(self, least: int, what: str) -> int:
        """How many of something follow; no more than fit, each having at least so many bytes."""
        count = self.number("<Q")
        if count > (len(self.data) - self.at) // least:
            raise InputError(
                f"found a count of {count} {what} in {len(self.data)} bytes; the file is damaged", path=self.path
            )
        return count

    def string(self) -> str:
        try:
            return str(self.take(self.number("<Q")), "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"found text that is not UTF-8: {error.reason}; the file is damaged", path=self.path
            ) from error

    def value(self, kind: int) -> Any:
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            return self.array()
        return self.scalars(kind, 1)[0].item()

    def array(self) -> Any:
        kind = self.number("<I")
        count = self.count(8 if kind == STRING else 1, "values")
        if count > MOST_ITEMS:
            raise InputError(f"found an array of {count} values; up to {MOST_ITEMS} are read", path=self.path)
        return [self.string() for _ in range(count)] if kind == STRING else self.scalars(kind, count)

    def scalars(self, kind: int, count: int) -> np.ndarray[Any, Any]:
        if kind not in SCALARS:
            raise InputError(f"found a value of type {kind}; 0 to 12 are read, arrays of arrays not", path=self.path)
        form = np.dtype(SCALARS[kind])
        return np.frombuffer(self.take(count * form.itemsize), form)

    def tensor(self) -> Tensor:
        name, dimensions = self.string(), self.number("<I")
        if not 1 <= dimensions <= MOST_DIMENSIONS:
            found = f"found {dimensions} dimensions of the tensor {name[:80]}"
            raise InputError(f"{found}; 1 to {MOST_DIMENSIONS} are allowed", path=self.path)
        sizes = [self.number("<Q") for _ in range(dimensions)]
        return Tensor(name, tuple(reversed(sizes)), self.number("<I"), self.number("<Q"))
