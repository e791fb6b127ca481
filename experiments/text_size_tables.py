"""What an experiment of the kind "text-size" measured on a set of bags, as numbers and as tables in Markdown.

SetResults  by part of the text: parse rates, phrases, references, BLEU, and the curve of the parse rate
share_text  a share in per cent with its interval

What is not finished is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.markdown import markdown_table
from experiments.text_size import Part, TextSizeLaboratory, Try
from experiments.text_size_coverage import REFERENCE, Piece
from experiments.text_size_curve import LINKS, Curve, bootstrap, fit_curve, interval, wilson
from gyro.notation import parse_span
from gyro.run.folder import open_run
from gyro.score.evaluation import measure, size_classes
from gyro.score.significance import Interval, compare_statistics

SIZES = (5, 10, 15, 20)  # the last of the classes of bag sizes
Fits = dict[tuple[int, bool, str], tuple[Curve, list[Curve]]]


class SetResults:
    """What was measured on a set, by part of the text."""

    def __init__(self, laboratory: TextSizeLaboratory, name: str) -> None:
        self.laboratory, self.experiment, self.name = laboratory, laboratory.experiment, name
        found = {part: laboratory.pieces(name, part) for part in laboratory.parts}
        self.pieces: dict[Part, list[Piece]] = {part: pieces for part, pieces in found.items() if pieces}
        self.tokens = {part: part.open_index().num_tokens for part in self.pieces}

    def size_text(self, part: Part) -> str:
        return f"{self.tokens[part]:,}"

    # ---- tables

    def text_table(self) -> str:
        """The texts and their n-grams."""
        rows = []
        for part in self.pieces:
            index = part.open_index()
            numbers = (index.num_tokens, index.num_sentences, *index.num_ngrams)
            rows.append([f"{number:,}" for number in numbers])
        order = self.experiment.index.order
        return markdown_table(["tokens", "sentences", *(f"{n}-grams" for n in range(1, order + 1))], rows)

    def parse_table(self) -> str:
        rules = self.experiment.rules
        rows = []
        for part, pieces in self.pieces.items():
            cells = [share_text([piece.parses[r] for piece in pieces]) for r in range(len(rules))]
            strict = [f"{_percent(fmean(piece.strict_parses[r] for piece in pieces))}" for r in range(len(rules))]
            unknown = sum(piece.unknown for piece in pieces) / sum(piece.tokens for piece in pieces)
            rows.append([self.size_text(part), str(len(pieces)), *cells, *strict, f"{100 * unknown:.2f}"])
        names = [f"rules {each}, %" for each in rules]
        return markdown_table(
            ["tokens", "bags", *names, *(f"{name}, strict" for name in names), "unknown words, %"], rows
        )

    def parse_by_size(self) -> str:
        """Parse rate by size of the bag."""
        rows = []
        for r, rules in enumerate(self.experiment.rules):
            for part, pieces in self.pieces.items():
                parses = np.array([piece.parses[r] for piece in pieces])
                classes = size_classes(np.array([piece.tokens for piece in pieces]), SIZES)
                rows.append([rules, self.size_text(part), *(share_text(parses[which]) for which in classes.values())])
        first = next(iter(self.pieces.values()))
        heads = size_classes(np.array([piece.tokens for piece in first]), SIZES)
        return markdown_table(
            ["rules", "tokens", *(f"{name} tokens ({which.sum()} bags)" for name, which in heads.items())], rows
        )

    def phrase_table(self) -> str:
        order = self.experiment.index.order
        rows = []
        for part, pieces in self.pieces.items():
            means = [fmean(piece.phrases[n] for piece in pieces) for n in range(order)]
            rows.append([self.size_text(part), f"{sum(means):.1f}", *(f"{mean:.2f}" for mean in means)])
        return markdown_table(["tokens", "all", *(f"{n} word{'s' * (n > 1)}" for n in range(1, order + 1))], rows)

    def reference_table(self) -> str:
        """What the index holds of the references, and whether they can be cut into rules."""
        rows = []
        for part, pieces in self.pieces.items():
            held = [
                f"{100 * sum(piece.held[k] for piece in pieces) / max(1, sum(piece.ngrams[k] for piece in pieces)):.1f}"
                for k in range(len(REFERENCE))
            ]
            cuts = [
                share_text([piece.reference_cuts[r] for piece in pieces]) for r in range(len(self.experiment.rules))
            ]
            rows.append([self.size_text(part), *held, *cuts])
        heads = [f"{n}-grams held, %" for n in REFERENCE]
        return markdown_table(["tokens", *heads, *(f"cut into {each}, %" for each in self.experiment.rules)], rows)

    # ---- BLEU

    @cached_property
    def bleu(self) -> dict[Try, tuple[float, Interval]]:
        """BLEU of the finished runs with its interval."""
        statistics = {}
        for each in self.laboratory.tries():
            if each.part in self.pieces and self.laboratory.is_run(self.name, each):
                run = open_run(self.laboratory.run_folder(self.name, each))
                outputs = [line.split() for line in run.best()]
                statistics[each.name] = measure(outputs, [bag.reference or () for bag in run.bags])
        if not statistics:
            return {}
        compared = compare_statistics(statistics)
        scores = {name: (compared.evaluations[name]["bleu"], compared.intervals[name]["bleu"]) for name in statistics}
        return {each: scores[each.name] for each in self.laboratory.tries() if each.name in scores}

    def bleu_curves(self) -> dict[str, dict[Part, tuple[float, Interval]]]:
        """By way and model; with the whole text both models are the same."""
        curves: dict[str, dict[Part, tuple[float, Interval]]] = {}
        for way in self.experiment.ways:
            for model in way.models:
                name = f"{way.name}, own model" if model == "own" else f"{way.name}, model of the whole"
                curves[name] = {
                    each.part: found
                    for each, found in self.bleu.items()
                    if each.way == way and (each.model == model or not each.part.size)
                }
        return {name: curve for name, curve in curves.items() if curve}

    def bleu_table(self) -> str:
        curves = self.bleu_curves()
        rows = [
            [self.size_text(part), *(_bleu_text(curve.get(part)) for curve in curves.values())] for part in self.pieces
        ]
        return markdown_table(["tokens", *curves], rows if curves else [])

    def rung_table(self) -> str:
        """The share of sentences that each way orders with its own rules, all pieces of them."""
        rows = []
        for each in self.bleu:
            if each.way.generate.rule_lengths[0] > 1:
                run = open_run(self.laboratory.run_folder(self.name, each))
                rungs = [str(outcome.rung) for outcome in run.outcomes]
                counts = [f"{name}: {rungs.count(name)}" for name in dict.fromkeys(sorted(rungs))]
                rows.append([each.name, ", ".join(counts)])
        return markdown_table(["run", "sentences by the rung of their worst piece"], rows)

    # ---- the curve

    def ceiling(self, rules: int) -> float:
        """The share of bags that have as many words as the shortest rule: others never parse, whatever the text."""
        lengths = [piece.tokens for piece in next(iter(self.pieces.values()))]
        return fmean(length >= self._shortest(rules) for length in lengths)

    def by_sentence(self, rules: int, strict: bool) -> tuple[NDArray[Any], NDArray[Any]]:
        """Of the bags that are long enough, those that parse by sentence and part, and all by sentence."""
        sentences = 1 + max(piece.sentence for piece in next(iter(self.pieces.values())))
        hits, totals = np.zeros((sentences, len(self.pieces))), np.zeros(sentences)
        for column, pieces in enumerate(self.pieces.values()):
            for piece in (piece for piece in pieces if piece.tokens >= self._shortest(rules)):
                hits[piece.sentence, column] += (piece.strict_parses if strict else piece.parses)[rules]
                totals[piece.sentence] += column == 0
        return hits, totals

    def _shortest(self, rules: int) -> int:
        return parse_span(self.experiment.rules[rules])[0]

    @cached_property
    def fits(self) -> Fits:
        """The curves over all sizes."""
        return self._fit(len(self.tokens))

    def _fit(self, most: int) -> Fits:
        """By rules, strictness and form the curve over the first sizes and those of its samples, where there is one."""
        sizes = [float(tokens) for tokens in self.tokens.values()][:most]
        found = {}
        for r, strict in product(range(len(self.experiment.rules)), (False, True)):
            hits, totals = self.by_sentence(r, strict)
            for link in LINKS if sizes else ():
                curve = fit_curve(sizes, hits[:, :most].sum(axis=0), np.full(len(sizes), totals.sum()), link)
                samples = bootstrap(sizes, hits[:, :most], totals, link) if curve is not None else []
                if curve is not None and samples:
                    found[r, strict, link] = curve, samples
        return found

    def held_out_table(self) -> str:
        """What the smaller texts alone say of the largest, beside what was found there."""
        rows, largest = [], max(self.tokens.values())
        for (r, strict, link), (curve, samples) in self._fit(len(self.tokens) - 1).items():
            ceiling, parses = self.ceiling(r), self.by_sentence(r, strict)
            low, high = interval([ceiling * each.share(largest) for each in samples])
            foretold = f"{_percent(ceiling * curve.share(largest))} ({_percent(low)}–{_percent(high)})"
            found = ceiling * parses[0][:, -1].sum() / parses[1].sum()
            rows.append([self.experiment.rules[r] + ", strict" * strict, link, foretold, _percent(found)])
        return markdown_table(["rules", "form", f"foretold at {largest:,}, %", "found, %"], rows)

    def fit_table(self) -> str:
        """Shares of all bags: the curve times its ceiling."""
        published = self.experiment.published
        heads = [f"fitted at {tokens:,}, %" for tokens in self.tokens.values()]
        goal = [f"at {published.words:,}, %", "published, %"] if published else []
        rows = []
        for (r, strict, link), (curve, samples) in self.fits.items():
            ceiling, rules = self.ceiling(r), self.experiment.rules[r]
            low, high = interval([each.slope for each in samples])
            row = [rules + ", strict" * strict, link, f"{curve.slope:.2f} ({low:.2f}–{high:.2f})", _percent(ceiling)]
            row += [_percent(ceiling * curve.share(tokens)) for tokens in self.tokens.values()]
            if published:
                low, high = interval([ceiling * each.share(published.words) for each in samples])
                row.append(f"{_percent(ceiling * curve.share(published.words))} ({_percent(low)}–{_percent(high)})")
                row.append(_percent(published.parse_rate) if published.rules == rules else "")
            rows.append(row)
        return markdown_table(["rules", "form", "slope", "ceiling, %", *heads, *goal], rows)

    def fit_text(self) -> str:
        """What the curve is, and how little it says."""
        text = (
            "logit(share) = level + slope · ln(tokens), by maximum likelihood, and the same with ln(−ln(1 − share)) "
            "for another form, of the bags that have as many words as the shortest rule; their share is the ceiling. "
            "Fitted shares are of all bags. Intervals by bootstrap over sentences, the same ones at all sizes."
        )
        published = self.experiment.published
        if published is None:
            return text
        orders = math.log10(published.words / max(self.tokens.values()))
        return (
            f"{text} The published size is {orders:.1f} orders of magnitude beyond the largest text here, and the "
            "texts, bags and tokens differ: what the fit says there is no more than an indication. The interval is "
            "that of the bags alone; it does not know whether the form holds so far, and the two forms need not agree."
        )


def share_text(holds: Sequence[bool] | NDArray[Any]) -> str:
    """A share in per cent with its interval.

    >>> share_text([True] + 9 * [False])
    '10.0 (1.8–40.4)'
    """
    low, high = wilson(int(sum(holds)), len(holds))
    return f"{_percent(sum(holds) / len(holds))} ({_percent(low)}–{_percent(high)})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _bleu_text(found: tuple[float, Interval] | None) -> str:
    return "" if found is None else f"{found[0]:.1f} ({found[1].low:.1f}–{found[1].high:.1f})"
