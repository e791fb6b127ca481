"""How long experiments with texts of several sizes take."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.estimate import BAG_SECONDS, TEXT_SECONDS
from experiments.text_size import USUAL_TOKENS
from experiments.text_size_estimate import COVERAGE_SECONDS, make_text_size_estimate
from tests.experiments.text_size_tiny import laboratory, write_tiny


def test_before_anything_is_done_usual_times_count(tmp_path: Path) -> None:
    path = write_tiny(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("[60]", "[10_000_000]"), encoding="utf-8")
    place = laboratory(path)
    seconds = {step.name: seconds for step, seconds in make_text_size_estimate(place).steps}
    assert len(seconds) == len(place.steps)
    assert seconds["10,000,000 tokens, index"] == pytest.approx(55 * TEXT_SECONDS["index"])
    assert seconds["whole text, model"] == pytest.approx(USUAL_TOKENS * 5.5e-6 * TEXT_SECONDS["model"])
    assert seconds["coverage, whole text, test"] == pytest.approx(5 * COVERAGE_SECONDS)
    assert seconds["1-gram rules, whole text, test"] == pytest.approx(5 * BAG_SECONDS["exact"])
