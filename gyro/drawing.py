"""Drawings of small lattices, from left to right, as SVG or PNG.

draw  the drawing of a lattice that is given as arrays; equal lattices give equal bytes

States stand in columns by their distance from the start, and within a column so that few arcs cross; arcs that jump
over columns have bends in them. The best path is drawn in colour. Lengths are in inches.
"""

from __future__ import annotations

import io
import itertools
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
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
from numpy.typing import ArrayLike, NDArray

from gyro.errors import InputError

CANVASES = {"svg": FigureCanvasSVG, "png": FigureCanvasAgg}
RADIUS = 0.15
STATE_GAP, BEND_GAP = 0.62, 0.42  # least distances between neighbours in a column
LABEL_HEIGHT, LETTER_WIDTH = 0.30, 0.088
LABEL_PLACES = (0.5, 0.4, 0.6, 0.32, 0.68, 0.25, 0.75)  # along the arc, the best ones first
SWEEPS = 24
BEST, INK, LINE, FAINT = "#0b62a8", "#1f2933", "#9aa5b1", "#616e7c"
BEST_FILL = "#dcecf8"

ARROW = "-|>,head_length=3.6,head_width=1.8"

Point = tuple[float, float]
Piece = tuple[Point, Point, Point, Point]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Label:
    word: str
    cost: float
    is_best: bool


@dataclass(frozen=True)
class _Line:
    """The arcs that share both ends, drawn as one line: `chain` are the two states and the bends between them."""

    chain: tuple[int, ...]
    labels: list[_Label]

    @property
    def is_best(self) -> bool:
        return any(label.is_best for label in self.labels)

    @property
    def width(self) -> float:
        return LETTER_WIDTH * max(len(label.word) for label in self.labels)


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
    ends = [np.asarray(column, np.int64).tolist() for column in (source, target)]
    costs = np.asarray(cost, float).tolist()
    finals = dict(zip(np.asarray(final_states).tolist(), np.asarray(final_costs, float).tolist(), strict=True))
    if not finals:
        return _render(_note("no strings"), format)
    on_best = _best_path(list(zip(*ends, costs, strict=True)), finals)
    layers, lines = _layers(ends[0], ends[1], words, costs, on_best, 1 + max([0, *ends[1]]))
    return _render(_figure(_place(layers, lines), lines, finals), format)


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


def _layers(
    source: list[int], target: list[int], words: Sequence[str], costs: list[float], on_best: set[int], num_states: int
) -> tuple[list[list[int]], list[_Line]]:
    """The columns of states and bends, and the lines through them; bends are numbered on from the states."""
    depth = [0] * num_states
    for s, t in sorted(zip(source, target, strict=True)):
        depth[t] = max(depth[t], depth[s] + 1)
    layers: list[list[int]] = [[] for _ in range(max(depth) + 1)]
    for state, column in enumerate(depth):
        layers[column].append(state)
    bends = num_states
    lines: dict[tuple[int, int], _Line] = {}
    for number, (s, t) in enumerate(zip(source, target, strict=True)):
        if (s, t) not in lines:
            between = range(depth[s] + 1, depth[t])
            lines[s, t] = _Line((s, *range(bends, bends + len(between)), t), [])
            for bend, column in enumerate(between, bends):
                layers[column].append(bend)
            bends += len(between)
        lines[s, t].labels.append(_Label(words[number], costs[number], number in on_best))
    return layers, list(lines.values())


