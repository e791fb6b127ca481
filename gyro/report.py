"""One self-contained HTML page on runs: scores, figures, examples, configuration.

write_report  runs → a file
make_report   groups of systems → the page

The page needs no network: style, script and drawings are in it. It follows the colour scheme of the reader, and can be
read on a phone, printed, and without the script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path

from gyro.evaluation import SIZES, class_order
from gyro.files import write_text
from gyro.metric import DISTORTION_BINS, DISTORTION_LABELS, METRICS
from gyro.report_data import Group, Member, Signature, SizePoint, read_groups
from gyro.report_examples import examples
from gyro.report_figures import Point, Series, bar_chart, line_chart, share_bars
from gyro.report_tables import (
    oracles_table,
    search_table,
    seconds_text,
    settings_table,
    stages_table,
    systems_table,
    versions_table,
)

Colours = Mapping[str, int]
Section = tuple[str, str, str]  # id, heading, content


def write_report(
    named: Sequence[tuple[Path, str | None]],
    output: str | PathLike[str],
    *,
    title: str = "Word ordering",
    baseline: str | None = None,
    most_examples: int = 100,
    sizes: Iterable[int] = SIZES,
    tokenize: str = "none",
    signature: Signature | None = None,
) -> None:
    """Report on run folders, and files of sentences with a line for each of their bags, each with its name or None.

    `signature` gives that of the lattices in a folder, so that rescoring stages can be told (rescoring.source has it).
    """
    lasts = tuple(sizes)
    groups = read_groups(named, baseline=baseline, sizes=lasts, tokenize=tokenize, signature=signature)
    write_text(output, make_report(groups, title=title, most_examples=most_examples, sizes=lasts))


def make_report(groups: Sequence[Group], *, title: str, most_examples: int = 100, sizes: Iterable[int] = SIZES) -> str:
    """The page as text."""
    members = [member for group in groups for member in group.members if not member.is_guest]
    colours = {member.name: number for number, member in enumerate(members)}
    lasts = tuple(sizes)
    sections: list[Section] = []
    for number, group in enumerate(groups, 1):
        sections += _group_sections(group, number if len(groups) > 1 else 0, colours)
    sections += _search_sections(members, colours)
    for number, group in enumerate(groups, 1):
        heading = "Examples" if len(groups) == 1 else f"Examples: {group.label}"
        content = _EXAMPLES_NOTE + examples(group, number, most_examples, lasts, colours) if most_examples else ""
        sections.append((f"examples-section-{number}", heading, content))
    made = settings_table(members) + versions_table(groups[0].comparison)
    sections.append(("configuration", "Configuration, signatures, versions", made))
    return _page(title, _facts(groups), [section for section in sections if section[2]])


def _group_sections(group: Group, number: int, colours: Colours) -> list[Section]:
    """Scores: the systems, the stages, and the figures by bag size."""
    suffix = f": {group.label}" if number else ""
    key = f"-{number}" if number else ""
    sections = []
    if group.comparison is not None:
        sections.append((f"systems{key}", f"Systems{suffix}", systems_table(group, colours)))
    sections.append((f"stages{key}", f"Rescoring{suffix}", stages_table(group, colours)))
    sections.append((f"oracles{key}", f"Language models and oracles{suffix}", oracles_table(group)))
    if group.comparison is not None:
        figures = "".join(_size_chart(group, metric, colours) for metric in ("bleu", "exact_match", "kendall"))
        figures += _distortion_chart(group, colours)
        sections.append((f"sizes{key}", f"Scores by bag size{suffix}", f'<div class="figures">{figures}</div>'))
    return sections


def _size_chart(group: Group, key: str, colours: Colours) -> str:
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


def _distortion_chart(group: Group, colours: Colours) -> str:
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
    return bar_chart(
        "How far words stand from their places",
        series,
        classes=[f"{end:g}" for end in DISTORTION_BINS],
        x_label="distance up to this share of the sentence",
        y_label="words (%)",
        form=lambda value: f"{value:.3g}",
    )


def _search_sections(members: Sequence[Member], colours: Colours) -> list[Section]:
    """Time, memory, phrases, proofs and rungs of all runs."""
    runs = [member for member in members if member.entries]
    figures = [
        _by_size(
            "Time a bag by bag size",
            "median of the bags of a size",
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
            runs,
            colours,
            lambda point: point.phrases,
            lambda point: f"{point.phrases or 0:.0f} phrases on average, {point.bags} bags",
            "phrases",
        ),
    ]
    shares = [
        share_bars(
            "Optimum proved", proved, _PROOFS, note="that no other order is better under the same rules and model"
        )
        if (proved := _proved(runs))
        else "",
        share_bars("Which rules gave the order", rungs, _rung_order(rungs), note="the fallback rungs of the grammar")
        if (rungs := _rungs(runs))
        else "",
    ]
    stacked = f'<div class="stack">{"".join(shares)}</div>' if any(shares) else ""
    content = search_table(runs, colours) + f'<div class="figures">{"".join(figures)}{stacked}</div>'
    return [("search", "The search: time, memory, proofs", content)]


def _by_size(
    title: str,
    note: str,
    runs: Sequence[Member],
    colours: Colours,
    value: Callable[[SizePoint], float | None],
    told: Callable[[SizePoint], str],
    y_label: str,
) -> str:
    """One line a run over the sizes; empty when no run has the value. Times below a millisecond count as one."""
    series = []
    for member in runs:
        points = [
            Point(point.size, max(found, 1e-3), f"{member.name}, {point.size} tokens: {told(point)}")
            for point in member.by_size()
            if (found := value(point)) is not None
        ]
        if points:
            series.append(Series(member.name, points, colours[member.name]))
    if not series:
        return ""
    return line_chart(title, series, x_label="tokens in the bag", y_label=y_label, note=note, log=True, form=_short)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _plain(seconds: float) -> str:
    return seconds_text(seconds).replace("&nbsp;", " ")


_PROOFS = ("proved", "not proved", "failed")
_RUNGS = ("rules", "pruned less", "2-gram rules", "1-gram rules")


def _rung_order(rows: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Known rungs from the strictest on, then any others."""
    found = dict.fromkeys(name for counts in rows.values() for name in counts)
    return [*(name for name in _RUNGS if name in found), *(name for name in found if name not in _RUNGS)]


