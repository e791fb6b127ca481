"""The results of an experiment: a page for each set of bags, and tables in Markdown.

write_results  report.html (of the last set), report-SET.html (of the others) and results.md
make_markdown  the tables of all sets as text
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import fmean, median

import numpy as np

from experiments.laboratory import Laboratory
from experiments.markdown import markdown_table
from experiments.neural_lists import length_table, lists_of, weight_table
from experiments.search_error import errors_by_size, search_errors
from experiments.stage_results import cut_systems, gains_table, reference_table, seconds_table
from gyro.errors import InputError
from gyro.files import write_text
from gyro.report.charts import rung_counts, rung_order
from gyro.report.data import Group, Member, read_groups
from gyro.report.page import make_report
from gyro.run.folder import Entry
from gyro.score.evaluation import SIZES, SizeClass, class_order, evaluate, size_classes
from gyro.version import __version__, versions
from rescoring.source import open_lattices

Sets = Mapping[str, Sequence[Group]]


def write_results(laboratory: Laboratory, examples: int = 60) -> list[Path]:
    """Write all results into the experiment's folder and tell the files."""
    sets = {name: groups for name in laboratory.experiment.sets if (groups := _read_set(laboratory, name))}
    if not sets:
        raise InputError("found no finished run to report on", path=laboratory.folder)
    written = []
    for name, groups in sets.items():
        file = "report.html" if name == list(sets)[-1] else f"report-{name}.html"
        title = f"{laboratory.experiment.title}: {name}"
        write_text(laboratory.folder / file, make_report(groups, title=title, most_examples=examples))
        written.append(laboratory.folder / file)
    write_text(laboratory.folder / "results.md", make_markdown(laboratory, sets))
    return [*written, laboratory.folder / "results.md"]


def _read_set(laboratory: Laboratory, name: str) -> list[Group]:
    """The runs of a set, those of all its bags first."""
    named: list[tuple[Path, str | None]] = [*laboratory.runs(name)]
    if not named:
        return []
    baseline = laboratory.experiment.baseline
    chosen = baseline if baseline in [known for _, known in named] else None
    groups = read_groups(named, baseline=chosen, signature=lambda folder: open_lattices(folder).signature)
    return sorted(groups, key=lambda group: -len(group.bags))


