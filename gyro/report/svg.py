"""A figure of a report as an SVG file of its own, for a README or a paper.

figure_to_svg  a figure with its title, legend and colours
"""

from __future__ import annotations

import re

from gyro.report.figures import MARKS, WIDTH, Figure
from gyro.report.markup import Markup, element, join, read

_MARGIN, _ROW, _LETTER = 18, 19, 6.4
_KEY = 16  # the room of a mark before its name
_PART = re.compile(r"^/\* (\w+) \*/$", re.MULTILINE)


def figure_to_svg(figure: Figure) -> Markup:
    """On a card of its own, so that it can be read on any page."""
    top = 62 if figure.note else 44
    legend, rows = _legend(figure, top + figure.height + 22)
    width, height = WIDTH + 2 * _MARGIN, top + figure.height + 22 + _ROW * rows
    parts = [
        element("style", Markup(_style())),
        element("rect", class_="card", x=0.5, y=0.5, width=width - 1, height=f"{height - 1:g}", rx=8),
        element("text", figure.title, class_="title", x=_MARGIN, y=30),
        element("text", figure.note, x=_MARGIN, y=48) if figure.note else "",
        element("g", figure.drawing, transform=f"translate({_MARGIN} {top})"),
        legend,
    ]
    drawn = element(
        "svg",
        join(parts),
        xmlns="http://www.w3.org/2000/svg",
        class_="chart alone",
        role="img",
        aria_label=figure.title,
        width=width,
        height=f"{height:g}",
        viewBox=f"0 0 {width} {height:g}",
    )
    return drawn + "\n"


def _style() -> str:
    """The parts "Colours" and "Charts" of the page's style sheet, for light and dark."""
    _, *parts = _PART.split(read("page.css"))
    by_name = dict(zip(parts[::2], parts[1::2], strict=True))
    return by_name["Colours"] + by_name["Charts"]


def _legend(figure: Figure, top: float) -> tuple[Markup, int]:
    """Marks and names in rows that fit the width, and how many rows there are."""
    parts, left, row = [], 0.0, 0
    for key, name in figure.legend():
        width = _KEY + _LETTER * len(name)
        if left and left + width > WIDTH:
            left, row = 0.0, row + 1
        x, y = _MARGIN + left, top + _ROW * row
        place = f"translate({x + 5:.1f} {y - 4:.1f})"
        parts.append(element("path", class_=f"bar {key.style}", transform=place, d=MARKS[key.mark]))
        parts.append(element("text", name, class_="name", x=f"{x + _KEY:.1f}", y=f"{y:.1f}"))
        left += width + _KEY
    return join(parts), row + 1 if parts else 0
