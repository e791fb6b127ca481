"""Whether one system is really better than another: confidence intervals and paired bootstrap tests.

compare     outputs of several systems and their references → Comparison
Comparison  the scores of each system with intervals, and its differences from the baseline with p-values
Interval    the middle 95 % of the bootstrap samples
Difference  how far a system is above its baseline
paired_test the same for two systems and one metric
p_text      a p-value as it is written

The sentences are drawn with replacement, the same ones for all systems (Koehn 2004). The p-value is two-sided: the
share of samples whose difference is as far from the observed one as that is from none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.score.evaluation import SIZES, Evaluation, Statistics, measure
from gyro.score.metric import METRICS, Floats, Sentences

SAMPLES, SEED = 1000, 12345
_MOST_CELLS = 4_000_000  # of a matrix samples × sentences


@dataclass(frozen=True)
class Interval:
    """The middle 95 % of the bootstrap samples."""

    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """System minus baseline, with its 95 % interval and the p-value of its being chance."""

    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class Comparison:
    """Several systems on the same sentences, by name; the baseline has no differences."""

    baseline: str
    evaluations: Mapping[str, Evaluation]
    intervals: Mapping[str, Mapping[str, Interval]]
    differences: Mapping[str, Mapping[str, Difference]]
    samples: int
    seed: int

    def mark(self, name: str, key: str) -> str:
        """The mark of a score: better (+) or worse (-) than the baseline, doubled for p < 0.01, none for p ≥ 0.05."""
        difference = self.differences.get(name, {}).get(key)
        if difference is None or difference.p >= 0.05:
            return ""
        better = (difference.difference > 0) == METRICS[key].higher_is_better
        return ("+" if better else "-") * (2 if difference.p < 0.01 else 1)

    def text(self) -> str:
        """A table of systems where there are several, each system's own table, and the signatures they share."""
        lines = self._systems() if len(self.evaluations) > 1 else []
        for name, evaluation in self.evaluations.items():
            lines += ["", name] if len(self.evaluations) > 1 else []
            lines += [*evaluation.table(), self._intervals(name), *evaluation.complaints()]
        lines += [""] if len(self.evaluations) > 1 else []
        first = self.evaluations[self.baseline]
        return "\n".join([*lines, *(f"{METRICS[k].label}: {s}" for k, s in first.signatures.items())])

    def _systems(self) -> list[str]:
        metrics = list(METRICS.values())
        width = max(len("system"), *map(len, self.evaluations)) + 2
        lines = [f"{'system':<{width}}" + "".join(f"{m.label:>{m.width}}  " for m in metrics).rstrip()]
        for name, evaluation in self.evaluations.items():
            cells = (f"{evaluation[m.key]:>{m.width}.{m.digits}f}{self.mark(name, m.key):<2}" for m in metrics)
            lines.append(f"{name:<{width}}{''.join(cells)}".rstrip())
        if self.differences:
            lines.append(
                f"+ better, - worse than {self.baseline}: p < 0.05, doubled p < 0.01; "
                f"paired bootstrap, {self.samples} samples, seed {self.seed}"
            )
        return lines

    def _intervals(self, name: str) -> str:
        """The 95 % interval of each score of a system."""
        found = ((METRICS[key], interval) for key, interval in self.intervals[name].items())
        spans = (f"{m.label} {each.low:.{m.digits}f}–{each.high:.{m.digits}f}" for m, each in found)
        return f"95 % intervals: {', '.join(spans)}"

    def to_json(self) -> dict[str, Any]:
        """The same as a JSON value; of one system alone its scores with their intervals."""
        how = {"samples": self.samples, "seed": self.seed}
        intervals = {name: _to_json(of_system) for name, of_system in self.intervals.items()}
        if len(self.evaluations) == 1:
            return {**self.evaluations[self.baseline].to_json(), "intervals": intervals[self.baseline], **how}
        return {
            "baseline": self.baseline,
            "evaluations": {name: evaluation.to_json() for name, evaluation in self.evaluations.items()},
            "intervals": intervals,
            "differences": {name: _to_json(of_system) for name, of_system in self.differences.items()},
            **how,
        }


