"""Charts as inline SVG that follow the colours of the page.

line_chart  series over named classes, with a linear or logarithmic height
bar_chart   groups of bars over named classes
share_bars  a bar a row, divided into shares
draw_mark   one point of a series
Figure      what they give: a drawing, and as `to_html` a figure with its legend and its numbers as a table
Axes        the classes, the labels and the kind of height of a line or bar chart
Series      a name and its points
Point       one point, with what is said when it is pointed at

Colours are the classes s0 to s7 of the page's style sheet, shades q0 to q4. Each series also has a mark of its own, and
from the ninth on, when the colours come round again, another mark and a broken line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from gyro.report.markup import Markup, element, join, part

WIDTH, HEIGHT = 460, 280
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 14, 44
COLOURS, SHADES = 8, 5
INK = -1  # the colour of what is no system, like the reference
# Circle, square, triangle, diamond: paths around (0, 0).
MARKS = (
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
    "M-3.2-3.2h6.4v6.4h-6.4z",
    "M0-4.2l4 7.2h-8z",
    "M0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",
)
_SQUARE, _MOST_LABELS, _PITCH = 1, 8, 37

Form = Callable[[float], str]


class Point(NamedTuple):
    """A place on the x axis, the name of a class; a height; and what to say of it."""

    x: str
    y: float
    note: str = ""


class Key(NamedTuple):
    """The small mark of a series in legends and tables: the class of its colour and the number of its shape."""

    style: str
    mark: int


@dataclass(frozen=True)
class Series:
    """A line or a set of bars; `colour` is its number among all systems of the page, or INK."""

    name: str
    points: Sequence[Point]
    colour: int = 0

    @property
    def key(self) -> Key:
        """Colour and shape, which together differ among 32 series; what is no system is drawn in ink."""
        if self.colour == INK:
            return Key("ink", _SQUARE)
        return Key(f"s{self.colour % COLOURS}", (self.colour + self.colour // COLOURS) % len(MARKS))


class LegendEntry(NamedTuple):
    """One series in the legend of a figure."""

    key: Key
    name: str


@dataclass(frozen=True)
class Figure:
    """A drawing of `height` × WIDTH with what belongs to it; `shades` are for parts of a whole."""

    title: str
    note: str
    drawing: Markup
    series: Sequence[Series]
    classes: Sequence[str]
    x_label: str
    form: Form
    height: float = HEIGHT
    shades: bool = False

    def legend(self) -> list[LegendEntry]:
        """The mark and the name of each series; nothing where one alone needs no telling apart."""
        if len(self.series) < 2 and not self.shades:
            return []
        if self.shades:
            return [LegendEntry(Key(_shade(each.colour), _SQUARE), each.name) for each in self.series]
        return [LegendEntry(each.key, each.name) for each in self.series]

    def to_html(self) -> Markup:
        """A figure with a title, a legend, and its numbers as a table for those who cannot see it."""
        return part("figure.html", "figure", figure=self, rows=self._rows(), view_box=f"0 0 {WIDTH} {self.height:g}")

    def _rows(self) -> list[tuple[str, list[str]]]:
        """The numbers: for each class its name and a cell for each series."""
        values = [{point.x: point.y for point in each.points} for each in self.series]
        return [(name, [self.form(of[name]) if name in of else "" for of in values]) for name in self.classes]


@dataclass(frozen=True)
class Axes:
    """The axes of a line or bar chart: classes across, numbers up; `form` writes a number."""

    classes: Sequence[str]
    x_label: str
    y_label: str
    log: bool = False
    form: Form = lambda value: f"{value:.4g}"

    def over(self, series: Iterable[Series]) -> _Scaled:
        """These axes with heights that span the points of the series and, unless they are logarithmic, 0."""
        heights = [point.y for each in series for point in each.points]
        return _Scaled(self, log_ticks(heights) if self.log else ticks([*heights, 0.0]))


@dataclass(frozen=True)
class _Scaled:
    """Axes whose numbers go from the first tick to the last: where everything stands in the drawing."""

    axes: Axes
    ticks: Sequence[float]

    @property
    def room(self) -> float:
        """The width of a class."""
        return (WIDTH - RIGHT - LEFT) / max(1, len(self.axes.classes))

    @cached_property
    def _places(self) -> dict[str, float]:
        return {name: LEFT + self.room * (number + 0.5) for number, name in enumerate(self.axes.classes)}

    def x(self, name: str) -> float:
        """The middle of a class."""
        return self._places[name]

    def y(self, value: float) -> float:
        """The height of a number, counted downwards; one below the first tick stands on the axis."""
        scale = math.log10 if self.axes.log else float
        first, last = scale(self.ticks[0]), scale(self.ticks[-1])
        share = (scale(max(value, self.ticks[0])) - first) / ((last - first) or 1.0)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    def tip(self, series: Series, point: Point) -> str:
        """What is said of a point."""
        return point.note or f"{series.name}, {point.x}: {self.axes.form(point.y)}"

    def frame(self) -> Markup:
        """The axis, the grid and the labels; of many classes only some have their label."""
        bottom, middle = HEIGHT - BOTTOM, (TOP + HEIGHT - BOTTOM) / 2
        parts = [element("path", class_="axis", d=f"M{LEFT} {bottom}H{WIDTH - RIGHT}")]
        for tick in self.ticks:
            y = self.y(tick)
            parts.append(element("path", class_="grid", d=f"M{LEFT} {y:.1f}H{WIDTH - RIGHT}"))
            parts.append(element("text", self.axes.form(tick), class_="end", x=LEFT - 6, y=f"{y + 4:.1f}"))
        step = -(-len(self.axes.classes) // _MOST_LABELS) or 1
        for name in self.axes.classes[::step]:
            parts.append(element("text", name, class_="middle", x=f"{self.x(name):.1f}", y=bottom + 17))
        parts.append(element("text", self.axes.x_label, class_="middle label", x=(LEFT + WIDTH) / 2, y=HEIGHT - 6))
        turned = f"translate(11 {middle}) rotate(-90)"
        parts.append(element("text", self.axes.y_label, class_="middle label", transform=turned))
        return join(parts)


def line_chart(title: str, series: Sequence[Series], axes: Axes, *, note: str = "") -> Figure:
    """Lines with marks."""
    scaled = axes.over(series)
    parts = [scaled.frame()]
    for each in series:
        spots = [(scaled.x(point.x), scaled.y(point.y), point) for point in each.points]
        if spots:
            kind = f"line {each.key.style}" + (" broken" if each.colour >= COLOURS or each.colour == INK else "")
            parts.append(element("path", class_=kind, d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in spots)))
        parts += [draw_mark(x, y, each.key, scaled.tip(each, point)) for x, y, point in spots]
    return Figure(title, note, join(parts), series, axes.classes, axes.x_label, axes.form)


def bar_chart(title: str, series: Sequence[Series], axes: Axes, *, note: str = "") -> Figure:
    """Bars side by side for each class."""
    scaled = axes.over(series)
    room = 0.8 * scaled.room
    width = room / max(1, len(series))
    parts = [scaled.frame()]
    for number, each in enumerate(series):
        for point in each.points:
            x, y = scaled.x(point.x) - room / 2 + number * width, scaled.y(point.y)
            place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{max(width - 1, 0.8):.1f}"}
            height = f"{max(HEIGHT - BOTTOM - y, 0):.1f}"
            parts.append(_bar(each.key.style, scaled.tip(each, point), **place, height=height))
    return Figure(title, note, join(parts), series, axes.classes, axes.x_label, axes.form)


def share_bars(
    title: str, rows: Mapping[str, Mapping[str, int]], categories: Sequence[str], *, note: str = "", of: str = "bags"
) -> Figure:
    """For each row its counts as parts of one bar, in shades from the first of the categories to the last.

    `of` names what is counted. A category keeps its shade where another has no counts, so that charts with the same
    categories can be compared.
    """
    shown = [(n, name) for n, name in enumerate(categories) if any(counts.get(name) for counts in rows.values())]
    parts = []
    for row, (name, counts) in enumerate(rows.items()):
        total, x, top = sum(counts.values()) or 1, 0.0, 18 + _PITCH * row
        parts.append(element("text", name, class_="name", x=0, y=top - 4))
        for number, category in shown:
            if not (count := counts.get(category, 0)):
                continue
            width, share, shade = WIDTH * count / total, f"{100 * count / total:.0f} %", _shade(number)
            tip = f"{name}: {category} {count} of {total} {of} ({share})"
            parts.append(_bar(shade, tip, x=f"{x:.1f}", y=top, width=f"{max(width - 1, 0.5):.1f}", height=16))
            # As much as there is room for: how many, and their share.
            told = next((text for text in (f"{count} · {share}", str(count)) if width > 7 * len(text) + 10), None)
            if told:
                parts.append(element("text", told, class_=f"inside {shade}", x=f"{x + 6:.1f}", y=top + 12))
            x += width
    series = [
        Series(category, [Point(name, counts.get(category, 0)) for name, counts in rows.items()], number)
        for number, category in shown
    ]
    height = _PITCH * len(rows)
    return Figure(title, note, join(parts), series, list(rows), "", lambda value: f"{value:g}", height, shades=True)


def _shade(number: int) -> str:
    """The class of a shade; the last is that of all further parts."""
    return f"q{min(number, SHADES - 1)}"


def _bar(style: str, tip: str, **place: object) -> Markup:
    return element("rect", element("title", tip), class_=f"bar {style}", **place, data_tip=tip)


def draw_mark(x: float, y: float, key: Key, tip: str) -> Markup:
    """The mark of a point, with what is said of it."""
    # The circle makes it easy to point at.
    inside = [element("title", tip), element("circle", class_="reach", r=11), element("path", d=MARKS[key.mark])]
    place = f"translate({x:.1f} {y:.1f})"
    return element("g", join(inside), class_=f"mark {key.style}", transform=place, data_tip=tip)


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
