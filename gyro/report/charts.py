"""The charts of a report.

score_charts   scores and distortion of a group's systems by bag size
search_charts  time, memory and phrases of runs by bag size, proofs and fallback rungs
proof_counts   for each run, how many optima are proved
rung_counts    for each run, how many orders come from each fallback rung
rung_order     the rungs from the strictest on
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from gyro.report.data import Group, Member, SizePoint
from gyro.report.figures import Axes, Figure, Point, Series, bar_chart, line_chart, share_bars
from gyro.report.tables import seconds_text
from gyro.run.folder import Entry
from gyro.run.outcome import RUNGS
from gyro.score.evaluation import class_order
from gyro.score.metric import DISTORTION_BINS, DISTORTION_LABELS, METRICS
from gyro.score.significance import Comparison

Colours = Mapping[str, int]

CHARTED = ("bleu", "exact_match", "kendall")  # the metrics that have a chart by bag size
PROOFS = ("proved", "cut, each piece proved", "not proved", "failed")
_MOST_BARS = 4  # systems side by side, before bars are too thin to be told apart


def score_charts(group: Group, colours: Colours) -> list[Figure]:
    """An empty list where the bags have no references; bags of one class of sizes have nothing to show by size."""
    if group.comparison is None:
        return []
    charts = [_size_chart(group.comparison, key, colours) for key in CHARTED]
    return [*(chart for chart in charts if len(chart.classes) > 1), _distortions(group.comparison, colours)]


def search_charts(members: Sequence[Member], colours: Colours) -> list[Figure]:
    """The charts of the runs that searched; of all runs where none did.

    Later stages are left out because their times cannot be compared with those of a search.
    """
    runs = [member for member in members if "algorithm" in member.settings] or list(members)
    charts = [
        _by_size(
            "Time a bag by bag size",
            "median of the bags of a size, those over 20 tokens in fives",
            runs,
            colours,
            lambda point: point.seconds,
            lambda point: (
                f"median {seconds_text(point.seconds)}, slowest {seconds_text(point.slowest)}, {point.bags} bags"
            ),
            "seconds",
        ),
        _by_size(
            "Worst memory by bag size",
            "what the bag's process took for itself",
            runs,
            colours,
            lambda point: point.memory / 2**20,
            lambda point: f"{point.memory / 2**20:.1f} MB at most, {point.bags} bags",
            "MB",
        ),
        _by_size(
            "Phrases by bag size",
            "mean number of the index's phrases that a bag can make",
            _one_of_each(runs),
            colours,
            lambda point: point.phrases,
            lambda point: f"{point.phrases or 0:.0f} phrases on average, {point.bags} bags",
            "phrases",
        ),
    ]
    if proofs := proof_counts(runs):
        note = "bags, under the rules and model in force; long sentences are cut into pieces"
        charts.append(share_bars("Optimum proved", proofs, PROOFS, note=note))
    if rungs := rung_counts(runs):
        note = "bags by the fallback rung of the grammar that ordered them"
        charts.append(share_bars("Which rules gave the order", rungs, rung_order(rungs), note=note))
    return [chart for chart in charts if chart is not None]


def proof_counts(runs: Sequence[Member]) -> dict[str, dict[str, int]]:
    """For each run whose outcomes say what was proved: how many bags there are of each kind in PROOFS."""
    told = {m.name: m.entries for m in runs if any(entry.outcome.proved is not None for entry in m.entries)}
    return {name: dict(Counter(_proof(entry) for entry in entries)) for name, entries in told.items()}


def _proof(entry: Entry) -> str:
    proved, cut, not_proved, failed = PROOFS
    if not entry.ok:
        return failed
    if entry.outcome.is_proved:
        return cut if entry.outcome.pieces else proved
    return not_proved


def rung_counts(runs: Sequence[Member]) -> dict[str, dict[str, int]]:
    """For each run whose records name rungs: how many orders each rung gave."""
    rows = {}
    for member in runs:
        counts = Counter(outcome.rung for outcome in member.outcomes() if outcome.rung is not None)
        if counts:
            rows[member.name] = dict(counts)
    return rows


def rung_order(rows: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Known rungs from the strictest on, then any others."""
    found = dict.fromkeys(name for counts in rows.values() for name in counts)
    return [*(name for name in RUNGS if name in found), *(name for name in found if name not in RUNGS)]


def _one_of_each(runs: Sequence[Member]) -> list[Member]:
    """Runs with the same phrases on the same bags have the same line: the first stands for them."""
    first: dict[tuple[object, ...], Member] = {}
    for member in runs:
        first.setdefault(tuple((point.size, point.phrases) for point in member.by_size()), member)
    return list(first.values())


def _size_chart(comparison: Comparison, key: str, colours: Colours) -> Figure:
    metric, evaluations = METRICS[key], comparison.evaluations
    series = [
        Series(
            name,
            [
                Point(
                    row.sizes,
                    row[key],
                    f"{name}, {row.sizes} tokens: {row[key]:.{metric.digits}f} ({row.sentences} sentences)",
                )
                for row in evaluation.by_size
            ],
            colours[name],
        )
        for name, evaluation in evaluations.items()
    ]
    unit = " (%)" if key == "exact_match" else ""
    classes = class_order(row.sizes for evaluation in evaluations.values() for row in evaluation.by_size)
    title = f"{metric.label[0].upper()}{metric.label[1:]} by bag size"
    return line_chart(title, series, Axes(classes, "tokens in the bag", metric.label + unit))


def _distortions(comparison: Comparison, colours: Colours) -> Figure:
    series = [
        Series(
            name,
            [
                Point(f"{end:g}", 100 * share, f"{name}, {label}: {100 * share:.1f} % of the words")
                for end, label, share in zip(DISTORTION_BINS, DISTORTION_LABELS, evaluation.distortions, strict=True)
            ],
            colours[name],
        )
        for name, evaluation in comparison.evaluations.items()
    ]
    draw = bar_chart if len(series) <= _MOST_BARS else line_chart
    axes = Axes(
        [f"{end:g}" for end in DISTORTION_BINS],
        "distance up to this share of the sentence",
        "words (%)",
        form=lambda value: f"{value:.3g}",
    )
    return draw("How far words stand from their places", series, axes)


def _by_size(
    title: str,
    note: str,
    runs: Sequence[Member],
    colours: Colours,
    value: Callable[[SizePoint], float | None],
    told: Callable[[SizePoint], str],
    y_label: str,
) -> Figure | None:
    """A line for each run over the sizes; None where no run has the value, or there is one size alone.

    On a logarithmic height there is no zero: values below a thousandth (a millisecond) count as that.
    """
    series: list[Series] = []
    sizes: dict[float, str] = {}
    for member in runs:
        if not any(value(point) for point in member.by_size()):
            continue
        sizes |= {point.size: point.sizes for point in member.by_size() if value(point) is not None}
        points = [
            Point(point.sizes, max(found, 1e-3), f"{member.name}, {point.sizes} tokens: {told(point)}")
            for point in member.by_size()
            if (found := value(point)) is not None
        ]
        if points:
            series.append(Series(member.name, points, colours[member.name]))
    if len(sizes) < 2:
        return None
    classes = [sizes[size] for size in sorted(sizes)]
    return line_chart(title, series, Axes(classes, "tokens in the bag", y_label, log=True, form=_short), note=note)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
