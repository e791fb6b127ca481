"""OpenFst's binary formats against OpenFst's own tools, plain structs, and every kind of damage."""

from __future__ import annotations

import contextlib
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.openfst_format import FstArrays, arc_layout, encode_const, encode_vector, state_layout
from gyro.lattice.openfst_reader import decode_const, decode_file
from tests.gyro.lattice.samples import run, small_lattice
from tests.outside import needs_openfst_tools


@needs_openfst_tools
def test_openfst_tools_read_our_files(tmp_path: Path) -> None:
    path = tmp_path / "x.fst"
    small_lattice().write(path, {"a": 70000, "b": 7, "c": 100})
    info = dict(line.rsplit(None, 1) for line in run("fstinfo", str(path)).splitlines() if line.strip())
    assert (info["fst type"], info["arc type"]) == ("vector", "standard")
    assert (info["# of states"], info["# of arcs"]) == ("3", "5")
    assert (info["acceptor"], info["cyclic"], info["top sorted"]) == ("y", "n", "y")
    printed = {tuple(line.split("\t")) for line in run("fstprint", str(path)).splitlines()}
    assert ("0", "1", "b", "b", "0.25") in printed
    assert ("2", "0.0625") in printed
    assert len(printed) == 6


@needs_openfst_tools
@pytest.mark.parametrize("kind", ["vector", "const"])
@pytest.mark.parametrize("to_pipe", [False, True])
def test_files_of_openfst_tools_are_read(tmp_path: Path, kind: str, to_pipe: bool) -> None:
    (tmp_path / "symbols").write_text("<eps> 0\na 1\nb 2\nc 5\n")
    (tmp_path / "text").write_text("0 1 a 0.5\n0 1 b 0.25\n1 2 <eps> 0.25\n2 3 c 1\n3 0.5\n")
    symbols, text, out = (str(tmp_path / name) for name in ("symbols", "text", "out.fst"))
    compile_it = ["fstcompile", "--acceptor", f"--isymbols={symbols}", "--keep_isymbols", f"--fst_type={kind}", text]
    if to_pipe:
        Path(out).write_bytes(subprocess.run(compile_it, check=True, capture_output=True).stdout)
    else:
        run(*compile_it, out)
    assert Lattice.read(out).strings() == [Hypothesis(("b", "c"), 2.0), Hypothesis(("a", "c"), 2.25)]


def test_every_truncation_is_refused_in_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.fst"
    small_lattice().write(path)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError) as caught:
            Lattice.read(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")  # OpenFst would have written to standard error


def test_any_changed_byte_is_refused_or_read_but_never_crashes(tmp_path: Path) -> None:
    path = tmp_path / "x.fst"
    small_lattice().write(path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        for value in (0, 127, 255):
            path.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
            with contextlib.suppress(InputError):
                Lattice.read(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "magic"),
        (b"a text file\n", "magic"),
        (struct.pack("<i", 2125659606) + b"\x07\x00\x00\x00compact\x08\x00\x00\x00standard" + b"\x00" * 40, "compact"),
        (struct.pack("<i", 2125659606) + b"\x06\x00\x00\x00vector\x04\x00\x00\x00real" + b"\x00" * 40, "real"),
    ],
)
def test_foreign_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "foreign.fst"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        Lattice.read(path)


def test_an_unknown_format_of_openfst_fails_loudly() -> None:
    with pytest.raises(InputError, match="version"):
        decode_const(struct.pack("<i", 2125659606) + b"\x05\x00\x00\x00const\x08\x00\x00\x00standard" + b"\x09" * 48)


# ---- arrays

COLUMNS = ("source", "input", "output", "target", "cost", "final")
costs = st.integers(-64, 640).map(lambda n: n / 64) | st.just(np.inf)


