"""The results of an experiment of the kind "comparison": tables in Markdown, figures, and pages of `gyro report`.

write_comparison_results  results.md, an SVG for each figure, and a page for each entry of [[details]]
make_comparison_markdown  the tables as text

What is not finished is left out and named, so that results can be written at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

from experiments.comparison import ComparisonLaboratory
from experiments.comparison_entry import WORDS, CurveTable, DetailTable
from experiments.comparison_figure import Panel, write_panels
from experiments.comparison_group import (
    distortion_panels,
    distortion_table,
    length_panels,
    length_table,
    score_tables,
)
from experiments.comparison_tables import (
    Results,
    curve_panels,
    curve_table,
    model_table,
    overview_table,
    published_table,
    training_table,
    treebank_table,
)
from experiments.experiment import folder_name
from experiments.markdown import markdown_table
from gyro.errors import InputError
from gyro.files import write_text
from gyro.report.page import write_report
from gyro.score.metric import METRICS
from gyro.score.significance import SAMPLES
from gyro.version import __version__, versions

_EXAMPLES = 60


def write_comparison_results(laboratory: ComparisonLaboratory) -> list[Path]:
    """Write all results into the experiment's folder and tell the files; if steps failed, say so after that."""
    results, folder = Results(laboratory), laboratory.folder
    if not results.groups:
        raise InputError(f"found no finished run to report on; {_failures(laboratory)}", path=folder)
    written = []
    for name, panels in _figures(results):
        write_panels(folder / name, panels)
        written.append(folder / name)
    for details in laboratory.experiment.details:
        named = laboratory.finished(details.set, details.given)
        chosen = [(path, name) for name, path in named.items() if not details.runs or name in details.runs]
        if chosen:
            page = folder / f"report-{_place(details)}.html"
            title = f"{laboratory.experiment.title}: {details.set}, {details.given}"
            write_report(chosen, page, title=title, most_examples=_EXAMPLES)
            written.append(page)
    write_text(folder / "results.md", make_comparison_markdown(results))
    written.append(folder / "results.md")
    if laboratory.failed:
        print("\n".join(map(str, written)))
        raise InputError(_failures(laboratory))
    return written


def make_comparison_markdown(results: Results) -> str:
    """All tables, and how everything was made."""
    laboratory = results.laboratory
    experiment = laboratory.experiment
    parts = [f"# {experiment.title}", _facts(laboratory)]
    parts += ["## What models are made of", treebank_table(laboratory), _parser_note(), model_table(laboratory)]
    parts += ["## Trainings", training_table(laboratory), "## All systems", *_overviews(results)]
    for (set_name, given), group in results.groups.items():
        parts += [f"### {set_name}, given: {given}", *score_tables(group)]
    parts += [text for details in experiment.details for text in _details(results, details)]
    for title, curves in _by_title(laboratory).items():
        parts += [f"## {title}", *(curve_table(results, curve) for curve in curves)]
        if curve_panels(results, curves):
            parts.append(f"![{title}]({_curve_file(title)})")
    if experiment.published:
        parts += ["## Published figures beside ours", _beside(), published_table(results)]
    if missing := [step.name for step in laboratory.steps if not step.is_done()]:
        reasons = laboratory.failed
        rows = [[name, reasons.get(name, "not done")] for name in missing]
        parts += ["## What is missing", markdown_table(["step", "why"], rows)]
    return "\n\n".join([*parts, *_made(laboratory)]) + "\n"


def _facts(laboratory: ComparisonLaboratory) -> str:
    seed = laboratory.experiment.seed
    return (
        f"{date.today().isoformat()}, gyro {__version__}. All systems order the same bags: those of a set are in a "
        f"random order (seed {seed}), and a run on fewer bags has the first of them. BLEU is on tokens, case kept; "
        "BLEU lc does not look at case, as the published scripts do not. A bag without an order counts as empty. "
        f"Marks and p-values: paired bootstrap against the first system of the table, {SAMPLES} samples; + better, "
        "- worse, p < 0.05; doubled: p < 0.01; the sign test is of BLEU by bag. Times are those of one process for one "
        f"bag, with {laboratory.jobs} processes at work. Time-outs are searches that ended without a whole result."
    )


