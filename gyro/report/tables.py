"""The tables of a report as HTML.

systems_table   every system with every metric, intervals and significance marks
stages_table    what each rescoring stage brought over the one before it
oracles_table   the order of each language model, and the scores of oracles
search_table    time, memory and the size of the lattices
settings_table  the settings in which runs differ, and those in which they do not
versions_table  what the report was made with

tables.html has their HTML.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from gyro.report.data import Group, Member
from gyro.report.figures import Key, Series
from gyro.report.markup import Markup, part
from gyro.score.evaluation import evaluate
from gyro.score.metric import METRICS, Metric
from gyro.score.significance import Comparison, Difference, p_text
from gyro.version import versions

Colours = Mapping[str, int]

_TEMPLATE = "tables.html"
_UNKNOWN = "–"
_SEARCH_HEAD = (
    *("Bags", "Bags failed", "Time, all bags", "Median bag", "95 % of bags within", "Slowest bag", "Peak memory"),
    *("Lattice nodes, median", "Lattice arcs, median"),
)
_MARKS = {"++": "▲▲", "+": "▲", "-": "▼", "--": "▼▼", "": ""}


def system_key(name: str, colours: Colours) -> Key:
    """The mark that a system has in the charts."""
    return Series(name, (), colours[name]).key


# ---- scores


class _Score(NamedTuple):
    """A score with its interval; `kind` and `told` say how it differs from the baseline, where it has a mark."""

    score: str
    interval: str
    is_best: bool
    mark: str = ""
    kind: str = ""
    told: str = ""


class _System(NamedTuple):
    name: str
    key: Key
    is_baseline: bool
    cells: list[_Score]


def systems_table(comparison: Comparison, colours: Colours) -> Markup:
    """Every system with every metric; the best of a column stands out."""
    metrics = list(METRICS.values())
    head = ["System", *(f"{m.label}\N{NO-BREAK SPACE}{'↑' if m.higher_is_better else '↓'}" for m in metrics)]
    best = {m.key: _best(comparison, m) for m in metrics}
    several = len(comparison.evaluations) > 1
    rows = [
        _System(
            name,
            system_key(name, colours),
            several and name == comparison.baseline,
            [_score(comparison, name, metric, best[metric.key]) for metric in metrics],
        )
        for name in comparison.evaluations
    ]
    complaints = [(name, each) for name, of in comparison.evaluations.items() for each in of.complaints()]
    bags = comparison.evaluations[comparison.baseline].sentences
    return part(_TEMPLATE, "systems", head=head, rows=rows, comparison=comparison, complaints=complaints, bags=bags)


def _best(comparison: Comparison, metric: Metric) -> float:
    values = [round(e[metric.key], metric.digits) for e in comparison.evaluations.values()]
    return float(max(values) if metric.higher_is_better else min(values))


def _score(comparison: Comparison, name: str, metric: Metric, best: float) -> _Score:
    text = f"{comparison.evaluations[name][metric.key]:.{metric.digits}f}"
    interval, digits = comparison.intervals[name][metric.key], max(1, metric.digits - 1)
    span = f"{interval.low:.{digits}f}–{interval.high:.{digits}f}"
    is_best = float(text) == best and len(comparison.evaluations) > 1
    mark = comparison.mark(name, metric.key)
    if not mark:
        return _Score(text, span, is_best)
    kind = "better" if mark[0] == "+" else "worse"
    told = difference_text(comparison.differences[name][metric.key], metric.digits)
    return _Score(text, span, is_best, _MARKS[mark], kind, f"{kind} than {comparison.baseline}: {told}")


def difference_text(difference: Difference, digits: int = 2) -> str:
    """A difference in words: "+1.20 (+0.35 to +2.10), p = 0.004"."""
    numbers = (difference.difference, difference.low, difference.high)
    middle, low, high = (f"{value:+.{digits}f}".replace("-", "−") for value in numbers)
    return f"{middle} ({low} to {high}), p {p_text(difference.p)}"


# ---- rescoring


class _Step(NamedTuple):
    """What a stage brought over its input: `kind` is better, worse or even."""

    kind: str
    difference: str
    p: str
    told: str


class _Stage(NamedTuple):
    name: str
    key: Key
    depth: int
    made_by: str
    bleu: str = ""
    exact_match: str = ""
    step: _Step | None = None


def stages_table(group: Group, colours: Colours) -> Markup:
    """Each stage below its input, with what it brought; empty when no run was made from another."""
    rows = []
    for depth, member in group.chains():
        made_by = str(member.settings.get("command") or member.settings.get("algorithm") or "")
        stage = _Stage(member.name, system_key(member.name, colours), depth, made_by)
        if group.comparison is not None:
            scores = group.comparison.evaluations[member.name]
            bleu, exact = f"{scores['bleu']:.2f}", f"{scores['exact_match']:.2f}"
            stage = stage._replace(bleu=bleu, exact_match=exact, step=_step(group.step(member)))
        rows.append(stage)
    return part(_TEMPLATE, "stages", rows=rows) if rows else Markup()


def _step(step: Difference | None) -> _Step | None:
    if step is None:
        return None
    kind = ("better" if step.difference > 0 else "worse") if step.p < 0.05 else "even"
    told = f"{step.difference:+.2f}".replace("-", "−")
    return _Step(kind, told, p_text(step.p), difference_text(step))


def oracles_table(group: Group) -> Markup:
    """Systems by the order of their language model, with their oracles; empty where there is nothing to compare."""
    kinds = list(dict.fromkeys(kind for member in group.members for kind in member.oracles))
    orders = {member.name: order for member in group.members if (order := member.lm_order()) is not None}
    if group.references is None or not (kinds or orders) or group.comparison is None:
        return Markup()
    rows = []
    for member in sorted(group.members, key=lambda m: orders.get(m.name, 99)):
        if member.name not in orders and not member.oracles:
            continue
        scores = [
            f"{evaluate(member.oracles[kind], group.references)['bleu']:.2f}" if kind in member.oracles else ""
            for kind in kinds
        ]
        model = f"{orders[member.name]}-gram" if member.name in orders else ""
        rows.append([member.name, model, f"{group.comparison.evaluations[member.name]['bleu']:.2f}", *scores])
    if not kinds and len(rows) < 2:
        return Markup()  # the settings tell the order of one model by itself
    head = ["System", "Language model", "BLEU", *(f"BLEU of the oracle: {kind}" for kind in kinds)]
    return _plain_table("Language-model orders and oracles", head, rows)


# ---- search


class _Search(NamedTuple):
    name: str
    key: Key
    cells: list[str]


def search_table(members: Sequence[Member], colours: Colours) -> Markup:
    """How long the search of each run took, how much memory, and how large its lattices are."""
    cells = [_search_cells(member) for member in members]
    told = [n for n in range(len(_SEARCH_HEAD)) if any(of[n] != _UNKNOWN for of in cells)]
    rows = [
        _Search(member.name, system_key(member.name, colours), [of[n] for n in told])
        for member, of in zip(members, cells, strict=True)
    ]
    return part(_TEMPLATE, "search", head=["System", *(_SEARCH_HEAD[n] for n in told)], rows=rows)


def _search_cells(member: Member) -> list[str]:
    seconds = [entry.seconds for entry in member.entries]
    memory = max((entry.memory for entry in member.entries), default=0)
    return [
        str(len(seconds)),
        str(sum(not entry.ok for entry in member.entries)),
        f"{sum(seconds):.1f} s",
        seconds_text(median(seconds)),
        seconds_text(float(np.percentile(seconds, 95))),
        seconds_text(max(seconds)),
        f"{memory / 2**20:.0f} MB" if memory >= 2**20 else "< 1 MB" if memory else _UNKNOWN,
        _median_fact(member, "nodes"),
        _median_fact(member, "arcs"),
    ]


def seconds_text(seconds: float) -> str:
    """Seconds, or milliseconds where they are few."""
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _median_fact(member: Member, key: str) -> str:
    values = [value for outcome in member.outcomes() if (value := getattr(outcome, key)) is not None]
    return f"{median(values):,.0f}" if values else _UNKNOWN


# ---- settings and versions


def settings_table(members: Sequence[Member]) -> Markup:
    """What runs differ in, run by run; then what has one value in all runs that have it."""
    runs = [member for member in members if member.run]
    flat = [_flat({"gyro": m.record.get("gyro"), **m.settings, "limits": m.record.get("limits")}) for m in runs]
    values: dict[str, list[str]] = {}
    for key, value in (pair for each in flat for pair in each.items()):
        values.setdefault(key, []).append(value)
    shared = {key: of[0] for key, of in values.items() if (len({*of}) == 1 and len(of) > 1) or len(runs) == 1}
    own = [
        (member.name, [(key, value) for key, value in each.items() if key not in shared])
        for member, each in zip(runs, flat, strict=True)
    ]
    return part(_TEMPLATE, "settings", own=own, common=list(shared.items()))


def _flat(value: Any, place: str = "") -> dict[str, str]:
    """Nested settings as texts under keys like "rescore.models.1"."""
    if isinstance(value, Mapping):
        return {k: v for key, of in value.items() for k, v in _flat(of, f"{place}.{key}" if place else key).items()}
    if isinstance(value, list) and any(isinstance(of, Mapping) for of in value):
        return {k: v for n, of in enumerate(value, 1) for k, v in _flat(of, f"{place}.{n}").items()}
    return {place: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}


def versions_table(comparison: Comparison | None) -> Markup:
    """What the report was made with: versions and the signatures of the metrics."""
    made = _plain_table("Versions", ["Program", "Version"], versions())
    if comparison is None:
        return made
    signatures = comparison.evaluations[comparison.baseline].signatures
    signed = [(METRICS[key].label, text) for key, text in signatures.items()]
    return part(_TEMPLATE, "signatures", rows=signed) + made


def _plain_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    return part(_TEMPLATE, "plain_table", caption=caption, head=head, rows=rows)
