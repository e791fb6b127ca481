"""`gyro dependency-lm` as a user types it; see tests/lm/dependency too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gyro.text.parsing import parser_name
from lm.dependency.model import load_dependency_model


def test_the_model_tells_how_it_was_made(rescored: Path) -> None:
    model = load_dependency_model(rescored / "trees")
    assert model.normalisation.tokenizer == "none"
    assert model.parser == parser_name()


def test_a_mistake_is_one_line(refused: Callable[[list[str], str], None]) -> None:
    refused(["dependency-lm", "no.txt", "-o", "{tmp}/m", "--limit", "0"], "found --limit 0; at least 1 is allowed")
