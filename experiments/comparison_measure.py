"""Finished runs of a comparison in figures.

Measured       a run: what its scores are made of, its seconds, its failures; or its first bags
measure_run    from its folder
Group          the runs on one set under one condition
sign_test      whether one of two runs has the better sentence more often
equal_bins     classes of length that hold about as many bags each
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import comb
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from gyro.run.folder import open_run
from gyro.score.bleu import sentence_bleu
from gyro.score.evaluation import Statistics, measure
from gyro.score.significance import Comparison, compare_statistics
from gyro.text.corpus import read_lines

Chosen = NDArray[np.bool_]


@dataclass(frozen=True)
class Measured:
    """A run; `seconds` are those of each bag."""

    folder: Path
    outputs: Sequence[Sequence[str]]
    statistics: Statistics
    seconds: Sequence[float]
    failed: Sequence[bool]
    timed_out: Sequence[bool]

    def __len__(self) -> int:
        return len(self.outputs)

    def first(self, count: int) -> Measured:
        """The same of its first bags alone."""
        if count == len(self):
            return self
        known = self.statistics
        statistics = replace(
            known,
            by_metric={key: values[:count] for key, values in known.by_metric.items()},
            distortions=known.distortions[:count],
            lengths=known.lengths[:count],
            empty=known.empty[:count],
            other_words=known.other_words[:count],
        )
        rows = (self.outputs[:count], statistics, self.seconds[:count], self.failed[:count], self.timed_out[:count])
        return Measured(self.folder, *rows)

    @cached_property
    def scores(self) -> dict[str, float]:
        """Of all metrics, and the rate: bags a second."""
        return {**self.statistics.scores(), "rate": 1.0 / max(self.mean_seconds, 1e-9)}

    @property
    def mean_seconds(self) -> float:
        return fmean(self.seconds)


def measure_run(folder: Path) -> Measured:
    """Read a finished run and count."""
    run = open_run(folder)
    outputs = [line.split() for line in run.best()]
    outcomes = list(run.outcomes)
    return Measured(
        folder,
        outputs,
        measure(outputs, [bag.reference or () for bag in run.bags]),
        seconds=[float(json.loads(line)["seconds"]) for line in read_lines(run.folder.times)],
        failed=[not outcome.ok for outcome in outcomes],
        timed_out=[bool(outcome.timed_out) for outcome in outcomes],
    )


@dataclass(frozen=True)
class Group:
    """The runs on one set under one condition by name, in the order of the file."""

    set: str
    given: str
    runs: Mapping[str, Measured]

    @property
    def counts(self) -> list[int]:
        """The numbers of bags that runs have, the smallest first."""
        return sorted({len(run) for run in self.runs.values()})

    def first(self, count: int) -> dict[str, Measured]:
        """The runs that have so many bags, each cut down to them."""
        return {name: run.first(count) for name, run in self.runs.items() if len(run) >= count}

    @cached_property
    def common(self) -> dict[str, Measured]:
        """All runs on the bags that all of them have."""
        return self.first(self.counts[0]) if self.runs else {}

    def compare(self, count: int) -> Comparison:
        """Intervals, and tests against the first."""
        return compare_statistics({name: run.statistics for name, run in self.first(count).items()})


def sign_test(one: Measured, other: Measured) -> float:
    """The two-sided p-value of the bags on which one BLEU is above the other, equal ones left out (Wan et al. 2009)."""
    scores = [sentence_bleu(run.statistics.by_metric["bleu"]) for run in (one, other)]
    wins, losses = (int(np.count_nonzero(sign * (scores[0] - scores[1]) > 1e-9)) for sign in (1, -1))
    total = wins + losses
    return min(1.0, 2 * sum(comb(total, count) for count in range(min(wins, losses) + 1)) / (1 << total))


def equal_bins(lengths: Sequence[int], most: int) -> dict[str, Chosen]:
    """Which sentences are in each class; a length is in one class alone.

    >>> {name: rows.tolist() for name, rows in equal_bins([3, 9, 4, 5], 2).items()}
    {'3–4': [True, False, True, False], '5–9': [False, True, False, True]}
    """
    values, ordered = np.array(lengths), np.sort(np.array(lengths))
    ends = sorted({int(part[-1]) for part in np.array_split(ordered, most) if len(part)})
    bins = {}
    for before, last in pairwise([int(ordered[0]) - 1, *ends]):
        rows = (before < values) & (values <= last)
        first = int(values[rows].min())
        bins[f"{first}–{last}" if first < last else str(last)] = rows
    return bins