def compare(
    systems: Mapping[str, Sentences],
    references: Sentences,
    *,
    baseline: str | None = None,
    ids: Sequence[str] | None = None,
    tokenize: str = "none",
    sizes: Iterable[int] = SIZES,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Score systems and test each against the baseline (default: the first)."""
    statistics = {name: measure(outputs, references, tokenize=tokenize) for name, outputs in systems.items()}
    return compare_statistics(statistics, baseline=baseline, ids=ids, sizes=sizes, samples=samples, seed=seed)


def compare_statistics(
    statistics: Mapping[str, Statistics],
    *,
    baseline: str | None = None,
    ids: Sequence[str] | None = None,
    sizes: Iterable[int] = SIZES,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Comparison:
    """The same for systems that are measured already."""
    if baseline is None:
        baseline = next(iter(statistics), "")
    if baseline not in statistics:
        raise InputError(f"found the baseline {baseline!r}; the systems are {', '.join(statistics)}")
    lasts = tuple(sizes)
    drawn = {name: sampled_scores(of_system, samples, seed) for name, of_system in statistics.items()}
    observed = {name: of_system.scores() for name, of_system in statistics.items()}
    return Comparison(
        baseline=baseline,
        evaluations={name: of_system.evaluation(ids, lasts) for name, of_system in statistics.items()},
        intervals={name: {key: _interval(values) for key, values in of.items()} for name, of in drawn.items()},
        differences={
            name: {
                key: _difference(observed[name][key] - observed[baseline][key], values - drawn[baseline][key])
                for key, values in of.items()
            }
            for name, of in drawn.items()
            if name != baseline
        },
        samples=samples,
        seed=seed,
    )


def paired_test(system: Statistics, baseline: Statistics, key: str = "bleu") -> Difference:
    """The difference of two systems in one metric."""
    drawn = [sampled_scores(statistics, keys=[key])[key] for statistics in (system, baseline)]
    return _difference(system.scores()[key] - baseline.scores()[key], drawn[0] - drawn[1])


def sampled_scores(
    statistics: Statistics, samples: int = SAMPLES, seed: int = SEED, keys: Iterable[str] | None = None
) -> dict[str, Floats]:
    """The scores of bootstrap samples by metric; the same seed draws the same sentences for every system."""
    if samples < 1:
        raise InputError(f"found {samples} bootstrap samples; at least 1 is allowed")
    chosen = {key: statistics.by_metric[key] for key in keys or statistics.by_metric}
    ends = np.cumsum([values.shape[1] for values in chosen.values()])
    columns = np.hstack(list(chosen.values()))
    sums = np.concatenate([weights @ columns for weights in _draws(len(statistics), samples, seed)])
    parts = np.split(sums, ends[:-1], axis=1)
    return {key: METRICS[key].scores(part) for key, part in zip(chosen, parts, strict=True)}


def _draws(sentences: int, samples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """How often each sentence is drawn in each sample, some samples at a time; the draws are those of sacreBLEU."""
    chance = np.random.default_rng(seed)
    at_once = max(1, _MOST_CELLS // sentences)
    for begin in range(0, samples, at_once):
        rows = min(at_once, samples - begin)
        drawn = chance.choice(sentences, size=(rows, sentences), replace=True)
        flat = drawn + sentences * np.arange(rows)[:, None]
        counts = np.bincount(flat.ravel(), minlength=rows * sentences)
        yield counts.reshape(rows, sentences).astype(np.float64)


def p_text(p: float) -> str:
    """A p-value as it is written.

    >>> p_text(0.00099), p_text(0.0321), p_text(1.0)
    ('= 0.001', '= 0.032', '= 1.000')
    """
    return f"= {p:.3f}" if p >= 0.0005 else "< 0.001"


def _to_json(by_metric: Mapping[str, Interval] | Mapping[str, Difference]) -> dict[str, Any]:
    return {key: asdict(value) for key, value in by_metric.items()}


def _interval(values: Floats) -> Interval:
    low, high = np.sort(values)[[len(values) // 40, len(values) - len(values) // 40 - 1]].tolist()
    return Interval(low, high)


def _difference(observed: float, sampled: Floats) -> Difference:
    # Give or take a rounding error: equal systems differ by nothing in every sample, and that is no news.
    extreme = int(np.count_nonzero(np.abs(sampled - observed) >= abs(observed) - 1e-12))
    interval = _interval(sampled)
    return Difference(observed, interval.low, interval.high, (extreme + 1) / (len(sampled) + 1))
