"""Figures of the experiments with the best-first decoder, as SVG.

write_convergence  development BLEU, expanded edges and updates by iteration, a curve for each learner
write_time_limits  BLEU and share of time-outs by time limit, a curve for each model
save_figure        write a figure of Matplotlib for light pages and dark ones
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from comparison.learning.training import Iteration
from gyro.files import write_atomically
from gyro.report.svg import adapt_to_dark

Histories = Mapping[str, Sequence[Iteration]]
Points = Sequence[tuple[float, float, float]]  # seconds, BLEU, share of time-outs

COLOURS = ("#1b6ca8", "#c8553d", "#2f7d4f", "#7b4fa3", "#b08900", "#555555")
MARKS = ("o", "s", "^", "D", "v", "P")
_STYLE: dict[Any, Any] = {"svg.hashsalt": "gyro", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}


def write_convergence(path: Path, titled: Mapping[str, Histories]) -> None:
    """One column for each picture of the experiment; its legend is below (2015 paper, Figures 4 to 6).

    Learners that do not expand wrong edges expand those of the right derivation alone: their updates tell more.
    """
    with _figure(3, len(titled)) as (figure, axes):
        for column, (title, histories) in enumerate(titled.items()):
            above, middle, below = axes[:, column]
            for number, (name, history) in enumerate(histories.items()):
                places = [each.number for each in history]
                scored = [(each.number, each.dev_bleu) for each in history if each.dev_bleu is not None]
                above.plot(*zip(*scored, strict=True) if scored else ([], []), **_line(number, name))
                middle.plot(places, [each.expanded for each in history], **_line(number, name))
                below.plot(places, [each.updates for each in history], **_line(number, name))
            above.set_title(title, loc="left", fontweight="bold")
            above.set_ylabel("development BLEU")
            middle.set_ylabel("edges expanded a sentence")
            below.set_ylabel("updates a sentence")
            for axis in (above, middle, below):
                axis.set_xlabel("iteration")
                _whole_numbers(axis)
            _legend(below)
        save_figure(figure, path)


def write_time_limits(path: Path, curves: Mapping[str, Points]) -> None:
    """Two panels over the logarithm of the time limit (2015 paper, Figure 7; 2011 paper, Table 2)."""
    with _figure(1, 2) as (figure, axes):
        for axis, value, label in zip(axes[0], (1, 2), ("BLEU", "time-outs, %"), strict=True):
            for number, (name, points) in enumerate(curves.items()):
                heights = [point[value] * (100 if value == 2 else 1) for point in points]
                axis.plot([point[0] for point in points], heights, **_line(number, name))
            axis.set_xscale("log")
            ticks = sorted({point[0] for points in curves.values() for point in points})
            axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
            axis.minorticks_off()
            axis.set_xlabel("time limit, seconds a bag")
            axis.set_ylabel(label)
        _legend(axes[0][0])
        save_figure(figure, path)


class _figure:
    """A figure with its axes, closed at the end."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns

    def __enter__(self) -> tuple[Any, Any]:
        import matplotlib

        matplotlib.use("svg")
        from matplotlib import pyplot

        self.context = pyplot.rc_context(_STYLE)
        self.context.__enter__()
        size = (4.6 * self.columns, 2.5 * self.rows + 0.8)
        self.figure, axes = pyplot.subplots(self.rows, self.columns, figsize=size, layout="constrained", squeeze=False)
        for axis in axes.flat:
            axis.grid(axis="y", alpha=0.25)
        return self.figure, axes

    def __exit__(self, *_: object) -> None:
        from matplotlib import pyplot

        pyplot.close(self.figure)
        self.context.__exit__(None, None, None)


def _line(number: int, name: str) -> dict[str, Any]:
    colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
    return {"color": colour, "marker": mark, "markersize": 4, "linewidth": 1.4, "label": name}


def _whole_numbers(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.xaxis.set_major_locator(MaxNLocator(integer=True))


def _legend(axis: Any) -> None:
    """Below the axis, out of the way of the curves."""
    columns = 2 if len(axis.lines) > 3 else max(len(axis.lines), 1)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=columns, frameon=False, fontsize=8)


def save_figure(figure: Any, path: Path) -> None:
    """Write it with colours for light pages and dark ones."""
    drawing = io.BytesIO()
    figure.savefig(drawing, format="svg", metadata={"Date": None})
    with write_atomically(path) as file:
        file.write(adapt_to_dark(drawing.getvalue()))