def make_fst(arcs: list[tuple[int, int, int, int, float]], final: list[float], start: int = 0) -> FstArrays:
    """A transducer of arcs (source, input, output, target, cost)."""
    source, in_label, out_label, target, cost = zip(*sorted(arcs), strict=True) if arcs else ((),) * 5
    columns = (np.array(column, np.int32) for column in (source, in_label, out_label, target))
    return FstArrays(start, *columns, np.array(cost, np.float32), np.array(final, np.float32))


@st.composite
def fsts(draw: st.DrawFn) -> FstArrays:
    """Any transducer: with cycles, epsilons, states without arcs, and none at all."""
    states = draw(st.integers(0, 6))
    state, label = st.integers(0, states - 1), st.sampled_from([0, 1, 2, 70_000])
    arcs = draw(st.lists(st.tuples(state, label, label, state, costs), max_size=15)) if states else []
    final = draw(st.lists(costs, min_size=states, max_size=states))
    return make_fst(arcs, final, draw(state) if states else -1)


def same(found: FstArrays, expected: FstArrays) -> None:
    assert found.start == expected.start
    for name in COLUMNS:
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
        assert getattr(found, name).dtype == getattr(expected, name).dtype, name


def one_by_one(fst: FstArrays, symbols: dict[int, str]) -> bytes:
    """A vector file, written number by number as the format says."""
    table = struct.pack("<ii5sqq", 2125658996, 5, b"words", max(symbols) + 1, len(symbols))
    for key, symbol in symbols.items():
        table += struct.pack(f"<i{len(symbol.encode())}sq", len(symbol.encode()), symbol.encode(), key)
    num_states, num_arcs = len(fst.final), len(fst.source)
    data = struct.pack("<ii6si8sii", 2125659606, 6, b"vector", 8, b"standard", 2, 3)
    data += struct.pack("<Qqqq", 3, fst.start, num_states, num_arcs) + table + table
    for state in range(num_states):
        arcs = [arc for arc in range(num_arcs) if fst.source[arc] == state]
        data += struct.pack("<fq", fst.final[state], len(arcs))
        for arc in arcs:
            data += struct.pack("<iifi", fst.input[arc], fst.output[arc], fst.cost[arc], fst.target[arc])
    return data


@given(fsts())
def test_arrays_survive_both_formats(fst: FstArrays) -> None:
    symbols = {0: "<eps>", 2: "ä", 70_000: "|||"}
    data = encode_vector(fst, symbols)
    assert data == one_by_one(fst, symbols)
    found = decode_file(data, "x.fst")
    same(found.arrays, fst)
    assert (found.input_symbols, found.output_symbols) == (symbols, symbols)
    same(decode_const(encode_const(fst)), fst)
    for bare in (encode_const(fst), encode_vector(fst, None), encode_vector(fst, None, "tropical_LT_tropical")):
        found = decode_file(bare, "x.fst")
        same(found.arrays, fst)
        assert (found.input_symbols, found.output_symbols) == (None, None)


@given(fsts(), st.randoms(use_true_random=False))
def test_a_choice_of_arcs_keeps_states_and_columns_together(fst: FstArrays, random: object) -> None:
    order = [arc for arc in range(len(fst.source)) if random.random() < 0.7]  # type: ignore[attr-defined]
    columns = [getattr(fst, name).tolist() for name in COLUMNS[:-1]]
    expected = [arc for number, arc in enumerate(zip(*columns, strict=True)) if number in order]
    same(fst.with_arcs(np.array(order, np.int64)), make_fst(expected, fst.final.tolist(), fst.start))


EXAMPLE = make_fst(
    [(0, 1, 2, 1, 0.5), (0, 0, 2, 2, 0.25), (1, 3, 0, 2, -1.0), (1, 0, 0, 2, 0.0), (2, 1, 1, 2, 2.0)], [np.inf, 1, 0]
)
PRINTED = {"0 2 0 2 0.25", "0 1 1 2 0.5", "1 2 0 0", "1 2 3 0 -1", "2 2 1 1 2", "1 1", "2"}


