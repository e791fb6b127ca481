"""The results of an experiment of the kind "syntax": tables in Markdown, figures, and a page for each set.

write_syntax_results  results.md, convergence.svg, time-limits.svg, report.html (test) and report-dev.html
make_syntax_markdown  the tables as text
measure_run           a finished run in figures
lexical_precision     how many words of the outputs have the category of the treebank's derivation

What is not finished is left out, so that results can be written at any time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from statistics import fmean

from comparison.best_first.system import decoded_outcomes
from comparison.learning.training import Iteration
from experiments.markdown import markdown_table
from experiments.syntax import SyntaxLaboratory
from experiments.syntax_description import Decode, DecodeTable
from experiments.syntax_figure import write_convergence, write_time_limits
from grammars.ccg.derivation import leaves, read_auto
from grammars.ccg.report import ConversionReport, convert_all
from grammars.conllu import is_projective, read_conllu
from gyro.files import read_json, write_text
from gyro.report.page import write_report
from gyro.run.folder import Run, RunFolder, open_run
from gyro.score.evaluation import class_order, evaluate, measure
from gyro.score.significance import Comparison, compare_statistics
from gyro.text.corpus import read_lines
from gyro.version import __version__, versions

LENGTHS = (5, 10, 20, 40, 80)  # those of the 2011 paper's Table 4
CONVERGENCE, TIME_LIMITS = "convergence.svg", "time-limits.svg"
HEAD = ["bags", "BLEU", "length, %", "time-outs, %", "exact match, %", "s a bag", "expanded"]
Categories = Mapping[str, Counter[tuple[str, str]]]  # sentence → its words with their categories


@dataclass(frozen=True)
class Measured:
    """A finished run; ratios are between 0 and 1, seconds and expanded edges are means a bag."""

    run: Run
    length_ratio: float
    timeout_ratio: float
    seconds: float
    expanded: float

    @cached_property
    def outputs(self) -> list[list[str]]:
        return [line.split() for line in self.run.best()]

    @cached_property
    def references(self) -> list[tuple[str, ...]]:
        return [bag.reference or () for bag in self.run.bags]

    @cached_property
    def bleu(self) -> float:
        return evaluate(self.outputs, self.references)["bleu"]

    def bleu_up_to(self, length: int) -> float | None:
        """BLEU of the bags of at most so many tokens."""
        pairs = [(o, r) for o, r in zip(self.outputs, self.references, strict=True) if len(r) <= length]
        return evaluate([o for o, _ in pairs], [r for _, r in pairs])["bleu"] if pairs else None

    @property
    def cells(self) -> list[str]:
        """The columns of HEAD."""
        match = evaluate(self.outputs, self.references)["exact_match"]
        first = [str(len(self.references)), f"{self.bleu:.2f}", *map(_percent, (self.length_ratio, self.timeout_ratio))]
        return [*first, f"{match:.1f}", f"{self.seconds:.2f}", f"{self.expanded:.0f}" if self.expanded else ""]


def measure_run(folder: Path) -> Measured | None:
    """A run in figures; None when it is not finished."""
    if not RunFolder(folder).is_finished:
        return None
    run = open_run(folder)
    known = decoded_outcomes(folder)
    words = sum(len(line.split()) for line in run.best())
    return Measured(
        run,
        length_ratio=words / max(sum(map(len, run.bags)), 1),
        timeout_ratio=sum(outcome.timed_out for outcome in known) / max(len(known), 1),
        seconds=fmean(float(json.loads(line)["seconds"]) for line in read_lines(run.folder.times)),
        expanded=fmean(outcome.expanded for outcome in known) if known else 0.0,
    )


def write_syntax_results(laboratory: SyntaxLaboratory) -> list[Path]:
    """Write all results into the experiment's folder and tell the files."""
    folder = laboratory.folder
    written = list(_write_figures(laboratory))
    for set_name, file in (("dev", "report-dev.html"), ("test", "report.html")):
        if named := _report_runs(laboratory, set_name):
            title = f"{laboratory.experiment.title}: {set_name}"
            write_report(named, folder / file, title=title, most_examples=60)
            written.append(folder / file)
    write_text(folder / "results.md", make_syntax_markdown(laboratory))
    return [*written, folder / "results.md"]


def _report_runs(laboratory: SyntaxLaboratory, set_name: str) -> list[tuple[Path, str | None]]:
    """The runs on the most bags; those whose bags have another annotation than the first run's go as plain text.

    A page compares systems on the same bags, and to it these are other bags.
    """
    runs = [(path, name, read_json(RunFolder(path).run)) for path, name in laboratory.runs(set_name)]
    most = max((record["bags"] for _, _, record in runs), default=0)
    same = [(path, name, record["bags_sha256"]) for path, name, record in runs if record["bags"] == most]
    return [(path if bags == same[0][2] else RunFolder(path).best, name) for path, name, bags in same]


