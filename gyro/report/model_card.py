"""The part of a report on what the models say of output and reference.

model_card     a table of costs, and the figures
model_figures  a point for each bag, and for each run who errs by bag size

gyro.report.model_costs has the numbers, tables.html the HTML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gyro.report.data import Group, Member
from gyro.report.examples import choose
from gyro.report.figures import Axes, Figure, Key, Point, Series, share_bars
from gyro.report.markup import Markup, part
from gyro.report.model_costs import UNKNOWN, VERDICTS, WHOLE, BagCosts, ScoreSummary, neural_weight, summarise
from gyro.report.scatter import Halves, Spot, scatter_chart
from gyro.report.tables import system_key
from gyro.score.evaluation import SIZES, size_classes

Colours = Mapping[str, int]
MOST_SPOTS = 400  # of a run; more only hide each other
_ALL = "all bags"
NONE = "–"


class _Row(NamedTuple):
    """A run under its whole score, with its λ, or under a part of it."""

    name: str
    key: Key
    weight: str
    cells: list[str]


def model_card(group: Group, colours: Colours, sizes: Sequence[int] = SIZES) -> Markup:
    """Empty where no run has a neural model."""
    rows = []
    for member in _with_costs(group):
        for summary in summarise(member.costs):
            is_whole = summary.score == WHOLE
            name, weight = (member.name, f"{neural_weight(member.settings):.4g}") if is_whole else (summary.score, "")
            rows.append(_Row(name, system_key(member.name, colours), weight, _cells(summary)))
    if not rows:
        return Markup()
    head = ["System", "Output, nats a word", "Reference, nats a word", f"Bags where {VERDICTS[0]}", *VERDICTS[1:]]
    if all(row.cells[-1] == NONE for row in rows):
        head, rows = head[:-1], [row._replace(cells=row.cells[:-1]) for row in rows]
    return part("tables.html", "model_costs", head=head, rows=rows, figures=model_figures(group, colours, sizes))


def _with_costs(group: Group) -> list[Member]:
    return [member for member in group.members if any(member.costs)]


def _cells(summary: ScoreSummary) -> list[str]:
    means = [f"{mean:.3f}" if mean is not None else NONE for mean in (summary.output, summary.reference)]
    total = summary.counts.total()
    if summary.counts[UNKNOWN] == total:
        return [*means, *(NONE for _ in VERDICTS[:-1]), str(total)]
    shares = [f"{count} ({100 * count / total:.0f} %)" for count in (summary.counts[name] for name in VERDICTS[:-1])]
    return [*means, *shares, str(summary.counts[UNKNOWN] or NONE)]


def model_figures(group: Group, colours: Colours, sizes: Sequence[int] = SIZES) -> list[Figure]:
    """None where no run has a neural model, or no bag a reference whose cost is known."""
    members = [m for m in _with_costs(group) if any(bag is not None and bag.verdict() != UNKNOWN for bag in m.costs)]
    if not members:
        return []
    classes = size_classes(np.array([len(bag) for bag in group.bags]), sizes)
    numbers = {name: np.flatnonzero(rows).tolist() for name, rows in classes.items()}
    return [_spots(group, members, colours, numbers), *(_who_errs(member, numbers) for member in members)]


def _spots(group: Group, members: Sequence[Member], colours: Colours, classes: Mapping[str, list[int]]) -> Figure:
    """How far the output's cost is from the reference's, a point a bag."""
    spots, series = [], []
    for member in members:
        apart = {n: value for n, bag in enumerate(member.costs) if (value := _apart(bag)) is not None}
        shown = [list(apart)[k] for k in choose(len(apart), MOST_SPOTS)]
        spots.append([_spot(group, member, number, apart[number]) for number in shown])
        means = {name: [apart[n] for n in numbers if n in apart] for name, numbers in classes.items()}
        points = [Point(name, float(np.mean(values))) for name, values in means.items() if values]
        series.append(Series(member.name, points, colours[member.name]))
    axes = Axes(list(classes), "tokens in the bag", "nats a word", form=lambda value: f"{value:.3g}".replace("-", "−"))
    halves = Halves("the search errs", "the model errs")
    note = "a point a bag; the numbers are means by bag size"
    return scatter_chart("Cost of the output minus that of the reference", spots, series, axes, halves, note=note)


def _apart(bag: BagCosts | None) -> float | None:
    """Output minus reference, a word; 0 where they cost the same."""
    if bag is None or bag.output.whole is None or bag.reference.whole is None:
        return None
    return 0.0 if bag.is_same else (bag.output.whole - bag.reference.whole) / max(1, bag.words)


def _spot(group: Group, member: Member, number: int, apart: float) -> Spot:
    bag, costs = group.bags[number], member.costs[number]
    assert costs is not None
    told = f"output {costs.output.whole:.1f}, reference {costs.reference.whole:.1f}"
    return Spot(len(bag), apart, f"{member.name}, bag {bag.id} of {len(bag)} tokens: {told}")


def _who_errs(member: Member, classes: Mapping[str, list[int]]) -> Figure:
    """All bags, then those of each size."""
    bags = member.costs
    rows = {_ALL: _counts(bags)} | {
        f"{name} tokens": _counts([bags[number] for number in numbers]) for name, numbers in classes.items()
    }
    note = "output costs less: the model errs; reference costs less: the search errs"
    return share_bars(f"Who errs, by bag size: {member.name}", rows, VERDICTS, note=note)


def _counts(bags: Sequence[BagCosts | None]) -> dict[str, int]:
    return dict(Counter(bag.verdict() for bag in bags if bag is not None))
