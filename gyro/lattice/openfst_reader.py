"""OpenFst's binary files as numpy arrays: the bulk way out of OpenFst, and the files of other tools.

decode_const   the bytes of a ConstFst that OpenFst has written to arrays
decode_file    the bytes of a vector or const file from anywhere to a FstFile, every number checked
FstFile        the arrays of a file and its symbols

A file is checked here and not by OpenFst, which writes to standard error of its own accord and believes the sizes and
state numbers that it reads.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.errors import InputError
from gyro.lattice.arc_weight import ArcWeight, single_precision
from gyro.lattice.openfst_format import (
    FORMAT_VERSION,
    FST_MAGIC,
    HAS_INPUT_SYMBOLS,
    HAS_OUTPUT_SYMBOLS,
    IS_ALIGNED,
    STANDARD,
    SYMBOLS_MAGIC,
    FloatArray,
    FstArrays,
    IntArray,
    arc_layout,
    check_arrays,
    state_layout,
    vector_state_layout,
)
from gyro.lattice.sparse_tuple import BAD_COMPONENT, COMPLETE, read_sparse_states

Symbols = dict[int, str]


@dataclass(frozen=True)
class FstFile:
    """What is in a file; its labels may be negative."""

    arrays: FstArrays
    input_symbols: Symbols | None
    output_symbols: Symbols | None


@dataclass(frozen=True)
class _Header:
    kind: str
    weight: ArcWeight
    flags: int
    start: int
    num_states: int
    num_arcs: int


def decode_const(data: bytes) -> FstArrays:
    """The arrays of a ConstFst that OpenFst has written; a format that is not the known one is refused."""
    reader = _Reader(data)
    header = reader.header()
    if header.kind != "const" or header.flags or header.weight.arc_type != STANDARD:
        found = f"OpenFst wrote an fst of type {header.kind} with flags {header.flags}"
        raise InputError(f"{found}; only plain const is known here")
    return reader.const_body(header, ())


def decode_file(data: bytes, path: str | PathLike[str], scales: Sequence[float] = ()) -> FstFile:
    """The contents of a vector or const file; `scales` makes one cost of the numbers of a weight (ArcWeight)."""
    try:
        reader = _Reader(data)
        header = reader.header()
        header.weight.check_scales(scales)
        input_symbols = reader.symbols() if header.flags & HAS_INPUT_SYMBOLS else None
        output_symbols = reader.symbols() if header.flags & HAS_OUTPUT_SYMBOLS else None
        if header.kind == "const":
            fst = reader.const_body(header, scales)
        elif header.weight.is_sparse:
            fst = reader.sparse_body(header, scales)
        else:
            fst = reader.vector_body(header, scales)
        check_arrays(fst, labels=False)
    except InputError as error:
        raise InputError(str(error), path=path) from error
    return FstFile(fst, input_symbols, output_symbols)


class _Reader:
    """Walks over the bytes of a file and refuses to read past their end."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def ends(self) -> InputError:
        return InputError(f"the file ends after {len(self.data)} bytes, in the middle of an fst")

    def take(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise self.ends()
        self.at += size
        return self.data[self.at - size : self.at]

    def numbers(self, layout: str) -> tuple[int, ...]:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def string(self) -> str:
        (length,) = self.numbers("i")
        try:
            return self.take(length).decode()
        except UnicodeDecodeError as error:
            raise InputError("found a symbol that is not UTF-8") from error

    def header(self) -> _Header:
        if self.data[:4] != struct.pack("<i", FST_MAGIC):
            raise InputError("not an OpenFst binary file: the magic number is missing")
        self.at = 4
        kind, arc_type = self.string(), self.string()
        version, flags, _, start, num_states, num_arcs = self.numbers("iiQqqq")
        if kind not in ("vector", "const"):
            raise InputError(f"found an fst of type {kind:.60} with {arc_type:.60} arcs; vector or const is allowed")
        weight = ArcWeight.of_type(arc_type)
        if kind == "const" and weight.is_sparse:
            raise InputError(
                f"found an fst of type const with {arc_type} arcs, which holds no weights; vector is allowed"
            )
        # A const file of version 1 is the aligned one.
        if version != FORMAT_VERSION and not (kind == "const" and version == 1):
            raise InputError(f"found format version {version} of a {kind} fst; {FORMAT_VERSION} is allowed")
        if kind == "const" and version == 1:
            flags |= IS_ALIGNED
        return _Header(kind, weight, flags, start, num_states, num_arcs)

    def symbols(self) -> Symbols:
        (magic,) = self.numbers("i")
        if magic != SYMBOLS_MAGIC:
            raise InputError("found a symbol table without its magic number")
        self.string()
        _, size = self.numbers("qq")
        table: Symbols = {}
        for _ in range(size):
            symbol = self.string()
            table[self.numbers("q")[0]] = symbol
        return table

    def const_body(self, header: _Header, scales: Sequence[float]) -> FstArrays:
        weight, num_states = header.weight, header.num_states
        state_dtype = state_layout(weight.count, weight.number)
        arc_dtype = arc_layout(weight.count, weight.number, padded=True)
        self._align(header)
        states = np.frombuffer(self.take(num_states * state_dtype.itemsize), state_dtype)
        self._align(header)
        arcs = np.frombuffer(self.take(header.num_arcs * arc_dtype.itemsize), arc_dtype)
        counts = states["arcs"].astype(np.int64)
        if counts.sum() != header.num_arcs or not np.array_equal(states["first"], np.cumsum(counts) - counts):
            raise InputError(f"the states' arcs do not add up to the {header.num_arcs} of the header")
        source = np.repeat(np.arange(num_states, dtype=np.int32), counts)
        return _fst_arrays(header, source, arcs, states["final"], scales)

    def _align(self, header: _Header) -> None:
        if header.flags & IS_ALIGNED:
            self.take(-self.at % 16)

    def vector_body(self, header: _Header, scales: Sequence[float]) -> FstArrays:
        weight, num_states = header.weight, header.num_states
        arc_dtype = arc_layout(weight.count, weight.number)
        state_size, arc_size = vector_state_layout(weight.count, weight.number).itemsize, arc_dtype.itemsize
        body = np.frombuffer(self.data, np.uint8, offset=self.at)
        if num_states < 0:  # written to a pipe: the number was not known yet
            num_states = _count_vector_states(body, state_size, arc_size)
        if num_states > len(body) // state_size:
            num_states = -1
        counts = _vector_arc_counts(body, num_states, state_size, arc_size) if num_states >= 0 else np.empty(0, int)
        if len(counts) != num_states:
            raise self.ends()
        before = np.cumsum(counts) - counts
        state_at = np.arange(num_states) * state_size + before * arc_size
        source = np.repeat(np.arange(num_states, dtype=np.int32), counts)
        arc_at = (source.astype(np.int64) + 1) * state_size + np.arange(len(source)) * arc_size
        final = body[state_at[:, None] + np.arange(state_size - 8)].reshape(-1).view(weight.number)
        arcs = body[arc_at[:, None] + np.arange(arc_size)].reshape(-1).view(arc_dtype)
        return _fst_arrays(header, source, arcs, final.reshape(-1, weight.count), scales)

    def sparse_body(self, header: _Header, scales: Sequence[float]) -> FstArrays:
        body = np.frombuffer(self.data, np.uint8, offset=self.at)
        weight = header.weight
        found = read_sparse_states(
            body, header.num_states, 8 if weight.double else 4, np.array(scales), weight.adds_default
        )
        status, component, source, in_label, out_label, target, cost, final = found
        if status == BAD_COMPONENT:
            raise InputError(f"found component {component} of a weight and {len(scales)} scales; there is one for each")
        if status != COMPLETE:
            raise self.ends()
        arcs = (source, in_label, out_label, target)
        return FstArrays(header.start, *arcs, single_precision(cost), single_precision(final))


@compiled
def _arc_count_at(body: NDArray[np.uint8], at: int, state_size: int, arc_size: int) -> int:
    """The number of arcs in the state record at a place; -1 when the record or its arcs go past the end."""
    if at + state_size > len(body):
        return -1
    number = np.int64(0)
    for i in range(8):
        number |= np.int64(body[at + state_size - 8 + i]) << (8 * i)
    return int(number) if 0 <= number <= (len(body) - at - state_size) // arc_size else -1


@compiled
def _vector_arc_counts(body: NDArray[np.uint8], num_states: int, state_size: int, arc_size: int) -> NDArray[np.int64]:
    """The number of arcs of each state; shorter than asked when the bytes end too early."""
    counts = np.zeros(num_states, np.int64)
    at = 0
    for state in range(num_states):
        number = _arc_count_at(body, at, state_size, arc_size)
        if number < 0:
            return counts[:state]
        counts[state] = number
        at += state_size + arc_size * number
    return counts


@compiled
def _count_vector_states(body: NDArray[np.uint8], state_size: int, arc_size: int) -> int:
    """The number of state records that fill the bytes exactly; -1 when they do not."""
    at, states = 0, 0
    while at < len(body):
        number = _arc_count_at(body, at, state_size, arc_size)
        if number < 0:
            return -1
        at += state_size + arc_size * number
        states += 1
    return states


def _fst_arrays(
    header: _Header, source: IntArray, arcs: NDArray[np.void], final: NDArray[np.floating], scales: Sequence[float]
) -> FstArrays:
    costs: list[FloatArray] = [header.weight.costs(numbers, scales) for numbers in (arcs["weight"], final)]
    labels = (np.ascontiguousarray(arcs[name]) for name in ("input", "output", "target"))
    return FstArrays(header.start, source, *labels, *costs)
