"""What a comparison tells of all its sets, models and figures together, as tables in Markdown.

Results         the measured runs of an experiment, by set and condition
overview_table  one metric of all runs: a line for each, a column for each set or condition
treebank_table, model_table, training_table   what was made before
curve_table, curve_panels                     scores over the size of a training, its time, the quality of its trees
published_table figures of papers, and ours beside them
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from comparison.learning.training import read_history
from experiments.comparison import ComparisonLaboratory
from experiments.comparison_description import Decode
from experiments.comparison_entry import OVER, CurveTable
from experiments.comparison_figure import Panel
from experiments.comparison_group import Recalls
from experiments.comparison_measure import Group, Measured, measure_run
from experiments.markdown import markdown_table
from gyro.score.metric import METRICS

X_LABELS = {"sentences": "training sentences", "seconds": "seconds of training", "uas": "heads as in the treebank, %"}
CURVE_METRICS = ("bleu", "meteor")


class Results:
    """The runs that are finished."""

    def __init__(self, laboratory: ComparisonLaboratory) -> None:
        self.laboratory = laboratory
        places = dict.fromkeys((decode.set, decode.given) for decode in laboratory.experiment.decodes())
        groups = (Group(*p, {n: measure_run(path) for n, path in laboratory.finished(*p).items()}) for p in places)
        self.groups = {(group.set, group.given): group for group in groups if group.runs}
        self._recalls: dict[tuple[str, ...], Recalls] = {}

    def run(self, set_name: str, given: str, name: str) -> Measured | None:
        """One run on all of its bags."""
        group = self.groups.get((set_name, given))
        return group.runs.get(name) if group else None

    def recalls(self, set_name: str, given: str, names: Sequence[str]) -> Recalls:
        """Those of the runs that `chosen` gives."""
        key = (set_name, given, *names)
        if key not in self._recalls:
            runs = self.chosen(set_name, given, names)
            self._recalls[key] = Recalls.of(runs, self.laboratory.material.trees(set_name))
        return self._recalls[key]

    def chosen(self, set_name: str, given: str, names: Sequence[str]) -> dict[str, Measured]:
        """Some runs (without names all) on the bags that these have in common."""
        group = self.groups.get((set_name, given))
        runs = {name: run for name, run in (group.runs if group else {}).items() if not names or name in names}
        return Group(set_name, given, runs).common if runs else {}


def overview_table(
    results: Results, places: Sequence[tuple[str, str]], labels: Sequence[str], key: str = "bleu"
) -> str:
    """Each column is on the bags that all its runs have; what is best in it is in bold."""
    groups = [results.groups[place] for place in places]
    names = list(dict.fromkeys(name for group in groups for name in group.common))
    sign = 1 if METRICS[key].higher_is_better else -1
    best = [max(sign * run.scores[key] for run in group.common.values()) for group in groups]
    rows = []
    for name in names:
        cells = []
        for group, top in zip(groups, best, strict=True):
            run = group.common.get(name)
            text = f"{run.scores[key]:.2f}" if run else ""
            cells.append(f"**{text}**" if run and sign * run.scores[key] == top else text)
        rows.append([name, *cells])
    return markdown_table(
        ["system", *(f"{label} ({g.counts[0]})" for label, g in zip(labels, groups, strict=True))], rows
    )


def treebank_table(laboratory: ComparisonLaboratory) -> str:
    rows = []
    for table in laboratory.experiment.treebanks:
        if (facts := laboratory.material.treebank_facts(table.name)) is not None:
            shares = [f"{100 * share:.1f}" for share in (facts.uas, 1 - facts.kept)]
            trees = f"{100 * facts.projective / max(facts.sentences, 1):.1f}"
            rows.append(
                [table.name, f"{facts.sentences:,}", f"{facts.words:,}", table.parser or "gold", *shares, trees]
            )
    return markdown_table(["treebank", "sentences", "words", "trees", "UAS", "moved, %", "projective, %"], rows)


def model_table(laboratory: ComparisonLaboratory) -> str:
    """The language models."""
    rows = []
    for table in laboratory.experiment.language_models:
        path = laboratory.material.language_model(table.name)
        if path.exists():
            made_of = [*(["text"] if table.text else []), *([f"treebank {table.treebank}"] if table.treebank else [])]
            facts = [f"{laboratory.material.seconds(table.name):.1f}", f"{path.stat().st_size / 1e6:.0f}"]
            rows.append([table.name, str(table.order), " and ".join(made_of), *facts])
    return markdown_table(["language model", "order", "of", "seconds", "MB"], rows)


def training_table(laboratory: ComparisonLaboratory) -> str:
    """The best iteration of each, and what all of them took."""
    rows = []
    for training in laboratory.experiment.trainings():
        used, history = laboratory.used(training), read_history(laboratory.model_folder(training))
        if used is None:
            continue
        row = [training.name, training.table.system, training.table.treebank, training.table.lm]
        scored = [each for each in history if each.dev_bleu is not None]
        if scored:
            best = max(scored, key=lambda each: each.dev_bleu or 0.0)
            row += [f"{best.number} of {len(history)}", f"{best.dev_bleu:.2f}", f"{100 * best.found:.1f}"]
            row += [f"{fmean(each.seconds for each in history):.0f}"]
        else:
            row += [str(len(history) or ""), "", "", ""]
        rows.append([*row, f"{used.wall / 60:.1f}", f"{used.cpu / 60:.1f}"])
    head = ["model", "system", "treebank", "language model", "best iteration", "dev BLEU", "found, %"]
    return markdown_table([*head, "s an iteration", "minutes", "CPU minutes"], rows)


class Point(NamedTuple):
    """A run in a curve; what is not known is None."""

    run: str
    set: str
    measured: Measured
    x: dict[str, float | None]


def curve_points(results: Results, curve: CurveTable) -> list[Point]:
    """The runs that are finished, by set, on the bags that they have in common."""
    decodes = {decode.name: decode for decode in results.laboratory.experiment.decodes() if decode.name in curve.runs}
    points = []
    for set_name in curve.sets:
        runs = results.chosen(set_name, curve.given, curve.runs)
        for name in (name for name in curve.runs if name in runs and name in decodes):
            points.append(
                Point(name, set_name, runs[name], training_facts(results.laboratory, decodes[name], curve.given))
            )
    return points


def training_facts(laboratory: ComparisonLaboratory, decode: Decode, given: str) -> dict[str, float | None]:
    """Sentences and quality of the treebank that a run goes back to, and the seconds of its trainings.

    The seconds are the processor's, of the iterations where there are such, without what scores them; those of a
    language model count too, by the clock.
    """
    experiment, material = laboratory.experiment, laboratory.material
    training = experiment.training_of(Decode(decode.table, decode.set, given, decode.choice))
    lm = next((table for table in experiment.language_models if table.name == experiment.lm_of(decode)), None)
    bank = training.table.treebank if training else (lm.treebank if lm else "")
    facts = material.treebank_facts(bank) if bank in {table.name for table in experiment.treebanks} else None
    seconds = material.seconds(lm.name) if lm else 0.0
    if training:
        history, used = read_history(laboratory.model_folder(training)), laboratory.used(training)
        if used is not None:
            seconds += sum(each.seconds for each in history) * used.share or used.cpu
    known = (facts.sentences, 100 * facts.uas) if facts else (None, None)
    return {"sentences": known[0], "seconds": seconds or None, "uas": known[1]}


def curve_table(results: Results, curve: CurveTable) -> str:
    rows = []
    for point in curve_points(results, curve):
        sentences, seconds, uas = (point.x[over] for over in OVER)
        cells = ["" if sentences is None else f"{sentences:,.0f}"]
        cells += [f"{seconds:.1f}", f"{math.log10(seconds):.2f}"] if seconds else ["", ""]
        cells += ["" if uas is None else f"{uas:.1f}", str(len(point.measured))]
        scores = [f"{point.measured.scores[key]:.2f}" for key in CURVE_METRICS]
        rows.append([curve.line, point.run, point.set, *cells, *scores])
    head = ["line", "run", "set", "sentences", "training, s", "log10 s", "UAS", "bags"]
    return markdown_table([*head, *(METRICS[key].label for key in CURVE_METRICS)], rows)


def curve_panels(results: Results, curves: Sequence[CurveTable]) -> list[Panel]:
    """The figure of the curves of one title: a panel for each thing on the x axis and each metric."""
    panels = []
    for over in dict.fromkeys(over for curve in curves for over in curve.over):
        for key in CURVE_METRICS:
            lines: dict[str, list[tuple[float, float]]] = {}
            for curve in (curve for curve in curves if over in curve.over):
                for point in curve_points(results, curve):
                    name = f"{curve.line}, {point.set}" if len({s for c in curves for s in c.sets}) > 1 else curve.line
                    if (x := point.x[over]) is not None:
                        lines.setdefault(name, []).append((x, point.measured.scores[key]))
            if lines:
                panels.append(Panel(X_LABELS[over], METRICS[key].label, lines, is_log=over != "uas"))
    return panels


def published_table(results: Results) -> str:
    """Rows as they stand in the file; where no run of ours is named or finished, that is left open."""
    rows = []
    for table in results.laboratory.experiment.published:
        label = "bags a second" if table.metric == "rate" else METRICS[table.metric].label
        for name, value, our_name in table.rows:
            run = results.run(table.set, table.given, our_name)
            where = f"{our_name} ({table.set}, {table.given})" if our_name else ""
            ours = [str(len(run)), f"{run.scores[table.metric]:.2f}"] if run else ["", ""]
            rows.append([table.paper, table.table, name, f"{value:g}", label, where, *ours])
    return markdown_table(["paper", "table", "row", "published", "metric", "our run", "bags", "ours"], rows)
