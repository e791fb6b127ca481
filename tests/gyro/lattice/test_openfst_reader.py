"""Files with arcs of all types: by hand, by OpenFst's own code, and damaged."""

from __future__ import annotations

import contextlib
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.lattice.openfst_format import FstArrays
from gyro.lattice.openfst_reader import decode_file
from tests.gyro.lattice.foreign import NOTHING, pair, tuple64_of, tuple_of, vector_file
from tests.gyro.lattice.samples import run
from tests.outside import needs_openfst_headers, needs_openfst_tools

INF = float("inf")
TRIPLE = struct.Struct("<fff").pack

# An arc 5:6 from state 0 to state 1, which is final; the same in all types.
EXAMPLES = {
    "standard": (
        [(struct.pack("<f", INF), [(5, 6, struct.pack("<f", 1.5), 1)]), (struct.pack("<f", 0.25), [])],
        {(): (1.5, 0.25), (2.0,): (3.0, 0.5)},
    ),
    "log": (
        [(struct.pack("<f", INF), [(5, 6, struct.pack("<f", 1.5), 1)]), (struct.pack("<f", 0.25), [])],
        {(): (1.5, 0.25)},
    ),
    "log64": (
        [(struct.pack("<d", INF), [(5, 6, struct.pack("<d", 1.5), 1)]), (struct.pack("<d", 0.25), [])],
        {(): (1.5, 0.25)},
    ),
    "tropical_LT_tropical": (
        [(pair(INF, INF), [(5, 6, pair(1.5, 0.5), 1)]), (pair(0.25, 4.0), [])],
        {(): (1.5, 0.25), (0.0, 1.0): (0.5, 4.0), (1.0, -1.0): (1.0, -3.75)},
    ),
    "tropical_^3": (
        [(TRIPLE(INF, INF, INF), [(5, 6, TRIPLE(1, 2, 3), 1)]), (TRIPLE(0, 0, 1), [])],
        {(1.0, 0.5, 2.0): (8.0, 2.0)},
    ),
    "tropical_^n": (  # component 2 of the arc is not there: it is the default
        [(tuple_of(INF), [(5, 6, tuple_of(0.5, {1: 1.0, 3: 3.0}), 1)]), (tuple_of(0.25), [])],
        {(1.0, 4.0, 2.0): (9.0, 1.75), (1.0, 0.0, 2.0): (7.0, 0.75)},
    ),
    "tropicalsparsetuple": (
        [(tuple_of(INF), [(5, 6, tuple_of(0.5, {1: 1.0, 3: 3.0}), 1)]), (tuple_of(0.25), [])],
        {(1.0, 4.0, 2.0): (7.5, 0.25)},
    ),
    "tropicalsparsetuple64": (
        [(tuple64_of(INF), [(5, 6, tuple64_of(0.0, {1: 1.0, 3: 3.0}), 1)]), (tuple64_of(0, {2: 1}), [])],
        {(1.0, 4.0, 2.0): (7.0, 4.0)},
    ),
}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("arc_type", EXAMPLES)
def test_by_hand(arc_type: str, known: bool) -> None:
    states, answers = EXAMPLES[arc_type]
    data = vector_file(arc_type, states, known=known)
    for scales, (cost, final) in answers.items():
        file = decode_file(data, "x.fst", scales)
        fst = file.arrays
        assert (file.input_symbols, file.output_symbols, fst.start) == (None, None, 0)
        columns = (fst.source, fst.input, fst.output, fst.target, fst.cost, fst.final)
        assert [column.tolist() for column in columns] == [[0], [5], [6], [1], [cost], [INF, final]]
        assert [column.dtype for column in columns] == [np.int32] * 4 + [np.float32] * 2


def test_a_file_byte_by_byte() -> None:
    """The published layout, written out: a state is its final weight, the number of its arcs, and these."""
    data = bytes.fromhex(
        "d6fdb27e 06000000 766563746f72 14000000 74726f706963616c5f4c545f74726f706963616c"  # vector, the arcs' type
        "02000000 00000000 0300000000000000"  # version, flags, properties
        "0000000000000000 0200000000000000 0100000000000000"  # start, states, arcs
        "0000807f 0000807f 0100000000000000"  # not final, one arc
        "05000000 06000000 0000c03f 0000003f 01000000"  # 5:6 at <1.5, 0.5> to state 1
        "00000000 00000000 0000000000000000"  # final at <0, 0>, no arc
    )
    fst = decode_file(data, "x.fst").arrays
    assert (fst.input.tolist(), fst.output.tolist(), fst.target.tolist()) == ([5], [6], [1])
    assert (fst.cost.tolist(), fst.final.tolist()) == ([1.5], [INF, 0.0])


