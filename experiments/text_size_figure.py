"""The figure of an experiment with texts of several sizes, as SVG: all over the logarithm of the size.

write_figure  three panels: parse rate with its fit, phrases a bag, BLEU
Line          one curve: a value for each size, with its interval where it has one
Fit           the curve of the parse rate beyond the sizes that were tried, with its band
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.syntax_figure import COLOURS, MARKS, save_figure

_STYLE: dict[Any, Any] = {"svg.hashsalt": "gyro", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}


@dataclass(frozen=True)
class Line:
    """Values by size; `lows` and `highs` are empty where there is no interval."""

    sizes: Sequence[float]
    values: Sequence[float]
    lows: Sequence[float] = ()
    highs: Sequence[float] = ()
    is_dashed: bool = False


@dataclass(frozen=True)
class Fit:
    """A fitted curve and the band of its bootstrap samples; `target` is a published size and value."""

    sizes: Sequence[float]
    values: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    target: tuple[float, float]


def write_figure(
    path: Path, parses: Mapping[str, Line], fit: Fit | None, phrases: Mapping[str, Line], bleu: Mapping[str, Line]
) -> None:
    """Write it; shares are drawn as percentages."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(1, 3, figsize=(13.8, 4.2), layout="constrained")
        for axis, lines, label in zip(
            axes, (parses, phrases, bleu), ("bags that parse, %", "phrases a bag", "BLEU"), strict=True
        ):
            _draw(axis, lines, factor=100.0 if axis is axes[0] else 1.0)
            axis.set_xscale("log")
            axis.set_xlabel("tokens of text")
            axis.set_ylabel(label)
            axis.grid(axis="y", alpha=0.25)
        axes[1].set_yscale("log", nonpositive="mask")
        if fit is not None:
            _draw_fit(axes[0], fit)
        for axis in axes:
            axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False, fontsize=8)
        save_figure(figure, path)
        pyplot.close(figure)


def _draw(axis: Any, lines: Mapping[str, Line], factor: float) -> None:
    for number, (name, line) in enumerate(lines.items()):
        values = [factor * value for value in line.values]
        errors = None
        if line.lows:
            below = [max(0.0, v - factor * low) for v, low in zip(values, line.lows, strict=True)]
            above = [max(0.0, factor * high - v) for v, high in zip(values, line.highs, strict=True)]
            errors = [below, above]
        axis.errorbar(
            line.sizes,
            values,
            yerr=errors,
            color=COLOURS[number % len(COLOURS)],
            marker=MARKS[number % len(MARKS)],
            markersize=4,
            linewidth=1.4,
            linestyle="--" if line.is_dashed else "-",
            capsize=2,
            label=name,
        )


def _draw_fit(axis: Any, fit: Fit) -> None:
    axis.plot(fit.sizes, [100 * value for value in fit.values], color="#888888", linestyle=":", label="logistic fit")
    axis.fill_between(
        fit.sizes, [100 * v for v in fit.lows], [100 * v for v in fit.highs], color="#888888", alpha=0.15, linewidth=0
    )
    axis.plot([fit.target[0]], [100 * fit.target[1]], color="#000000", marker="*", linestyle="", label="published")
