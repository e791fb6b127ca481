"""OpenFst's binary formats as numpy arrays: the bulk way into and out of OpenFst, and the lattice files.

FstArrays       the states and arcs of one transducer as plain arrays
encode_const    arrays to the bytes of a ConstFst, which OpenFst reads in one go
decode_const    the bytes of a ConstFst to arrays
encode_vector   arrays and symbols to the bytes of a VectorFst file; equal arrays give equal bytes
check_arrays    refuse arrays that OpenFst must not see: no start, states and labels out of range, costs that are none
decode_file     the bytes of a vector or const file from anywhere to arrays and symbols, every number checked

The formats are those of OpenFst 1.8 (header version 2, unaligned). A file is checked here and not by OpenFst, which
writes to standard error of its own accord and believes the sizes and state numbers that it reads.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gyro.errors import InputError

FST_MAGIC = 2125659606
SYMBOLS_MAGIC = 2125658996
FORMAT_VERSION = 2
HAS_INPUT_SYMBOLS, HAS_OUTPUT_SYMBOLS, IS_ALIGNED = 1, 2, 4
# The properties that OpenFst expects of the type itself; all others are left unknown, and computed when asked for.
CONST_PROPERTIES, VECTOR_PROPERTIES = 1, 3

STATE = np.dtype([("final", "<f4"), ("first", "<u4"), ("arcs", "<u4"), ("in_eps", "<u4"), ("out_eps", "<u4")])
VECTOR_STATE = np.dtype([("final", "<f4"), ("arcs", "<i8")])
ARC = np.dtype([("input", "<i4"), ("output", "<i4"), ("cost", "<f4"), ("target", "<i4")])

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float32]


@dataclass(frozen=True)
class FstArrays:
    """A transducer: arc k goes from `source[k]` to `target[k]`; `final[s]` is infinite where s is not final.

    The arcs are ordered by source. Label 0 is epsilon; `start` is -1 in the empty transducer.
    """

    start: int
    source: IntArray
    input: IntArray
    output: IntArray
    target: IntArray
    cost: FloatArray
    final: FloatArray

    @property
    def num_states(self) -> int:
        return len(self.final)

    def with_arcs(self, order: NDArray[np.int64]) -> FstArrays:
        """The arcs of the given numbers, in that order, between the same states."""
        columns = (self.source, self.input, self.output, self.target)
        source, in_label, out_label, target = (column[order] for column in columns)
        return FstArrays(self.start, source, in_label, out_label, target, self.cost[order], self.final)


def encode_const(fst: FstArrays) -> bytes:
    """The bytes of a ConstFst."""
    arcs = _arc_records(fst)
    states = np.zeros(fst.num_states, STATE)
    counts = np.bincount(fst.source, minlength=fst.num_states)
    states["final"] = fst.final
    states["arcs"] = counts
    states["first"] = np.cumsum(counts) - counts
    states["in_eps"] = np.bincount(fst.source[fst.input == 0], minlength=fst.num_states)
    states["out_eps"] = np.bincount(fst.source[fst.output == 0], minlength=fst.num_states)
    header = _header(b"const", 0, CONST_PROPERTIES, fst.start, fst.num_states, len(arcs))
    return header + states.tobytes() + arcs.tobytes()


def decode_const(data: bytes) -> FstArrays:
    """The arrays of a ConstFst that OpenFst has written; a format that is not the known one is refused."""
    reader = _Reader(data)
    kind, flags, start, num_states, num_arcs = reader.header()
    if kind != "const" or flags:
        raise InputError(f"OpenFst wrote an fst of type {kind} with flags {flags}; only plain const is known here")
    return reader.const_body(start, num_states, num_arcs)


def encode_vector(fst: FstArrays, symbols: Mapping[int, str]) -> bytes:
    """The bytes of a VectorFst file with the symbols on both sides."""
    arcs = _arc_records(fst)
    counts = np.bincount(fst.source, minlength=fst.num_states)
    states = np.zeros(fst.num_states, VECTOR_STATE)
    states["final"] = fst.final
    states["arcs"] = counts
    # Each state's record is followed by its arcs, so the records' places depend on the arcs before them.
    body = np.empty(states.nbytes + arcs.nbytes, np.uint8)
    state_at = np.arange(fst.num_states) * VECTOR_STATE.itemsize + (np.cumsum(counts) - counts) * ARC.itemsize
    arc_at = (fst.source.astype(np.int64) + 1) * VECTOR_STATE.itemsize + np.arange(len(arcs)) * ARC.itemsize
    for records, places in ((states, state_at), (arcs, arc_at)):
        size = records.dtype.itemsize
        body[places[:, None] + np.arange(size)] = records.view(np.uint8).reshape(-1, size)
    table = _encode_symbols(symbols)
    flags = HAS_INPUT_SYMBOLS | HAS_OUTPUT_SYMBOLS
    header = _header(b"vector", flags, VECTOR_PROPERTIES, fst.start, fst.num_states, len(arcs))
    return header + table + table + body.tobytes()


def decode_file(data: bytes, path: str | PathLike[str]) -> tuple[FstArrays, dict[int, str] | None]:
    """The arrays of a vector or const file and its output symbols (else its input symbols, else None)."""
    try:
        reader = _Reader(data)
        kind, flags, start, num_states, num_arcs = reader.header()
        tables = [reader.symbols() for flag in (HAS_INPUT_SYMBOLS, HAS_OUTPUT_SYMBOLS) if flags & flag]
        if kind == "const":
            fst = reader.const_body(start, num_states, num_arcs, aligned=bool(flags & IS_ALIGNED))
        else:
            fst = reader.vector_body(start, num_states)
        check_arrays(fst)
    except InputError as error:
        raise InputError(str(error), path=path) from error
    return fst, tables[-1] if tables else None


def _header(kind: bytes, flags: int, properties: int, start: int, num_states: int, num_arcs: int) -> bytes:
    return (
        struct.pack("<i", FST_MAGIC)
        + _string(kind)
        + _string(b"standard")
        + struct.pack("<iiQqqq", FORMAT_VERSION, flags, properties, start, num_states, num_arcs)
    )


def _string(text: bytes) -> bytes:
    return struct.pack("<i", len(text)) + text


def _arc_records(fst: FstArrays) -> NDArray[np.void]:
    arcs: NDArray[np.void] = np.empty(len(fst.source), ARC)
    arcs["input"], arcs["output"], arcs["cost"], arcs["target"] = fst.input, fst.output, fst.cost, fst.target
    return arcs


def _encode_symbols(symbols: Mapping[int, str]) -> bytes:
    ordered = sorted(symbols.items())
    entries = (_string(symbol.encode()) + struct.pack("<q", key) for key, symbol in ordered)
    head = struct.pack("<i", SYMBOLS_MAGIC) + _string(b"words")
    return head + struct.pack("<qq", ordered[-1][0] + 1, len(ordered)) + b"".join(entries)


class _Reader:
    """Walks over the bytes of a file and refuses to read past their end."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise InputError(f"the file ends after {len(self.data)} bytes, in the middle of an fst")
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

    def header(self) -> tuple[str, int, int, int, int]:
        if self.data[:4] != struct.pack("<i", FST_MAGIC):
            raise InputError("not an OpenFst binary file: the magic number is missing")
        self.at = 4
        kind, arc_type = self.string(), self.string()
        version, flags, _, start, num_states, num_arcs = self.numbers("iiQqqq")
        if kind not in ("vector", "const") or arc_type != "standard":
            raise InputError(f"found an fst of type {kind} with {arc_type} arcs; vector or const, standard are allowed")
        # A const file of version 1 is the aligned one.
        if version != FORMAT_VERSION and not (kind == "const" and version == 1):
            raise InputError(f"found format version {version} of a {kind} fst; {FORMAT_VERSION} is allowed")
        if kind == "const" and version == 1:
            flags |= IS_ALIGNED
        return kind, flags, start, num_states, num_arcs

    def symbols(self) -> dict[int, str]:
        (magic,) = self.numbers("i")
        if magic != SYMBOLS_MAGIC:
            raise InputError("found a symbol table without its magic number")
        self.string()
        _, size = self.numbers("qq")
        table: dict[int, str] = {}
        for _ in range(size):
            symbol = self.string()
            table[self.numbers("q")[0]] = symbol
        return table

    def const_body(self, start: int, num_states: int, num_arcs: int, *, aligned: bool = False) -> FstArrays:
        self._align(aligned)
        states = np.frombuffer(self.take(num_states * STATE.itemsize), STATE)
        self._align(aligned)
        arcs = np.frombuffer(self.take(num_arcs * ARC.itemsize), ARC)
        counts = states["arcs"].astype(np.int64)
        if counts.sum() != num_arcs or not np.array_equal(states["first"], np.cumsum(counts) - counts):
            raise InputError(f"the states' arcs do not add up to the {num_arcs} of the header")
        return _fst_arrays(start, np.repeat(np.arange(num_states, dtype=np.int32), counts), arcs, states["final"])

    def _align(self, aligned: bool) -> None:
        if aligned:
            self.take(-self.at % 16)

    def vector_body(self, start: int, num_states: int) -> FstArrays:
        body = np.frombuffer(self.data, np.uint8, offset=self.at)
        if num_states < 0:  # written to a pipe: the number was not known yet
            num_states = _count_vector_states(body)
        if num_states > len(body) // VECTOR_STATE.itemsize:
            num_states = -1
        counts = _vector_arc_counts(body, num_states) if num_states >= 0 else np.empty(0, np.int64)
        if len(counts) != num_states:
            raise InputError(f"the file ends after {len(self.data)} bytes, in the middle of an fst")
        before = np.cumsum(counts) - counts
        state_at = np.arange(num_states) * VECTOR_STATE.itemsize + before * ARC.itemsize
        source = np.repeat(np.arange(num_states, dtype=np.int32), counts)
        arc_at = (source.astype(np.int64) + 1) * VECTOR_STATE.itemsize + np.arange(len(source)) * ARC.itemsize
        final = body[state_at[:, None] + np.arange(4)].reshape(-1).view("<f4")
        arcs = body[arc_at[:, None] + np.arange(ARC.itemsize)].reshape(-1).view(ARC)
        return _fst_arrays(start, source, arcs, final)


