from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.lattice import Hypothesis, Lattice
from gyro.report_figures import Chart, Point, Series, bar_chart, line_chart, log_ticks, share_bars, ticks
from gyro.report_lattice import draw_orders
from gyro.report_svg import chart_to_svg

NAME = "<b>&\"'"


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_ticks_span_the_values(values: list[float]) -> None:
    found = ticks(values)
    assert found[0] <= min(values) + 1e-3
    assert found[-1] >= max(values) - 1e-3
    assert found == sorted(found)
    assert 2 <= len(found) <= 9


@given(st.lists(st.floats(0, 1e9), max_size=5))
def test_log_ticks_span_the_values(values: list[float]) -> None:
    found = log_ticks(values)
    assert found == sorted(found)
    assert all(found[0] <= value * (1 + 1e-9) and value <= found[-1] * (1 + 1e-9) for value in values if value > 0)


def charts() -> dict[str, Chart]:
    sizes = ["4", "5", "7"]
    numbers = [Series(NAME, [Point("4", 0.002), Point("7", 12.5, NAME)], 0), Series("two", [Point("5", 3.0)], 9)]
    named = [Series(NAME, [Point("1-5", 10.0), Point("26+", 0.0)], 1)]
    return {
        "log": line_chart(NAME, numbers, classes=sizes, x_label=NAME, y_label=NAME, note=NAME, log=True),
        "linear": line_chart("t", numbers, classes=sizes, x_label="x", y_label="y"),
        "classes": line_chart("t", named, x_label="x", y_label="y", classes=["1-5", "26+"]),
        "bars": bar_chart(NAME, named, x_label="x", y_label="y", classes=["1-5", "26+"]),
        "shares": share_bars(NAME, {NAME: {"yes": 3, "no": 1}, "none": {"yes": 0}}, ["yes", "no", "never"]),
    }


@pytest.mark.parametrize("name", charts())
def test_charts_are_well_formed(name: str) -> None:
    tree = ElementTree.fromstring(charts()[name].to_html())
    assert tree.tag == "figure"
    drawing = tree.find("svg")
    assert drawing is not None
    assert drawing.get("aria-label")
    assert tree.find("details/div/table") is not None
    legend = [item.text or "".join(item.itertext()) for item in tree.findall("ul/li")]
    assert len(legend) == {"bars": 1, "classes": 1}.get(name, 2)


def test_shares_fill_the_bar() -> None:
    tree = ElementTree.fromstring(charts()["shares"].to_html())
    widths = [float(bar.get("width", 0)) for bar in tree.iter("rect")]
    assert [round(width) for width in widths] == [344, 114]
    assert "3 of 4 (75.0 %)" in tree.find("svg/rect/title").text  # type: ignore[union-attr, operator]


@pytest.mark.parametrize("name", charts())
def test_charts_as_files(name: str) -> None:
    """The same drawing with the same names, and nothing from elsewhere."""
    chart = charts()[name]
    file = ElementTree.fromstring(chart_to_svg(chart))
    space = "{http://www.w3.org/2000/svg}"
    assert file.tag == f"{space}svg"
    page = ElementTree.fromstring(chart.to_html())
    drawn = page.find("svg")
    assert drawn is not None
    assert [e.attrib for e in file.find(f"{space}g") or []] == [e.attrib for e in drawn]
    texts = [text.text for text in file.iter(f"{space}text")]
    assert texts[0] == chart.title
    assert texts[-len(chart.series) :] == [each.name for each in chart.series]
    style = file.find(f"{space}style")
    assert style is not None
    assert style.text is not None
    assert "prefers-color-scheme: dark" in style.text
    assert "url(" not in style.text
    used = {name for e in file.iter() for name in (e.get("class") or "").split() if re.fullmatch(r"[sq]\d", name)}
    assert all(f".{name} " in style.text for name in used)


def test_many_series_can_be_told_apart() -> None:
    series = [Series(str(n), (), n) for n in range(32)]
    assert len({(each.style, each.mark) for each in series}) == 32


def test_of_many_classes_some_have_labels() -> None:
    classes = [f"size {n}" for n in range(1, 31)]
    chart = line_chart("t", [Series("a", [Point("size 30", 1.0)])], classes=classes, x_label="x", y_label="y")
    texts = [text.text for text in ElementTree.fromstring(chart.to_html()).iter("text")]
    shown = [text for text in texts if text in classes]
    assert shown == classes[::4]


def test_orders_are_drawn_once() -> None:
    orders = [("a", "b", "<c>"), ("b", "a", "<c>"), ("<c>", "a", "b")]
    strings = [Hypothesis(tokens, float(cost)) for cost, tokens in enumerate(orders)]
    drawing = draw_orders(Lattice.from_strings(["<c>", "a", "b"], strings))
    assert drawing is not None
    tree = ElementTree.fromstring(drawing)
    arcs = list(tree.iter("path"))
    assert sum("best" in str(path.get("class")) for path in arcs) == 3
    # Prefixes and suffixes are shared: a-b-<c>, b-a-<c> meet before <c>; <c>-a-b goes its own way.
    assert len(arcs) == 8
    assert sorted(str(text.text) for text in tree.iter("text")).count("<c>") == 2


def test_words_of_crossing_arcs_do_not_cover_each_other() -> None:
    """All six orders of three words after a first one: arcs cross, and their middles are in one place."""
    orders = [("about", *rest) for rest in permutations(("much", "that", "bigger"))]
    strings = [Hypothesis(tokens, float(cost)) for cost, tokens in enumerate(orders)]
    drawing = draw_orders(Lattice.from_strings(["about", "much", "that", "bigger"], strings))
    assert drawing is not None
    places = [(float(t.get("x", 0)), float(t.get("y", 0))) for t in ElementTree.fromstring(drawing).iter("text")]
    assert len(places) == 13
    assert all(abs(a[0] - b[0]) >= 14 or abs(a[1] - b[1]) >= 12 for a, b in combinations(places, 2))


def test_uneven_lattices_are_not_drawn() -> None:
    strings = [Hypothesis(("a", "b"), 1.0), Hypothesis(("b",), 2.0)]
    assert draw_orders(Lattice.from_strings(["a", "b"], strings)) is None
