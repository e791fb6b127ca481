"""The tables of a report as HTML.

systems_table   every system with every metric, intervals and significance marks
stages_table    what each rescoring stage brought over the one before it
oracles_table   language-model orders and oracles
search_table    time, memory and what the search left behind
system_name     a system's name after its mark
settings_table  the settings in which runs differ, and those in which they do not
versions_table  what the report was made with
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from statistics import median
from typing import Any

import numpy as np

from gyro.evaluation import evaluate
from gyro.metric import METRICS, Metric
from gyro.report_data import Group, Member
from gyro.report_figures import Series, legend_key
from gyro.significance import Comparison, Difference
from gyro.version import versions

_MARKS = {"++": "▲▲", "+": "▲", "-": "▼", "--": "▼▼", "": ""}


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str, sortable: bool = False) -> str:
    """A table of ready-made cells; the first of each row is its heading."""
    columns = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>" for row in rows
    )
    kind = ' class="sortable"' if sortable else ""
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{escape(caption, quote=True)}"><table{kind}>'
        f"<caption>{escape(caption)}</caption><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def systems_table(group: Group, colours: Mapping[str, int]) -> str:
    """Every system with every metric; the best of a column stands out."""
    comparison = group.comparison
    assert comparison is not None
    metrics = list(METRICS.values())
    head = ["System", *(f"{escape(m.label)}&nbsp;{'↑' if m.higher_is_better else '↓'}" for m in metrics)]
    best = {m.key: _best(comparison, m) for m in metrics}
    rows = []
    for name in comparison.evaluations:
        base = (
            ' <small class="base">baseline</small>'
            if name == comparison.baseline and len(comparison.evaluations) > 1
            else ""
        )
        cells = [_score_cell(comparison, name, metric, best[metric.key]) for metric in metrics]
        rows.append([system_name(name, colours) + base, *cells])
    return table(head, rows, caption="Systems", sortable=True) + _systems_notes(comparison)


def _best(comparison: Comparison, metric: Metric) -> float:
    values = [round(getattr(e, metric.key), metric.digits) for e in comparison.evaluations.values()]
    return float(max(values) if metric.higher_is_better else min(values))


def _score_cell(comparison: Comparison, name: str, metric: Metric, best: float) -> str:
    value = getattr(comparison.evaluations[name], metric.key)
    interval = comparison.intervals[name][metric.key]
    text = f"{value:.{metric.digits}f}"
    if float(text) == best and len(comparison.evaluations) > 1:
        text = f"<b>{text}</b>"
    mark = comparison.mark(name, metric.key)
    if mark:
        kind = "better" if mark[0] == "+" else "worse"
        told = difference_text(comparison.differences[name][metric.key], metric.digits)
        words = escape(f"{kind} than {comparison.baseline}: {told}", quote=True)
        text += f'<abbr class="{kind}" title="{words}">{_MARKS[mark]}</abbr>'
    span = f"{interval.low:.{max(1, metric.digits - 1)}f}–{interval.high:.{max(1, metric.digits - 1)}f}"
    return f"<span>{text}</span><small>{span}</small>"


def difference_text(difference: Difference, digits: int = 2) -> str:
    """A difference in words: "+1.20 (0.35 to 2.10), p = 0.004"."""
    numbers = (difference.difference, difference.low, difference.high)
    middle, low, high = (f"{value:+.{digits}f}".replace("-", "−") for value in numbers)
    return f"{middle} ({low} to {high}), p {p_text(difference.p)}"


def p_text(p: float) -> str:
    """A p-value as it is written.

    >>> p_text(0.00099), p_text(0.0321), p_text(1.0)
    ('= 0.001', '= 0.032', '= 1.000')
    """
    return f"= {p:.3f}" if p >= 0.0005 else "< 0.001"


def _systems_notes(comparison: Comparison) -> str:
    notes = ["Small figures: 95 % bootstrap intervals."]
    if comparison.differences:
        notes.append(
            f"▲ better, ▼ worse than <b>{escape(comparison.baseline)}</b>: one for p &lt; 0.05, two for p &lt; 0.01 "
            f"(paired bootstrap, {comparison.samples} samples, seed {comparison.seed})."
        )
    items = [
        f"<li>{escape(name)}: {escape(complaint)}</li>"
        for name, evaluation in comparison.evaluations.items()
        for complaint in evaluation.complaints()
    ]
    listed = f'<ul class="complaints">{"".join(items)}</ul>' if items else ""
    return f'<p class="note">{" ".join(notes)}</p>{listed}'


def stages_table(group: Group, colours: Mapping[str, int]) -> str:
    """Each stage below its input, with what it brought; empty when no run was made from another."""
    rows = []
    for depth, member in group.chains():
        arrow = "<span>↳</span>" if depth else ""
        name = f'<span class="stage" style="--depth:{depth}">{arrow}{system_name(member.name, colours)}</span>'
        what = escape(str(member.settings.get("command") or member.settings.get("algorithm") or ""))
        cells = ["", "", ""]
        if group.comparison is not None:
            evaluation = group.comparison.evaluations[member.name]
            step = group.step(member)
            cells = [f"{evaluation.bleu:.2f}", _step_cell(step), f"{evaluation.exact_match:.2f}"]
        rows.append([name, what, *cells])
    head = ["Stage", "Made by", "BLEU", "Over its input", "Exact match"]
    return table(head, rows, caption="Rescoring stages") if rows else ""


def _step_cell(step: Difference | None) -> str:
    if step is None:
        return ""
    kind = ("better" if step.difference > 0 else "worse") if step.p < 0.05 else "even"
    words = escape(difference_text(step), quote=True)
    told = f"{step.difference:+.2f}".replace("-", "−")
    return f'<span class="{kind}" title="{words}">{told}</span><small>p {escape(p_text(step.p))}</small>'


def oracles_table(group: Group) -> str:
    """Systems by the order of their language model, with their oracles; empty where there is nothing to compare."""
    kinds = list(dict.fromkeys(kind for member in group.members for kind in member.oracles))
    orders = {member.name: order for member in group.members if (order := member.lm_order()) is not None}
    if group.references is None or not (kinds or orders) or group.comparison is None:
        return ""
    rows = []
    for member in sorted(group.members, key=lambda m: orders.get(m.name, 99)):
        if member.name not in orders and not member.oracles:
            continue
        scores = [
            f"{evaluate(member.oracles[kind], group.references).bleu:.2f}" if kind in member.oracles else ""
            for kind in kinds
        ]
        model = f"{orders[member.name]}-gram" if member.name in orders else ""
        rows.append([escape(member.name), model, f"{group.comparison.evaluations[member.name].bleu:.2f}", *scores])
    head = ["System", "Language model", "BLEU", *(f"BLEU of the oracle: {escape(kind)}" for kind in kinds)]
    # One model by itself is told by the settings.
    return table(head, rows, caption="Language-model orders and oracles") if kinds or len(rows) > 1 else ""


def search_table(members: Sequence[Member], colours: Mapping[str, int]) -> str:
    """How much the search took, and how large its lattices are."""
    head = ["System", "Bags", "Failed", "Total time", "Median", "95 %", "Slowest", "Peak memory", "Nodes", "Arcs"]
    rows = []
    for member in members:
        seconds = [entry.seconds for entry in member.entries]
        memory = max((entry.memory for entry in member.entries), default=0)
        failed = sum(not entry.ok for entry in member.entries)
        rows.append(
            [
                system_name(member.name, colours),
                str(len(seconds)),
                str(failed),
                f"{sum(seconds):.1f}&nbsp;s",
                seconds_text(median(seconds)),
                seconds_text(float(np.percentile(seconds, 95))),
                seconds_text(max(seconds)),
                f"{memory / 2**20:.0f}&nbsp;MB",
                _median_fact(member, "nodes"),
                _median_fact(member, "arcs"),
            ]
        )
    return table(head, rows, caption="Time and memory", sortable=True)


def seconds_text(seconds: float) -> str:
    """Seconds, or milliseconds where they are few."""
    return f"{1000 * seconds:.0f}&nbsp;ms" if seconds < 1 else f"{seconds:.1f}&nbsp;s"


def _median_fact(member: Member, key: str) -> str:
    values = [record[key] for record in member.records() if isinstance(record.get(key), int)]
    return f"{median(values):,.0f}" if values else "–"


def settings_table(members: Sequence[Member]) -> str:
    """What runs differ in, run by run; then what has one value in all runs that have it."""
    runs = [member for member in members if member.run]
    flat = [_flat({"gyro": m.record.get("gyro"), **m.settings, "limits": m.record.get("limits")}) for m in runs]
    values: dict[str, list[str]] = {}
    for key, value in (pair for each in flat for pair in each.items()):
        values.setdefault(key, []).append(value)
    shared = {key: of[0] for key, of in values.items() if (len({*of}) == 1 and len(of) > 1) or len(runs) == 1}
    own = [[escape(m.name), _settings(each, shared)] for m, each in zip(runs, flat, strict=True)]
    common = [[f"<code>{escape(key)}</code>", f"<code>{escape(value) or '–'}</code>"] for key, value in shared.items()]
    tables = [table(["System", "Settings"], own, caption="What runs differ in")] if len(runs) > 1 else []
    return "".join([*tables, table(["Setting", "Value"], common, caption="The same in all runs that have it")])


def _settings(flat: Mapping[str, str], shared: Mapping[str, str]) -> str:
    own = ((key, value) for key, value in flat.items() if key not in shared)
    return " ".join(f'<code class="own"><i>{escape(key)}</i> {escape(value) or "–"}</code>' for key, value in own)


def _flat(value: Any, place: str = "") -> dict[str, str]:
    if isinstance(value, Mapping):
        return {k: v for key, part in value.items() for k, v in _flat(part, f"{place}.{key}" if place else key).items()}
    if isinstance(value, list) and any(isinstance(part, Mapping) for part in value):
        return {k: v for n, part in enumerate(value, 1) for k, v in _flat(part, f"{place}.{n}").items()}
    return {place: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}


def versions_table(comparison: Comparison | None) -> str:
    """What the report was made with: versions and the signatures of the metrics."""
    rows = versions()
    made = table(["Program", "Version"], [[escape(n), escape(v)] for n, v in rows], caption="Versions")
    if comparison is None:
        return made
    signatures = comparison.evaluations[comparison.baseline].signatures
    signed = [[escape(METRICS[key].label), f"<code>{escape(text)}</code>"] for key, text in signatures.items()]
    return table(["Metric", "Signature"], signed, caption="Signatures") + made


def system_name(name: str, colours: Mapping[str, int]) -> str:
    """A system's name after the mark that it has in the charts."""
    series = Series(name, (), colours[name])
    return f'<span class="system">{legend_key(series.style, series.mark)}{escape(name)}</span>'
