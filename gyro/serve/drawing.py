"""The best orders of a lattice as a drawing that can be explored: the browser gets places and curves, and draws.

draw_lattice  the drawing of the n best orders, equal beginnings and ends shared
draw_orders   the same of orders that are given
Drawing       states, lines and arcs; each arc knows the orders that go over it, each order its arcs
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.layout import Sizes, lay_out
from gyro.text.bag import check_tokens

SIZES = Sizes(radius=5, state_gap=36, bend_gap=26, letter_width=8.2, label_height=17, beside_word=44)
MARGIN = (16, 24)
MOST_PATHS = 40


class State(BaseModel):
    """A state, in pixels from the left and the top."""

    x: float
    y: float
    final: bool


class Arc(BaseModel):
    """A word, and the orders that go over it, the cheapest first."""

    source: int
    target: int
    word: str
    orders: list[int]


class Line(BaseModel):
    """The arcs between two states: an SVG path, and the middle of their words, which stand one below the other."""

    path: str
    x: float
    y: float
    arcs: list[int]


class Weighted(BaseModel):
    """An order and its cost."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tokens: list[str] = Field(min_length=1)
    cost: float = Field(allow_inf_nan=False)


class Path(Weighted):
    """The same with its arcs."""

    arcs: list[int]


class Drawing(BaseModel):
    """A lattice laid out from left to right; the start is state 0."""

    width: float
    height: float
    label_height: float = Field(description="The distance of words that stand one below the other.")
    states: list[State]
    arcs: list[Arc]
    lines: list[Line]
    orders: list[Path] = Field(description="By cost: the first is the best.")
    others: list[Weighted] = Field(description="Further orders, which are not drawn: POST /lattice draws any.")


def draw_lattice(lattice: Lattice, n: int) -> Drawing:
    """Lay out the n best orders."""
    best, others = (found := lattice.nbest(MOST_PATHS))[:n], found[n:]
    shared = lattice.best_paths(n).unweighted().determinised()
    source, word, target, _, final_states, _ = (column.tolist() for column in shared.to_arrays())
    words = [shared.words[number] for number in word]
    paths = _paths(source, words, target, best)
    layout = lay_out(source, words, target, SIZES, set(paths[0]))
    left, top = MARGIN[0] - layout.left, MARGIN[1] - layout.top
    orders_of: list[list[int]] = [[] for _ in words]
    for number, path in enumerate(paths):
        for arc in path:
            orders_of[arc].append(number)
    ends = set(final_states)
    return Drawing(
        width=round(layout.right + left + MARGIN[0], 1),
        height=round(layout.bottom + top + MARGIN[1], 1),
        label_height=SIZES.label_height,
        states=[
            State(x=round(x + left, 1), y=round(y + top, 1), final=state in ends)
            for state, (x, y) in sorted(layout.states.items())
        ],
        arcs=[
            Arc(source=s, target=t, word=w, orders=orders)
            for s, t, w, orders in zip(source, target, words, orders_of, strict=True)
        ],
        lines=[
            Line(
                path=_svg_path(line.pieces, left, top),
                x=round(line.label[0] + left, 1),
                y=round(line.label[1] + top, 1),
                arcs=list(line.arcs),
            )
            for line in layout.lines
        ],
        orders=[
            Path(arcs=path, tokens=list(order.tokens), cost=round(order.cost, 4))
            for path, order in zip(paths, best, strict=True)
        ],
        others=[Weighted(tokens=list(order.tokens), cost=round(order.cost, 4)) for order in others],
    )


def draw_orders(orders: Sequence[Weighted]) -> Drawing:
    """Lay out these orders."""
    strings = [Hypothesis(tuple(order.tokens), order.cost) for order in orders]
    for string in strings:
        check_tokens(string.tokens)
    words = sorted({token for string in strings for token in string.tokens})
    return draw_lattice(Lattice.from_strings(words, strings), len(strings))


def _paths(
    source: Sequence[int], words: Sequence[str], target: Sequence[int], orders: Sequence[Hypothesis]
) -> list[list[int]]:
    """The numbers of the arcs that spell each order; from no state two arcs have the same word."""
    step = {(s, w): number for number, (s, w) in enumerate(zip(source, words, strict=True))}
    paths = []
    for order in orders:
        state, path = 0, []
        for token in order.tokens:
            path.append(step[state, token])
            state = target[path[-1]]
        paths.append(path)
    return paths


def _svg_path(pieces: Sequence[Sequence[tuple[float, float]]], left: float, top: float) -> str:
    def at(point: tuple[float, float]) -> str:
        return f"{point[0] + left:.1f} {point[1] + top:.1f}"

    return f"M{at(pieces[0][0])}" + "".join("C" + " ".join(map(at, piece[1:])) for piece in pieces)
