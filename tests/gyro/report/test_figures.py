from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.report.figures import Axes, Point, Series, line_chart, log_ticks, share_bars, ticks
from tests.gyro.report.samples import NAME, charts


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


@pytest.mark.parametrize("name", charts())
def test_charts_are_well_formed(name: str) -> None:
    tree = ElementTree.fromstring(charts()[name].to_html())
    assert tree.tag == "figure"
    drawing = tree.find("svg")
    assert drawing is not None
    assert drawing.get("aria-label")
    assert tree.find("details/div/table") is not None
    legend = [item.text or "".join(item.itertext()) for item in tree.findall("ul/li")]
    assert len(legend) == {"bars": 0, "classes": 0}.get(name, 2)  # one series has no legend


@pytest.mark.parametrize("name", charts())
def test_names_are_escaped(name: str) -> None:
    """Whatever a name has in it, it comes out as it went in, and is no markup on the way."""
    html = charts()[name].to_html()
    assert NAME not in html
    assert "&lt;b&gt;" in html
    assert any(text == NAME for text in ElementTree.fromstring(html).itertext())


def test_shares_fill_the_bar() -> None:
    tree = ElementTree.fromstring(charts()["shares"].to_html())
    widths = [float(bar.get("width", 0)) for bar in tree.iter("rect")]
    assert [round(width) for width in widths] == [344, 114]
    assert "3 of 4 bags (75 %)" in tree.find("svg/rect/title").text  # type: ignore[union-attr, operator]


def test_a_category_has_the_same_shade_in_all_charts() -> None:
    charts = [share_bars("t", {"a": counts}, ["yes", "no", "never"]) for counts in ({"no": 1, "yes": 1}, {"no": 2})]
    both, one = ({entry.name: entry.key.style for entry in chart.legend()} for chart in charts)
    assert both == {"yes": "q0", "no": "q1"}
    assert one == {"no": "q1"}
    assert 'class="bar q1"' in charts[1].drawing


def test_many_series_can_be_told_apart() -> None:
    series = [Series(str(n), (), n) for n in range(32)]
    assert len({each.key for each in series}) == 32


def test_of_many_classes_some_have_labels() -> None:
    classes = [f"size {n}" for n in range(1, 31)]
    chart = line_chart("t", [Series("a", [Point("size 30", 1.0)])], Axes(classes, "x", "y"))
    texts = [text.text for text in ElementTree.fromstring(chart.to_html()).iter("text")]
    shown = [text for text in texts if text in classes]
    assert shown == classes[::4]