@njit(cache=True)
def _arc_count_at(body: NDArray[np.uint8], at: int) -> int:
    """The number of arcs in the state record at a place; -1 when the record or its arcs go past the end."""
    if at + 12 > len(body):
        return -1
    number = np.int64(0)
    for i in range(8):
        number |= np.int64(body[at + 4 + i]) << (8 * i)
    return int(number) if 0 <= number <= (len(body) - at - 12) // 16 else -1


@njit(cache=True)
def _vector_arc_counts(body: NDArray[np.uint8], num_states: int) -> NDArray[np.int64]:
    """The number of arcs of each state; shorter than asked when the bytes end too early."""
    counts = np.zeros(num_states, np.int64)
    at = 0
    for state in range(num_states):
        number = _arc_count_at(body, at)
        if number < 0:
            return counts[:state]
        counts[state] = number
        at += 12 + 16 * number
    return counts


@njit(cache=True)
def _count_vector_states(body: NDArray[np.uint8]) -> int:
    """The number of state records that fill the bytes exactly; -1 when they do not."""
    at, states = 0, 0
    while at < len(body):
        number = _arc_count_at(body, at)
        if number < 0:
            return -1
        at += 12 + 16 * number
        states += 1
    return states


def _fst_arrays(start: int, source: IntArray, arcs: NDArray[np.void], final: FloatArray) -> FstArrays:
    return FstArrays(
        start=start,
        source=source,
        input=np.ascontiguousarray(arcs["input"]),
        output=np.ascontiguousarray(arcs["output"]),
        target=np.ascontiguousarray(arcs["target"]),
        cost=np.ascontiguousarray(arcs["cost"]),
        final=np.ascontiguousarray(final),
    )


def check_arrays(fst: FstArrays) -> None:
    """Refuse numbers that OpenFst would follow out of its tables, and what it cannot go through at all."""
    if not -1 <= fst.start < fst.num_states:
        raise InputError(f"found the start state {fst.start} in an fst of {fst.num_states} states")
    if fst.start < 0 and fst.num_states:
        raise InputError(f"found {fst.num_states} states and no start state")
    for name, states in (("from", fst.source), ("to", fst.target)):
        if len(states) and (states.min() < 0 or states.max() >= fst.num_states):
            raise InputError(f"found an arc {name} a state that is not one of the {fst.num_states}")
    if len(fst.input) and min(fst.input.min(), fst.output.min()) < 0:
        raise InputError("found a negative label")
    for costs in (fst.cost, fst.final):
        if np.isnan(costs).any() or (costs == -np.inf).any():
            raise InputError("found a cost that is not a number")
