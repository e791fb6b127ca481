"""The figure of texts of several sizes."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from experiments.text_size_figure import Fit, Line, write_figure

SIZES = (1e3, 1e4)


@pytest.mark.parametrize("fit", [None, Fit(SIZES, (0.1, 0.9), (0.0, 0.8), (0.2, 1.0), (1e5, 0.95))])
def test_it_is_svg_and_the_same_each_time(tmp_path: Path, fit: Fit | None) -> None:
    parses = {"rules": Line(SIZES, (0.0, 0.5), (0.0, 0.4), (0.1, 0.6))}
    phrases = {"1 word": Line(SIZES, (0.0, 12.0))}  # no phrase at all has no place on a logarithmic scale
    bleu = {"own": Line(SIZES[1:], (30.0,), (29.0,), (31.0,)), "whole": Line(SIZES, (28.0, 30.0), is_dashed=True)}
    written = []
    for name in ("one.svg", "two.svg"):
        write_figure(tmp_path / name, parses, fit, phrases, bleu)
        written.append((tmp_path / name).read_text(encoding="utf-8"))
    assert written[0] == written[1]
    assert ElementTree.fromstring(written[0]).tag.endswith("svg")
    for label in ("bags that parse, %", "phrases a bag", "BLEU", "tokens of text", "own"):
        assert f"<!-- {label} -->" in written[0]
    assert ("<!-- published -->" in written[0]) == (fit is not None)
