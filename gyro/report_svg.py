"""A chart of a report as an SVG file of its own, for a README or a paper.

chart_to_svg   a chart with its title, legend and colours
chart_style    the part of the page's style sheet that charts need
"""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files

from gyro.report_figures import MARKS, WIDTH, Chart

_MARGIN, _ROW, _LETTER = 18, 19, 6.4
_KEY = 16  # the room of a mark before its name
_PART = re.compile(r"^/\* (\w+) \*/$", re.MULTILINE)


def chart_style() -> str:
    """The parts "Colours" and "Charts" of the style sheet, for light and dark."""
    sheet = (files("gyro") / "report.css").read_text(encoding="utf-8")
    _, *parts = _PART.split(sheet)
    by_name = dict(zip(parts[::2], parts[1::2], strict=True))
    return by_name["Colours"] + by_name["Charts"]


def chart_to_svg(chart: Chart) -> str:
    """On a card of its own, so that it can be read on any page."""
    title = f'<text class="title" x="{_MARGIN}" y="30">{escape(chart.title)}</text>'
    note = f'<text x="{_MARGIN}" y="48">{escape(chart.note)}</text>' if chart.note else ""
    top = 62 if note else 44
    legend, rows = _legend(chart, top + chart.height + 22)
    width, height = WIDTH + 2 * _MARGIN, top + chart.height + 22 + _ROW * rows
    label = escape(chart.title, quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart alone" role="img" aria-label="{label}" '
        f'width="{width}" height="{height:g}" viewBox="0 0 {width} {height:g}"><style>{chart_style()}</style>'
        f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1:g}" rx="8"/>{title}{note}'
        f'<g transform="translate({_MARGIN} {top})">{chart.drawing}</g>{legend}</svg>\n'
    )


def _legend(chart: Chart, top: float) -> tuple[str, int]:
    """Marks and names in rows that fit the width, and how many rows there are."""
    parts, left, row = [], 0.0, 0
    for style, mark, name in chart.legend():
        width = _KEY + _LETTER * len(name)
        if left and left + width > WIDTH:
            left, row = 0.0, row + 1
        x, y = _MARGIN + left, top + _ROW * row
        parts.append(
            f'<path class="bar {style}" transform="translate({x + 5:.1f} {y - 4:.1f})" d="{MARKS[mark]}"/>'
            f'<text class="name" x="{x + _KEY:.1f}" y="{y:.1f}">{escape(name)}</text>'
        )
        left += width + _KEY
    return "".join(parts), row + 1
