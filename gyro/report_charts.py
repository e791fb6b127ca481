"""The charts of a report.

score_charts   scores and distortion of a group's systems by bag size
search_charts  time, memory and phrases of runs by bag size, proofs and fallback rungs
proof_counts   how many optima of each run are proved
rung_counts    which fallback rungs the orders of each run come from; `rung_order` has the rungs from the strictest on
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from gyro.evaluation import class_order
from gyro.metric import DISTORTION_BINS, DISTORTION_LABELS, METRICS
from gyro.report_data import Group, Member, SizePoint
from gyro.report_figures import Chart, Point, Series, bar_chart, line_chart, share_bars
from gyro.report_tables import seconds_text
from gyro.run_folder import Entry

Colours = Mapping[str, int]

PROOFS = ("proved", "cut, each run proved", "not proved", "failed")
_MOST_BARS = 4  # systems side by side, before bars are too thin to be told apart
_RUNGS = ("rules", "pruned less", "2-gram rules", "1-gram rules")


def score_charts(group: Group, colours: Colours) -> list[Chart]:
    """None where the bags have no references."""
    if group.comparison is None:
        return []
    return [
        *(_size_chart(group, key, colours) for key in ("bleu", "exact_match", "kendall")),
        _distortions(group, colours),
    ]


def search_charts(members: Sequence[Member], colours: Colours) -> list[Chart]:
    """Of the runs that searched, or of all where there are only others: stages after it take another kind of time."""
    runs = [member for member in members if "algorithm" in member.settings] or list(members)
    charts = [
        _by_size(
            "Time a bag by bag size",
            "median of the bags of a size, those over 20 tokens in fives",
            runs,
            colours,
            lambda point: point.seconds,
            lambda point: f"median {_plain(point.seconds)}, slowest {_plain(point.slowest)}, {point.bags} bags",
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
        note = "under the rules and model in force; long sentences are cut into runs"
        charts.append(share_bars("Optimum proved", proofs, PROOFS, note=note))
    if rungs := rung_counts(runs):
        note = "the fallback rungs of the grammar"
        charts.append(share_bars("Which rules gave the order", rungs, rung_order(rungs), note=note))
    return [chart for chart in charts if chart is not None]


def proof_counts(runs: Sequence[Member]) -> dict[str, dict[str, int]]:
    """For each run that tells of proofs, its bags by what is proved of them."""
    told = {member.name: member.entries for member in runs if any("proved" in entry.result for entry in member.entries)}
    return {name: dict(Counter(_proof(entry) for entry in entries)) for name, entries in told.items()}


def _proof(entry: Entry) -> str:
    proved, cut, not_proved, failed = PROOFS
    if not entry.ok:
        return failed
    if entry.result.get("proved") is True:
        return proved
    runs = entry.result.get("runs") or []
    return cut if runs and all(run.get("proved") is True for run in runs) else not_proved


def rung_counts(runs: Sequence[Member]) -> dict[str, dict[str, int]]:
    """For each run that tells of rungs, its orders by the rung that gave them."""
    rows = {}
    for member in runs:
        counts = Counter(str(record["rung"]) for record in member.records() if "rung" in record)
        if counts:
            rows[member.name] = dict(counts)
    return rows


def rung_order(rows: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Known rungs from the strictest on, then any others."""
    found = dict.fromkeys(name for counts in rows.values() for name in counts)
    return [*(name for name in _RUNGS if name in found), *(name for name in found if name not in _RUNGS)]


def _one_of_each(runs: Sequence[Member]) -> list[Member]:
    """Runs with the same phrases on the same bags have the same line: the first stands for them."""
    first: dict[tuple[object, ...], Member] = {}
    for member in runs:
        first.setdefault(tuple((point.size, point.phrases) for point in member.by_size()), member)
    return list(first.values())


def _size_chart(group: Group, key: str, colours: Colours) -> Chart:
    assert group.comparison is not None
    metric = METRICS[key]
    evaluations = group.comparison.evaluations
    series = [
        Series(
            name,
            [
                Point(
                    row.sizes,
                    getattr(row, key),
                    f"{name}, {row.sizes} tokens: {getattr(row, key):.{metric.digits}f} ({row.sentences} sentences)",
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
    return line_chart(title, series, x_label="tokens in the bag", y_label=metric.label + unit, classes=classes)


def _distortions(group: Group, colours: Colours) -> Chart:
    assert group.comparison is not None
    series = [
        Series(
            name,
            [
                Point(f"{end:g}", 100 * share, f"{name}, {label}: {100 * share:.1f} % of the words")
                for end, label, share in zip(DISTORTION_BINS, DISTORTION_LABELS, evaluation.distortions, strict=True)
            ],
            colours[name],
        )
        for name, evaluation in group.comparison.evaluations.items()
    ]
    draw = bar_chart if len(series) <= _MOST_BARS else line_chart
    return draw(
        "How far words stand from their places",
        series,
        classes=[f"{end:g}" for end in DISTORTION_BINS],
        x_label="distance up to this share of the sentence",
        y_label="words (%)",
        form=lambda value: f"{value:.3g}",
    )


def _by_size(
    title: str,
    note: str,
    runs: Sequence[Member],
    colours: Colours,
    value: Callable[[SizePoint], float | None],
    told: Callable[[SizePoint], str],
    y_label: str,
) -> Chart | None:
    """One line a run over the sizes; None when no run has the value. Times below a millisecond count as one."""
    series: list[Series] = []
    sizes: dict[float, str] = {}
    for member in runs:
        sizes |= {point.size: point.sizes for point in member.by_size() if value(point) is not None}
        points = [
            Point(point.sizes, max(found, 1e-3), f"{member.name}, {point.sizes} tokens: {told(point)}")
            for point in member.by_size()
            if (found := value(point)) is not None
        ]
        if points:
            series.append(Series(member.name, points, colours[member.name]))
    if not series:
        return None
    classes = [sizes[size] for size in sorted(sizes)]
    label = "tokens in the bag"
    return line_chart(title, series, x_label=label, y_label=y_label, note=note, classes=classes, log=True, form=_short)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _plain(seconds: float) -> str:
    return seconds_text(seconds).replace("&nbsp;", " ")
