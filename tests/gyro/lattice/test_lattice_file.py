"""How labels of other tools become words, through `Lattice.read` and `Lattice.write`."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.lattice.file_format import LatticeFormat
from gyro.lattice.lattice import Hypothesis, Lattice
from tests.gyro.lattice.foreign import INFINITE, tuple_of, vector_file
from tests.gyro.lattice.samples import run, small_lattice
from tests.outside import needs_openfst_tools

DELETION, OOV = 999999999, 999999998


def chain(path: Path, *labels: int | tuple[int, int]) -> Path:
    """A file of one string without symbols, at cost 1 a label; a pair is the two sides of a transducer."""
    pairs = [label if isinstance(label, tuple) else (label, label) for label in labels]
    number = struct.Struct("<f").pack
    states = [(number(INFINITE), [(*pair, number(1.0), state + 1)]) for state, pair in enumerate(pairs)]
    path.write_bytes(vector_file("standard", [*states, (number(0.5), [])]))
    return path


@pytest.fixture
def wordmap(tmp_path: Path) -> str:
    (tmp_path / "wmap").write_text("<epsilon>\t0\n<s>\t1\n</s>\t2\nthe\t3\ndog\t4\nbarks\t5\nbarks\t6\n")
    return str(tmp_path / "wmap")


@pytest.mark.parametrize(
    ("labels", "options", "tokens"),
    [
        ((3, 4, 5), {}, "3 4 5"),
        ((1, 3, 4, 2), {"marks": (1, 2)}, "3 4"),
        ((3, DELETION, 4, OOV), {"epsilon": (DELETION, OOV)}, "3 4"),
        ((3, -1, 4), {"epsilon": (-1,)}, "3 4"),
        (((3, 7), (4, 0), (0, 8)), {"project": "input"}, "3 4"),
        (((3, 7), (4, 0), (0, 8)), {"project": "output"}, "7 8"),
        (((3, 3), (DELETION, 0)), {"epsilon": (DELETION,)}, "3"),
        (((-5, 3),), {"project": "output"}, "3"),
        ((3, 4, 6), {"wordmap": True}, "the dog barks"),
        ((1, 3, 4, 2), {"wordmap": True, "marks": (1, 2)}, "the dog"),
        ((3, 77, 100000000), {"wordmap": True, "unknown": "<unk>"}, "the <unk> <unk>"),
        ((3, OOV), {"wordmap": True, "epsilon": (OOV,)}, "the"),
    ],
)
def test_labels_and_their_words(
    tmp_path: Path, wordmap: str, labels: tuple[int, ...], options: dict[str, object], tokens: str
) -> None:
    if "wordmap" in options:
        options = options | {"wordmap": wordmap}
    lattice = Lattice.read(chain(tmp_path / "x.fst", *labels), LatticeFormat(**options))  # type: ignore[arg-type]
    assert lattice.strings() == [Hypothesis(tuple(tokens.split()), len(labels) + 0.5)]


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (((3, 4),), {}, "found a transducer; .*--project input or output"),
        ((3, -7), {}, "found the label -7; words have labels from 1, and --epsilon -7 leaves it out"),
        (
            (3, 77),
            {"wordmap": True},
            "found the label 77, which is not in the word map .*wmap; --epsilon 77 .*--unknown",
        ),
        ((3,), {"scales": (1.0, 2.0)}, "found standard arcs, with one cost each, and 2 scales"),
        ((3,), {"wordmap": "none"}, "none: cannot read"),
    ],
)
def test_refused_in_one_line(
    tmp_path: Path, wordmap: str, labels: tuple[int, ...], options: dict[str, object], message: str
) -> None:
    if options.get("wordmap") is True:
        options = options | {"wordmap": wordmap}
    path = chain(tmp_path / "x.fst", *labels)
    with pytest.raises(InputError, match=message) as caught:
        Lattice.read(path, LatticeFormat(**options))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_symbols_say_what_is_what(tmp_path: Path, wordmap: str) -> None:
    """In a file with symbols neither marks nor word map change a word."""
    lattice = small_lattice()
    lattice.write(tmp_path / "x.fst")
    format = LatticeFormat(marks=(1, 2), epsilon=(3, 999), wordmap=wordmap)
    assert Lattice.read(tmp_path / "x.fst", format).strings() == lattice.strings()


def test_tuples_of_costs(tmp_path: Path) -> None:
    """The scales decide which of two strings is the best."""
    states = [
        (tuple_of(INFINITE), [(7, 7, tuple_of(0.0, {1: 1.0, 2: 4.0}), 1), (8, 8, tuple_of(0.0, {1: 3.0}), 1)]),
        (tuple_of(0.0, {2: 0.5}), []),
    ]
    (tmp_path / "x.fst").write_bytes(vector_file("tropicalsparsetuple", states))
    for scales, best in (((1.0, 0.0), ("7", 1.0)), ((1.0, 1.0), ("8", 3.5))):
        found = Lattice.read(tmp_path / "x.fst", LatticeFormat(scales=scales)).best()
        assert found == Hypothesis((best[0],), best[1])


@pytest.mark.parametrize("arc_type", ["standard", "tropical_LT_tropical"])
@pytest.mark.parametrize("symbols", [True, False])
def test_types_that_are_written(tmp_path: Path, arc_type: str, symbols: bool) -> None:
    path = tmp_path / "x.fst.gz"
    labels = {"a": 5, "b": 70000, "c": 7}
    small_lattice().write(path, labels, symbols=symbols, arc_type=arc_type)
    lattice = Lattice.read(path)
    names = {word: word if symbols else str(labels[word]) for word in labels}
    expected = {(tuple(names[token] for token in h.tokens), h.cost) for h in small_lattice().strings()}
    assert {(h.tokens, h.cost) for h in lattice.strings()} == expected


def test_other_types_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found the type 'log' of arcs; allowed are standard and tropical_LT_tropical"):
        small_lattice().write(tmp_path / "x.fst", arc_type="log")


@needs_openfst_tools
def test_openfst_tools_read_files_without_symbols(tmp_path: Path) -> None:
    path = str(tmp_path / "x.fst")
    small_lattice().write(path, {"a": 30, "b": 7, "c": 100}, symbols=False)
    printed = {tuple(line.split("\t")) for line in run("fstprint", path).splitlines()}
    assert ("0", "1", "7", "7", "0.25") in printed
    assert len(printed) == 6


@given(st.lists(st.sampled_from([-2, 0, 1, 2, 3, 4, DELETION]), max_size=6))
def test_epsilon_labels_and_nothing_else_are_left_out(
    tmp_path_factory: pytest.TempPathFactory, labels: list[int]
) -> None:
    path = chain(tmp_path_factory.mktemp("lattice") / "x.fst", *labels)
    format = LatticeFormat(marks=(1, 2), epsilon=(DELETION, -2))
    (found,) = Lattice.read(path, format).strings()
    assert found == Hypothesis(tuple(str(label) for label in labels if label in (3, 4)), len(labels) + 0.5)
