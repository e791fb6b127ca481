"""Drawings of lattices as PNG, made by matplotlib.

draw_png  the bytes of a picture
"""

from __future__ import annotations

import io
import warnings
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.path import Path
from matplotlib.patheffects import withStroke

from gyro.lattice.drawing import SIZES, START_ARROW, Picture
from gyro.lattice.layout import Line, Point

INCH = 96
BEST, INK, LINE, FAINT = "#0b62a8", "#1f2933", "#9aa5b1", "#616e7c"
BEST_FILL = "#dcecf8"
ARROW = "-|>,head_length=3.6,head_width=1.8"


def draw_png(picture: Picture | None) -> bytes:
    """Draw it on white; None is a lattice without strings."""
    figure = _note("no strings") if picture is None else _figure(picture)
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # it is drawn as a box
        FigureCanvasAgg(figure)
        figure.savefig(buffer, format="png", dpi=160)
    return buffer.getvalue()


def _figure(picture: Picture) -> Figure:
    box, layout = picture.box, picture.layout
    figure = Figure(figsize=(box.width / INCH, box.height / INCH), facecolor="white")
    # matplotlib's heights count upwards, those of the picture downwards.
    across, down = (box.left, box.left + box.width), (box.top + box.height, box.top)
    axes = figure.add_axes((0, 0, 1, 1), frameon=False, xticks=[], yticks=[], xlim=across, ylim=down)
    for line in layout.lines:
        _draw_line(axes, line)
        _draw_labels(axes, line, picture)
    for state, place in layout.states.items():
        _draw_state(axes, state, place, picture.finals.get(state), is_best=state in picture.on_best)
    x, y = layout.states[0]
    start = Path([(x - START_ARROW, y), (x - SIZES.radius, y)])
    axes.add_patch(FancyArrowPatch(path=start, arrowstyle=ARROW, color=INK, linewidth=0.9))
    return figure


def _draw_line(axes: Axes, line: Line) -> None:
    points = [line.pieces[0][0], *(point for piece in line.pieces for point in piece[1:])]
    curve = Path(points, [Path.MOVETO] + [Path.CURVE4] * (len(points) - 1))
    colour, width, layer = (BEST, 1.8, 3) if line.is_best else (LINE, 0.9, 2)
    axes.add_patch(FancyArrowPatch(path=curve, arrowstyle=ARROW, color=colour, linewidth=width, zorder=layer))


def _draw_labels(axes: Axes, line: Line, picture: Picture) -> None:
    """Each word above its cost; several words one below the other."""
    # Words are no formulas, whatever dollar signs they have.
    look: dict[str, Any] = {
        "ha": "center",
        "parse_math": False,
        "path_effects": [withStroke(linewidth=2.5, foreground="white")],
    }
    for row, arc in enumerate(line.arcs):
        x, y = line.label[0], picture.label_height(line.label[1], row, len(line.arcs))
        ink, weight = (BEST, "bold") if arc in picture.best else (INK, "normal")
        axes.text(x, y - 2.9, picture.words[arc], va="bottom", fontsize=9, color=ink, weight=weight, zorder=5, **look)
        if picture.has_costs:
            cost = f"{picture.costs[arc]:.2f}"
            axes.text(x, y + 2.4, cost, va="top", fontsize=6.5, color=FAINT, zorder=4, **look)


def _draw_state(axes: Axes, state: int, at: Point, final_cost: float | None, *, is_best: bool) -> None:
    """A circle, a double one for a final state, with the state's number in it and its final cost, if any, below."""
    edge, fill = (BEST, BEST_FILL) if is_best else (FAINT, "white")
    axes.add_patch(Circle(at, SIZES.radius, facecolor=fill, edgecolor=edge, linewidth=1.2, zorder=6))
    if final_cost is not None:
        axes.add_patch(Circle(at, SIZES.radius - 3.4, facecolor="none", edgecolor=edge, linewidth=0.9, zorder=7))
    if final_cost:
        below = at[1] + SIZES.radius + 4
        axes.text(at[0], below, f"{final_cost:.2f}", ha="center", va="top", fontsize=6.5, color=FAINT)
    axes.text(*at, str(state), ha="center", va="center_baseline", fontsize=7, color=INK, zorder=8)


def _note(text: str) -> Figure:
    figure = Figure(figsize=(2.0, 0.6), facecolor="white")
    figure.text(0.5, 0.5, text, ha="center", va="center", fontsize=9, color=FAINT)
    return figure
