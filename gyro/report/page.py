"""One self-contained HTML page on runs: scores, figures, examples, configuration.

write_report   runs → a file and, when asked for, its charts as files of their own
make_report    groups of systems → the page
write_figures  the charts of groups as SVG files

The page needs no network: style, script and drawings are in it. It follows the colour scheme of the reader, and can be
read on a phone, printed, and without the script. page.html has its HTML.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from gyro.errors import InputError
from gyro.files import write_text
from gyro.report.charts import PROOFS, proof_counts, score_charts, search_charts
from gyro.report.data import Group, Member, Signature, read_groups
from gyro.report.examples import examples
from gyro.report.figures import MARKS, Figure
from gyro.report.markup import Markup, part, read, render
from gyro.report.model_card import model_card, model_figures
from gyro.report.opinion import NO_OPINIONS, AskedModel, Opinions, ask_models
from gyro.report.opinion_card import opinion_card, opinion_figures
from gyro.report.svg import figure_to_svg
from gyro.report.tables import (
    oracles_table,
    search_table,
    settings_table,
    stages_table,
    systems_table,
    versions_table,
)
from gyro.score.evaluation import SIZES

Colours = Mapping[str, int]


class Section(NamedTuple):
    """A part of the page with a heading; one without content is left out."""

    key: str
    heading: str
    content: Markup


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
    models: Sequence[AskedModel] = (),
) -> None:
    """Report on run folders, and files of sentences with a line for each of their bags, each with its name or None.

    `signature` gives the signature of the lattices in a folder, by which a rescoring stage knows its input
    (rescoring.source has it). The charts are also written into the folder `figures`. `models` are asked what
    they say of all outputs and references.
    """
    lasts = tuple(sizes)
    groups = read_groups(named, baseline=baseline, sizes=lasts, tokenize=tokenize, signature=signature)
    opinions = ask_models(models, groups)
    page = make_report(groups, title=title, most_examples=most_examples, sizes=lasts, opinions=opinions)
    write_text(output, page)
    if figures is not None:
        write_figures(groups, figures, lasts, opinions)


def write_figures(
    groups: Sequence[Group],
    folder: str | PathLike[str],
    sizes: Sequence[int] = SIZES,
    opinions: Opinions = NO_OPINIONS,
) -> None:
    """Write each chart as an SVG file named after its title; a second of a name, as of other bags, ends in -2."""
    members, colours = _members(groups)
    charts = []
    for group in groups:
        charts += [*score_charts(group, colours), *model_figures(group, colours, sizes)]
        charts += opinion_figures(group, opinions, colours)
    charts += search_charts([member for member in members if member.entries], colours)
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path=target) from error
    names = Counter[str]()
    for chart in charts:
        name = re.sub(r"[^a-z0-9]+", "-", chart.title.lower()).strip("-")
        names[name] += 1
        write_text(target / f"{name}{f'-{names[name]}' if names[name] > 1 else ''}.svg", figure_to_svg(chart))


def _members(groups: Sequence[Group]) -> tuple[list[Member], Colours]:
    """The systems that are no guests, and the colour of each."""
    members = [member for group in groups for member in group.members if not member.is_guest]
    return members, {member.name: number for number, member in enumerate(members)}


def make_report(
    groups: Sequence[Group],
    *,
    title: str,
    most_examples: int = 100,
    sizes: Iterable[int] = SIZES,
    opinions: Opinions = NO_OPINIONS,
) -> str:
    """The page as text."""
    members, colours = _members(groups)
    lasts = tuple(sizes)
    sections: list[Section] = []
    for number, group in enumerate(groups, 1):
        sections += _group_sections(group, number if len(groups) > 1 else 0, colours, lasts, opinions)
    sections += _search_sections(members, colours)
    for number, group in enumerate(groups, 1):
        heading = "Examples" if len(groups) == 1 else f"Examples: {group.label}"
        content = examples(group, number, most_examples, lasts, colours, opinions) if most_examples else Markup()
        sections.append(Section(f"examples-section-{number}", heading, content))
    made = settings_table(members) + versions_table(groups[0].comparison)
    sections.append(Section("configuration", "Configuration, signatures, versions", made))
    return render(
        "page.html",
        title=title,
        today=date.today().isoformat(),
        facts=_facts(groups),
        sections=[section for section in sections if section.content],
        shapes=MARKS,
        style=Markup(read("page.css")),
        script=Markup(read("page.js")),
    )


def _group_sections(
    group: Group, number: int, colours: Colours, sizes: Sequence[int], opinions: Opinions
) -> list[Section]:
    """Scores: the systems, the stages, the figures by bag size, and what the models say."""
    suffix = f": {group.label}" if number else ""
    key = f"-{number}" if number else ""
    sections = []
    if group.comparison is not None:
        sections.append(Section(f"systems{key}", f"Systems{suffix}", systems_table(group.comparison, colours)))
    return [
        *sections,
        Section(f"stages{key}", f"Rescoring{suffix}", stages_table(group, colours)),
        Section(f"oracles{key}", f"Language models and oracles{suffix}", oracles_table(group)),
        Section(f"sizes{key}", f"Scores by bag size{suffix}", _side_by_side(score_charts(group, colours))),
        Section(
            f"models{key}",
            f"What the models say of output and reference{suffix}",
            model_card(group, colours, sizes),
        ),
        Section(
            f"opinions{key}",
            f"Models asked: output or reference{suffix}",
            opinion_card(group, opinions, colours),
        ),
    ]


def _search_sections(members: Sequence[Member], colours: Colours) -> list[Section]:
    """Time, memory, phrases, proofs and rungs of all runs."""
    runs = [member for member in members if member.entries]
    content = search_table(runs, colours) + _side_by_side(search_charts(runs, colours))
    return [Section("search", "The search: time, memory, proofs", content)]


def _side_by_side(figures: Sequence[Figure]) -> Markup:
    return part("figure.html", "side_by_side", figures=figures) if figures else Markup()


def _facts(groups: Sequence[Group]) -> list[tuple[str, str]]:
    """The names and values that stand on top of the page; of several systems the best is named."""
    members, _ = _members(groups)
    bags = " / ".join(str(len(group.bags)) for group in groups)
    facts = [("system" if len(members) == 1 else "systems", str(len(members))), ("bags", bags)]

    def of(what: str, name: str) -> str:
        return what if len(members) == 1 else f"{what}: {name}"

    comparison = groups[0].comparison
    if comparison is not None:
        name, best = max(comparison.evaluations.items(), key=lambda item: item[1]["bleu"])
        facts += [
            (of("BLEU" if len(members) == 1 else "best BLEU", name), f"{best['bleu']:.2f}"),
            (of("of bags ordered as the reference", name), f"{best['exact_match']:.1f} %"),
        ]
    proofs = proof_counts(members)
    shares = {name: (sum(counts.get(kind, 0) for kind in PROOFS[:2]), counts) for name, counts in proofs.items()}
    if any(share for share, _ in shares.values()):
        name = max(shares, key=lambda each: shares[each][0])
        share = f"{100 * shares[name][0] / sum(shares[name][1].values()):.0f} %"
        facts.append((of("of bags with the optimum proved", name), share))
    return facts