def _overviews(results: Results) -> Iterator[str]:
    """What is given, then where the bags come from."""
    test = [place for place in results.groups if place[0] == "test"]
    yield "BLEU on test by what is given; in brackets the bags that all systems of the column have."
    yield overview_table(results, test, [given for _, given in test]) if test else "(none)"
    conditions = dict.fromkeys(given for _, given in results.groups)
    for given in conditions:
        places = [place for place in results.groups if place[1] == given]
        if len(places) > 1:
            for key in ("bleu", "meteor"):
                yield f"{METRICS[key].label} by set, given: {given}."
                yield overview_table(results, places, [name for name, _ in places], key)


def _details(results: Results, details: DetailTable) -> Iterator[str]:
    runs = results.chosen(details.set, details.given, details.runs)
    if not runs:
        return
    place, count = _place(details), len(next(iter(runs.values())))
    yield f"## {details.set}, given: {details.given}, in detail ({count} bags)"
    yield "### By length"
    yield "Classes of about as many bags each; in brackets how many. Sentences of less than four words have no BLEU."
    yield length_table(runs)
    yield f"![BLEU and METEOR by length](length-{place}.svg)"
    yield "### Distortion"
    yield "The share of words, in per cent, whose distance from their place is so large a part of the sentence."
    yield distortion_table(runs)
    yield f"![Distortion](distortion-{place}.svg)"
    yield "### Recall of subtrees"
    yield (
        "Subtrees of two words or more of the references' trees, but for whole sentences: the share, in per cent, that "
        "is together in the output, in the same order (strict) or in any (loose); in brackets how many there are."
    )
    recalls = results.recalls(details.set, details.given, details.runs)
    for kind in ("all", "length", "tag", "relation"):
        yield recalls.table(kind)
    yield f"![Recall of subtrees](subtrees-{place}.svg)"


def _figures(results: Results) -> Iterator[tuple[str, list[Panel]]]:
    for details in results.laboratory.experiment.details:
        if runs := results.chosen(details.set, details.given, details.runs):
            place = _place(details)
            yield f"length-{place}.svg", length_panels(runs)
            yield f"distortion-{place}.svg", distortion_panels(runs)
            recalls = results.recalls(details.set, details.given, details.runs)
            yield f"subtrees-{place}.svg", recalls.panels()
    for title, curves in _by_title(results.laboratory).items():
        if panels := curve_panels(results, curves):
            yield _curve_file(title), panels


def _by_title(laboratory: ComparisonLaboratory) -> dict[str, list[CurveTable]]:
    """Curves of one title are one figure."""
    titled: dict[str, list[CurveTable]] = {}
    for curve in laboratory.experiment.curves:
        titled.setdefault(curve.title, []).append(curve)
    return titled


def _curve_file(title: str) -> str:
    return f"curve-{folder_name(title)}.svg"


def _place(details: DetailTable) -> str:
    return f"{folder_name(details.set)}-{folder_name(details.given or WORDS)}"


def _parser_note() -> str:
    return (
        "UAS: the share of words, punctuation too, with the head that the treebank gives them. spaCy's heads follow "
        "other rules than the treebank's (a preposition has its noun below it), so much of what differs is no error."
    )


def _beside() -> str:
    return (
        "The papers' figures are of other data: Penn Treebank sentences, with models of the Wall Street Journal and "
        "Gigaword. What compares is the order of the systems and the distances between them."
    )


def _failures(laboratory: ComparisonLaboratory) -> str:
    told = "; ".join(f"{name}: {reason}" for name, reason in laboratory.failed.items())
    return f"{len(laboratory.failed)} of {len(laboratory.steps)} steps failed{': ' if told else ''}{told}"


def _made(laboratory: ComparisonLaboratory) -> Iterator[str]:
    yield "## How it was made"
    yield markdown_table(["what", "version"], versions())
    signatures = [[metric.label, f"`{metric.signature('none')}`"] for metric in METRICS.values()]
    yield markdown_table(["metric", "how it is counted"], signatures)
    yield f"```toml\n{laboratory.experiment.source.strip()}\n```"
