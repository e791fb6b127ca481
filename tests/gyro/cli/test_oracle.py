"""`gyro oracle` as a user types it; on lattices of others see tests/rescoring/test_oracle.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.cli import main
from tests.gyro.lattice.samples import small_lattice


def test_an_oracle_is_better_than_the_best_strings(
    ordered: Path, tmp_path: Path, bleu: Callable[[Path], float], capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = tmp_path / "oracle.txt"
    assert main(["oracle", str(ordered / "first"), "-o", str(chosen)]) == 0
    assert "BLEU" in capsys.readouterr().out
    references = tmp_path / "references.txt"
    references.write_text((ordered / "first" / "references.txt").read_text())
    (tmp_path / "run").mkdir()
    chosen.rename(tmp_path / "run" / "best.txt")
    references.rename(tmp_path / "run" / "references.txt")
    assert bleu(tmp_path / "run") > bleu(ordered / "first")


def test_lattices_of_another_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_lattice().write(tmp_path / "1.fst", {"a": 5, "b": 6, "c": 7}, symbols=False)
    (tmp_path / "map").write_text("the 5\ndog 6\nbarks 7\n")
    (tmp_path / "references.txt").write_text("dog the\n")
    words = ["oracle", str(tmp_path / "1.fst"), str(tmp_path / "references.txt"), "-o", str(tmp_path / "out")]
    assert main([*words, "--wordmap", str(tmp_path / "map")]) == 0
    assert (tmp_path / "out").read_text() == "dog the\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{tmp}/no"], "no"),
        (["{ordered}/first", "{tmp}/no.txt"], "no.txt"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["oracle", *words], message)
