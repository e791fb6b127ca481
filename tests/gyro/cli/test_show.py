"""`gyro show` as a user types it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.cli import main
from gyro.lattice.file_format import LatticeFormat
from gyro.lattice.lattice import Lattice
from tests.gyro.lattice.samples import small_lattice


def test_drawings_beside_the_lattice_or_where_told(
    ordered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lattice = tmp_path / "one.fst"
    shutil.copy(ordered / "first" / "lattices" / "000001.fst", lattice)
    assert main(["show", str(lattice), "--paths", "3"]) == 0
    outputs = [tmp_path / "one.svg", tmp_path / "one.png"]
    assert capsys.readouterr().out.splitlines() == list(map(str, outputs))
    assert outputs[0].read_text().lstrip().startswith("<?xml")
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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{bad}"], "bad.jsonl"),
        (["{bad}", "-o", "{tmp}/a.pdf"], "a drawing ends in .svg or .png"),
        (["{bad}", "--paths", "0"], "found --paths 0; at least 1 is allowed"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["show", *words], message)
