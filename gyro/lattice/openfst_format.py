"""OpenFst's binary formats out of numpy arrays: the bulk way into OpenFst, and the lattice files.

FstArrays       the states and arcs of one transducer as plain arrays
encode_const    arrays to the bytes of a ConstFst, which OpenFst reads in one go
encode_vector   arrays and symbols to the bytes of a VectorFst file; equal arrays give equal bytes
check_arrays    refuse arrays that OpenFst must not see: no start, states and labels out of range, costs that are none
arc_layout      the record of an arc whose weight has so many numbers

The formats are those of OpenFst 1.8 (header version 2, unaligned); gyro.lattice.openfst_reader is the way back.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError

FST_MAGIC = 2125659606
SYMBOLS_MAGIC = 2125658996
FORMAT_VERSION = 2
HAS_INPUT_SYMBOLS, HAS_OUTPUT_SYMBOLS, IS_ALIGNED = 1, 2, 4
# The properties that OpenFst expects of the type itself; all others are left unknown, and computed when asked for.
CONST_PROPERTIES, VECTOR_PROPERTIES = 1, 3

STANDARD, LEXICOGRAPHIC = "standard", "tropical_LT_tropical"
COSTS = {STANDARD: 1, LEXICOGRAPHIC: 2}  # of an arc, by the types that are written

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float32]


def arc_layout(count: int = 1, number: str = "<f4", *, padded: bool = False) -> np.dtype[np.void]:
    """An arc in a file; in const files it is padded as in memory."""
    columns = [("input", "<i4"), ("output", "<i4"), ("weight", number, (count,)), ("target", "<i4")]
    return np.dtype(columns, align=padded)


def state_layout(count: int = 1, number: str = "<f4") -> np.dtype[np.void]:
    """A state in a const file."""
    numbers = [(name, "<u4") for name in ("first", "arcs", "in_eps", "out_eps")]
    return np.dtype([("final", number, (count,)), *numbers], align=True)


def vector_state_layout(count: int = 1, number: str = "<f4") -> np.dtype[np.void]:
    """A state in a vector file; its arcs follow."""
    return np.dtype([("final", number, (count,)), ("arcs", "<i8")])


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
    states = np.zeros(fst.num_states, state_layout())
    counts = np.bincount(fst.source, minlength=fst.num_states)
    states["final"] = fst.final[:, None]
    states["arcs"] = counts
    states["first"] = np.cumsum(counts) - counts
    states["in_eps"] = np.bincount(fst.source[fst.input == 0], minlength=fst.num_states)
    states["out_eps"] = np.bincount(fst.source[fst.output == 0], minlength=fst.num_states)
    header = _header("const", STANDARD, 0, CONST_PROPERTIES, fst.start, fst.num_states, len(arcs))
    return header + states.tobytes() + arcs.tobytes()


def encode_vector(fst: FstArrays, symbols: Mapping[int, str] | None, arc_type: str = STANDARD) -> bytes:
    """The bytes of a VectorFst file, with the symbols on both sides.

    Of the two costs of LEXICOGRAPHIC arcs the second, that of all but the language model, is 0.
    """
    count = COSTS[arc_type]
    arcs = _arc_records(fst, count)
    counts = np.bincount(fst.source, minlength=fst.num_states)
    states = np.zeros(fst.num_states, vector_state_layout(count))
    states["final"] = _weights(fst.final, count)
    states["arcs"] = counts
    # Each state's record is followed by its arcs, so the records' places depend on the arcs before them.
    state_size, arc_size = states.dtype.itemsize, arcs.dtype.itemsize
    body = np.empty(states.nbytes + arcs.nbytes, np.uint8)
    state_at = np.arange(fst.num_states) * state_size + (np.cumsum(counts) - counts) * arc_size
    arc_at = (fst.source.astype(np.int64) + 1) * state_size + np.arange(len(arcs)) * arc_size
    for records, places in ((states, state_at), (arcs, arc_at)):
        size = records.dtype.itemsize
        body[places[:, None] + np.arange(size)] = records.view(np.uint8).reshape(-1, size)
    tables = b"" if symbols is None else 2 * _encode_symbols(symbols)
    flags = 0 if symbols is None else HAS_INPUT_SYMBOLS | HAS_OUTPUT_SYMBOLS
    header = _header("vector", arc_type, flags, VECTOR_PROPERTIES, fst.start, fst.num_states, len(arcs))
    return header + tables + body.tobytes()


def _header(kind: str, arc_type: str, flags: int, properties: int, start: int, num_states: int, num_arcs: int) -> bytes:
    return (
        struct.pack("<i", FST_MAGIC)
        + _string(kind.encode())
        + _string(arc_type.encode())
        + struct.pack("<iiQqqq", FORMAT_VERSION, flags, properties, start, num_states, num_arcs)
    )


def _string(text: bytes) -> bytes:
    return struct.pack("<i", len(text)) + text


def _arc_records(fst: FstArrays, count: int = 1) -> NDArray[np.void]:
    arcs: NDArray[np.void] = np.empty(len(fst.source), arc_layout(count))
    arcs["input"], arcs["output"], arcs["target"] = fst.input, fst.output, fst.target
    arcs["weight"] = _weights(fst.cost, count)
    return arcs


def _weights(cost: FloatArray, count: int) -> FloatArray:
    """The cost as the first of so many; the others are 0 or, as there is nothing without costs, infinite too."""
    weights = np.zeros((len(cost), count), np.float32)
    weights[cost == np.inf] = np.inf
    weights[:, 0] = cost
    return weights


def _encode_symbols(symbols: Mapping[int, str]) -> bytes:
    ordered = sorted(symbols.items())
    entries = (_string(symbol.encode()) + struct.pack("<q", key) for key, symbol in ordered)
    head = struct.pack("<i", SYMBOLS_MAGIC) + _string(b"words")
    return head + struct.pack("<qq", ordered[-1][0] + 1, len(ordered)) + b"".join(entries)


def check_arrays(fst: FstArrays, *, labels: bool = True) -> None:
    """Refuse numbers that OpenFst would follow out of its tables, and what it cannot go through at all.

    Without `labels`, these are looked at later.
    """
    if not -1 <= fst.start < fst.num_states:
        raise InputError(f"found the start state {fst.start} in an fst of {fst.num_states} states")
    if fst.start < 0 and fst.num_states:
        raise InputError(f"found {fst.num_states} states and no start state")
    for name, states in (("from", fst.source), ("to", fst.target)):
        if len(states) and (states.min() < 0 or states.max() >= fst.num_states):
            raise InputError(f"found an arc {name} a state that is not one of the {fst.num_states}")
    if labels and len(fst.input) and (least := min(fst.input.min(), fst.output.min())) < 0:
        raise InputError(f"found the label {least}; words have labels from 1, and --epsilon {least} leaves it out")
    for costs in (fst.cost, fst.final):
        if np.isnan(costs).any() or (costs == -np.inf).any():
            raise InputError("found a cost that is not a number")
