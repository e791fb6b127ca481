"""`gyro report` as a user types it; what is on the page is told in tests/gyro/report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.cli import main


def test_one_page_on_two_runs(
    ordered: Path, rescored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    words = ["report", f"{ordered / 'first'}:plain", "--name", f"backoff={rescored / 'second'}", "-o", str(page)]
    assert main([*words, "--title", "Bags & orders", "--examples", "2", "--figures", str(tmp_path / "figures")]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    text = page.read_text(encoding="utf-8")
    for part in ("<title>Bags &amp; orders</title>", "plain", "backoff"):
        assert part in text
    assert list((tmp_path / "figures").glob("*.svg"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "{tmp}/r.html"], "found no"),
        (["{ordered}/first", "--name", "x", "-o", "{tmp}/r.html"], "NAME=RUN is allowed"),
        (["{ordered}/first", "--examples", "-1", "-o", "{tmp}/r.html"], "found --examples -1"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["report", *words], message)
