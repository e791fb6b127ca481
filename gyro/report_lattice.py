"""A small drawing of a bag's best orders as inline SVG in the colours of the page.

draw_orders  the n best orders of a lattice as one graph, the best one marked; None where it cannot be drawn in columns

gyro.drawing draws any lattice, with costs, for a page of its own: a hundred times as many bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from statistics import fmean

from gyro.lattice import Lattice

RADIUS, ROW, LETTER = 5, 42, 7.2
_SWEEPS = 12
_SHARES = (0.5, 0.4, 0.6, 0.3, 0.7)  # of an arc, where its word may stand

Arc = tuple[int, str, int]
Place = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom


def draw_orders(lattice: Lattice, n: int = 8) -> str | None:
    """The n best orders, equal beginnings and ends shared."""
    best = lattice.best().tokens
    shared = lattice.best_paths(n).unweighted().determinised()
    source, word, target, *_ = shared.to_arrays()
    arcs = [(s, shared.words[w], t) for s, w, t in zip(source.tolist(), word.tolist(), target.tolist(), strict=True)]
    columns = _columns(arcs)
    if columns is None:
        return None
    row = _rows(columns, arcs)
    on_best = _path(arcs, best)
    widths = [0.0] * len(columns)
    column_of = {state: number for number, column in enumerate(columns) for state in column}
    for s, name, _ in arcs:
        widths[column_of[s]] = max(widths[column_of[s]], LETTER * len(name) + 50)
    left = [14 + sum(widths[:number]) for number in range(len(columns))]
    place = {state: (left[column_of[state]], 24 + ROW * row[state]) for state in column_of}
    width, height = left[-1] + 14, 24 + ROW * max(row.values()) + 16
    # Lines first, then states, then words: a word is never crossed out.
    drawn = [_line(place[s], place[t], (s, name, t) in on_best) for s, name, t in arcs]
    drawn += [_state(place[state], state in {columns[0][0], columns[-1][0]}) for state in column_of]
    words = _word_places([(place[s], place[t], name) for s, name, t in arcs])
    drawn += [_word(words[number], arc[1], arc in on_best) for number, arc in enumerate(arcs)]
    label = escape(f"The {n} best orders as a lattice; the best: {' '.join(best)}", quote=True)
    return (
        f'<svg class="lattice" role="img" aria-label="{label}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">{"".join(drawn)}</svg>'
    )


def _columns(arcs: list[Arc]) -> list[list[int]] | None:
    """The states by their distance from the start; None when two ways to a state differ in length."""
    depth = {0: 0}
    for s, _, t in sorted(arcs):
        if s not in depth or depth.setdefault(t, depth[s] + 1) != depth[s] + 1:
            return None
    columns: list[list[int]] = [[] for _ in range(max(depth.values()) + 1)]
    for state, number in depth.items():
        columns[number].append(state)
    return columns if len(columns) > 1 else None


def _rows(columns: list[list[int]], arcs: list[Arc]) -> dict[int, float]:
    """Heights: each column is put in the order of its neighbours' mean heights, to and fro, around one middle."""
    beside: dict[int, list[int]] = defaultdict(list)
    for s, _, t in arcs:
        beside[s].append(t)
        beside[t].append(s)
    middle = (max(map(len, columns)) - 1) / 2
    row = {s: middle + k - (len(column) - 1) / 2 for column in columns for k, s in enumerate(column)}
    for sweep in range(_SWEEPS):
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            means = {state: fmean(row[other] for other in beside[state]) for state in column}
            for k, state in enumerate(sorted(column, key=means.__getitem__)):
                row[state] = middle + k - (len(column) - 1) / 2
    lowest = min(row.values())
    return {state: height - lowest for state, height in row.items()}


def _path(arcs: list[Arc], tokens: tuple[str, ...]) -> set[Arc]:
    step = {(s, name): t for s, name, t in arcs}
    states = [0]
    for token in tokens:
        states.append(step[states[-1], token])
    return {(s, name, t) for (s, t), name in zip(pairwise(states), tokens, strict=True)}


def _curve(begin: Place, end: Place) -> tuple[Place, Place, Place, Place]:
    """The four points of an arc's Bézier curve: it leaves and comes in on a level."""
    (x0, y0), (x1, y1) = (begin[0] + RADIUS, begin[1]), (end[0] - RADIUS, end[1])
    reach = (x1 - x0) * 0.45
    return (x0, y0), (x0 + reach, y0), (x1 - reach, y1), (x1, y1)


def _line(begin: Place, end: Place, is_best: bool) -> str:
    first, *others = (f"{x:.1f} {y:.1f}" for x, y in _curve(begin, end))
    return f'<path class="{"arc best" if is_best else "arc"}" d="M{first}C{" ".join(others)}"/>'


def _word_places(arcs: Sequence[tuple[Place, Place, str]]) -> list[Place]:
    """Where each word stands on its arc: in the middle or, where another word is in the way, near it."""
    taken: list[Box] = []
    places = []
    for begin, end, name in arcs:
        spots = [_point(_curve(begin, end), share) for share in _SHARES]
        boxes = [_box(spot, name) for spot in spots]
        covered = [sum(_overlap(box, other) for other in taken) for box in boxes]
        chosen = covered.index(min(covered))
        taken.append(boxes[chosen])
        places.append(spots[chosen])
    return places


def _point(curve: Sequence[Place], share: float) -> Place:
    """The point of a Bézier curve at a share of its length, or about there (de Casteljau)."""
    points = list(curve)
    while len(points) > 1:
        points = [(a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])) for a, b in pairwise(points)]
    return points[0]


def _box(place: Place, name: str) -> Box:
    half = LETTER * len(name) / 2
    return place[0] - half, place[1] - 7, place[0] + half, place[1] + 7


def _overlap(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, width) * max(0.0, height)


def _state(place: Place, is_end: bool) -> str:
    return (
        f'<circle class="{"state end" if is_end else "state"}" cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="{RADIUS}"/>'
    )


def _word(place: Place, name: str, is_best: bool) -> str:
    kind = "word best" if is_best else "word"
    return f'<text class="{kind}" x="{place[0]:.1f}" y="{place[1] + 4:.1f}">{escape(name)}</text>'