# ---- OpenFst's own code

costs = st.integers(-64, 640).map(lambda n: n / 64)
SCALES = (1.0, 0.5, 0.0, -2.0)
# Of sparse tuples OpenFst writes const files with pointers in them.
TYPES = [
    *((arc_type, kind) for arc_type in ("tropical_LT_tropical", "tropical_^3") for kind in ("vector", "const")),
    *((arc_type, "vector") for arc_type in ("tropical_^n", "tropicalsparsetuple", "tropicalsparsetuple64")),
]


@pytest.fixture(scope="module")
def openfst_arcs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that writes files with OpenFst's own classes."""
    program = tmp_path_factory.mktemp("openfst") / "openfst_arcs"
    code = Path(__file__).with_name("openfst_arcs.cc")
    run("g++", "-std=c++17", "-O0", "-w", str(code), "-o", str(program), "-lfst")
    return program


def weights_of(arc_type: str) -> st.SearchStrategy[tuple[list[float], float]]:
    """The numbers that the program reads for a weight, and its cost by hand with the first of SCALES."""
    count = {"tropical_LT_tropical": 2, "tropical_^3": 3}.get(arc_type)
    if count is not None:
        some = st.lists(costs, min_size=count, max_size=count).map(
            lambda row: (row, sum(x * y for x, y in zip(row, SCALES, strict=False)))
        )
        return some | st.just(([INF] * count, INF))
    adds = arc_type.startswith("tropicalsparsetuple")

    def made(default: float, listed: dict[int, float]) -> tuple[list[float], float]:
        numbers = [default, len(listed), *(x for entry in sorted(listed.items()) for x in entry)]
        if adds:
            return numbers, default + sum(SCALES[k - 1] * x for k, x in listed.items())
        return numbers, sum(scale * listed.get(k, default) for k, scale in enumerate(SCALES, 1))

    # OpenFst drops components that are equal to the default, which is 0 in the tuples of MT decoders.
    defaults = st.just(0.0) if adds else costs
    some = st.builds(made, defaults, st.dictionaries(st.integers(1, len(SCALES)), costs))
    return some | st.just(([INF, 0], INF))


@st.composite
def graphs(draw: st.DrawFn, arc_type: str) -> tuple[str, FstArrays]:
    """Any graph, as the program reads it and as arrays."""
    weights, labels = weights_of(arc_type), st.sampled_from([-3, 0, 1, 999999999])
    states = draw(st.integers(1, 4))
    numbers: list[float] = [states, draw(st.integers(0, states - 1))]
    start, rows, finals = int(numbers[1]), [], []
    for state in range(states):
        final, final_cost = draw(weights)
        arcs = draw(st.lists(st.tuples(labels, labels, weights, st.integers(0, states - 1)), max_size=3))
        numbers += [*final, len(arcs)]
        finals.append(final_cost)
        for in_label, out_label, (weight, cost), target in arcs:
            numbers += [in_label, out_label, *weight, target]
            rows.append((state, in_label, out_label, target, cost))
    columns = zip(*rows, strict=True) if rows else ((),) * 5
    source, in_label, out_label, target, cost = columns
    arrays = (np.array(column, np.int32) for column in (source, in_label, out_label, target))
    fst = FstArrays(start, *arrays, np.array(cost, np.float32), np.array(finals, np.float32))
    return " ".join(map(str, numbers)), fst


