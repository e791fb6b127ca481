"""`gyro oracle` as a user types it; on lattices of others see tests/rescoring/test_oracle.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.cli import main


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{tmp}/no"], "no"),
        (["{ordered}/first", "{tmp}/no.txt"], "no.txt"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["oracle", *words], message)
