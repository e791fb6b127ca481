"""Shares and how they grow with the size of a text.

wilson     the 95 % interval of a share
fit_curve  a share as a function of the logarithm of the size, by maximum likelihood
LINKS      the forms of such a curve
Curve      one of them
bootstrap  the curves of samples of the bags
interval   the middle 95 % of some numbers
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SAMPLES, SEED = 1000, 12345
_QUANTILE = 1.959963984540054  # of the normal distribution, for 95 %
_FAR = 700.0  # the exponential of more is infinite
_MOST_STEPS = 100
# The logit of a share grows with the logarithm of the size; or that of -ln(1 - share), which is near one sooner.
LINKS: Mapping[str, Callable[[Any], Any]] = {
    "logistic": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "complementary log-log": lambda x: -np.expm1(-np.exp(x)),
}


def wilson(successes: int, total: int) -> tuple[float, float]:
    """The interval of Wilson (1927); of nothing at all it is everything.

    >>> [round(bound, 3) for bound in wilson(1, 10)]
    [0.018, 0.404]
    """
    if not total:
        return 0.0, 1.0
    share, square = successes / total, _QUANTILE**2
    middle = share + square / (2 * total)
    half = _QUANTILE * math.sqrt(share * (1 - share) / total + square / (4 * total**2))
    low, high = ((middle + sign * half) / (1 + square / total) for sign in (-1, 1))
    return max(0.0, low), min(1.0, high)


@dataclass(frozen=True)
class Curve:
    """share = link(level + slope · ln(size / centre))."""

    link: str
    level: float
    slope: float
    centre: float

    def share(self, size: float) -> float:
        return float(LINKS[self.link](np.clip(self.level + self.slope * math.log(size / self.centre), -_FAR, _FAR)))


def fit_curve(sizes: Sequence[float], successes: Any, totals: Any, link: str = "logistic") -> Curve | None:
    """The most likely curve; None where there is none: where failures end before successes begin, it has no slope."""
    hits, tries = np.asarray(successes, np.float64), np.asarray(totals, np.float64)
    centre = float(np.exp(np.mean(np.log(sizes))))
    log_sizes = np.log(np.asarray(sizes) / centre)
    hit, missed = log_sizes[hits > 0], log_sizes[hits < tries]
    if not (len(hit) and len(missed) and hit.min() < missed.max() and missed.min() < hit.max()):
        return None
    level, slope = _climb(np.column_stack([np.ones(len(sizes)), log_sizes]), hits, tries, link)
    return Curve(link, level, slope, centre)


def _climb(design: Floats, hits: Floats, tries: Floats, link: str) -> tuple[float, float]:
    """Fisher scoring from a flat curve, each step halved until the likelihood grows."""
    overall = hits.sum() / tries.sum()
    starts = {"logistic": math.log(overall / (1 - overall)), "complementary log-log": math.log(-math.log1p(-overall))}
    values = np.array([starts[link], 0.0])
    best = _log_likelihood(design @ values, hits, tries, link)
    for _ in range(_MOST_STEPS):
        share, rise = _share_and_rise(design @ values, link)
        weight = rise / (share * (1 - share))
        gradient = design.T @ (weight * (hits - tries * share))
        step = np.linalg.solve(design.T @ (design * (tries * rise * weight)[:, None]), gradient)
        while (reached := _log_likelihood(design @ (values + step), hits, tries, link)) < best:
            step /= 2
        values, gained, best = values + step, reached - best, reached
        if gained < 1e-12:
            break
    return float(values[0]), float(values[1])


def _share_and_rise(x: Floats, link: str) -> tuple[Floats, Floats]:
    """The share and its derivative, both kept off 0."""
    share = np.clip(LINKS[link](np.clip(x, -_FAR, _FAR)), 1e-12, 1 - 1e-12)
    rise = share * (1 - share) if link == "logistic" else -np.log1p(-share) * (1 - share)
    return share, np.maximum(rise, 1e-12)


def _log_likelihood(x: Floats, hits: Floats, tries: Floats, link: str) -> float:
    share, _ = _share_and_rise(x, link)
    return float((hits * np.log(share) + (tries - hits) * np.log1p(-share)).sum())


def bootstrap(
    sizes: Sequence[float], successes: Floats, totals: Floats, link: str = "logistic", samples: int = SAMPLES
) -> list[Curve]:
    """Curves of samples of sentences, drawn with replacement, the same ones at all sizes.

    `successes[s, k]` of the `totals[s]` pieces of sentence s parse at size k. Samples without a curve are left out.
    """
    chance = np.random.default_rng(SEED)
    curves = []
    for _ in range(samples):
        drawn = chance.integers(0, len(totals), len(totals))
        hits = successes[drawn].sum(axis=0)
        curve = fit_curve(sizes, hits, np.full(len(sizes), totals[drawn].sum()), link)
        if curve is not None:
            curves.append(curve)
    return curves


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The middle 95 %."""
    low, high = np.percentile(values, [2.5, 97.5]).tolist()
    return low, high
