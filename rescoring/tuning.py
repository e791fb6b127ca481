"""Weights of models, tuned on n-best lists of a development set (Och 2003).

TuningSet        the hypotheses of all sentences: named features, and what corpus BLEU needs of each
tuning_set       made of n-best lists with features and of their references
tune_weights     exact line searches along the features and random directions, with restarts
Tuned            the weights found, and BLEU at the start and at the end

Along a line w + γ·d, the best hypothesis of a sentence changes at finitely many γ: the corners of the upper envelope of
straight lines. Between corners nothing changes, so BLEU over the whole line is known after one sweep, and its maximum
is exact. A step is taken only when it makes BLEU better, so the end is never below the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.errors import InputError
from gyro.score.bleu import bleu_scores, bleu_statistics
from rescoring.oracle import choose_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TuningSet:
    """All hypotheses, those of sentence i from `first[i]` to `first[i + 1]`; a higher weighted sum is better."""

    names: tuple[str, ...]
    features: Floats
    statistics: Ints
    first: Ints

    def best(self, weights: Floats) -> Ints:
        """The hypothesis that the weights choose for each sentence; the first of equal ones."""
        chosen: Ints = _best_of(self.features @ weights, self.first)
        return chosen

    def bleu(self, weights: Floats) -> float:
        """Corpus BLEU of the hypotheses that the weights choose."""
        return float(bleu_scores(self.statistics[self.best(weights)].sum(axis=0)[None])[0])

    def oracle(self) -> float:
        """BLEU of the best choice that is known (rescoring.oracle): what the weights can reach at most, about."""
        tables = np.split(self.statistics, self.first[1:-1])
        rows = self.first[:-1] + choose_rows(tables)
        return float(bleu_scores(self.statistics[rows].sum(axis=0)[None])[0])


@dataclass(frozen=True)
class Tuned:
    """What tuning found."""

    weights: dict[str, float]
    bleu: float
    start_bleu: float
    oracle_bleu: float
    steps: int


def tuning_set(
    lists: Sequence[Sequence[tuple[Sequence[str], Mapping[str, float]]]], references: Sequence[Sequence[str]]
) -> TuningSet:
    """Put n-best lists (tokens and features of each hypothesis) and references together; empty lists are left out."""
    if len(lists) != len(references):
        raise InputError(f"found {len(lists)} n-best lists and {len(references)} references")
    kept = [(list_, reference) for list_, reference in zip(lists, references, strict=True) if list_]
    if not kept:
        raise InputError("found no n-best list to tune on")
    names = tuple(kept[0][0][0][1])
    for list_, _ in kept:
        for tokens, features in list_:
            if tuple(features) != names:
                text = " ".join(tokens)
                raise InputError(f"found features {sorted(features)} of {text!r:.60}; the first hypothesis has {names}")
    values = np.array([[f[name] for name in names] for list_, _ in kept for _, f in list_])
    statistics = np.array([bleu_statistics(tokens, reference) for list_, reference in kept for tokens, _ in list_])
    first = np.cumsum([0, *(len(list_) for list_, _ in kept)])
    return TuningSet(names, values, statistics, first)


def tune_weights(
    data: TuningSet, start: Mapping[str, float], *, restarts: int = 20, directions: int = 8, seed: int = 1
) -> Tuned:
    """The best weights found from the start and from random points; `directions` random ones join the features."""
    for name in start:
        if name not in data.names:
            raise InputError(f"found a weight for {name!r}; the features are {', '.join(data.names)}")
    first = np.array([float(start.get(name, 0.0)) for name in data.names])
    if not first.any():
        raise InputError("all weights are 0 at the start; at least one must not be")
    random = np.random.default_rng(seed)
    spread = np.maximum(np.abs(first), 0.1)
    best, best_bleu, steps = _scaled(first), data.bleu(first), 0
    for restart in range(restarts + 1):
        point = first if restart == 0 else random.uniform(-0.5, 2.0, len(first)) * spread
        weights, bleu, taken = _climb(data, point, directions, random)
        steps += taken
        if bleu > best_bleu + 1e-9:
            best, best_bleu = _scaled(weights), bleu
    found = {name: round(float(weight), 6) for name, weight in zip(data.names, best, strict=True)}
    final = data.bleu(np.array([found[name] for name in data.names]))
    if final < data.bleu(first):  # rounding may cross a corner: then the start stays
        found, final = {name: float(w) for name, w in zip(data.names, first, strict=True)}, data.bleu(first)
    return Tuned(found, final, data.bleu(first), data.oracle(), steps)


def _scaled(weights: Floats) -> Floats:
    """The same order of hypotheses with weights that sum to 1 in size."""
    return np.asarray(weights / np.abs(weights).sum())


def _climb(data: TuningSet, start: Floats, directions: int, random: np.random.Generator) -> tuple[Floats, float, int]:
    weights, bleu, steps = start, data.bleu(start), 0
    while True:
        axes = [*np.eye(len(start)), *random.normal(size=(directions, len(start)))]
        candidates = [weights + line_search(data, weights, axis) * axis for axis in axes]
        scores = [data.bleu(candidate) for candidate in candidates]
        top = int(np.argmax(scores))
        if scores[top] <= bleu + 1e-9:
            return weights, bleu, steps
        weights, bleu, steps = candidates[top], scores[top], steps + 1


def line_search(data: TuningSet, weights: Floats, direction: Floats) -> float:
    """The γ at which weights + γ·direction have the best BLEU of the whole line; 0 unless another is better."""
    corner, changed = _envelopes(data.features @ weights, data.features @ direction, data.statistics, data.first)
    order = np.argsort(corner, kind="stable")
    corner = corner[order]
    sums = np.cumsum(changed[order], axis=0)
    # The first corners, at minus infinity, are the hypotheses that the line begins with.
    edges = np.append(corner, np.inf)
    low, high = edges[:-1], edges[1:]
    with np.errstate(invalid="ignore"):
        wide = high - low > 1e-7  # several corners at minus infinity: no width between them
    scores = np.where(wide, bleu_scores(sums), -1.0)
    here = np.flatnonzero(wide & (low < 0) & (high > 0))
    best = int(np.argmax(scores))
    if len(here) and scores[best] <= scores[here[0]] + 1e-12:
        return 0.0
    if low[best] == -np.inf:
        return float(high[best] - 1.0) if high[best] < np.inf else 0.0
    return float(low[best] + 1.0) if high[best] == np.inf else float((low[best] + high[best]) / 2)


@compiled
def _best_of(scores: Any, first: Any) -> Any:
    chosen = np.empty(len(first) - 1, np.int64)
    for sentence in range(len(first) - 1):
        best = first[sentence]
        for row in range(first[sentence] + 1, first[sentence + 1]):
            if scores[row] > scores[best]:
                best = row
        chosen[sentence] = best
    return chosen


@compiled
def _envelopes(height: Any, slope: Any, statistics: Any, first: Any) -> Any:
    """The corners of all sentences' upper envelopes and the change of the statistics at each."""
    corners = np.empty(len(height))
    changes = np.empty((len(height), statistics.shape[1]), np.int64)
    size = 0
    for sentence in range(len(first) - 1):
        begin, end = first[sentence], first[sentence + 1]
        order = np.argsort(slope[begin:end]) + begin
        hull = np.empty(end - begin, np.int64)
        since = np.empty(end - begin)
        depth = 0
        for row in order:
            at = -np.inf
            while depth > 0:
                top = hull[depth - 1]
                if slope[row] == slope[top]:
                    if height[row] < height[top] or (height[row] == height[top] and row > top):
                        at = np.inf
                        break
                    depth -= 1
                    continue
                at = (height[top] - height[row]) / (slope[row] - slope[top])
                if at > since[depth - 1]:
                    break
                depth -= 1
                at = -np.inf
            if at == np.inf:
                continue
            hull[depth] = row
            since[depth] = -np.inf if depth == 0 else at
            depth += 1
        for place in range(depth):
            corners[size] = since[place]
            for column in range(statistics.shape[1]):
                changes[size, column] = statistics[hull[place], column]
                if place > 0:
                    changes[size, column] -= statistics[hull[place - 1], column]
            size += 1
    return corners[:size], changes[:size]
