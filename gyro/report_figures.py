"""Charts as inline SVG that follow the colours of the page.

line_chart  series over numbers or named classes, with a linear or logarithmic height
bar_chart   groups of bars over named classes
share_bars  a bar a row, divided into shares
Series      a name and its points
Point       one point, with what is said when it is pointed at

Every chart is a <figure> with a title, a legend, and its numbers as a table for those who cannot see it. Colours are
the classes s0 to s7 of the page's style sheet, shades q0 to q4; each series also has a mark of its own.
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
_MARKS = (
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
    "M-3.2-3.2h6.4v6.4h-6.4z",
    "M0-4.2l4 7.2h-8z",
    "M0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",
)

Scale = Callable[[float], float]


class Point(NamedTuple):
    """A place on the x axis (a number, or the name of a class), a height, and what to say of it."""

    x: float | str
    y: float
    note: str = ""


@dataclass(frozen=True)
class Series:
    """A line or a set of bars; `colour` is its number among all systems of the page."""

    name: str
    points: Sequence[Point]
    colour: int = 0


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    x_label: str,
    y_label: str,
    note: str = "",
    classes: Sequence[str] = (),
    log: bool = False,
    form: Callable[[float], str] = lambda value: f"{value:.4g}",
) -> str:
    """Lines with marks; with `classes` the x axis has these names, otherwise numbers."""
    heights = [point.y for each in series for point in each.points]
    y_ticks = log_ticks(heights) if log else ticks([*heights, 0.0])
    place_y = _scale(y_ticks, TOP, HEIGHT - BOTTOM, log=log, downward=True)
    x_ticks, place_x = _x_axis([point.x for each in series for point in each.points], classes)
    parts = [_frame(x_ticks, y_ticks, place_y, x_label, y_label, form)]
    for each in series:
        spots = [(place_x(point.x), place_y(max(point.y, y_ticks[0])), point) for point in each.points]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in spots)
        parts.append(f'<path class="line s{each.colour % COLOURS}" d="{path}"/>' if spots else "")
        parts += [_mark(x, y, each, point, form) for x, y, point in spots]
    return _figure(title, note, "".join(parts), series, x_label, form)


def bar_chart(
    title: str,
    series: Sequence[Series],
    *,
    classes: Sequence[str],
    x_label: str,
    y_label: str,
    note: str = "",
    form: Callable[[float], str] = lambda value: f"{value:.4g}",
) -> str:
    """Bars side by side for each class."""
    y_ticks = ticks([0.0, *(point.y for each in series for point in each.points)])
    place_y = _scale(y_ticks, TOP, HEIGHT - BOTTOM, downward=True)
    x_ticks, place_x = _x_axis([], classes)
    room = 0.8 * (WIDTH - LEFT - RIGHT) / max(1, len(classes))
    width = room / max(1, len(series))
    parts = [_frame(x_ticks, y_ticks, place_y, x_label, y_label, form)]
    for number, each in enumerate(series):
        for point in each.points:
            x, y = place_x(point.x) - room / 2 + number * width, place_y(point.y)
            tip = escape(point.note or f"{each.name}, {point.x}: {form(point.y)}", quote=True)
            parts.append(
                f'<rect class="bar s{each.colour % COLOURS}" x="{x:.1f}" y="{y:.1f}" width="{max(width - 1, 0.8):.1f}" '
                f'height="{max(HEIGHT - BOTTOM - y, 0):.1f}" data-tip="{tip}"><title>{tip}</title></rect>'
            )
    return _figure(title, note, "".join(parts), series, x_label, form)


def share_bars(title: str, rows: Mapping[str, Mapping[str, int]], categories: Sequence[str], *, note: str = "") -> str:
    """For each row its counts as parts of one bar, in shades from the first of the categories to the last."""
    categories = [name for name in categories if any(counts.get(name) for counts in rows.values())]
    parts = []
    for row, (name, counts) in enumerate(rows.items()):
        total, x, top = sum(counts.values()) or 1, 0.0, 18 + 44 * row
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
            if width > 44:
                share = f"{100 * count / total:.1f} %"
                parts.append(f'<text class="inside q{shade}" x="{x + 6:.1f}" y="{top + 12}">{share}</text>')
            x += width
    series = [
        Series(category, [Point(name, counts.get(category, 0)) for name, counts in rows.items()], number)
        for number, category in enumerate(categories)
    ]
    return _figure(title, note, "".join(parts), series, "", lambda value: f"{value:g}", 44 * len(rows) - 4, shades=True)


def ticks(values: Sequence[float], most: int = 6, *, whole: bool = False) -> list[float]:
    """Round numbers that span the values, `whole` ones if need be.

    >>> ticks([0, 46.1])
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    """
    low, high = min(values), max(values)
    if high - low < 1e-6:
        high = low + 1.0
    power = 10.0 ** max(math.floor(math.log10(high - low)), 0 if whole else -6)
    steps = [power * factor for factor in (0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5, 10)]
    step = next(step for step in steps if (high - low) / step < most and not (whole and step % 1))
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


def _x_axis(
    values: Sequence[float | str], classes: Sequence[str]
) -> tuple[list[tuple[float, str]], Callable[..., float]]:
    """The places and labels below the axis, and the place of a value."""
    begin, end = LEFT, WIDTH - RIGHT
    if classes:
        room = (end - begin) / len(classes)
        places = {name: begin + room * (number + 0.5) for number, name in enumerate(classes)}
        return [(place, name) for name, place in places.items()], places.__getitem__
    span = ticks([float(value) for value in values] or [0.0, 1.0], 8, whole=True)
    place = _scale(span, begin + 8, end - 8)
    return [(place(tick), f"{tick:g}") for tick in span], place


def _frame(
    x_ticks: Sequence[tuple[float, str]],
    y_ticks: Sequence[float],
    place_y: Scale,
    x_label: str,
    y_label: str,
    form: Callable[[float], str],
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


def _mark(x: float, y: float, series: Series, point: Point, form: Callable[[float], str]) -> str:
    tip = escape(point.note or f"{series.name}, {point.x}: {form(point.y)}", quote=True)
    shape = _MARKS[series.colour % len(_MARKS)]
    return (
        f'<g class="mark s{series.colour % COLOURS}" transform="translate({x:.1f} {y:.1f})" data-tip="{tip}">'
        f'<title>{tip}</title><circle class="reach" r="11"/><path d="{shape}"/></g>'
    )


def _figure(
    title: str,
    note: str,
    drawing: str,
    series: Sequence[Series],
    x_label: str,
    form: Callable[[float], str],
    height: float = HEIGHT,
    *,
    shades: bool = False,
) -> str:
    legend = ""
    for each in series:
        colour = f"q{min(each.colour, SHADES - 1)}" if shades else f"s{each.colour % COLOURS}"
        mark = _MARKS[1 if shades else each.colour % len(_MARKS)]
        key = f'<svg class="key {colour}" viewBox="-6 -6 12 12" aria-hidden="true"><path d="{mark}"/></svg>'
        legend += f"<li>{key}{escape(each.name)}</li>"
    small = f"<small>{escape(note)}</small>" if note else ""
    return (
        f'<figure class="chart"><figcaption>{escape(title)}{small}</figcaption>'
        f'<svg role="img" aria-label="{escape(title, quote=True)}" viewBox="0 0 {WIDTH} {height:g}">{drawing}</svg>'
        f'<ul class="legend">{legend}</ul>'
        f"<details class='numbers'><summary>The numbers</summary>{_table(series, x_label, form)}</details></figure>"
    )


def _table(series: Sequence[Series], x_label: str, form: Callable[[float], str]) -> str:
    """The numbers of a chart: a row for each place on the x axis, a column for each series."""
    places = list(dict.fromkeys(point.x for each in series for point in each.points))
    if all(isinstance(place, int | float) for place in places):
        places.sort()
    values = [{point.x: point.y for point in each.points} for each in series]
    head = "".join(f'<th scope="col">{escape(each.name)}</th>' for each in series)
    rows = "".join(
        f'<tr><th scope="row">{escape(f"{place:g}" if isinstance(place, int | float) else place)}</th>'
        + "".join(f"<td>{escape(form(of[place])) if place in of else ''}</td>" for of in values)
        + "</tr>"
        for place in places
    )
    first = f'<th scope="col">{escape(x_label)}</th>' if x_label else "<td></td>"
    return f'<div class="wide"><table><thead><tr>{first}{head}</tr></thead><tbody>{rows}</tbody></table></div>'
