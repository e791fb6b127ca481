"""Figures of the experiments that compare all systems, as SVG: panels side by side with one legend below them.

write_panels  draw them
Panel         a curve for each name, over numbers or over classes
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.syntax_figure import COLOURS, MARKS, save_figure

_STYLE: dict[Any, Any] = {"svg.hashsalt": "gyro", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
_DASHES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Panel:
    """Points of each curve; with `classes` the x of a point is the place of its class, and unless they are ordered the
    points stand alone.
    """

    x_label: str
    y_label: str
    curves: Mapping[str, Sequence[tuple[float, float]]]
    classes: Sequence[str] = field(default_factory=list)
    is_log: bool = False
    is_ordered: bool = True


def write_panels(path: Path, panels: Sequence[Panel]) -> None:
    """A curve of one name looks the same in all panels."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    widths = [max(4.0, 0.42 * len(panel.classes)) for panel in panels]
    with pyplot.rc_context(_STYLE):
        rows = -(-len(names) // 3)
        size = (sum(widths) + 0.4, 3.2 + 0.2 * rows)
        figure, axes = pyplot.subplots(
            1, len(panels), figsize=size, layout="constrained", squeeze=False, width_ratios=widths
        )
        handles: dict[str, Any] = {}
        for axis, panel in zip(axes[0], panels, strict=True):
            for name, points in panel.curves.items():
                known, look = sorted(points), _line(names.index(name), panel.is_ordered)
                handles[name] = axis.plot([x for x, _ in known], [y for _, y in known], label=name, **look)[0]
            _dress(axis, panel)
        if names:
            shown = [handles[name] for name in names]
            figure.legend(shown, names, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
        save_figure(figure, path)
        pyplot.close(figure)


def _dress(axis: Any, panel: Panel) -> None:
    axis.set_xlabel(panel.x_label)
    axis.set_ylabel(panel.y_label)
    axis.grid(axis="y", alpha=0.25)
    if panel.classes:
        slant = {"rotation": 45, "ha": "right"} if max(map(len, panel.classes)) > 4 else {}
        axis.set_xticks(range(len(panel.classes)), panel.classes, **slant)
    elif panel.is_log:
        axis.set_xscale("log")


def _line(number: int, is_joined: bool) -> dict[str, Any]:
    """When colours are used up, marks are shifted and line styles change."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKS[(number + number // len(COLOURS)) % len(MARKS)],
        "linestyle": _DASHES[number // len(COLOURS) % len(_DASHES)] if is_joined else "",
        "markersize": 4,
        "linewidth": 1.4,
    }
