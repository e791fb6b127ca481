"""Drawings of lattices as SVG: a few kilobytes, on a card of their own, for light pages and dark ones.

draw_svg  the text of a picture

Letters are text, not outlines, and what looks the same is one path: a drawing has about a hundred bytes an arc. There
are no ids in it, and its rules hold inside it alone, so that many drawings can stand on one page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from gyro.lattice.drawing import SIZES, START_ARROW, Picture
from gyro.lattice.layout import Line, Point

STYLE = """
.gyro-lattice{--card:#fff;--ink:#1f2933;--line:#9aa5b1;--soft:#616e7c;--best:#0b62a8;--fill:#dcecf8;
max-width:none;font:12px "DejaVu Sans",Verdana,sans-serif;text-anchor:middle}
@media(prefers-color-scheme:dark){
.gyro-lattice{--card:#1b2127;--ink:#e6e9ec;--line:#66727e;--soft:#9aa6b1;--best:#7cb8f2;--fill:#1d3a55}}
.gyro-lattice *{fill:var(--ink)}
.gyro-lattice .card{fill:var(--card)}
.gyro-lattice .line{fill:none;stroke:var(--line)}
.gyro-lattice .head{fill:var(--line)}
.gyro-lattice .best .line{stroke:var(--best);stroke-width:2.4}
.gyro-lattice .best .head{fill:var(--best)}
.gyro-lattice circle{fill:var(--card);stroke:var(--soft);stroke-width:1.6}
.gyro-lattice .best circle{fill:var(--fill);stroke:var(--best)}
.gyro-lattice text{paint-order:stroke;stroke:var(--card);stroke-width:3px;stroke-linejoin:round}
.gyro-lattice .best text{fill:var(--best);font-weight:bold}
.gyro-lattice .cost text{fill:var(--soft);font-size:9px}
.gyro-lattice .state text{font-size:9.3px;stroke:none}
""".replace("\n", "")


def draw_svg(picture: Picture | None) -> str:
    """Draw it; None is a lattice without strings."""
    if picture is None:
        note = '<g class="cost"><text x="80" y="28">no strings</text></g>'
        return _page((0, 0, 160, 48), "a lattice without strings", [note])
    lines = picture.layout.lines
    best, rest = [line for line in lines if line.is_best], [line for line in lines if not line.is_best]
    x, y = picture.layout.states[0]
    way = f"M{_xy((x - START_ARROW, y))}H{_n(x - SIZES.radius - 5)}"
    start = f'<path class="line" style="stroke:var(--ink)" d="{way}"/>'
    arrow = f'<path d="{_head((x - SIZES.radius, y))}"/>'
    # Lines first, then words, then states: a word is never crossed out.
    parts = [_lines(rest), _group("best", _lines(best)), start, arrow, *_labels(picture), *_states(picture)]
    return _page(picture.box, _title(picture), parts)


def _page(box: Sequence[float], title: str, parts: Iterable[str]) -> str:
    left, top, width, height = map(_n, box)
    size = f'width="{width}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gyro-lattice" role="img" aria-label="{escape(title)}" '
        f'{size} viewBox="{left} {top} {width} {height}"><style>{STYLE}</style>'
        f'<rect class="card" x="{left}" y="{top}" {size} rx="6"/>{"".join(parts)}</svg>\n'
    )


def _title(picture: Picture) -> str:
    source = {arc: line.source for line in picture.layout.lines for arc in line.arcs}
    best = sorted(picture.best, key=source.__getitem__)
    return f"a lattice; its best string: {' '.join(picture.words[arc] for arc in best)}"


def _lines(lines: Sequence[Line]) -> str:
    """All curves as one path, and all arrow heads as another; a line comes to its state from the left."""
    if not lines:
        return ""
    curves, heads = [], []
    for line in lines:
        end = line.pieces[-1][-1]
        pieces = [*line.pieces[:-1], (*line.pieces[-1][:-1], (end[0] - 4, end[1]))]  # the tip is the head's
        curves.append(f"M{_xy(pieces[0][0])}" + "".join(f"C{' '.join(map(_xy, piece[1:]))}" for piece in pieces))
        heads.append(_head(end))
    return f'<path class="line" d="{"".join(curves)}"/><path class="head" d="{"".join(heads)}"/>'


def _head(tip: Point) -> str:
    return f"M{_xy(tip)}l-8-3.5v7z"


def _labels(picture: Picture) -> Iterable[str]:
    """Each word above its cost; several words one below the other."""
    costs: list[str] = []
    words: list[str] = []
    best: list[str] = []
    for line in picture.layout.lines:
        for row, arc in enumerate(line.arcs):
            x, y = line.label[0], picture.label_height(line.label[1], row, len(line.arcs))
            (best if arc in picture.best else words).append(_word((x, y - 5), picture.words[arc]))
            costs.append(_word((x, y + 10), f"{picture.costs[arc]:.2f}"))
    return _group("cost", *costs) if picture.has_costs else "", "".join(words), _group("best", *best)


def _states(picture: Picture) -> Iterable[str]:
    """A circle, a double one for a final state, with the state's number in it and its final cost, if any, below."""
    places, on_best = picture.layout.states, picture.on_best
    for kind, chosen in (("", [s for s in places if s not in on_best]), ("best", sorted(on_best))):
        circles = [_circle(places[state], SIZES.radius) for state in chosen]
        circles += [_circle(places[state], SIZES.radius - 3.4) for state in chosen if state in picture.finals]
        yield _group(kind, *circles)
    yield _group("state", *(_word((x, y + 3.3), str(state)) for state, (x, y) in places.items()))
    ends = [(places[state], cost) for state, cost in sorted(picture.finals.items()) if cost]
    yield _group("cost", *(_word((x, y + SIZES.radius + 12), f"{cost:.2f}") for (x, y), cost in ends))


def _group(kind: str, *parts: str) -> str:
    content = "".join(parts)
    return f'<g class="{kind}">{content}</g>' if content and kind else content


def _word(at: Point, text: str) -> str:
    return f'<text x="{_n(at[0])}" y="{_n(at[1])}">{escape(text)}</text>'


def _circle(at: Point, radius: float) -> str:
    return f'<circle cx="{_n(at[0])}" cy="{_n(at[1])}" r="{_n(radius)}"/>'


def _xy(point: Point) -> str:
    return f"{_n(point[0])} {_n(point[1])}"


def _n(number: float) -> str:
    """A tenth of a pixel is enough."""
    return f"{round(number, 1) + 0.0:g}"
