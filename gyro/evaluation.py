"""Scoring orders against references.

evaluate     outputs and references → Evaluation
score_files  the same for two files, one sentence a line
read_outputs the sentences of a file, as many as there are references
measure      the statistics of a system, from which all its scores come
Evaluation   BLEU, chrF, TER, METEOR, Kendall's τ, distortion, exact matches, with signatures, all also by bag size
SizeClass    the scores of the bags of one range of sizes
Statistics   what `measure` gives

docs/evaluation.md says how each metric is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.corpus import read_lines
from gyro.errors import InputError
from gyro.metric import DISTORTION_LABELS, METRICS, Floats, Sentences, distortion_counts

SIZES = (5, 10, 15, 20, 25)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The scores of some sentences: from 0 to 100, but for τ (-1 to 1) and the mean distortion (0 to 1).

    `distortions` is the share of words in each class of `gyro.metric.DISTORTION_BINS`.
    """

    sentences: int
    bleu: float
    chrf: float
    ter: float
    meteor: float
    kendall: float
    distortion: float
    exact_match: float
    distortions: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class SizeClass(Scores):
    """The scores of the sentences whose references have so many tokens."""

    sizes: str


@dataclass(frozen=True, kw_only=True)
class Evaluation(Scores):
    """How near outputs come to their references.

    `exact_match` is the share of outputs equal to their reference, in percent (the papers' sentence precision rate);
    `empty` are the ids of outputs without a word, as failed bags leave them; `other_words` the ids of those that are
    not empty and do not have exactly the words of the reference. `signature` is BLEU's, `signatures` are all of them.
    """

    signature: str
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
            cells = [f"{getattr(row, m.key):>{m.width}.{m.digits}f}" for m in metrics]
            lines.append(f"{name:<7}{row.sentences:>11}" + "".join(cells))
        classes = zip(DISTORTION_LABELS, self.distortions, strict=True)
        lines.append("% of words by distortion: " + ", ".join(f"{name} {100 * share:.1f}" for name, share in classes))
        return lines

    def complaints(self) -> list[str]:
        """A line for each thing that is amiss."""
        named = (("empty outputs", self.empty), ("outputs with other words than the reference", self.other_words))
        return [f"{what}: {_list(ids)}" for what, ids in named if ids]

    def to_json(self) -> dict[str, Any]:
        """The same as a JSON value."""
        return asdict(self)


@dataclass(frozen=True)
class Statistics:
    """The numbers a sentence, by metric, that scores are made of; `lengths` are those of the references."""

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
        """All scores; `ids` name the sentences (otherwise they count from 1)."""
        names = [str(number) for number in range(1, len(self) + 1)] if ids is None else ids
        return Evaluation(
            sentences=len(self),
            **self.scores(),
            distortions=self.distortion_shares(),
            signature=self.signatures["bleu"],
            signatures=self.signatures,
            by_size=tuple(self._size_class(*each) for each in size_classes(self.lengths, sizes).items()),
            empty=tuple(names[k] for k in np.flatnonzero(self.empty).tolist()),
            other_words=tuple(names[k] for k in np.flatnonzero(self.other_words).tolist()),
        )

    def _size_class(self, name: str, rows: NDArray[np.bool_]) -> SizeClass:
        shares = self.distortion_shares(rows)
        return SizeClass(sizes=name, sentences=int(rows.sum()), **self.scores(rows), distortions=shares)


def measure(outputs: Sentences, references: Sentences, *, tokenize: str = "none") -> Statistics:
    """Count what all metrics need."""
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


def evaluate(
    hypotheses: Sentences,
    references: Sentences,
    *,
    ids: Sequence[str] | None = None,
    tokenize: str = "none",
    sizes: Iterable[int] = SIZES,
) -> Evaluation:
    """Score tokenised sentences; `ids` name them (otherwise they count from 1).

    >>> evaluate(["a b c d".split()], ["a b c d".split()]).exact_match
    100.0

    `tokenize` is sacreBLEU's and counts for BLEU alone; the default takes the tokens as they are. `sizes` are the last
    sizes of the size classes.
    """
    if ids is not None and len(ids) != len(references):
        raise InputError(f"found {len(references)} references and {len(ids)} ids")
    return measure(hypotheses, references, tokenize=tokenize).evaluation(ids, sizes)


def score_files(
    hyp_path: str | PathLike[str],
    ref_path: str | PathLike[str],
    *,
    tokenize: str = "none",
    sizes: Iterable[int] = SIZES,
) -> Evaluation:
    """Score a file of sentences, one a line, against a file of references."""
    references = [tuple(line.split()) for line in read_lines(ref_path)]
    return evaluate(read_outputs(hyp_path, references, ref_path), references, tokenize=tokenize, sizes=sizes)


def read_outputs(
    path: str | PathLike[str], references: Sentences, ref_path: str | PathLike[str]
) -> list[tuple[str, ...]]:
    """Read sentences, one a line; a missing or extra line is an error that tells where the lines part."""
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
    """The classes of bag sizes that have sentences, and which those are.

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
    """The names of size classes by size."""
    return sorted(set(names), key=lambda name: int(name.rstrip("+").split("-")[0]))


def _list(ids: Sequence[str], most: int = 10) -> str:
    shown = " ".join(ids[:most])
    return f"{len(ids)} (ids {shown}{' …' if len(ids) > most else ''})"