def _proved(runs: Sequence[Member]) -> dict[str, dict[str, int]]:
    rows = {}
    for member in runs:
        known = [entry.result.get("proved") is True for entry in member.entries if "proved" in entry.result]
        if known:
            failed = sum(not entry.ok for entry in member.entries)
            rows[member.name] = dict(zip(_PROOFS, (sum(known), len(known) - sum(known), failed), strict=True))
    return rows


def _rungs(runs: Sequence[Member]) -> dict[str, dict[str, int]]:
    rows = {}
    for member in runs:
        counts = Counter(str(record["rung"]) for record in member.records() if "rung" in record)
        if counts:
            rows[member.name] = dict(counts.most_common())
    return rows


def _facts(groups: Sequence[Group]) -> list[tuple[str, str]]:
    """The few figures that stand on top."""
    members = [member for group in groups for member in group.members if not member.is_guest]
    facts = [("systems", str(len(members))), ("bags", " + ".join(str(len(group.bags)) for group in groups))]
    comparison = groups[0].comparison
    if comparison is not None:
        name, best = max(comparison.evaluations.items(), key=lambda item: item[1].bleu)
        facts += [
            (f"best BLEU: {name}", f"{best.bleu:.2f}"),
            (f"exact matches: {name}", f"{best.exact_match:.1f} %"),
        ]
    proved = _proved(members)
    if any(counts["proved"] for counts in proved.values()):
        name = max(proved, key=lambda each: proved[each]["proved"])
        share = proved[name]["proved"] / sum(proved[name].values())
        facts.append((f"optima proved: {name}", f"{100 * share:.0f} %"))
    return facts


_EXAMPLES_NOTE = (
    '<p class="note">Against the reference: <mark class="moved">moved phrases</mark>, <mark class="other">words that '
    "are not in it</mark>, <del>missing words</del>. Point at a moved phrase to see its place. The figures are "
    "sentence BLEU.</p>"
)


def _page(title: str, facts: Sequence[tuple[str, str]], sections: Sequence[Section]) -> str:
    style, script = ((files("gyro") / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    links = "".join(f'<li><a href="#{key}">{escape(heading)}</a></li>' for key, heading, _ in sections)
    tiles = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
    body = "".join(
        f'<section id="{key}" aria-labelledby="{key}-h"><h2 id="{key}-h">{escape(heading)}</h2>{content}</section>'
        for key, heading, content in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{escape(title)}</title><link rel="icon" href="data:,">'
        f"<style>{style}</style></head>\n<body><header class='top'><p>GYRO report · "
        f'<time>{date.today().isoformat()}</time></p><h1>{escape(title)}</h1><dl class="facts">{tiles}</dl>'
        f'<nav aria-label="Contents"><ol>{links}</ol></nav></header>\n<main>{body}</main>\n'
        f'<div id="tip" role="status" hidden></div><script>{script}</script></body></html>\n'
    )
