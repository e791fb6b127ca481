"""`gyro best` as a user types it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.cli import main


def test_best_strings_on_the_screen_and_in_a_file(
    ordered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    best = (ordered / "first" / "best.txt").read_text()
    assert best.count("\n") == 12
    assert main(["best", str(ordered / "first")]) == 0
    assert capsys.readouterr().out == best
    assert main(["best", str(ordered / "first"), str(ordered / "first")]) == 0
    assert capsys.readouterr().out == best * 2
    assert main(["best", str(ordered / "first"), "-o", str(tmp_path / "best")]) == 0
    assert (tmp_path / "best").read_text() == best


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{tmp}"], "{tmp}"),
        (["{tmp}", "-o", "{tmp}/best"], "{tmp}"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["best", *words], message)
