"""Scoring orders against references.

evaluate     outputs and references → Evaluation
measure      outputs and references → Statistics
Evaluation   a system's score by every metric of `gyro.score.metric.METRICS`, over all sentences and by size
SizeClass    the scores of the sentences of one range of sizes
Statistics   the numbers of each sentence that all scores are made of
read_outputs the sentences of a file, which must be as many as the references
size_classes, parse_sizes, class_order   ranges of sizes: of sentences, of the command line, in order

docs/evaluation.md says how each metric is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.score.metric import DISTORTION_LABELS, METRICS, Floats, Sentences, distortion_counts
from gyro.text.corpus import read_lines

SIZES = (5, 10, 15, 20, 25)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The scores of some sentences by metric: `scores["bleu"]`.

    Most are from 0 to 100, Kendall's τ from -1 to 1 and the mean distortion from 0 to 1. `distortions` is the share of
    words in each class of `gyro.score.metric.DISTORTION_BINS`.
    """

    sentences: int
    by_metric: Mapping[str, float]
    distortions: tuple[float, ...]

    def __getitem__(self, key: str) -> float:
        return self.by_metric[key]

    def to_json(self) -> dict[str, Any]:
        """A flat JSON value with a key for each metric."""
        return {"sentences": self.sentences, **self.by_metric, "distortions": self.distortions}


@dataclass(frozen=True, kw_only=True)
class SizeClass(Scores):
    """The scores of the sentences whose references have so many tokens; `sizes` is like "6-10"."""

    sizes: str

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "sizes": self.sizes}


@dataclass(frozen=True, kw_only=True)
class Evaluation(Scores):
    """How near outputs come to their references.

    `signatures` say by metric how it was counted. `empty` are the ids of outputs without a word, as failed bags leave
    them; `other_words` the ids of those that have words, but not exactly those of the reference.
    """

    signatures: Mapping[str, str]
    by_size: tuple[SizeClass, ...]
    empty: tuple[str, ...]
    other_words: tuple[str, ...]

    def text(self) -> str:
        """Tables for people, then the signatures and what is amiss."""
        signatures = [f"{METRICS[key].label}: {signature}" for key, signature in self.signatures.items()]
        return "\n".join([*self.table(), *signatures, *self.complaints()])

    def table(self) -> list[str]:
        """A row for each class of bag sizes and one for all; then how far the words stand from their places."""
        metrics = list(METRICS.values())
        lines = [f"{'tokens':<7}{'sentences':>11}" + "".join(f"{m.label:>{m.width}}" for m in metrics)]
        for name, row in [*((row.sizes, row) for row in self.by_size), ("all", self)]:
            cells = [f"{row[m.key]:>{m.width}.{m.digits}f}" for m in metrics]
            lines.append(f"{name:<7}{row.sentences:>11}" + "".join(cells))
        classes = zip(DISTORTION_LABELS, self.distortions, strict=True)
        lines.append("% of words by distortion: " + ", ".join(f"{name} {100 * share:.1f}" for name, share in classes))
        return lines

    def complaints(self) -> list[str]:
        """A line for each thing that is amiss."""
        named = (("empty outputs", self.empty), ("outputs with other words than the reference", self.other_words))
        return [f"{what}: {_list(ids)}" for what, ids in named if ids]

    def to_json(self) -> dict[str, Any]:
        """The same as a JSON value; "signature" is that of BLEU."""
        return {
            **super().to_json(),
            "signature": self.signatures["bleu"],
            "signatures": self.signatures,
            "by_size": [each.to_json() for each in self.by_size],
            "empty": self.empty,
            "other_words": self.other_words,
        }


@dataclass(frozen=True)
class Statistics:
    """What was counted, a row for each sentence: by metric the numbers that its score is made of.

    `lengths` are those of the references; `tokenize` is the tokeniser that BLEU was counted with.
    """

    by_metric: Mapping[str, Floats]
    distortions: NDArray[np.int64]
    lengths: NDArray[np.int64]
    empty: NDArray[np.bool_]
    other_words: NDArray[np.bool_]
    tokenize: str

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def signatures(self) -> dict[str, str]:
        return {key: METRICS[key].signature(self.tokenize) for key in self.by_metric}

    def scores(self, chosen: NDArray[np.bool_] | None = None) -> dict[str, float]:
        """The score of each metric over all sentences or those chosen."""
        rows = np.ones(len(self), np.bool_) if chosen is None else chosen
        return {
            key: float(METRICS[key].scores(values[rows].sum(axis=0, keepdims=True))[0])
            for key, values in self.by_metric.items()
        }

    def distortion_shares(self, chosen: NDArray[np.bool_] | None = None) -> tuple[float, ...]:
        """The share of the matched words in each class of distortion."""
        counts = (self.distortions if chosen is None else self.distortions[chosen]).sum(axis=0)
        return tuple((counts / max(1, counts.sum())).tolist())

    def evaluation(self, ids: Sequence[str] | None = None, sizes: Iterable[int] = SIZES) -> Evaluation:
        """All scores; `ids` name the sentences, which otherwise count from 1; `sizes` are the last of the classes."""
        if ids is not None and len(ids) != len(self):
            raise InputError(f"found {len(self)} references and {len(ids)} ids")
        names = [str(number) for number in range(1, len(self) + 1)] if ids is None else ids
        return Evaluation(
            sentences=len(self),
            by_metric=self.scores(),
            distortions=self.distortion_shares(),
            signatures=self.signatures,
            by_size=tuple(self._size_class(*each) for each in size_classes(self.lengths, sizes).items()),
            empty=tuple(names[k] for k in np.flatnonzero(self.empty).tolist()),
            other_words=tuple(names[k] for k in np.flatnonzero(self.other_words).tolist()),
        )

    def _size_class(self, name: str, rows: NDArray[np.bool_]) -> SizeClass:
        shares = self.distortion_shares(rows)
        return SizeClass(sizes=name, sentences=int(rows.sum()), by_metric=self.scores(rows), distortions=shares)


