from __future__ import annotations

from pathlib import Path

import pytest

from grammars.ccg.derivation import read_auto, words
from gyro.cli import main

DOGS = """\
# sent_id = first
1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_

"""
CROSSING = """\
1\ta\t_\tNOUN\tNN\t_\t3\tnmod\t_\t_
2\tb\t_\tNOUN\tNN\t_\t4\tnmod\t_\t_
3\tc\t_\tNOUN\tNN\t_\t0\troot\t_\t_
4\td\t_\tNOUN\tNN\t_\t3\tnmod\t_\t_

"""


def test_ccg_writes_derivations_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "trees").write_text(DOGS + CROSSING + DOGS.replace("# sent_id = first\n", ""))
    path = tmp_path / "derivations.auto"
    assert main(["ccg", str(tmp_path / "trees"), "-o", str(path), "--scheme", "ud"]) == 0
    entries = list(read_auto(path))
    assert [entry.header.split()[0] for entry in entries] == ["ID=first", "ID=3"]
    assert [words(entry.derivation) for entry in entries] == [("Dogs", "bark")] * 2
    assert capsys.readouterr().out.splitlines() == [
        "3 trees, 2 converted (66.7 %)",
        "     1  the tree is not projective",
        "2 lexical categories, 1 unary and 1 binary rule instances",
        "     2  type change",
        "     2  ba",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CROSSING, "could be converted"),
        ("", "could be converted"),
        ("1\ta\n", ":1: found 2 columns; 10 separated by tabs are allowed"),
    ],
)
def test_ccg_refuses_what_gives_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (tmp_path / "trees").write_text(text)
    assert main(["ccg", str(tmp_path / "trees"), "-o", str(tmp_path / "out.auto")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["trees"]
