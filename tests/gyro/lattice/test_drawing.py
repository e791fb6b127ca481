"""Drawings: what is in them, and that they are the same each time."""

from __future__ import annotations

import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from gyro.errors import InputError
from gyro.lattice import drawing
from gyro.lattice.drawing import draw
from gyro.lattice.lattice import Lattice

SMALL: dict[str, Any] = {
    "source": [0, 0, 1, 1],
    "words": ["the", "a", "cat", "dog"],
    "target": [1, 1, 2, 3],
    "cost": [1.5, 0.25, 2, 1],
    "final_states": [2, 3],
    "final_costs": [0.0, 0.5],
}


def figure_of(monkeypatch: pytest.MonkeyPatch, **lattice: Any) -> Figure:
    """What would be rendered."""
    figures: list[Figure] = []

    def keep(figure: Figure, format: str) -> bytes:
        figures.append(figure)
        return b""

    monkeypatch.setattr(drawing, "_render", keep)
    draw(**lattice)
    return figures[0]


def test_the_svg_is_well_formed_and_the_same_each_time() -> None:
    first = draw(**SMALL)
    assert ElementTree.fromstring(first).tag.endswith("svg")
    assert draw(**SMALL) == first
    assert b"dc:date" not in first


def test_the_png_is_one() -> None:
    assert draw(**SMALL, format="png").startswith(b"\x89PNG\r\n")


def test_labels_costs_and_final_costs_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = figure_of(monkeypatch, **SMALL).axes[0].texts
    texts = [text.get_text() for text in shown]
    assert {"the", "a", "cat", "dog", "1.50", "0.25", "2.00", "1.00", "0.50"} <= set(texts)
    bold = {text.get_text() for text in shown if text.get_fontweight() == "bold"}
    assert bold == {"a", "dog"}  # 0.25 + 1 + 0.5 against 0.25 + 2


def test_a_lattice_without_costs_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = figure_of(monkeypatch, **SMALL | {"cost": [0, 0, 0, 0], "final_costs": [0, 0]})
    assert [text.get_text() for text in figure.axes[0].texts] == ["the", "a", "cat", "dog", "0", "1", "2", "3"]


@pytest.mark.parametrize(
    "lattice",
    [
        Lattice.from_arrays((), -1, [], [], [], [], [], []),
        Lattice.from_arrays((), 0, [], [], [], [], [0], [0.5]),
        Lattice.from_arrays(("$x^$", "<&>", "日本"), 0, [0, 0, 1], [0, 1, 2], [1, 2, 2], [0, 0, 0], [2], [0]),
    ],
    ids=["empty", "empty string", "odd words"],
)
def test_odd_lattices_are_drawn(lattice: Lattice) -> None:
    assert ElementTree.fromstring(lattice._repr_svg_()).tag.endswith("svg")


def test_of_a_large_lattice_the_best_paths_are_drawn() -> None:
    states = 500
    source = np.repeat(np.arange(states), 2)
    word, cost = np.tile([0, 1], states), np.tile([1.0, 2.0], states)
    lattice = Lattice.from_arrays(("a", "b"), 0, source[:400], word[:400], source[:400] + 1, cost[:400], [200], [0.0])
    assert len(lattice.draw("png")) > 1000


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InputError, match="png and svg are allowed"):
        draw(**SMALL, format="pdf")


def test_drawing_leaves_pyplot_alone() -> None:
    code = (
        "import sys; from gyro.lattice.drawing import draw; draw([0], ['x'], [1], [0.5], [1], [0.0]);"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
