"""A small drawing of a bag's best orders as inline SVG in the colours of the page.

draw_orders  the n best orders of a lattice as one graph, the best one marked

gyro.lattice.layout says where everything stands. gyro.lattice.drawing draws any lattice, with costs, as a file of
its own, or for a notebook.
"""

from __future__ import annotations

from itertools import pairwise

from gyro.lattice.lattice import Lattice
from gyro.lattice.layout import Line, Point, Sizes, lay_out
from gyro.report.markup import Markup, element, join

SIZES = Sizes(radius=5, state_gap=42, bend_gap=28, letter_width=7.2, label_height=14, beside_word=50)
LEFT, RIGHT, TOP, BOTTOM = 14, 14, 24, 16  # margins

Arc = tuple[int, str, int]


def draw_orders(lattice: Lattice, n: int = 8) -> Markup:
    """The n best orders, equal beginnings and ends shared."""
    best = lattice.best().tokens
    shared = lattice.best_paths(n).unweighted().determinised()
    source, word, target, _, final_states, _ = shared.to_arrays()
    words = [shared.words[number] for number in word.tolist()]
    arcs = list(zip(source.tolist(), words, target.tolist(), strict=True))
    on_best = _path(arcs, best)
    layout = lay_out(source.tolist(), words, target.tolist(), SIZES, on_best)
    ends = {0, *final_states.tolist()}
    # Lines first, then states, then words: a word is never crossed out.
    drawn = [_line(line) for line in layout.lines]
    drawn += [_state(place, state in ends) for state, place in layout.states.items()]
    drawn += [
        _word(line, row, words[arc], arc in on_best) for line in layout.lines for row, arc in enumerate(line.arcs)
    ]
    width, height = LEFT + layout.right - layout.left + RIGHT, TOP + layout.bottom - layout.top + BOTTOM
    return element(
        "svg",
        join(drawn),
        class_="lattice",
        role="img",
        aria_label=f"The {n} best orders as a lattice; the best: {' '.join(best)}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        viewBox=f"{layout.left - LEFT:.1f} {layout.top - TOP:.1f} {width:.0f} {height:.0f}",
    )


def _path(arcs: list[Arc], tokens: tuple[str, ...]) -> set[int]:
    """The numbers of the arcs that spell the tokens; from no state two arcs have the same word."""
    number = {arc: k for k, arc in enumerate(arcs)}
    step = {(source, word): target for source, word, target in arcs}
    states = [0]
    for token in tokens:
        states.append(step[states[-1], token])
    return {number[source, token, target] for (source, target), token in zip(pairwise(states), tokens, strict=True)}


def _line(line: Line) -> Markup:
    x, y = line.pieces[0][0]
    curves = (" ".join(f"{x:.1f} {y:.1f}" for x, y in piece[1:]) for piece in line.pieces)
    path = f"M{x:.1f} {y:.1f}" + "".join(f"C{curve}" for curve in curves)
    return element("path", class_="arc best" if line.is_best else "arc", d=path)


def _state(place: Point, is_end: bool) -> Markup:
    x, y = place
    kind = "state end" if is_end else "state"
    return element("circle", class_=kind, cx=f"{x:.1f}", cy=f"{y:.1f}", r=SIZES.radius)


def _word(line: Line, row: int, word: str, is_best: bool) -> Markup:
    """One word of a line; several stand one below the other."""
    x, y = line.label
    y += SIZES.label_height * (row - (len(line.arcs) - 1) / 2) + 4  # to the foot of the letters
    return element("text", word, class_="word best" if is_best else "word", x=f"{x:.1f}", y=f"{y:.1f}")
