"""Drawings of small lattices as SVG or PNG, made by matplotlib.

draw  the drawing of a lattice that is given as arrays; equal lattices give equal bytes

gyro.lattice.layout says where everything stands. The best path is drawn in colour. Lengths are in inches.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike

from gyro.errors import InputError
from gyro.lattice.layout import Layout, Line, Point, Sizes, lay_out

CANVASES = {"svg": FigureCanvasSVG, "png": FigureCanvasAgg}
SIZES = Sizes(
    radius=0.15,
    state_gap=0.62,
    bend_gap=0.42,
    letter_width=0.088,
    label_height=0.30,
    beside_word=0.62,
    least_column=1.0,
)
BEST, INK, LINE, FAINT = "#0b62a8", "#1f2933", "#9aa5b1", "#616e7c"
BEST_FILL = "#dcecf8"

ARROW = "-|>,head_length=3.6,head_width=1.8"


def draw(
    source: ArrayLike,
    words: Sequence[str],
    target: ArrayLike,
    cost: ArrayLike,
    final_states: ArrayLike,
    final_costs: ArrayLike,
    *,
    format: str = "svg",
) -> bytes:
    """Draw the lattice whose arc k carries `words[k]`; its start is state 0, and arcs lead to higher states."""
    if format not in CANVASES:
        raise InputError(f"found the drawing format {format!r}; {' and '.join(sorted(CANVASES))} are allowed")
    sources, targets = (np.asarray(column, np.int64).tolist() for column in (source, target))
    costs = np.asarray(cost, float).tolist()
    finals = dict(zip(np.asarray(final_states).tolist(), np.asarray(final_costs, float).tolist(), strict=True))
    if not finals:
        return _render(_note("no strings"), format)
    best = _best_path(list(zip(sources, targets, costs, strict=True)), finals)
    layout = lay_out(sources, words, targets, SIZES, best)
    return _render(_figure(layout, words, costs, finals, best), format)


def _best_path(arcs: list[tuple[int, int, float]], finals: dict[int, float]) -> set[int]:
    """The numbers of the arcs of the cheapest path."""
    best: dict[int, tuple[float, int]] = {0: (0.0, -1)}
    for number in sorted(range(len(arcs)), key=lambda k: arcs[k][0]):
        source, target, cost = arcs[number]
        through = best[source][0] + cost
        if target not in best or through < best[target][0]:
            best[target] = (through, number)
    state = min(finals, key=lambda s: best[s][0] + finals[s])
    path = set()
    while best[state][1] >= 0:
        path.add(best[state][1])
        state = arcs[best[state][1]][0]
    return path


def _figure(
    layout: Layout, words: Sequence[str], costs: Sequence[float], finals: dict[int, float], best: set[int]
) -> Figure:
    margin = 0.45 + SIZES.label_height / 2 * max((len(line.arcs) - 1 for line in layout.lines), default=0)
    box = (layout.left - 0.55, layout.right + 0.45, layout.top - margin, layout.bottom + margin)
    figure = Figure(figsize=(box[1] - box[0], box[3] - box[2]), facecolor="white")
    # matplotlib's heights count upwards, those of the layout downwards.
    axes = figure.add_axes((0, 0, 1, 1), frameon=False, xticks=[], yticks=[], xlim=box[:2], ylim=box[:1:-1])
    for line in layout.lines:
        _draw_line(axes, line)
        _draw_labels(axes, line, words, costs if any(costs) else None, best)
    on_best = {end for line in layout.lines if line.is_best for end in (line.source, line.target)}
    for state in sorted({0, *finals, *(end for line in layout.lines for end in (line.source, line.target))}):
        _draw_state(axes, state, layout.states[state], finals.get(state), is_best=state in on_best)
    x, y = layout.states[0]
    start = Path([(x - 0.45, y), (x - SIZES.radius, y)])
    axes.add_patch(FancyArrowPatch(path=start, arrowstyle=ARROW, color=INK, linewidth=0.9))
    return figure


def _draw_line(axes: Axes, line: Line) -> None:
    points = [line.pieces[0][0], *(point for piece in line.pieces for point in piece[1:])]
    curve = Path(points, [Path.MOVETO] + [Path.CURVE4] * (len(points) - 1))
    colour, width, layer = (BEST, 1.8, 3) if line.is_best else (LINE, 0.9, 2)
    axes.add_patch(FancyArrowPatch(path=curve, arrowstyle=ARROW, color=colour, linewidth=width, zorder=layer))


def _draw_labels(axes: Axes, line: Line, words: Sequence[str], costs: Sequence[float] | None, best: set[int]) -> None:
    """Each word above its cost; several words one below the other."""
    # Words are no formulas, whatever dollar signs they have.
    look: dict[str, Any] = {
        "ha": "center",
        "parse_math": False,
        "path_effects": [withStroke(linewidth=2.5, foreground="white")],
    }
    for number, arc in enumerate(line.arcs):
        x, y = line.label[0], line.label[1] + SIZES.label_height * (number - (len(line.arcs) - 1) / 2)
        ink, weight = (BEST, "bold") if arc in best else (INK, "normal")
        axes.text(x, y - 0.03, words[arc], va="bottom", fontsize=9, color=ink, weight=weight, zorder=5, **look)
        if costs is not None:
            axes.text(x, y + 0.025, f"{costs[arc]:.2f}", va="top", fontsize=6.5, color=FAINT, zorder=4, **look)


def _draw_state(axes: Axes, state: int, at: Point, final_cost: float | None, *, is_best: bool) -> None:
    """A circle, a double one for a final state, with the state's number in it and its final cost, if any, below."""
    edge, fill = (BEST, BEST_FILL) if is_best else (FAINT, "white")
    axes.add_patch(Circle(at, SIZES.radius, facecolor=fill, edgecolor=edge, linewidth=1.2, zorder=6))
    if final_cost is not None:
        axes.add_patch(Circle(at, SIZES.radius - 0.035, facecolor="none", edgecolor=edge, linewidth=0.9, zorder=7))
    if final_cost:
        axes.text(
            at[0], at[1] + SIZES.radius + 0.04, f"{final_cost:.2f}", ha="center", va="top", fontsize=6.5, color=FAINT
        )
    axes.text(*at, str(state), ha="center", va="center_baseline", fontsize=7, color=INK, zorder=8)


def _note(text: str) -> Figure:
    figure = Figure(figsize=(2.0, 0.6), facecolor="white")
    figure.text(0.5, 0.5, text, ha="center", va="center", fontsize=9, color=FAINT)
    return figure


def _render(figure: Figure, format: str) -> bytes:
    buffer = io.BytesIO()
    # Without a salt the ids of an SVG would be random, and its date would differ from run to run.
    with matplotlib.rc_context({"svg.hashsalt": "gyro"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # it is drawn as a box
        CANVASES[format](figure)
        figure.savefig(buffer, format=format, dpi=160, metadata={"Date": None} if format == "svg" else None)
    return buffer.getvalue()
