from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.report.figures import HEIGHT, WIDTH, Axes, Point, Series
from gyro.report.scatter import Halves, Spot, scatter_chart
from tests.gyro.report.samples import NAME

AXES = Axes(["1-5", "6-10"], "x", "y")
PLACE = re.compile(r"translate\((\S+) (\S+)\)")


def draw(spots: list[Spot]) -> ElementTree.Element:
    chart = scatter_chart("t", [spots], [Series(NAME, [Point("1-5", 2.5)])], AXES, Halves("up", "down"))
    return ElementTree.fromstring(chart.to_html())


def places(tree: ElementTree.Element) -> list[tuple[float, float]]:
    found = [PLACE.match(each.get("transform", "")) for each in tree.iter("g")]
    return [(float(match[1]), float(match[2])) for match in found if match]


def test_points_stand_in_their_order_and_on_their_side_of_zero() -> None:
    tree = draw([Spot(4, -1, "low"), Spot(6, 0, NAME), Spot(6, 2, "high"), Spot(9, 2, "far")])
    [zero] = [each.get("d", "") for each in tree.iter("path") if each.get("class") == "axis"]
    line = float(zero.split()[1].split("H")[0])
    low, none, high, far = places(tree)
    assert low[1] > line > high[1] == far[1]
    assert none[1] == pytest.approx(line, abs=0.11)
    assert low[0] < none[0] == high[0] < far[0]
    assert [text.text for text in tree.iter("title")] == ["low", NAME, "high", "far"]
    assert {"up", "down"} <= {text.text for text in tree.iter("text")}


def test_a_half_without_points_has_no_words() -> None:
    texts = {text.text for text in draw([Spot(4, 1, ""), Spot(6, 3, "")]).iter("text")}
    assert "up" in texts
    assert "down" not in texts


def test_the_numbers_are_the_means() -> None:
    tree = draw([Spot(4, 1, ""), Spot(5, 4, "")])
    cells = [cell.text for row in tree.iterfind("details/div/table/tbody/tr") for cell in row]
    assert cells == ["1-5", "2.5", "6-10", None]


@given(st.lists(st.builds(Spot, st.integers(1, 200), st.floats(-1e4, 1e4), st.just("")), min_size=1, max_size=6))
def test_all_points_are_within_the_drawing(spots: list[Spot]) -> None:
    found = places(draw(spots))
    assert len(found) == len(spots)
    assert all(0 < x < WIDTH and 0 < y < HEIGHT for x, y in found)
