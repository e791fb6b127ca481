"""Charts as inline SVG that follow the colours of the page.

line_chart  series over named classes, with a linear or logarithmic height
bar_chart   groups of bars over named classes
share_bars  a bar a row, divided into shares
Chart       what they give: a drawing, and as `to_html` a figure with its legend and its numbers as a table
Series      a name and its points
Point       one point, with what is said when it is pointed at
legend_key  the small mark of a series, for legends and tables
mark_shapes the shapes of the marks, which a page must have once

Colours are the classes s0 to s7 of the page's style sheet, shades q0 to q4. Each series also has a mark of its own, and
from the ninth on, when the colours come round again, another mark and a broken line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 460, 280
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 14, 44
COLOURS, SHADES = 8, 5
# Circle, square, triangle, diamond: paths around (0, 0).
MARKS = (
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
    "M-3.2-3.2h6.4v6.4h-6.4z",
    "M0-4.2l4 7.2h-8z",
    "M0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",
)
_SQUARE, _MOST_LABELS, _PITCH = 1, 8, 37

Scale = Callable[[float], float]
Form = Callable[[float], str]


class Point(NamedTuple):
    """A place on the x axis, the name of a class; a height; and what to say of it."""

    x: str
    y: float
    note: str = ""


@dataclass(frozen=True)
class Series:
    """A line or a set of bars; `colour` is its number among all systems of the page."""

    name: str
    points: Sequence[Point]
    colour: int = 0

    @property
    def style(self) -> str:
        """The class of its colour."""
        return f"s{self.colour % COLOURS}"

    @property
    def mark(self) -> int:
        """The number of its shape: together with the colour it is another one for each of 32 series."""
        return (self.colour + self.colour // COLOURS) % len(MARKS)


@dataclass(frozen=True)
class Chart:
    """A drawing of `height` × WIDTH with what belongs to it; `shades` are for parts of a whole."""

    title: str
    note: str
    drawing: str
    series: Sequence[Series]
    classes: Sequence[str]
    x_label: str
    form: Form
    height: float = HEIGHT
    shades: bool = False

    def legend(self) -> list[tuple[str, int, str]]:
        """The colour's class, the shape's number and the name of each series."""
        if self.shades:
            return [(f"q{min(each.colour, SHADES - 1)}", _SQUARE, each.name) for each in self.series]
        return [(each.style, each.mark, each.name) for each in self.series]

    def to_html(self) -> str:
        """A figure with a title, a legend, and its numbers as a table for those who cannot see it."""
        items = "".join(f"<li>{legend_key(style, mark)}{escape(name)}</li>" for style, mark, name in self.legend())
        small = f"<small>{escape(self.note)}</small>" if self.note else ""
        label = escape(self.title, quote=True)
        numbers = self._table()
        return (
            f'<figure class="chart"><figcaption>{escape(self.title)}{small}</figcaption>'
            f'<svg role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {self.height:g}">{self.drawing}</svg>'
            f'<ul class="legend">{items}</ul>'
            f"<details class='numbers'><summary>The numbers</summary>{numbers}</details></figure>"
        )

    def _table(self) -> str:
        """The numbers: a row for each class, a column for each series."""
        values = [{point.x: point.y for point in each.points} for each in self.series]
        head = "".join(f'<th scope="col">{escape(each.name)}</th>' for each in self.series)
        rows = "".join(
            f'<tr><th scope="row">{escape(name)}</th>'
            + "".join(f"<td>{escape(self.form(of[name])) if name in of else ''}</td>" for of in values)
            + "</tr>"
            for name in self.classes
        )
        first = f'<th scope="col">{escape(self.x_label)}</th>' if self.x_label else "<td></td>"
        return f'<div class="wide"><table><thead><tr>{first}{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def legend_key(style: str, mark: int) -> str:
    """The small mark of a series."""
    return f'<svg class="key {style}" viewBox="-6 -6 12 12" aria-hidden="true"><use href="#mark-{mark}"/></svg>'


def mark_shapes() -> str:
    """The shapes that keys refer to."""
    shapes = "".join(f'<path id="mark-{number}" d="{shape}"/>' for number, shape in enumerate(MARKS))
    return f'<svg class="shapes" aria-hidden="true"><defs>{shapes}</defs></svg>'


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    classes: Sequence[str],
    x_label: str,
    y_label: str,
    note: str = "",
    log: bool = False,
    form: Form = lambda value: f"{value:.4g}",
) -> Chart:
    """Lines with marks."""
    heights = [point.y for each in series for point in each.points]
    y_ticks = log_ticks(heights) if log else ticks([*heights, 0.0])
    place_y = _scale(y_ticks, TOP, HEIGHT - BOTTOM, log=log, downward=True)
    x_ticks, place_x = _x_axis(classes)
    parts = [_frame(x_ticks, y_ticks, place_y, x_label, y_label, form)]
    for each in series:
        spots = [(place_x(point.x), place_y(max(point.y, y_ticks[0])), point) for point in each.points]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in spots)
        broken = " broken" if each.colour >= COLOURS else ""
        parts.append(f'<path class="line {each.style}{broken}" d="{path}"/>' if spots else "")
        parts += [_mark(x, y, each, point, form) for x, y, point in spots]
    return Chart(title, note, "".join(parts), series, classes, x_label, form)


def bar_chart(
    title: str,
    series: Sequence[Series],
    *,
    classes: Sequence[str],
    x_label: str,
    y_label: str,
    note: str = "",
    form: Form = lambda value: f"{value:.4g}",
) -> Chart:
    """Bars side by side for each class."""
    y_ticks = ticks([0.0, *(point.y for each in series for point in each.points)])
    place_y = _scale(y_ticks, TOP, HEIGHT - BOTTOM, downward=True)
    x_ticks, place_x = _x_axis(classes)
    room = 0.8 * (WIDTH - LEFT - RIGHT) / max(1, len(classes))
    width = room / max(1, len(series))
    parts = [_frame(x_ticks, y_ticks, place_y, x_label, y_label, form)]
    for number, each in enumerate(series):
        for point in each.points:
            x, y = place_x(point.x) - room / 2 + number * width, place_y(point.y)
            tip = escape(point.note or f"{each.name}, {point.x}: {form(point.y)}", quote=True)
            parts.append(
                f'<rect class="bar {each.style}" x="{x:.1f}" y="{y:.1f}" width="{max(width - 1, 0.8):.1f}" '
                f'height="{max(HEIGHT - BOTTOM - y, 0):.1f}" data-tip="{tip}"><title>{tip}</title></rect>'
            )
    return Chart(title, note, "".join(parts), series, classes, x_label, form)


def share_bars(
    title: str, rows: Mapping[str, Mapping[str, int]], categories: Sequence[str], *, note: str = ""
) -> Chart:
    """For each row its counts as parts of one bar, in shades from the first of the categories to the last."""
    categories = [name for name in categories if any(counts.get(name) for counts in rows.values())]
    parts = []
    for row, (name, counts) in enumerate(rows.items()):
        total, x, top = sum(counts.values()) or 1, 0.0, 18 + _PITCH * row
        parts.append(f'<text class="name" x="0" y="{top - 4}">{escape(name)}</text>')
        for category in categories:
            if not (count := counts.get(category, 0)):
                continue
            width = WIDTH * count / total
            shade = min(categories.index(category), SHADES - 1)
            tip = escape(f"{name}: {category} {count} of {total} ({100 * count / total:.1f} %)", quote=True)
            parts.append(
                f'<rect class="bar q{shade}" x="{x:.1f}" y="{top}" width="{max(width - 1, 0.5):.1f}" height="16" '
                f'data-tip="{tip}"><title>{tip}</title></rect>'
            )
            if width > 50:
                share = f"{100 * count / total:.1f} %"
                parts.append(f'<text class="inside q{shade}" x="{x + 6:.1f}" y="{top + 12}">{share}</text>')
            x += width
    series = [
        Series(category, [Point(name, counts.get(category, 0)) for name, counts in rows.items()], number)
        for number, category in enumerate(categories)
    ]
    height = _PITCH * len(rows)
    return Chart(title, note, "".join(parts), series, list(rows), "", lambda value: f"{value:g}", height, shades=True)


def ticks(values: Sequence[float], most: int = 6) -> list[float]:
    """Round numbers that span the values.

    >>> ticks([0, 46.1])
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    """
    low, high = min(values), max(values)
    if high - low < 1e-6:
        high = low + 1.0
    power = 10.0 ** max(math.floor(math.log10(high - low)), -6)
    step = next(
        power * factor for factor in (0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5, 10) if (high - low) / power / factor < most
    )
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * k, 10) for k in range(first, last + 1)]


def log_ticks(values: Sequence[float]) -> list[float]:
    """Powers of ten that span the positive values.

    >>> log_ticks([0.02, 3])
    [0.01, 0.1, 1.0, 10.0]
    """
    positive = [value for value in values if value > 0] or [1.0]
    low, high = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
    return [10.0**k for k in range(low, max(high, low + 1) + 1)]


def _scale(span: Sequence[float], low: float, high: float, *, log: bool = False, downward: bool = False) -> Scale:
    first, last = (math.log10(span[0]), math.log10(span[-1])) if log else (span[0], span[-1])

    def place(value: float) -> float:
        share = ((math.log10(value) if log else value) - first) / ((last - first) or 1.0)
        return high - share * (high - low) if downward else low + share * (high - low)

    return place


def _x_axis(classes: Sequence[str]) -> tuple[list[tuple[float, str]], Callable[[str], float]]:
    """The places and labels below the axis, and the place of a class; of many classes only some have their label."""
    room = (WIDTH - RIGHT - LEFT) / max(1, len(classes))
    places = {name: LEFT + room * (number + 0.5) for number, name in enumerate(classes)}
    step = -(-len(classes) // _MOST_LABELS) or 1
    return [(places[name], name) for name in classes[::step]], places.__getitem__


def _frame(
    x_ticks: Sequence[tuple[float, str]],
    y_ticks: Sequence[float],
    place_y: Scale,
    x_label: str,
    y_label: str,
    form: Form,
) -> str:
    bottom = HEIGHT - BOTTOM
    parts = [f'<path class="axis" d="M{LEFT} {bottom}H{WIDTH - RIGHT}"/>']
    for tick in y_ticks:
        y = place_y(tick)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="end" x="{LEFT - 6}" y="{y + 4:.1f}">{escape(form(tick))}</text>')
    parts += [f'<text class="middle" x="{x:.1f}" y="{bottom + 17}">{escape(name)}</text>' for x, name in x_ticks]
    parts.append(f'<text class="middle label" x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}">{escape(x_label)}</text>')
    middle = (TOP + bottom) / 2
    parts.append(f'<text class="middle label" transform="translate(11 {middle}) rotate(-90)">{escape(y_label)}</text>')
    return "".join(parts)


def _mark(x: float, y: float, series: Series, point: Point, form: Form) -> str:
    tip = escape(point.note or f"{series.name}, {point.x}: {form(point.y)}", quote=True)
    shape = MARKS[series.mark]
    return (
        f'<g class="mark {series.style}" transform="translate({x:.1f} {y:.1f})" data-tip="{tip}">'
        f'<title>{tip}</title><circle class="reach" r="11"/><path d="{shape}"/></g>'
    )
