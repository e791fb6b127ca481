"""`gyro show` as a user types it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import main
from gyro.lattice.file_format import LatticeFormat
from gyro.lattice.lattice import Lattice
from tests.gyro.lattice.samples import small_lattice

if TYPE_CHECKING:
    from tests.conftest import World


def test_drawings_beside_the_lattice_or_where_told(
    ordered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lattice = tmp_path / "one.fst"
    shutil.copy(ordered / "first" / "lattices" / "000001.fst", lattice)
    assert main(["show", str(lattice), "--paths", "3"]) == 0
    outputs = [tmp_path / "one.svg", tmp_path / "one.png"]
    assert capsys.readouterr().out.splitlines() == list(map(str, outputs))
    assert outputs[0].read_text(encoding="utf-8").startswith("<svg")
    assert outputs[1].read_bytes().startswith(b"\x89PNG")
    assert main(["show", str(lattice), "-o", str(tmp_path / "a.svg"), "--paths", "3"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "one.fst", "one.png", "one.svg"]


def test_a_lattice_of_another_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_lattice().write(tmp_path / "one.fst", {"a": 5, "b": 6, "c": 7}, symbols=False)
    (tmp_path / "map").write_text("5 the\n6 dog\n7 barks\n")
    words = ["show", str(tmp_path / "one.fst"), "-o", str(tmp_path / "one.svg")]
    assert main([*words, "--wordmap", str(tmp_path / "map")]) == 0
    drawn, format = (tmp_path / "one.svg").read_bytes(), LatticeFormat(wordmap=str(tmp_path / "map"))
    assert drawn == Lattice.read(tmp_path / "one.fst", format).draw("svg")
    assert drawn != Lattice.read(tmp_path / "one.fst").draw("svg")


@pytest.mark.parametrize("grammar", ["right-linear", "binary"])
def test_the_network_of_a_bag(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], grammar: str) -> None:
    """The rules as the paper writes them; a cell is drawn with a path for each of its rules."""
    bag = ["show", "--bag", "we will not", "--index", str(world.index_path), "--lm", str(world.model_path)]
    rules = [*bag, "--rules", "1-2", "--grammar", grammar, "--algorithm", "full"]
    assert main(rules) == 0
    printed = capsys.readouterr().out.splitlines()
    assert {"100→not", "010→we", "001→will"} <= set(printed)
    whole = [line for line in printed if line.startswith("111→")]
    # A cell of one word and one of two make the bag, either way round; but `we not` and `not we` are no phrases.
    assert len(whole) == {"binary": 6, "right-linear": 5}[grammar]
    assert main([*rules, "--cell", "111", "-o", str(tmp_path / "cell.svg")]) == 0
    drawn = (tmp_path / "cell.svg").read_text()
    assert all(name in drawn for name in ("100", "010", "001", "110", "101", "011"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{bad}"], "bad.jsonl"),
        ([], "a LATTICE or --bag WORDS is needed, and not both"),
        (["{bad}", "--bag", "a b"], "a LATTICE or --bag WORDS is needed, and not both"),
        (["{bad}", "--cell", "11"], "--cell goes with --bag WORDS"),
        (["{bad}", "-o", "{tmp}/a.pdf"], "a drawing ends in .svg or .png"),
        (["{bad}", "--paths", "0"], "found --paths 0; at least 1 is allowed"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["show", *words], message)


def test_a_cell_that_is_not_there(world: World, refused: Callable[[list[str], str], None]) -> None:
    bag = ["show", "--bag", "we will", "--index", str(world.index_path), "--lm", str(world.model_path)]
    refused([*bag, "--cell", "111"], "found no cell '111' in the network; without --cell its rules are printed")