def measure(outputs: Sentences, references: Sentences, *, tokenize: str = "none") -> Statistics:
    """Count what all metrics need; `tokenize` is a tokeniser of sacreBLEU's and counts for BLEU alone."""
    if len(outputs) != len(references):
        raise InputError(f"found {len(outputs)} outputs and {len(references)} references")
    if not references:
        raise InputError("found no sentences to score")
    pairs = list(zip(outputs, references, strict=True))
    return Statistics(
        by_metric={key: metric.statistics(outputs, references, tokenize) for key, metric in METRICS.items()},
        distortions=distortion_counts(outputs, references),
        lengths=np.array([len(reference) for reference in references], np.int64),
        empty=np.array([not output for output in outputs]),
        other_words=np.array([bool(output) and sorted(output) != sorted(reference) for output, reference in pairs]),
        tokenize=tokenize,
    )


def evaluate(outputs: Sentences, references: Sentences) -> Evaluation:
    """Score tokenised sentences.

    >>> evaluate(["a b c d".split()], ["a b c d".split()])["exact_match"]
    100.0
    """
    return measure(outputs, references).evaluation()


def read_outputs(
    path: str | PathLike[str], references: Sentences, ref_path: str | PathLike[str]
) -> list[tuple[str, ...]]:
    """Read one sentence a line; where there are too few or too many, the error names the first line that is wrong."""
    outputs = [tuple(line.split()) for line in read_lines(path)]
    if len(outputs) == len(references):
        return outputs
    shorter = min(len(outputs), len(references))
    what = "missing" if len(outputs) == shorter else "one too many"
    message = f"line {shorter + 1} is {what}: found {len(outputs)} lines; {ref_path} has {len(references)}"
    unlike = (k for k in range(shorter) if outputs[k] and sorted(outputs[k]) != sorted(references[k]))
    first = next(unlike, None)
    if first is not None:
        message += f"; line {first + 1} is the first with other words than its reference"
    raise InputError(message, path=path)


def size_classes(lengths: NDArray[np.int64], sizes: Iterable[int] = SIZES) -> dict[str, NDArray[np.bool_]]:
    """The names of the size classes that have sentences, each with which sentences are in it.

    >>> {name: rows.tolist() for name, rows in size_classes(np.array([3, 12, 5]), (5, 10)).items()}
    {'1-5': [True, False, True], '11+': [False, True, False]}

    An empty reference falls into the first class.
    """
    lasts = list(sizes)
    if not lasts or lasts[0] < 1 or any(one >= other for one, other in pairwise(lasts)):
        raise InputError(f"found the sizes {','.join(map(str, lasts))!r}; rising whole numbers from 1 are allowed")
    classes = {}
    for before, last in pairwise((-1, *lasts)):
        first = max(before, 0) + 1
        classes[f"{first}-{last}" if first < last else str(last)] = (before < lengths) & (lengths <= last)
    classes[f"{lasts[-1] + 1}+"] = lengths > lasts[-1]
    return {name: rows for name, rows in classes.items() if rows.any()}


def parse_sizes(text: str) -> tuple[int, ...]:
    """Read the last sizes of size classes, like "5,10,15"."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"found the sizes {text!r}; rising whole numbers with commas between are allowed") from error


def class_order(names: Iterable[str]) -> list[str]:
    """The names of size classes from the smallest to the largest, each once."""
    return sorted(set(names), key=lambda name: int(name.rstrip("+").split("-")[0]))


def _list(ids: Sequence[str], most: int = 10) -> str:
    shown = " ".join(ids[:most])
    return f"{len(ids)} (ids {shown}{' …' if len(ids) > most else ''})"
