from __future__ import annotations

from pathlib import Path

from experiments.syntax_estimate import make_syntax_estimate
from tests.experiments.syntax_tiny import laboratory


def test_an_estimate_grows_with_the_sample(tiny: Path) -> None:
    few, many = (make_syntax_estimate(laboratory(tiny, sample=n)).seconds for n in (1, 3))
    assert 0 < few < many