def _write_figures(laboratory: SyntaxLaboratory) -> Iterator[Path]:
    experiment, folder = laboratory.experiment, laboratory.folder
    titled: dict[str, dict[str, list[Iteration]]] = {}
    for curve in experiment.curves:
        found = {name: history for name in curve.models if (history := laboratory.history(name))}
        titled |= {curve.title: found} if found else {}
    if titled:
        write_convergence(folder / CONVERGENCE, titled)
        yield folder / CONVERGENCE
    curves: dict[str, list[tuple[float, float, float]]] = {}
    for table in experiment.runs:
        for decode in table.decodes() if len(table.time_limit) > 1 else ():
            if run := measure_run(laboratory.run_folder(decode)):
                name = decode.candidates[0] if len(table.models) > 1 else table.name
                curves.setdefault(name, []).append((decode.time_limit, run.bleu, run.timeout_ratio))
    if curves:
        write_time_limits(folder / TIME_LIMITS, curves)
        yield folder / TIME_LIMITS


def make_syntax_markdown(laboratory: SyntaxLaboratory) -> str:
    """All tables, and how everything was made."""
    experiment = laboratory.experiment
    parts = [f"# {experiment.title}", _facts(laboratory), "## Learning", _learning(laboratory)]
    if (laboratory.folder / CONVERGENCE).exists():
        parts.append(f"![BLEU and expanded edges by iteration]({CONVERGENCE})")
    gold = {name: _gold_categories(laboratory, name) for name in ("dev", "test") if laboratory.runs(name)}
    for table in experiment.runs:
        if sections := _run_sections(laboratory, table, gold.get(table.set, {})):
            parts += [f"## {table.name} ({table.set})", *sections]
    if (laboratory.folder / TIME_LIMITS).exists():
        parts += ["## Time limits", f"![BLEU and time-outs by time limit]({TIME_LIMITS})"]
    if comparison := _comparison(laboratory, "test"):
        parts += ["## All systems on test", *_compared(laboratory, comparison)]
    parts += ["## How it was made", markdown_table(["what", "version"], versions())]
    parts += [f"```toml\n{experiment.source.strip()}\n```"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(laboratory: SyntaxLaboratory) -> str:
    counts = []
    for name in ("dev", "test"):
        sentences = laboratory.sentences(name)
        crossing = sum(not is_projective(sentence.heads or ()) for sentence in sentences)
        counts.append(f"{name} {len(sentences)}, {crossing} of them not projective")
    return (
        f"{date.today().isoformat()}, gyro {__version__}. Sentences to draw from: {'; '.join(counts)}. All runs on "
        f"a set draw from the same order of its sentences (seed {laboratory.experiment.seed}), so a smaller sample is "
        "part of a larger one. BLEU is on tokens, case kept; length is that of the outputs over that of the bags; a "
        "bag timed out when no whole sentence was found in time. Time limits make all of this depend on the machine: "
        f"these runs had {laboratory.jobs} processes at once. Times are of one process for one bag."
    )


def _learning(laboratory: SyntaxLaboratory) -> str:
    """A line for each model: how its best iteration did, and how the search narrowed."""
    head = ["model", "sentences", "iterations", "best", "dev bags", *HEAD[1:4], "s a bag"]
    head += ["found, %", "expanded, first", "expanded, best", "updates", "minutes an iteration"]
    rows = []
    for table in laboratory.experiment.models:
        history = laboratory.history(table.name)
        if not history:
            continue
        best = max(history, key=lambda each: each.dev_bleu or 0.0)
        scores = [f"{best.dev_bleu or 0:.2f}", _percent(best.dev_length_ratio), _percent(best.dev_timeout_ratio)]
        row = [table.name, str(best.sentences), str(len(history)), str(best.number), str(table.dev_bags), *scores]
        row += [f"{(best.dev_seconds or 0) / table.dev_bags:.2f}", _percent(best.found)]
        row += [f"{history[0].expanded:.0f}", f"{best.expanded:.0f}", f"{best.updates:.1f}"]
        rows.append([*row, f"{fmean(each.seconds for each in history) / 60:.1f}"])
    return markdown_table(head, rows)


def _run_sections(laboratory: SyntaxLaboratory, table: DecodeTable, gold: Categories) -> list[str]:
    """The runs of one table: a line each; a grid where two things vary; for CCG precision and BLEU by length."""
    found = [(d, run) for d in table.decodes() if (run := measure_run(laboratory.run_folder(d)))]
    if not found:
        return []
    is_ccg = laboratory.experiment.model(found[0][0].candidates[0]).grammar == "ccg"
    rows = []
    for decode, run in found:
        category = lexical_precision(run.run.folder.path / "nbest.auto", gold) if is_ccg else None
        name = ", ".join(decode.parts) or laboratory.chosen_model(decode)
        rows.append([name, *run.cells, *([_percent(category)] if is_ccg else [])])
    sections = [markdown_table(["run", *HEAD, *(["category precision, %"] if is_ccg else [])], rows)]
    if len(table.pos) > 1 and len(table.heads) > 1:
        sections += ["BLEU by what is given:", _grid(found)]
    if is_ccg and table.set == "dev":
        usual = max({d.time_limit for d, _ in found}, key=lambda limit: (limit == 5.0, -limit))
        chosen = [(d, run) for d, run in found if d.time_limit == usual]
        sections += [f"BLEU by length, {usual:g} s:", _by_length(laboratory, chosen)]
    return sections


def _grid(found: Sequence[tuple[Decode, Measured]]) -> str:
    """Shares of tags down, of heads across (the 2015 paper's Table 7)."""
    scores = {(decode.candidates, decode.pos, decode.heads): f"{run.bleu:.2f}" for decode, run in found}
    models = list(dict.fromkeys(key[0] for key in scores))
    tags, heads = list(dict.fromkeys(key[1] for key in scores)), list(dict.fromkeys(key[2] for key in scores))
    rows = [
        [", ".join(model), f"{share:.0%}", *(scores.get((model, share, other), "") for other in heads)]
        for model in models
        for share in tags
    ]
    return markdown_table(["model", "POS", *(f"heads {share:.0%}" for share in heads)], rows)


def _by_length(laboratory: SyntaxLaboratory, found: Sequence[tuple[Decode, Measured]]) -> str:
    """BLEU of bags of at most so many tokens (the 2011 paper's Table 4)."""
    columns = [[run.bleu_up_to(length) for length in LENGTHS] + [run.bleu] for _, run in found]
    names = [laboratory.chosen_model(decode) for decode, _ in found]
    rows = [
        [label, *("" if column[place] is None else f"{column[place]:.2f}" for column in columns)]
        for place, label in enumerate([*(f"≤ {length}" for length in LENGTHS), "all"])
    ]
    return markdown_table(["tokens", *names], rows)


def _gold_categories(laboratory: SyntaxLaboratory, set_name: str) -> Categories:
    paths = getattr(laboratory.experiment.treebank, set_name)
    trees = (tree for path in paths for tree in read_conllu(path))
    entries = convert_all(trees, ConversionReport())
    return {
        entry.header.split(" ")[0].removeprefix("ID="): Counter(
            (leaf.word, leaf.category) for leaf in leaves(entry.derivation)
        )
        for entry in entries
    }


def lexical_precision(path: Path, gold: Categories) -> float | None:
    """The share of words whose category the treebank's derivation has for that word, over all best outputs.

    Sentences without a derivation are left out. The headers are ID=SENTENCE.RANK.PART, as the decoder writes them.
    """
    right = total = 0
    words: dict[str, Counter[tuple[str, str]]] = {}
    for entry in read_auto(path):
        name, rank, _ = entry.header.split(" ")[0].removeprefix("ID=").rsplit(".", 2)
        if rank == "1" and name in gold:
            words.setdefault(name, Counter()).update((leaf.word, leaf.category) for leaf in leaves(entry.derivation))
    for name, counts in words.items():
        right += (counts & gold[name]).total()
        total += counts.total()
    return right / total if total else None


def _comparison(laboratory: SyntaxLaboratory, set_name: str) -> Comparison | None:
    """The systems on the most bags of a set, tested against the last: GYRO where it is there."""
    runs = {name: run for path, name in laboratory.runs(set_name) if (run := measure_run(path))}
    most = max((len(run.references) for run in runs.values()), default=0)
    same = {name: run for name, run in runs.items() if len(run.references) == most}
    if not same:
        return None
    statistics = {name: measure(run.outputs, run.references) for name, run in same.items()}
    return compare_statistics(statistics, baseline=list(same)[-1], ids=None)


def _compared(laboratory: SyntaxLaboratory, comparison: Comparison) -> Iterator[str]:
    """Scores with intervals and marks, and by size."""
    runs = {name: run for path, name in laboratory.runs("test") if (run := measure_run(path))}
    head = ["system", *HEAD[:1], "BLEU", "95 %", "over the last", "p", "chrF", *HEAD[2:6]]
    rows = []
    for name, scores in comparison.evaluations.items():
        cells, span = runs[name].cells, comparison.intervals[name]["bleu"]
        row = [
            name,
            cells[0],
            f"{scores['bleu']:.2f}{comparison.mark(name, 'bleu')}",
            f"{span.low:.1f}–{span.high:.1f}",
        ]
        step = comparison.differences[name]["bleu"] if name != comparison.baseline else None
        row += ["", ""] if step is None else [f"{step.difference:+.2f}", f"{step.p:.3f}"]
        rows.append([*row, f"{scores['chrf']:.2f}", *cells[2:6]])
    yield markdown_table(head, rows)
    yield (
        f"Marks and p-values: paired bootstrap against {comparison.baseline!r}, {comparison.samples} samples; "
        "+ better, - worse, p < 0.05; doubled: p < 0.01. BLEU by the size of bags:"
    )
    by_size = {name: {row.sizes: row for row in each.by_size} for name, each in comparison.evaluations.items()}
    classes = class_order(size for rows_of in by_size.values() for size in rows_of)
    first = next(iter(by_size.values()))
    lines = [["bags", *(str(first[size].sentences) for size in classes)]]
    lines += [[name, *(f"{of[size]['bleu']:.1f}" for size in classes)] for name, of in by_size.items()]
    yield markdown_table(["tokens", *classes], lines)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"
