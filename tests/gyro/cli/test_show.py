"""`gyro show` as a user types it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.cli import main


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
