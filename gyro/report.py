"""One self-contained HTML page on runs: scores, figures, examples, configuration.

write_report   runs → a file and, when asked for, its charts as files of their own
make_report    groups of systems → the page
write_figures  the charts of groups as SVG files

The page needs no network: style, script and drawings are in it. It follows the colour scheme of the reader, and can be
read on a phone, printed, and without the script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path

from gyro.errors import InputError
from gyro.evaluation import SIZES
from gyro.files import write_text
from gyro.report_charts import PROOFS, proof_counts, score_charts, search_charts
from gyro.report_data import Group, Member, Signature, read_groups
from gyro.report_examples import examples
from gyro.report_figures import mark_shapes
from gyro.report_svg import chart_to_svg
from gyro.report_tables import (
    oracles_table,
    search_table,
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
    figures: str | PathLike[str] | None = None,
) -> None:
    """Report on run folders, and files of sentences with a line for each of their bags, each with its name or None.

    `signature` gives that of the lattices in a folder, so that rescoring stages can be told (rescoring.source has it).
    The charts are also written into the folder `figures`.
    """
    lasts = tuple(sizes)
    groups = read_groups(named, baseline=baseline, sizes=lasts, tokenize=tokenize, signature=signature)
    write_text(output, make_report(groups, title=title, most_examples=most_examples, sizes=lasts))
    if figures is not None:
        write_figures(groups, figures)


def write_figures(groups: Sequence[Group], folder: str | PathLike[str]) -> list[Path]:
    """Each chart as an SVG file with the name of its title; those of a second group of bags end in -2, and so on."""
    members, colours = _members(groups)
    charts = [(chart, number) for number, group in enumerate(groups, 1) for chart in score_charts(group, colours)]
    charts += [(chart, 1) for chart in search_charts([member for member in members if member.entries], colours)]
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path=target) from error
    written = []
    for chart, number in charts:
        name = re.sub(r"[^a-z0-9]+", "-", chart.title.lower()) + (f"-{number}" if number > 1 else "")
        written.append(target / f"{name}.svg")
        write_text(written[-1], chart_to_svg(chart))
    return written


def _members(groups: Sequence[Group]) -> tuple[list[Member], Colours]:
    """The systems that are no guests, and the colour of each."""
    members = [member for group in groups for member in group.members if not member.is_guest]
    return members, {member.name: number for number, member in enumerate(members)}


def make_report(groups: Sequence[Group], *, title: str, most_examples: int = 100, sizes: Iterable[int] = SIZES) -> str:
    """The page as text."""
    members, colours = _members(groups)
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
    if charts := score_charts(group, colours):
        figures = "".join(chart.to_html() for chart in charts)
        sections.append((f"sizes{key}", f"Scores by bag size{suffix}", f'<div class="figures">{figures}</div>'))
    return sections


def _search_sections(members: Sequence[Member], colours: Colours) -> list[Section]:
    """Time, memory, phrases, proofs and rungs of all runs."""
    runs = [member for member in members if member.entries]
    figures = "".join(chart.to_html() for chart in search_charts(runs, colours))
    content = search_table(runs, colours) + f'<div class="figures">{figures}</div>'
    return [("search", "The search: time, memory, proofs", content)]


def _facts(groups: Sequence[Group]) -> list[tuple[str, str]]:
    """The few figures that stand on top."""
    members, _ = _members(groups)
    facts = [("systems", str(len(members))), ("bags", " / ".join(str(len(group.bags)) for group in groups))]
    comparison = groups[0].comparison
    if comparison is not None:
        name, best = max(comparison.evaluations.items(), key=lambda item: item[1].bleu)
        facts += [
            (f"best BLEU: {name}", f"{best.bleu:.2f}"),
            (f"exact matches: {name}", f"{best.exact_match:.1f} %"),
        ]
    proofs = proof_counts(members)
    shares = {name: (sum(counts.get(kind, 0) for kind in PROOFS[:2]), counts) for name, counts in proofs.items()}
    if any(share for share, _ in shares.values()):
        name = max(shares, key=lambda each: shares[each][0])
        facts.append((f"optima proved: {name}", f"{100 * shares[name][0] / sum(shares[name][1].values()):.0f} %"))
    return facts


_EXAMPLES_NOTE = (
    '<p class="note">Against the reference: <mark class="moved">moved phrases</mark>, <mark class="other">words that '
    "are not in it</mark>, <del>missing words</del>. Point at a moved phrase to see its place. The figures are "
    'sentence BLEU.<span class="on-paper"> On paper only the first 20 are shown.</span></p>'
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
        f'<div id="tip" role="status" hidden></div>{mark_shapes()}<script>{script}</script></body></html>\n'
    )
