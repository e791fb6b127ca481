"""Drawings of small lattices as SVG or PNG.

draw     the drawing of a lattice that is given as arrays; equal lattices give equal bytes
Picture  what there is to draw: the layout, words and costs, and the best path

gyro.lattice.layout says where everything stands; gyro.lattice.svg and gyro.lattice.png draw it. The best path is drawn
in colour. Lengths are in pixels, 96 an inch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gyro.errors import InputError
from gyro.lattice.layout import Layout, Sizes, lay_out

FORMATS = ("png", "svg")
SIZES = Sizes(
    radius=14.4,
    state_gap=60,
    bend_gap=40,
    letter_width=8.4,
    label_height=29,
    beside_word=60,
    least_column=96,
)
# What neither XML nor a font can hold.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
START_ARROW = 43.0  # the length of the arrow that leads to the start


class Box(NamedTuple):
    """The edges of a picture; heights count downwards."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True)
class Picture:
    """A lattice with places. Arc k carries `words[k]` at `costs[k]`; no costs are shown where all are 0."""

    layout: Layout
    words: Sequence[str]
    costs: Sequence[float]
    finals: Mapping[int, float]
    best: frozenset[int]  # the arcs of the cheapest path

    @property
    def has_costs(self) -> bool:
        return any(self.costs)

    @property
    def on_best(self) -> set[int]:
        """The states of the cheapest path."""
        return {end for line in self.layout.lines if line.is_best for end in (line.source, line.target)}

    @property
    def box(self) -> Box:
        layout = self.layout
        margin = 43 + SIZES.label_height / 2 * max((len(line.arcs) - 1 for line in layout.lines), default=0)
        left, top = layout.left - START_ARROW - 10, layout.top - margin
        return Box(left, top, layout.right + 43 - left, layout.bottom + margin - top)

    def label_height(self, label: float, row: int, rows: int) -> float:
        """The height of a word's middle among the words of its line, which stand one below the other."""
        return label + SIZES.label_height * (row - (rows - 1) / 2)


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
    if format not in FORMATS:
        raise InputError(f"found the drawing format {format!r}; {' and '.join(FORMATS)} are allowed")
    picture = _picture(source, words, target, cost, final_states, final_costs)
    if format == "svg":
        from gyro.lattice.svg import draw_svg

        return draw_svg(picture).encode()
    from gyro.lattice.png import draw_png  # matplotlib is loaded for these alone

    return draw_png(picture)


def _picture(
    source: ArrayLike,
    words: Sequence[str],
    target: ArrayLike,
    cost: ArrayLike,
    final_states: ArrayLike,
    final_costs: ArrayLike,
) -> Picture | None:
    """The picture of a lattice; None for one without strings."""
    sources, targets = (np.asarray(column, np.int64).tolist() for column in (source, target))
    costs = np.asarray(cost, float).tolist()
    finals = dict(zip(np.asarray(final_states).tolist(), np.asarray(final_costs, float).tolist(), strict=True))
    if not finals:
        return None
    best = _best_path(list(zip(sources, targets, costs, strict=True)), finals)
    shown = [_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", word) for word in words]
    return Picture(lay_out(sources, shown, targets, SIZES, best), shown, costs, finals, frozenset(best))


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
