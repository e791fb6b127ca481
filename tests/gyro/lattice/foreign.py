"""Lattice files as other tools write them, number by number.

vector_file  the bytes of a vector file of any arc type, from weights that are packed already
pair, tuple_of, tuple64_of   such weights: two costs; a default and components by number, of single or double precision
NOTHING      the weight of a state that is not final, for each of them
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

INFINITE = float("inf")
Arc = tuple[int, int, bytes, int]  # input, output, weight, target


def vector_file(
    arc_type: str, states: Sequence[tuple[bytes, Sequence[Arc]]], start: int = 0, known: bool = True
) -> bytes:
    """Each state is its final weight and its arcs. To a pipe, OpenFst writes -1 for numbers that are not known."""
    name = arc_type.encode()
    arcs = sum(len(arcs) for _, arcs in states)
    data = struct.pack(f"<ii6si{len(name)}s", 2125659606, 6, b"vector", len(name), name)
    data += struct.pack("<iiQqqq", 2, 0, 3, start, len(states) if known else -1, arcs if known else -1)
    for final, leaving in states:
        data += final + struct.pack("<q", len(leaving))
        for in_label, out_label, weight, target in leaving:
            data += struct.pack("<ii", in_label, out_label) + weight + struct.pack("<i", target)
    return data


def pair(first: float, second: float) -> bytes:
    return struct.pack("<ff", first, second)


def tuple_of(default: float, components: Mapping[int, float] | None = None, number: str = "f") -> bytes:
    """The first component stands before the number of the others; -1 in its place: there are none."""
    entries = [struct.pack(f"<i{number}", *entry) for entry in (components or {}).items()]
    first, others = (entries[0], entries[1:]) if entries else (struct.pack(f"<i{number}", -1, float("nan")), [])
    return struct.pack(f"<{number}", default) + first + struct.pack("<q", len(others)) + b"".join(others)


def tuple64_of(default: float, components: Mapping[int, float] | None = None) -> bytes:
    return tuple_of(default, components, "d")


NOTHING = {
    "tropical_LT_tropical": pair(INFINITE, INFINITE),
    "tropicalsparsetuple": tuple_of(INFINITE),
    "tropicalsparsetuple64": tuple64_of(INFINITE),
}
