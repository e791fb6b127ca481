"""`gyro lm` as a user types it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gyro.cli import main
from lm.kenlm.model import load_model

if TYPE_CHECKING:
    from tests.conftest import World


def test_the_model_of_a_text(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A text that is tokenised and in lower case gives the world's model."""
    path = tmp_path / "model.lm"
    options = ["--tokenized", "--order", "3", "--memory", "256M"]
    assert main(["lm", str(world.text), "-o", str(path), *options, "--arpa"]) == 0
    model = load_model(path)
    assert f"{path}: 3-gram model, signature {model.signature}" in capsys.readouterr().out
    for sentence in world.held_out[:50]:
        assert model.score(sentence) == world.model.score(sentence)
    assert load_model(tmp_path / "model.lm.arpa").score(["the", "people"]) == pytest.approx(
        world.model.score(["the", "people"]), abs=1e-4
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no.txt", "-o", "{tmp}/m.lm"], "no.txt"),
        (["no.txt", "-o", "{tmp}/m.lm", "--memory", "much"], "'much'"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["lm", *words], message)