def same(found: FstArrays, expected: FstArrays) -> None:
    for name in ("source", "input", "output", "target"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
    assert found.start == expected.start
    assert found.cost.tolist() == pytest.approx(expected.cost.tolist())
    assert found.final.tolist() == pytest.approx(expected.final.tolist())


@needs_openfst_headers
@pytest.mark.parametrize(("arc_type", "kind"), TYPES)
def test_what_openfst_writes_is_read(openfst_arcs: Path, arc_type: str, kind: str, tmp_path: Path) -> None:
    count = {"tropical_LT_tropical": 2, "tropical_^3": 3}.get(arc_type)

    @settings(max_examples=30)
    @given(graphs(arc_type))
    def check(case: tuple[str, FstArrays]) -> None:
        path = tmp_path / "x.fst"
        command = [str(openfst_arcs), arc_type, kind, str(path)]
        subprocess.run(command, input=case[0], text=True, check=True)
        same(decode_file(path.read_bytes(), path, SCALES[:count]).arrays, case[1])

    check()


@needs_openfst_tools
@pytest.mark.parametrize("aligned", ["true", "false"])
@pytest.mark.parametrize("kind", ["vector", "const"])
@pytest.mark.parametrize("arc_type", ["standard", "log", "log64"])
def test_types_that_openfst_tools_know(tmp_path: Path, arc_type: str, kind: str, aligned: str) -> None:
    text, out = tmp_path / "text", tmp_path / "out.fst"
    text.write_text("0 1 5 6 1.5\n0 2 7 8 0.25\n1 2 3 4 -2\n2 0.5\n")
    run("fstcompile", f"--arc_type={arc_type}", f"--fst_type={kind}", f"--fst_align={aligned}", str(text), str(out))
    fst = decode_file(out.read_bytes(), out).arrays
    assert (fst.source.tolist(), fst.target.tolist()) == ([0, 0, 1], [1, 2, 2])
    assert (fst.input.tolist(), fst.output.tolist()) == ([5, 7, 3], [6, 8, 4])
    assert (fst.cost.tolist(), fst.final.tolist()) == ([1.5, 0.25, -2.0], [INF, INF, 0.5])


# ---- damage


def some_scales(arc_type: str) -> Sequence[float]:
    return next(iter(EXAMPLES[arc_type][1]))


@pytest.mark.parametrize("arc_type", EXAMPLES)
def test_every_truncation_is_refused_in_one_line(arc_type: str) -> None:
    whole = vector_file(arc_type, EXAMPLES[arc_type][0])
    for size in range(len(whole)):
        with pytest.raises(InputError, match=r"^x\.fst: [^\n]*$"):
            decode_file(whole[:size], "x.fst", some_scales(arc_type))


@pytest.mark.parametrize("arc_type", EXAMPLES)
def test_any_changed_byte_is_refused_or_read(arc_type: str) -> None:
    whole = vector_file(arc_type, EXAMPLES[arc_type][0])
    for place in range(len(whole)):
        for value in (0, 1, 127, 128, 255):
            with contextlib.suppress(InputError):
                decode_file(whole[:place] + bytes([value]) + whole[place + 1 :], "x.fst", some_scales(arc_type))


@pytest.mark.parametrize(
    ("data", "scales", "message"),
    [
        (vector_file("minmax", []), (), "found minmax arcs; standard"),
        (vector_file("tropicalsparsetuple", EXAMPLES["tropicalsparsetuple"][0]), (), "--scales"),
        (
            vector_file("tropicalsparsetuple", EXAMPLES["tropicalsparsetuple"][0]),
            (1.0, 2.0),
            "found component 3 of a weight and 2 scales; there is one for each",
        ),
        (
            vector_file("tropicalsparsetuple", []).replace(b"\x06\x00\x00\x00vector", b"\x05\x00\x00\x00const"),
            (1.0,),
            "const with tropicalsparsetuple arcs, which holds no weights; vector is allowed",
        ),
        (vector_file("tropical_LT_tropical", [(pair(0, float("nan")), [])]), (0.0, 1.0), "a cost that is not a number"),
        (vector_file("tropical_LT_tropical", [(pair(0, INF), [])]), (0.0, -1.0), "a cost that is not a number"),
        (vector_file("tropicalsparsetuple", [(tuple_of(float("nan")), [])]), (1.0,), "a cost that is not a number"),
        (
            vector_file("tropical_LT_tropical", [(NOTHING["tropical_LT_tropical"], [(1, 1, pair(0, 0), 1)])]),
            (),
            "an arc to a state that is not one of the 1",
        ),
    ],
)
def test_refused(data: bytes, scales: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        decode_file(data, "bad.fst", scales)
    assert str(caught.value).startswith("bad.fst: found ")
