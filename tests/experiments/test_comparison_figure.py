from __future__ import annotations

from pathlib import Path

from experiments.comparison_figure import Panel, write_panels


def test_panels_are_drawn_the_same_each_time(tmp_path: Path) -> None:
    panels = [
        Panel("tokens", "BLEU", {"one": [(0, 3.0), (1, 5.0)], "two": [(0, 1.0)]}, ["1–3", "4–900"]),
        Panel("sentences", "METEOR", {"two": [(1000, 3.0), (10, 5.0)], "three": []}, is_log=True),
    ]
    for name in ("a.svg", "b.svg"):
        write_panels(tmp_path / name, panels)
    drawn = (tmp_path / "a.svg").read_bytes()
    assert drawn == (tmp_path / "b.svg").read_bytes()
    assert b"<svg" in drawn


def test_many_curves_and_none(tmp_path: Path) -> None:
    many = {f"system {number}": [(0.0, number), (1.0, number + 1)] for number in range(15)}
    write_panels(tmp_path / "many.svg", [Panel("x", "y", many)])
    write_panels(tmp_path / "none.svg", [Panel("x", "y", {})])
    assert (tmp_path / "many.svg").stat().st_size > (tmp_path / "none.svg").stat().st_size > 100
