"""`gyro report` as a user types it; what is on the page is told in tests/gyro/report."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import main

if TYPE_CHECKING:
    from tests.conftest import World


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


def test_models_are_asked(
    world: World, ordered: Path, neural: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two models of one order have the names of their files; the run has searched with the first."""
    page, copy = tmp_path / "report.html", tmp_path / "copy.lm"
    shutil.copy(world.model_path, copy)
    models = ["--lm", str(world.model_path), "--lm", f"stupid-backoff:{world.index_path}:3", "--lm", str(copy)]
    assert main(["report", str(ordered / "first"), "-o", str(page), *models, "--neural", neural]) == 0
    text = page.read_text(encoding="utf-8")
    for name in ("3-gram (model.lm)", "3-gram stupid backoff", "3-gram (copy.lm)", "neural model"):
        assert f"Who errs, by {name}" in text
    assert text.count("uses it") == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "{tmp}/r.html"], "found no"),
        (["{ordered}/first", "--name", "x", "-o", "{tmp}/r.html"], "NAME=RUN is allowed"),
        (["{ordered}/first", "--lm", "{tmp}/none.lm", "-o", "{tmp}/r.html"], "no such file"),
        (["{ordered}/first", "--neural", "{tmp}/none", "-o", "{tmp}/r.html"], "none"),
        (["{ordered}/first", "--examples", "-1", "-o", "{tmp}/r.html"], "found --examples -1"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["report", *words], message)
