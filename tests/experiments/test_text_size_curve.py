"""Intervals of shares, and curves against those of scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from experiments.text_size_curve import LINKS, Curve, bootstrap, fit_curve, interval, wilson

SIZES = (250e3, 1e6, 4e6, 15e6)


@pytest.mark.parametrize(("successes", "total"), [(0, 10), (1, 10), (7, 300), (299, 300), (5, 5)])
def test_intervals_are_those_of_scipy(successes: int, total: int) -> None:
    known = stats.binomtest(successes, total).proportion_ci(method="wilson")
    assert wilson(successes, total) == pytest.approx((known.low, known.high))


def test_nothing_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("hits", [(1, 8, 20, 61), (0, 0, 3, 24), (300, 290, 299, 300), (40, 30, 20, 10), (0, 1, 0, 0)])
def test_no_other_curve_is_more_likely(link: str, hits: tuple[int, ...]) -> None:
    totals = np.full(4, 300)

    def unlikelihood(values: tuple[float, float]) -> float:
        curve = Curve(link, values[0], values[1], 1e6)
        return -float(stats.binom.logpmf(hits, totals, [curve.share(size) for size in SIZES]).sum())

    found = fit_curve(SIZES, hits, totals, link)
    assert found is not None
    level = found.level + found.slope * math.log(1e6 / found.centre)
    best = optimize.minimize(unlikelihood, (level + 0.1, found.slope + 0.1), method="Nelder-Mead", tol=1e-10)
    assert unlikelihood((level, found.slope)) == pytest.approx(best.fun, abs=1e-6)


@pytest.mark.parametrize("hits", [(0, 0, 0, 0), (9, 9, 9, 9), (0, 0, 0, 4), (0, 0, 9, 9), (9, 2, 0, 0)])
def test_no_curve_where_the_slope_has_no_bound(hits: tuple[int, ...]) -> None:
    assert fit_curve(SIZES, hits, np.full(4, 9)) is None


def test_one_size_is_no_curve() -> None:
    assert fit_curve((1e6,), (5,), (10,)) is None


def test_a_sample_of_equal_sentences_has_the_same_curve() -> None:
    successes = np.tile([0.0, 1.0, 1.0, 2.0], (30, 1))
    totals = np.full(30, 3.0)
    whole = fit_curve(SIZES, successes.sum(axis=0), np.full(4, 90.0))
    curves = bootstrap(SIZES, successes, totals, samples=5)
    assert curves == [whole] * 5


def test_nearly_all_intervals_hold_the_truth_and_more_sentences_narrow_them() -> None:
    chance = np.random.default_rng(3)
    truth = Curve("logistic", -1.0, 0.8, 2e6)
    shares = [truth.share(size) for size in SIZES]
    widths = {}
    for sentences in (60, 600):
        found = []
        for _ in range(25):
            successes = (chance.random((sentences, 4)) < shares).astype(float)
            curves = bootstrap(SIZES, successes, np.ones(sentences), samples=100)
            found.append(interval([curve.slope for curve in curves]))
        assert sum(low < truth.slope < high for low, high in found) >= 20
        widths[sentences] = np.mean([high - low for low, high in found])
    assert widths[600] < widths[60] / 2


def test_far_sizes_are_near_the_ends() -> None:
    curve = Curve("complementary log-log", 0.0, 1.0, 1.0)
    assert curve.share(1.0) == pytest.approx(1 - math.exp(-1))
    assert curve.share(1e300) == 1.0
    assert curve.share(1e-300) == pytest.approx(0.0, abs=1e-100)
