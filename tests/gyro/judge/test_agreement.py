"""Coefficients of agreement against published examples and a count by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.judge.agreement import (
    COHEN,
    FLEISS,
    KRIPPENDORFF,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    measure_agreement,
)

# Fleiss' diagnoses as they are told in textbooks: ten subjects, fourteen judges each, five categories.
FLEISS_TABLE = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
# Krippendorff's three coders of fifteen units, some of which some did not code.
KRIPPENDORFF_CODERS = ["*****34121133*3", "1*213343*******", "**21344*21133*4"]


def spread(counts: list[int]) -> list[str]:
    return [str(category) for category, count in enumerate(counts) for _ in range(count)]


def test_cohen_published_example() -> None:
    """Fifty proposals, two readers: yes of both 20, no of both 15, 5 and 10 on which they differ; κ = 0.40."""
    one = ["yes"] * 25 + ["no"] * 25
    other = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(one, other) == pytest.approx(0.4)


def test_fleiss_published_example() -> None:
    assert fleiss_kappa([spread(counts) for counts in FLEISS_TABLE]) == pytest.approx(0.210, abs=5e-4)


def test_krippendorff_published_example() -> None:
    units = [[code for code in unit if code != "*"] for unit in zip(*KRIPPENDORFF_CODERS, strict=True)]
    assert krippendorff_alpha([unit for unit in units if len(unit) > 1]) == pytest.approx(0.691, abs=5e-4)


def test_one_verdict_alone_says_nothing() -> None:
    assert cohen_kappa("aaa", "aaa") is None
    assert fleiss_kappa(["aa", "aa"]) is None
    assert krippendorff_alpha(["aa", "aaa"]) is None


RATINGS = st.lists(st.lists(st.sampled_from("xyz"), min_size=2, max_size=4), min_size=1, max_size=6)


@settings(max_examples=60)
@given(RATINGS)
def test_krippendorff_by_counting_pairs(ratings: list[list[str]]) -> None:
    """Disagreement seen over disagreement of all pairs of verdicts, each pair counted one by one, in fractions."""
    pairs = [(a, b, Fraction(1, len(given) - 1)) for given in ratings for a, b in permutations(given, 2)]
    seen = sum((weight for a, b, weight in pairs if a != b), Fraction())
    verdicts = [verdict for given in ratings for verdict in given]
    chance = sum(a != b for a, b in permutations(verdicts, 2))
    found = krippendorff_alpha(ratings)
    if chance == 0:
        assert found is None
    else:
        assert found == pytest.approx(float(1 - seen * (len(verdicts) - 1) / chance))


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("xyz")), min_size=1, max_size=9))
def test_two_judges_who_change_places(pairs: list[tuple[str, str]]) -> None:
    """κ of two is the same whoever is first; Fleiss' expects no less chance where both use the categories alike."""
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    assert cohen_kappa(one, other) == pytest.approx(cohen_kappa(other, one))
    if sorted(one) == sorted(other):
        assert cohen_kappa(one, other) == pytest.approx(fleiss_kappa(pairs))


def test_which_coefficient() -> None:
    two = {"ann": {1: "x", 2: "y", 3: "x"}, "bob": {1: "x", 2: "x", 4: "y"}}
    found = measure_agreement(two)
    assert found is not None
    assert (found.coefficient, found.items, found.judges, found.observed) == (COHEN, 2, 2, 0.5)
    even = {"ann": {1: "x", 2: "y"}, "bob": {1: "x", 2: "x"}, "eve": {1: "x", 2: "y"}}
    found = measure_agreement(even)
    assert found is not None
    assert (found.coefficient, found.items, found.judges) == (FLEISS, 2, 3)
    assert found.observed == pytest.approx((3 + 1) / 6)
    uneven = {**even, "eve": {1: "x"}}
    found = measure_agreement(uneven)
    assert found is not None
    assert found.coefficient == KRIPPENDORFF
    assert found.observed == pytest.approx(3 / 4)


def test_no_item_of_two_judges() -> None:
    assert measure_agreement({"ann": {1: "x"}, "bob": {2: "x"}}) is None
    assert measure_agreement({"ann": {1: "x"}}) is None
