"""What a comparison tells of the runs on one set under one condition, as tables in Markdown and as panels of figures.

score_tables     all scores with intervals and marks, for each number of bags that runs have
length_table, length_panels          BLEU and METEOR by length, in classes of equal counts
distortion_table, distortion_panels  the shares of words by how far they stand from their places
Recalls          recall of subtrees, its tables and panels
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from experiments.comparison_figure import Panel
from experiments.comparison_measure import Chosen, Group, Measured, equal_bins, sign_test
from experiments.markdown import markdown_table
from grammars.conllu import read_conllu
from gyro.score.bleu import ORDER as LONGEST_NGRAM
from gyro.score.metric import DISTORTION_LABELS, METRICS
from gyro.score.subtree import LENGTH_CLASSES, Recall, Tree, subtree_recalls

LENGTH_BINS = 8
LENGTH_METRICS = ("bleu", "meteor")
MOST_CLASSES = 12  # of tags and of relations
_SCORES = ("bleu_lc", "meteor", "chrf")
_HEAD = ["system", "bags", "BLEU", "95 %", "p", "p, sign test", *(METRICS[key].label for key in _SCORES)]
_HEAD += ["exact match, %", "s a bag", "failed", "time-outs"]


def score_tables(group: Group) -> Iterator[str]:
    """The first one has all runs, on the bags that all have; the next ones have those with more bags, on these."""
    for count in group.counts:
        comparison, runs, rows = group.compare(count), group.first(count), []
        first = runs[comparison.baseline]
        for name, run in runs.items():
            scores, span = run.scores, comparison.intervals[name]["bleu"]
            step = comparison.differences.get(name, {}).get("bleu")
            marked = [f"{scores[key]:.2f}{comparison.mark(name, key)}" for key in ("bleu", *_SCORES)]
            row = [name, str(count), marked[0], f"{span.low:.1f}–{span.high:.1f}"]
            row += [f"{step.p:.3f}", f"{sign_test(run, first):.3f}"] if step else ["", ""]
            row += [*marked[1:], f"{scores['exact_match']:.1f}", f"{run.mean_seconds:.3f}"]
            rows.append([*row, str(sum(run.failed)), str(sum(run.timed_out))])
        yield markdown_table(_HEAD, rows)


def length_table(runs: Mapping[str, Measured]) -> str:
    bins = _bins(runs)
    head = ["system", "", *(f"{name} ({rows.sum()})" for name, rows in bins.items())]
    lines = []
    for name, run in runs.items():
        for key in LENGTH_METRICS:
            scores = [_class_score(run, rows, key) for rows in bins.values()]
            lines.append([name, METRICS[key].label, *("" if score is None else f"{score:.1f}" for score in scores)])
    return markdown_table(head, lines)


def length_panels(runs: Mapping[str, Measured]) -> list[Panel]:
    bins = _bins(runs)
    return [
        Panel(
            "tokens",
            METRICS[key].label,
            {
                name: [
                    (place, score)
                    for place, rows in enumerate(bins.values())
                    if (score := _class_score(run, rows, key)) is not None
                ]
                for name, run in runs.items()
            },
            list(bins),
        )
        for key in LENGTH_METRICS
    ]


def _class_score(run: Measured, rows: Chosen, key: str) -> float | None:
    """None where BLEU has nothing to count: no sentence has as many words as its longest n-grams."""
    if key == "bleu" and run.statistics.lengths[rows].max() < LONGEST_NGRAM:
        return None
    return run.statistics.scores(rows)[key]


def _bins(runs: Mapping[str, Measured]) -> dict[str, Chosen]:
    return equal_bins(next(iter(runs.values())).statistics.lengths.tolist(), LENGTH_BINS)


def distortion_table(runs: Mapping[str, Measured]) -> str:
    rows = []
    for name, run in runs.items():
        shares = [f"{100 * share:.1f}" for share in run.statistics.distortion_shares()]
        rows.append([name, f"{run.scores['distortion']:.3f}", *shares])
    return markdown_table(["system", "mean", *DISTORTION_LABELS], rows)


def distortion_panels(runs: Mapping[str, Measured]) -> list[Panel]:
    curves = {
        name: [(place, 100 * share) for place, share in enumerate(run.statistics.distortion_shares())]
        for name, run in runs.items()
    }
    return [Panel("distortion", "words, %", curves, DISTORTION_LABELS)]


@dataclass(frozen=True)
class Recalls:
    """Recall of subtrees by system, kind and class."""

    by_system: Mapping[str, Mapping[str, Mapping[str, Recall]]]

    @classmethod
    def of(cls, runs: Mapping[str, Measured], trees: Path) -> Recalls:
        """Against the trees of the references, which are in the order of the bags."""
        most = max(map(len, runs.values()), default=0)
        known = [
            Tree(tree.forms, tree.heads, [t.xpos for t in tree.tokens], [t.deprel for t in tree.tokens])
            for tree in islice(read_conllu(trees), most)
        ]
        return cls({name: subtree_recalls(run.outputs, known[: len(run)]) for name, run in runs.items()})

    def classes(self, kind: str) -> list[str]:
        """Those of one kind that have most subtrees."""
        found = next(iter(self.by_system.values()), {}).get(kind, {})
        return [name for name in LENGTH_CLASSES if name in found] if kind == "length" else [*found][:MOST_CLASSES]

    def table(self, kind: str) -> str:
        """Strict and loose recall in per cent."""
        classes = self.classes(kind)
        first = next(iter(self.by_system.values()), {}).get(kind, {})
        rows = []
        for system, recalls in self.by_system.items():
            for way in ("strict", "loose"):
                shares = [getattr(recalls[kind][name], f"{way}_share") for name in classes]
                rows.append([system, way, *(f"{100 * share:.1f}" for share in shares)])
        return markdown_table(["system", "", *(f"{name} ({first[name].subtrees})" for name in classes)], rows)

    def panels(self, kinds: Sequence[str] = ("length", "tag", "relation")) -> list[Panel]:
        """Strict recall."""
        return [
            Panel(
                {"length": "length of the subtree", "tag": "tag of its head"}.get(kind, kind),
                "recall, %",
                {system: self._curve(system, kind) for system in self.by_system},
                self.classes(kind),
                is_ordered=kind == "length",
            )
            for kind in kinds
        ]

    def _curve(self, system: str, kind: str) -> list[tuple[float, float]]:
        found = self.by_system[system][kind]
        return [(place, 100 * found[name].strict_share) for place, name in enumerate(self.classes(kind))]