@needs_openfst_tools
@pytest.mark.parametrize("kind", ["const", "vector"])
def test_openfst_prints_what_was_encoded(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.fst"
    symbols = {label: str(label) for label in range(4)}
    path.write_bytes(encode_const(EXAMPLE) if kind == "const" else encode_vector(EXAMPLE, symbols))
    assert {" ".join(line.split()) for line in run("fstprint", str(path)).splitlines()} == PRINTED
    info = dict(line.rsplit(None, 1) for line in run("fstinfo", str(path)).splitlines() if line.strip())
    assert info["fst type"] == kind
    # A ConstFst keeps these numbers itself, state by state.
    assert (info["# of input epsilons"], info["# of output epsilons"]) == ("2", "2")


@needs_openfst_tools
@pytest.mark.parametrize("kind", ["vector", "const"])
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("kept", ["", "i", "o", "io"])
def test_whatever_openfst_writes_is_decoded(tmp_path: Path, kind: str, aligned: bool, kept: str) -> None:
    tables = {"i": {0: "0", 1: "1", 3: "3"}, "o": {0: "0", 1: "1", 2: "2"}}
    for side, table in tables.items():
        (tmp_path / side).write_text("".join(f"{symbol} {key}\n" for key, symbol in table.items()))
    text, out = tmp_path / "text", tmp_path / "out.fst"
    text.write_text("".join(f"{line}\n" for line in sorted(PRINTED)))
    options = [option for side in kept for option in (f"--{side}symbols={tmp_path / side}", f"--keep_{side}symbols")]
    run("fstcompile", f"--fst_type={kind}", f"--fst_align={str(aligned).lower()}", *options, str(text), str(out))
    file = decode_file(out.read_bytes(), out)
    same(file.arrays.with_arcs(np.lexsort((file.arrays.output, file.arrays.input, file.arrays.source))), EXAMPLE)
    assert file.input_symbols == (tables["i"] if "i" in kept else None)
    assert file.output_symbols == (tables["o"] if "o" in kept else None)


@pytest.mark.parametrize(
    ("name", "number", "value", "message"),
    [
        ("start", None, 3, "the start state 3 in an fst of 3 states"),
        ("start", None, -2, "the start state -2"),
        ("start", None, -1, "3 states and no start state"),
        ("target", 0, 3, "an arc to a state that is not one of the 3"),
        ("target", 4, -1, "an arc to a state that is not one of the 3"),
        ("cost", 3, np.nan, "a cost that is not a number"),
        ("cost", 3, -np.inf, "a cost that is not a number"),
        ("final", 1, np.nan, "a cost that is not a number"),
    ],
)
@pytest.mark.parametrize("kind", ["const", "vector"])
def test_numbers_that_openfst_would_follow_are_refused(
    name: str, number: int | None, value: float, message: str, kind: str
) -> None:
    column = value
    if number is not None:
        column = getattr(EXAMPLE, name).copy()
        column[number] = value  # type: ignore[index]
    changed = replace(EXAMPLE, **{name: column})  # type: ignore[arg-type]
    data = encode_const(changed) if kind == "const" else encode_vector(changed, {0: "0"})
    with pytest.raises(InputError, match=rf"^bad\.fst: found {message}"):
        decode_file(data, "bad.fst")


def test_a_const_file_whose_states_do_not_add_up_is_refused() -> None:
    whole = encode_const(EXAMPLE)
    state = state_layout()
    states_at = len(whole) - 5 * arc_layout().itemsize - 3 * state.itemsize
    for field, add in (("arcs", 1), ("first", 1)):
        states = np.frombuffer(whole, state, 3, states_at).copy()
        states[field][1] += add
        data = whole[:states_at] + states.tobytes() + whole[states_at + states.nbytes :]
        with pytest.raises(InputError, match="do not add up to the 5 of the header"):
            decode_const(data)


def test_only_a_plain_const_comes_from_openfst_itself() -> None:
    with pytest.raises(InputError, match="an fst of type vector with flags 3"):
        decode_const(encode_vector(EXAMPLE, {0: "0"}))