def _place(layers: list[list[int]], lines: list[_Line]) -> dict[int, Point]:
    """Where each state and bend stands."""
    before, after = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for line in lines:
        for left, right in itertools.pairwise(line.chain):
            before[right].append(left)
            after[left].append(right)
    order = _ordered(layers, before, after)
    is_bend = {bend for line in lines for bend in line.chain[1:-1]}
    most_labels = max((len(line.labels) for line in lines), default=1)
    height = _heights(order, before, after, is_bend, LABEL_HEIGHT * (most_labels - 1))
    widest = [1.0] * len(layers)
    column = {node: x for x, layer in enumerate(layers) for node in layer}
    for line in lines:
        # The label stands in the middle piece of the line.
        x = column[line.chain[(len(line.chain) - 2) // 2]]
        widest[x] = max(widest[x], 0.62 + line.width)
    left_edge = np.concatenate([[0.0], np.cumsum(widest)]).tolist()
    return {node: (left_edge[column[node]], height[node]) for layer in order for node in layer}


def _ordered(layers: list[list[int]], before: dict[int, list[int]], after: dict[int, list[int]]) -> list[list[int]]:
    """Order the columns by the mean places of their neighbours, to and fro; the fewest crossings win."""
    current = [list(layer) for layer in layers]
    best, fewest = current, _crossings(current, after)
    for sweep in range(SWEEPS):
        if fewest == 0:
            break
        forward = sweep % 2 == 0
        neighbours = before if forward else after
        columns = range(1, len(current)) if forward else range(len(current) - 2, -1, -1)
        current = [list(layer) for layer in current]
        for x in columns:
            beside = current[x - 1] if forward else current[x + 1]
            place = {node: y for y, node in enumerate(beside)}
            own = {node: y for y, node in enumerate(current[x])}
            means = {n: np.mean([place[m] for m in neighbours[n]]) if neighbours[n] else own[n] for n in current[x]}
            current[x].sort(key=means.__getitem__)
        _swap_neighbours(current, before, after)
        crossings = _crossings(current, after)
        if crossings < fewest:
            best, fewest = current, crossings
    return best


def _swap_neighbours(layers: list[list[int]], before: dict[int, list[int]], after: dict[int, list[int]]) -> None:
    """Swap two that stand together in a column wherever that makes fewer crossings, until none is left."""
    place = {node: y for layer in layers for y, node in enumerate(layer)}

    def crossings(upper: int, lower: int) -> int:
        sides = ((before[upper], before[lower]), (after[upper], after[lower]))
        return sum(place[a] > place[b] for above, below in sides for a in above for b in below)

    for layer in layers:
        swapped = True
        while swapped:
            swapped = False
            for y in range(len(layer) - 1):
                upper, lower = layer[y], layer[y + 1]
                if crossings(lower, upper) < crossings(upper, lower):
                    layer[y], layer[y + 1] = lower, upper
                    place[lower], place[upper] = y, y + 1
                    swapped = True


def _crossings(layers: list[list[int]], after: dict[int, list[int]]) -> int:
    """How many pairs of arcs cross between neighbouring columns."""
    total = 0
    for left, right in itertools.pairwise(layers):
        place = {node: y for y, node in enumerate(right)}
        ends = np.array([y for node in left for y in sorted(place[m] for m in after[node])])
        total += int(sum(np.count_nonzero(ends[:i] > end) for i, end in enumerate(ends)))
    return total


def _heights(
    order: list[list[int]],
    before: dict[int, list[int]],
    after: dict[int, list[int]],
    is_bend: set[int],
    more: float,
) -> dict[int, float]:
    """Move each column towards its neighbours' heights, keeping the order and the least distances plus `more`."""
    steps = {}
    height: dict[int, float] = {}
    for layer in order:
        pairs = itertools.pairwise(layer)
        gaps = [more + (BEND_GAP if a in is_bend or b in is_bend else STATE_GAP) for a, b in pairs]
        steps[layer[0]] = offsets = np.concatenate([[0.0], np.cumsum(gaps)])
        height |= dict(zip(layer, (offsets - offsets[-1] / 2).tolist(), strict=True))
    for sweep in range(SWEEPS):
        for layer in order if sweep % 2 == 0 else reversed(order):
            beside = [[height[m] for m in before[n] + after[n]] or [height[n]] for n in layer]
            wish = np.array([np.mean(heights) for heights in beside])
            offsets = steps[layer[0]]
            height |= dict(zip(layer, (_ascending(wish - offsets) + offsets).tolist(), strict=True))
    return height


def _ascending(wish: Floats) -> Floats:
    """The nearest numbers that do not fall (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for value in wish.tolist():
        mean, size = value, 1
        while pools and pools[-1][0] > mean:
            other, count = pools.pop()
            mean, size = (other * count + mean * size) / (count + size), count + size
        pools.append((mean, size))
    return np.concatenate([np.full(size, mean) for mean, size in pools])


def _figure(place: dict[int, Point], lines: list[_Line], finals: dict[int, float]) -> Figure:
    xs, ys = zip(*place.values(), strict=True)
    margin = 0.45 + LABEL_HEIGHT / 2 * max((len(line.labels) - 1 for line in lines), default=0)
    box = (min(xs) - 0.55, max(xs) + 0.45, min(ys) - margin, max(ys) + margin)
    figure = Figure(figsize=(box[1] - box[0], box[3] - box[2]), facecolor="white")
    # Heights count downwards, as the lines of a page.
    axes = figure.add_axes((0, 0, 1, 1), frameon=False, xticks=[], yticks=[], xlim=box[:2], ylim=box[:1:-1])
    with_costs = any(label.cost for line in lines for label in line.labels)
    taken: list[tuple[Point, float, float]] = []
    for line in sorted(lines, key=lambda each: not each.is_best):
        pieces = _curve(place, line)
        _draw_line(axes, pieces, is_best=line.is_best)
        _draw_labels(axes, line, _label_place(line, pieces[(len(pieces) - 1) // 2], taken), with_costs=with_costs)
    on_best = {end for line in lines if line.is_best for end in (line.chain[0], line.chain[-1])}
    for state in sorted({0, *finals, *(end for line in lines for end in (line.chain[0], line.chain[-1]))}):
        _draw_state(axes, state, place[state], finals.get(state), is_best=state in on_best)
    x, y = place[0]
    start = Path([(x - 0.45, y), (x - RADIUS, y)])
    axes.add_patch(FancyArrowPatch(path=start, arrowstyle=ARROW, color=INK, linewidth=0.9))
    return figure


def _curve(place: dict[int, Point], line: _Line) -> list[Piece]:
    """The Bézier pieces of a line, level at every state and bend, so that they join smoothly."""
    points = [place[node] for node in line.chain]
    points[0] = (points[0][0] + RADIUS, points[0][1])
    points[-1] = (points[-1][0] - RADIUS, points[-1][1])
    pieces = []
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        reach = 0.45 * (x1 - x0)
        pieces.append(((x0, y0), (x0 + reach, y0), (x1 - reach, y1), (x1, y1)))
    return pieces


def _draw_line(axes: Axes, pieces: list[Piece], *, is_best: bool) -> None:
    points = [pieces[0][0], *(point for piece in pieces for point in piece[1:])]
    curve = Path(points, [Path.MOVETO] + [Path.CURVE4] * (len(points) - 1))
    colour, width, layer = (BEST, 1.8, 3) if is_best else (LINE, 0.9, 2)
    axes.add_patch(FancyArrowPatch(path=curve, arrowstyle=ARROW, color=colour, linewidth=width, zorder=layer))


def _label_place(line: _Line, piece: Piece, taken: list[tuple[Point, float, float]]) -> Point:
    """The place along the line where its labels cover least of others; it is taken from now on."""
    width, height = line.width, LABEL_HEIGHT * len(line.labels)

    def covered(at: Point) -> float:
        total = 0.0
        for (x, y), other_width, other_height in taken:
            across = (width + other_width) / 2 - abs(at[0] - x)
            down = (height + other_height) / 2 - abs(at[1] - y)
            total += max(across, 0.0) * max(down, 0.0)
        return total

    # The first of equals: places nearer to the middle come before the others.
    chosen = min((_point_on(piece, t) for t in LABEL_PLACES), key=covered)
    taken.append((chosen, width, height))
    return chosen


def _draw_labels(axes: Axes, line: _Line, at: Point, *, with_costs: bool) -> None:
    """Each word above its cost; several words one below the other."""
    # Words are no formulas, whatever dollar signs they have.
    look: dict[str, Any] = {
        "ha": "center",
        "parse_math": False,
        "path_effects": [withStroke(linewidth=2.5, foreground="white")],
    }
    for number, label in enumerate(line.labels):
        x, y = at[0], at[1] + LABEL_HEIGHT * (number - (len(line.labels) - 1) / 2)
        ink, weight = (BEST, "bold") if label.is_best else (INK, "normal")
        axes.text(x, y - 0.03, label.word, va="bottom", fontsize=9, color=ink, weight=weight, zorder=5, **look)
        if with_costs:
            axes.text(x, y + 0.025, f"{label.cost:.2f}", va="top", fontsize=6.5, color=FAINT, zorder=4, **look)


def _point_on(piece: Piece, t: float) -> Point:
    """The point of a cubic Bézier curve at t."""
    weights = np.array([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    x, y = (weights @ np.array(piece)).tolist()
    return x, y


def _draw_state(axes: Axes, state: int, at: Point, final_cost: float | None, *, is_best: bool) -> None:
    """A circle, a double one for a final state, with the state's number in it and its final cost, if any, below."""
    edge, fill = (BEST, BEST_FILL) if is_best else (FAINT, "white")
    axes.add_patch(Circle(at, RADIUS, facecolor=fill, edgecolor=edge, linewidth=1.2, zorder=6))
    if final_cost is not None:
        axes.add_patch(Circle(at, RADIUS - 0.035, facecolor="none", edgecolor=edge, linewidth=0.9, zorder=7))
    if final_cost:
        axes.text(at[0], at[1] + RADIUS + 0.04, f"{final_cost:.2f}", ha="center", va="top", fontsize=6.5, color=FAINT)
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
