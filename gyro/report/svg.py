"""Figures as SVG files of their own, for a README or a paper, on light pages and dark ones.

figure_to_svg  a figure of a report with its title, legend and colours
adapt_to_dark  a drawing of another program, as Matplotlib, with colours for dark pages besides its own
"""

from __future__ import annotations

import re
from colorsys import hls_to_rgb, rgb_to_hls

from gyro.report.figures import MARKS, WIDTH, Figure
from gyro.report.markup import Markup, element, join, read

_MARGIN, _ROW, _LETTER = 18, 19, 6.4
_KEY = 16  # the room of a mark before its name
_STYLED = re.compile(r'style="[^"]*"')
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_ADAPTED = "<style>/* for dark pages */"
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


def adapt_to_dark(drawing: bytes) -> bytes:
    """The same drawing on light pages; on dark ones its colours are as light as they were dark.

    It is about colours in style attributes, as Matplotlib writes them, and text without a colour of its own.
    """
    text = drawing.decode()
    if _ADAPTED in text:
        return drawing
    colours = sorted({colour for style in _STYLED.findall(text) for colour in _COLOUR.findall(style)})
    ink = dark_colour("#000000")
    rules = [f"svg{{fill:{ink}}}"]
    for colour in colours:
        for kind in ("fill", "stroke"):
            rules.append(f'[style*="{kind}: {colour}"]{{{kind}:{dark_colour(colour)}!important}}')
    style = f"{_ADAPTED}@media (prefers-color-scheme: dark){{{''.join(rules)}}}</style>"
    end = re.search(r"<svg\b[^>]*>", text)
    assert end is not None, "a drawing has a root"
    return (text[: end.end()] + style + text[end.end() :]).encode()


def dark_colour(colour: str) -> str:
    """The colour for a dark page: white becomes that of the report's cards, black is ink, and hues stay as they are.

    >>> dark_colour("#ffffff"), dark_colour("#000000"), dark_colour("#0b62a8")
    ('#1b2127', '#ededed', '#57aef4')
    """
    if colour == "#ffffff":
        return "#1b2127"
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    hue, lightness, saturation = rgb_to_hls(red, green, blue)
    return "#" + "".join(f"{round(255 * part):02x}" for part in hls_to_rgb(hue, 0.93 - 0.8 * lightness, saturation))
