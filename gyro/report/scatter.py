"""A chart with a point for each bag, above and below zero.

scatter_chart  series of spots, whose means by class are the numbers of the figure
Spot           a place across and up, as numbers, with what is said when it is pointed at
Halves         what a point above zero and one below it means
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gyro.report.figures import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axes, Figure, Series, draw_mark, ticks
from gyro.report.markup import Markup, element, join

_BESIDE = 2.5  # points of the next series stand so far to the right, so that none hides another


class Spot(NamedTuple):
    """A point of the chart."""

    x: float
    y: float
    note: str


class Halves(NamedTuple):
    """The words above the line of zero, and below."""

    above: str
    below: str


class _Frame(NamedTuple):
    """Where numbers stand: across from the first tick to the last, up likewise."""

    across: Sequence[float]
    up: Sequence[float]

    def x(self, value: float) -> float:
        share = (value - self.across[0]) / (self.across[-1] - self.across[0])
        return LEFT + 8 + share * (WIDTH - RIGHT - LEFT - 16)

    def y(self, value: float) -> float:
        share = (value - self.up[0]) / (self.up[-1] - self.up[0])
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    def drawing(self, axes: Axes, halves: Halves) -> Markup:
        """The grid, the line of zero and the labels."""
        bottom, middle, end = HEIGHT - BOTTOM, (TOP + HEIGHT - BOTTOM) / 2, WIDTH - RIGHT
        parts = []
        for tick in self.up:
            y = self.y(tick)
            style = "grid" if tick else "axis"
            parts.append(element("path", class_=style, d=f"M{LEFT} {y:.1f}H{end}"))
            parts.append(element("text", axes.form(tick), class_="end", x=LEFT - 6, y=f"{y + 4:.1f}"))
        for tick in (tick for tick in self.across if tick == round(tick)):  # a bag has a whole number of tokens
            parts.append(element("text", f"{tick:g}", class_="middle", x=f"{self.x(tick):.1f}", y=bottom + 17))
        zero = self.y(0.0)
        if zero - TOP > 18:
            parts.append(element("text", halves.above, class_="end label", x=end, y=TOP + 12))
        if bottom - zero > 18:
            parts.append(element("text", halves.below, class_="end label", x=end, y=bottom - 6))
        parts.append(element("text", axes.x_label, class_="middle label", x=(LEFT + WIDTH) / 2, y=HEIGHT - 6))
        turned = f"translate(11 {middle}) rotate(-90)"
        parts.append(element("text", axes.y_label, class_="middle label", transform=turned))
        return join(parts)


def scatter_chart(
    title: str,
    spots: Sequence[Sequence[Spot]],
    series: Sequence[Series],
    axes: Axes,
    halves: Halves,
    *,
    note: str = "",
) -> Figure:
    """The spots of each series; `series` has their names, colours, and means by the classes of the axes."""
    of_all = [spot for each in spots for spot in each]
    frame = _Frame(ticks([spot.x for spot in of_all]), ticks([*(spot.y for spot in of_all), 0.0]))
    parts = [frame.drawing(axes, halves)]
    for number, (each, own) in enumerate(zip(series, spots, strict=True)):
        aside = _BESIDE * (number - (len(series) - 1) / 2)
        parts += [draw_mark(frame.x(spot.x) + aside, frame.y(spot.y), each.key, spot.note) for spot in own]
    return Figure(title, note, join(parts), series, axes.classes, axes.x_label, axes.form)
