"""Figures as SVG: their curves, measured in the picture, are the numbers that were given."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from comparison.learning.training import Iteration
from experiments.syntax_figure import COLOURS, write_convergence, write_time_limits

SVG = "{http://www.w3.org/2000/svg}"
Curve = list[tuple[float, float]]


def iterations(bleu: list[float | None], expanded: list[float], updates: list[float]) -> list[Iteration]:
    rows = enumerate(zip(bleu, expanded, updates, strict=True), 1)
    return [Iteration(n, 10, 1.0, 50.0, e, u, 2.0, dev_bleu=b) for n, (b, e, u) in rows]


def panels(path: Path) -> list[dict[str, Curve]]:
    """For each panel the points of its curves in the picture, by colour."""
    found = []
    for group in ElementTree.parse(path).getroot().iter(f"{SVG}g"):
        if re.fullmatch(r"axes_\d+", group.get("id", "")):
            curves: dict[str, Curve] = {}
            for line in group.findall(f"{SVG}g"):
                style = "".join(part.get("style", "") for part in line.findall(f"{SVG}path"))
                colour = re.search(r"stroke: (#\w{6})", style)
                if line.get("id", "").startswith("line2d") and colour and colour[1] in COLOURS:
                    text = " ".join(part.get("d", "") for part in line.findall(f"{SVG}path"))
                    numbers = re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", text)
                    curves[colour[1]] = [(float(x), float(y)) for x, y in numbers]
            found.append(curves)
    return found


def check(panel: dict[str, Curve], curves: list[Curve]) -> None:
    """A straight map, the same for all curves of a panel, takes numbers to places; up is less in a picture."""
    assert list(panel) == list(COLOURS[: len(curves)])
    drawn = np.array([point for curve in panel.values() for point in curve])
    given = np.array([point for curve in curves for point in curve])
    assert [len(curve) for curve in panel.values()] == [len(curve) for curve in curves]
    for axis, sign in ((0, 1), (1, -1)):
        slope, start = np.polyfit(given[:, axis], drawn[:, axis], 1)
        assert slope * sign > 0
        assert drawn[:, axis] == pytest.approx(slope * given[:, axis] + start, abs=1e-3)


def test_learning_has_a_column_for_each_picture_and_a_row_for_each_number(tmp_path: Path) -> None:
    first = iterations([10.0, None, 35.5], [100.0, 70.0, 90.0], [5.0, 3.5, 1.0])
    second = iterations([20.0, 15.0], [40.0, 45.0], [0.5, 8.0])
    third = iterations([1.0, 4.0, 2.0, 8.0], [9.0, 1.0, 2.0, 3.0], [7.0, 6.0, 5.0, 1.0])
    write_convergence(tmp_path / "a.svg", {"One": {"first": first, "second": second}, "Two": {"third": third}})
    found = panels(tmp_path / "a.svg")
    assert len(found) == 6
    for row, name in enumerate(("dev_bleu", "expanded", "updates")):
        for column, histories in enumerate(([first, second], [third])):
            values = [[(each.number, getattr(each, name)) for each in history] for history in histories]
            curves = [[point for point in curve if point[1] is not None] for curve in values]
            check(found[2 * row + column], curves)
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    for label in ("One", "Two", "development BLEU", "edges expanded a sentence", "updates a sentence", "iteration"):
        assert f"<!-- {label} -->" in text
    assert [text.count(f"<!-- {name} -->") for name in ("first", "second", "third")] == [1, 1, 1]  # the legends


def test_a_model_without_scores_so_far_has_its_other_curves(tmp_path: Path) -> None:
    histories = {"new": iterations([None, None], [3.0, 4.0], [2.0, 1.0])}
    write_convergence(tmp_path / "a.svg", {"One": histories})
    bleu, expanded, updates = panels(tmp_path / "a.svg")
    assert not any(bleu.values())
    check(expanded, [[(1, 3.0), (2, 4.0)]])
    check(updates, [[(1, 2.0), (2, 1.0)]])


def test_time_limits_are_on_a_logarithmic_axis_and_time_outs_in_percent(tmp_path: Path) -> None:
    curves = {
        "model": [(0.5, 10.0, 0.9), (5.0, 30.0, 0.4), (50.0, 33.0, 0.05)],
        "other": [(1.0, 12.0, 0.8), (10.0, 20.0, 0.0)],
    }
    write_time_limits(tmp_path / "a.svg", curves)
    found = panels(tmp_path / "a.svg")
    assert len(found) == 2
    for panel, value in zip(found, (1, 2), strict=True):
        check(panel, [[(np.log(point[0]), point[value]) for point in points] for points in curves.values()])
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    for label in ("BLEU", "time-outs, %", "time limit, seconds a bag", "0.5", "1", "5", "10", "50", "80"):
        assert f"<!-- {label} -->" in text
    assert "<!-- 0.8 -->" not in text


def test_the_same_numbers_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        write_time_limits(tmp_path / name, {"model": [(1.0, 10.0, 0.5), (2.0, 11.0, 0.25)]})
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
