"""Drawings: that they are the same each time, and what goes into them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from gyro.errors import InputError
from gyro.lattice.drawing import draw
from gyro.lattice.lattice import Lattice

SVG = "{http://www.w3.org/2000/svg}"
SMALL: dict[str, Any] = {
    "source": [0, 0, 1, 1],
    "words": ["the", "a", "cat", "dog"],
    "target": [1, 1, 2, 3],
    "cost": [1.5, 0.25, 2, 1],
    "final_states": [2, 3],
    "final_costs": [0.0, 0.5],
}
WITHOUT_COSTS = SMALL | {"cost": [0, 0, 0, 0], "final_costs": [0, 0]}


def svg_texts(svg: bytes) -> dict[str, list[str]]:
    """The texts of a drawing by the class of their group."""
    texts: dict[str, list[str]] = {}
    root = ElementTree.fromstring(svg)
    for group in (root, *root.iter(f"{SVG}g")):
        found = [element.text or "" for element in group.findall(f"{SVG}text")]
        texts.setdefault(group.get("class", ""), []).extend(found)
    return texts


def test_the_svg_is_well_formed_and_the_same_each_time() -> None:
    first = draw(**SMALL)
    assert ElementTree.fromstring(first).tag == f"{SVG}svg"
    assert draw(**SMALL) == first


def test_the_svg_has_words_costs_and_states() -> None:
    texts = svg_texts(draw(**SMALL))
    assert sorted(texts["gyro-lattice"]) == ["cat", "the"]
    assert sorted(texts["best"]) == ["a", "dog"]  # 0.25 + 1 + 0.5 against 0.25 + 2
    assert sorted(texts["cost"]) == ["0.25", "0.50", "1.00", "1.50", "2.00"]
    assert texts["state"] == ["0", "1", "2", "3"]


def test_the_svg_has_a_line_for_each_pair_of_states_and_two_circles_for_each_end() -> None:
    root = ElementTree.fromstring(draw(**SMALL))
    lines = "".join(path.get("d", "") for path in root.iter(f"{SVG}path") if "C" in path.get("d", ""))
    assert lines.count("M") == 3
    assert len(list(root.iter(f"{SVG}circle"))) == 4 + 2


def test_the_svg_tells_its_best_string_to_those_who_do_not_see_it() -> None:
    assert ElementTree.fromstring(draw(**SMALL)).get("aria-label") == "a lattice; its best string: a dog"


def test_everything_is_inside_the_svg() -> None:
    root = ElementTree.fromstring(draw(**SMALL))
    left, top, width, height = map(float, root.get("viewBox", "").split())
    for element in (*root.iter(f"{SVG}circle"), *root.iter(f"{SVG}text")):
        x, y = (float(element.get(a) or element.get("c" + a) or "nan") for a in "xy")
        assert left + 10 <= x <= left + width - 10
        assert top + 10 <= y <= top + height - 4


def test_letters_are_text_so_that_drawings_are_small() -> None:
    """Twenty words in ten orders that share no more than their ends: 200 arcs in less than 100 kB."""
    states = np.arange(19)
    paths = [np.concatenate([[0], 1 + states + 19 * path, [1 + 19 * 10]]) for path in range(10)]
    source, target = np.concatenate([p[:-1] for p in paths]), np.concatenate([p[1:] for p in paths])
    words = [f"promises{number % 20}" for number in range(200)]
    drawn = draw(source, words, target, np.linspace(0.01, 99.99, 200), [191], [0.0])
    assert sum(map(len, svg_texts(drawn).values())) == 200 + 200 + 192
    assert len(drawn) < 60_000


def test_no_rule_of_a_drawing_reaches_out_of_it() -> None:
    """Every selector of the style begins with the drawing's own class."""
    style = next(ElementTree.fromstring(draw(**SMALL)).iter(f"{SVG}style")).text or ""
    rules = [part for part in style.replace("@media(prefers-color-scheme:dark){", "").split("}") if part]
    assert len(rules) > 10
    assert all(rule.startswith(".gyro-lattice") for rule in rules)
    assert b" id=" not in draw(**SMALL)


def test_the_png_is_one() -> None:
    first = draw(**SMALL, format="png")
    assert first.startswith(b"\x89PNG\r\n")
    assert draw(**SMALL, format="png") == first


def figure_of(monkeypatch: pytest.MonkeyPatch, **lattice: Any) -> Figure:
    """What matplotlib would render."""
    figures: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: figures.append(self))
    draw(**lattice, format="png")
    return figures[0]


def test_the_png_has_words_costs_and_final_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = figure_of(monkeypatch, **SMALL).axes[0].texts
    texts = [text.get_text() for text in shown]
    assert {"the", "a", "cat", "dog", "1.50", "0.25", "2.00", "1.00", "0.50"} <= set(texts)
    bold = {text.get_text() for text in shown if text.get_fontweight() == "bold"}
    assert bold == {"a", "dog"}


def test_a_lattice_without_costs_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "cost" not in svg_texts(draw(**WITHOUT_COSTS))
    figure = figure_of(monkeypatch, **WITHOUT_COSTS)
    assert [text.get_text() for text in figure.axes[0].texts] == ["the", "a", "cat", "dog", "0", "1", "2", "3"]


@pytest.mark.parametrize("format", ["svg", "png"])
@pytest.mark.parametrize(
    "lattice",
    [
        Lattice.from_arrays((), -1, [], [], [], [], [], []),
        Lattice.from_arrays((), 0, [], [], [], [], [0], [0.5]),
        Lattice.from_arrays(("$x^$", "<&>", "日本"), 0, [0, 0, 1], [0, 1, 2], [1, 2, 2], [0, 0, 0], [2], [0]),
        Lattice.from_arrays(("\x01", "\ud800", "a\u200db"), 0, [0, 1, 2], [0, 1, 2], [1, 2, 3], [0, 0, 0], [3], [0]),
    ],
    ids=["empty", "empty string", "odd words", "no text"],
)
def test_odd_lattices_are_drawn(lattice: Lattice, format: str) -> None:
    if format == "svg":
        texts = svg_texts(lattice._repr_svg_().encode())
        shown = {"\N{REPLACEMENT CHARACTER}" if word in ("\x01", "\ud800") else word for word in lattice.words}
        assert shown <= {text for group in texts.values() for text in group}
    else:
        assert lattice.draw("png").startswith(b"\x89PNG")


def test_of_a_large_lattice_the_best_paths_are_drawn() -> None:
    states = 500
    source = np.repeat(np.arange(states), 2)
    word, cost = np.tile([0, 1], states), np.tile([1.0, 2.0], states)
    lattice = Lattice.from_arrays(("a", "b"), 0, source[:400], word[:400], source[:400] + 1, cost[:400], [200], [0.0])
    assert svg_texts(lattice.draw("svg"))["best"] == ["a"] * 200
    assert len(lattice.draw("png")) > 1000


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InputError, match="png and svg are allowed"):
        draw(**SMALL, format="pdf")


def test_drawing_leaves_pyplot_alone_and_an_svg_all_of_matplotlib() -> None:
    small = "draw([0], ['x'], [1], [0.5], [1], [0.0]"
    code = (
        f"import sys; from gyro.lattice.drawing import draw; {small}); assert 'matplotlib' not in sys.modules;"
        f"{small}, format='png'); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