def make_markdown(laboratory: Laboratory, sets: Sets) -> str:
    """All tables, the values that were tuned, and how everything was made."""
    experiment = laboratory.experiment
    parts = [f"# {experiment.title}", _facts(laboratory, sets)]
    parts += ["## All sets", _overview(laboratory, sets)]
    for name, groups in sets.items():
        parts += [f"## Set {name}"]
        for number, group in enumerate(groups):
            parts += [f"### {group.label}", _systems(group, cut_systems(groups))]
            if number == 0:
                parts += ["### By size: BLEU", _by_size(group, lambda row: f"{row['bleu']:.1f}")]
                parts += ["### By size: exact matches, %", _by_size(group, lambda row: f"{row['exact_match']:.1f}")]
        members = [member for group in groups for member in group.members if member.entries]
        searches = [member for member in members if "algorithm" in member.settings]
        parts += ["### Rescoring: each stage over its input", _stages(groups[0])]
        if gains := gains_table(groups, experiment.gains):
            parts += ["### What is gained, without and with", gains]
        parts += ["### Seconds of one process a bag", seconds_table(groups[0])]
        parts += _neural_parts(groups)
        parts += ["### Language models and oracles, BLEU", _oracles(groups)]
        parts += ["### By size: median seconds a bag", _spent_by_size(searches, _median_seconds)]
        parts += ["### By size: peak memory of a bag, MB", _spent_by_size(searches, _peak_memory)]
        parts += ["### By size: phrases of a bag, mean", _spent_by_size(searches, _mean_phrases)]
        parts += ["### Which rules gave the order, bags", _rungs(searches)]
        if search_errors(searches):
            parts += ["### Beside the optimum that the exact search proves, bags and pieces", _errors(searches)]
            parts += ["### By size: dearer than the optimum, of all that were compared", _errors_by_size(searches)]
    parts += ["## Tuned on the development set", _tuned(laboratory)]
    parts += ["## How it was made", _versions(sets), f"```toml\n{experiment.source.strip()}\n```"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _neural_parts(groups: Sequence[Group]) -> list[str]:
    """The tables on neural models: empty where no run has one."""
    parts = []
    if found := reference_table([member for group in groups for member in group.members]):
        parts += ["### Output against reference under the neural score", found]
    lists, references = lists_of(groups[0]), groups[0].references
    if lists and references is not None:
        parts += ["### BLEU against the length of the list", length_table(lists, references)]
        parts += ["### BLEU against the weight λ of the neural model", weight_table(lists, references)]
    return parts


def _facts(laboratory: Laboratory, sets: Sets) -> str:
    counts = ", ".join(f"{name} {len(groups[0].bags)}" for name, groups in sets.items())
    return (
        f"{date.today().isoformat()}, gyro {__version__}. Bags: {counts}. "
        f"Parameters tuned on {laboratory.experiment.development}. BLEU is on tokens, case kept. "
        f"Marks: + better, - worse than {laboratory.experiment.baseline!r}, p < 0.05; doubled: p < 0.01 "
        "(paired bootstrap). Times are of one process for one bag. A bag that was cut counts as proved when the "
        "optimum of each of its pieces is. Bags are cut where their references say, which nobody has who orders words: "
        "systems that do so are marked (cut) and stand last."
    )


def _overview(laboratory: Laboratory, sets: Sets) -> str:
    """BLEU and exact matches of the systems that ordered all bags, the sets side by side."""
    head = ["system", *(f"{what} {name}" for name in sets for what in ("BLEU", "exact match"))]
    rows = []
    cut = cut_systems([group for groups in sets.values() for group in groups])
    for part in sorted(laboratory.experiment.parts, key=lambda part: part.name in cut):
        cells = []
        for groups in sets.values():
            comparison = groups[0].comparison
            found = comparison.evaluations.get(part.name) if comparison else None
            mark = comparison.mark(part.name, "bleu") if comparison else ""
            cells += [f"{found['bleu']:.2f}{mark}", f"{found['exact_match']:.1f}"] if found else ["", ""]
        if any(cells):
            rows.append([_marked(part.name, cut), *cells])
    return markdown_table(head, rows)


def _marked(name: str, cut: Collection[str]) -> str:
    return f"{name} (cut)" if name in cut else name


def _systems(group: Group, cut: Collection[str]) -> str:
    """Scores, time, memory and proofs; a guest is a system of more bags, here scored on these."""
    comparison = group.comparison
    if comparison is None:
        return ""
    head = ["system", "BLEU", "95 %", "chrF", "exact match", "τ", "median s", "95 % s", "slowest s", "peak MB"]
    rows = []
    for member in sorted(group.members, key=lambda member: member.name in cut):
        scores, name = comparison.evaluations[member.name], member.name
        span = comparison.intervals[name]["bleu"]
        first = [f"{scores['bleu']:.2f}{comparison.mark(name, 'bleu')}", f"{span.low:.1f}–{span.high:.1f}"]
        first += [f"{scores['chrf']:.2f}", f"{scores['exact_match']:.1f}{comparison.mark(name, 'exact_match')}"]
        rows.append([_marked(name, cut), *first, f"{scores['kendall']:.3f}", *_spent(member)])
    return markdown_table([*head, "proved", "failed"], rows)


def _stages(group: Group) -> str:
    """What each stage brought over its input (the paper's Table 2)."""
    rows = []
    for depth, member in group.chains():
        bleu = f"{group.comparison.evaluations[member.name]['bleu']:.2f}" if group.comparison else ""
        step = group.step(member)
        told = (
            [f"{step.difference:+.2f}", f"{step.low:+.2f} to {step.high:+.2f}", f"{step.p:.3f}"] if step else [""] * 3
        )
        rows.append(["· " * depth + member.name, bleu, *told])
    return markdown_table(["stage", "BLEU", "over its input", "95 %", "p"], rows)


def _spent(member: Member) -> list[str]:
    """Time, memory, share of proved optima and failures; empty cells for a guest."""
    if not member.entries:
        return [""] * 6
    seconds = [entry.seconds for entry in member.entries]
    numbers = (median(seconds), float(np.percentile(seconds, 95)), max(seconds))
    proofs = [entry.outcome.is_proved for entry in member.entries if entry.outcome.proved is not None]
    share = f"{100 * sum(proofs) / len(member.entries):.0f} %" if proofs else ""
    failed = sum(not entry.ok for entry in member.entries)
    return [*(f"{number:.2f}" for number in numbers), _peak_memory(member.entries), share, str(failed)]


def _by_size(group: Group, cell: Callable[[SizeClass], str]) -> str:
    if group.comparison is None:
        return ""
    evaluations = group.comparison.evaluations
    classes = class_order(row.sizes for evaluation in evaluations.values() for row in evaluation.by_size)
    counts = {row.sizes: row.sentences for evaluation in evaluations.values() for row in evaluation.by_size}
    rows = [
        [name, *(next((cell(row) for row in evaluation.by_size if row.sizes == size), "") for size in classes)]
        for name, evaluation in evaluations.items()
    ]
    return markdown_table(["tokens", *classes], [["bags", *(str(counts[size]) for size in classes)], *rows])


def _errors(members: Sequence[Member]) -> str:
    rows = [[each.name, *map(str, each[1:])] for each in search_errors(members)]
    return markdown_table(["system", "optimum found", "dearer", "other rules"], rows)


def _errors_by_size(members: Sequence[Member]) -> str:
    """Of the bags that both searches ordered by the same rules."""
    found = errors_by_size(members)
    classes = class_order({size for sizes in found.values() for size in sizes})
    cells = {
        name: {size: f"{e.dearer} of {e.best + e.dearer}" for size, e in sizes.items()} for name, sizes in found.items()
    }
    return markdown_table(
        ["tokens", *classes], [[name, *(row.get(size, "") for size in classes)] for name, row in cells.items()]
    )


def _spent_by_size(members: Sequence[Member], cell: Callable[[Sequence[Entry]], str]) -> str:
    """What the searches took, by size class (the paper's Figure 6)."""
    found = []
    for member in members:
        assert member.run is not None
        rows = size_classes(np.array([len(bag) for bag in member.run.bags]), SIZES)
        chosen = {size: [member.entries[k] for k in np.flatnonzero(which)] for size, which in rows.items()}
        found.append((member.name, {size: cell(entries) for size, entries in chosen.items()}))
    classes = class_order(size for _, cells in found for size in cells)
    return markdown_table(
        ["tokens", *classes], [[name, *(cells.get(size, "") for size in classes)] for name, cells in found]
    )


def _median_seconds(entries: Sequence[Entry]) -> str:
    return f"{median(entry.seconds for entry in entries):.2f}"


def _peak_memory(entries: Sequence[Entry]) -> str:
    return f"{max(entry.memory for entry in entries) / 2**20:.0f}"


def _mean_phrases(entries: Sequence[Entry]) -> str:
    """Those of whole bags: one that was cut has phrases piece by piece (the paper's Figure 5)."""
    found = [entry.outcome.phrases for entry in entries if entry.outcome.phrases is not None]
    return f"{fmean(found):.0f}" if found else ""


def _oracles(groups: Sequence[Group]) -> str:
    """Orders of the first-pass model and the best that lists and lattices hold (the paper's Table 1)."""
    kinds = list(dict.fromkeys(kind for group in groups for member in group.members for kind in member.oracles))
    rows = []
    for group in groups:
        for member in group.members:
            if group.references is None or group.comparison is None or member.is_guest:
                continue
            if not (member.oracles or "model_order" in member.settings):
                continue
            references = group.references
            scores = [
                f"{evaluate(member.oracles[kind], references)['bleu']:.2f}" if kind in member.oracles else ""
                for kind in kinds
            ]
            order = member.settings.get("model_order")
            best = f"{group.comparison.evaluations[member.name]['bleu']:.2f}"
            rows.append([member.name, str(len(group.bags)), f"{order}-gram" if order else "", best, *scores])
    return markdown_table(["system", "bags", "first pass", "best", *(f"oracle, {kind}" for kind in kinds)], rows)


def _rungs(members: Sequence[Member]) -> str:
    counts = rung_counts(members)
    names = rung_order(counts)
    return markdown_table(
        ["system", *names], [[name, *(str(each.get(rung, 0)) for rung in names)] for name, each in counts.items()]
    )


def _tuned(laboratory: Laboratory) -> str:
    """The values of all stages, and where each has them from."""
    experiment, rows = laboratory.experiment, []
    for stage in experiment.stages:
        if (found := laboratory.values(stage)) is None:
            continue
        values = dict(found)
        bleu = values.pop("bleu", None)
        flat = {**values.pop("weights", {}), **values}
        told = ", ".join(f"{name} {value:g}" for name, value in flat.items())
        if experiment.is_tuned(stage):
            rows.append([stage.name, told, experiment.development_of(stage), f"{bleu:.2f}"])
        else:
            rows.append([stage.name, told, f"as {stage.table.values_of}" if stage.table.values_of else "fixed", ""])
    return markdown_table(["stage", "values", "tuned on", "BLEU there"], rows)


def _versions(sets: Sets) -> str:
    """Versions and signatures."""
    rows = versions()
    groups = [group for each in sets.values() for group in each]
    if comparison := groups[0].comparison:
        rows += [[key, f"`{text}`"] for key, text in comparison.evaluations[comparison.baseline].signatures.items()]
    settings = [member.settings for group in groups for member in group.members]
    indexes = dict.fromkeys(f"`{each['index']}`" for each in settings if "index" in each)
    rows += [["index", signature] for signature in indexes]
    models = {each["model_order"]: each["model"] for each in settings if "model_order" in each}
    rows += [[f"{order}-gram model", f"`{models[order]}`"] for order in sorted(models)]
    for kind in ("dependency", "neural"):
        found = dict.fromkeys(f"`{each[f'{kind}_model']}`" for each in settings if f"{kind}_model" in each)
        rows += [[f"{kind} model", text] for text in found]
    return markdown_table(["what", "version or signature"], rows)
