from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from gyro.judge.judgement import Judgement
from gyro.judge.tally import Count, Tally, sign_test, tally
from tests.gyro.judge.samples import said


@settings(max_examples=60)
@given(st.integers(0, 300), st.integers(0, 300))
def test_sign_test_is_that_of_scipy(wins: int, losses: int) -> None:
    expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(wins, losses) == pytest.approx(expected, rel=1e-9)


def test_the_published_count() -> None:
    """75 sentences: 45 for one system, 14 for the other, 16 ties (de Gispert et al. 2014, section 3.4)."""
    verdicts = ["GYRO"] * 45 + [None] * 16 + ["CCG"] * 14
    found = tally([said("ann", n, winner, ("CCG", "GYRO"), n % 2 == 0) for n, winner in enumerate(verdicts)])
    [pair] = found.pairs
    assert (pair.system, pair.other, pair.bags, pair.judgements) == (
        "GYRO",
        "CCG",
        Count(45, 16, 14),
        Count(45, 16, 14),
    )
    assert pair.p == pytest.approx(binomtest(45, 59).pvalue)
    assert pair.confidence == 1
    assert [each.name for each in found.systems] == ["GYRO", "CCG"]
    assert found.agreement is None
    assert "GYRO – CCG" in found.text()
    assert "no pair has two judges" in found.text()


def test_a_bag_is_counted_by_its_judges() -> None:
    """Most say the first; as many each; most say equal; one against one and a tie among three."""
    verdicts = {
        "1": ["exact", "exact", None],
        "2": ["exact", "beam"],
        "3": [None, None, "beam"],
        "4": ["exact", "beam", None],
        "5": ["exact", "exact", "beam", "beam", "exact"],
    }
    judgements = [said(f"judge {n}", bag, winner) for bag, of in verdicts.items() for n, winner in enumerate(of)]
    [pair] = tally(judgements).pairs
    assert (pair.system, pair.bags) == ("exact", Count(2, 3, 0))
    assert pair.judgements == Count(7, 4, 5)
    assert pair.confidence == pytest.approx((2 / 3 + 1 / 2 + 2 / 3 + 1 / 3 + 3 / 5) / 5)
    assert pair.p == 0.5


JUDGED = st.dictionaries(
    st.tuples(st.sampled_from("ABC"), st.integers(1, 4), st.sampled_from([("x", "y"), ("x", "z"), ("y", "z")])),
    st.tuples(st.sampled_from([0, 1, None]), st.booleans(), st.booleans()),
    min_size=1,
)


@settings(max_examples=40)
@given(JUDGED, st.randoms(use_true_random=False))
def test_the_order_of_lines_and_sides_decides_nothing(judged: dict[object, object], dice: random.Random) -> None:
    """Lines shuffled: the same count. Sides and names the other way round: also, but for what is said about sides."""

    def lines(is_turned: bool) -> list[Judgement]:
        found = []
        for (judge, bag, pair), (winner, named, shown) in judged.items():  # type: ignore[attr-defined, misc]
            systems = (pair[1], pair[0]) if named and is_turned else pair
            found.append(said(judge, bag, None if winner is None else pair[winner], systems, shown and is_turned))
        return found

    def but_sides(found: Tally) -> dict[str, object]:
        return {key: of for key, of in found.to_json().items() if key in ("systems", "pairs", "judges")}

    plain, turned = tally(lines(False)), lines(True)
    shuffled = dice.sample(turned, len(turned))
    assert tally(shuffled) == tally(turned)
    assert but_sides(tally(shuffled)) == but_sides(plain)
    assert sum(pair.judgements.total for pair in plain.pairs) == len(judged)
    assert sum(each.judgements.wins for each in plain.systems) == sum(each.judgements.losses for each in plain.systems)


def test_that_all_like_one_system_is_agreement() -> None:
    """Sides are drawn, so it is not what chance would give; two who always see one thing on one side say nothing."""
    bags = range(10)
    drawn = [said(judge, bag, "exact", turned=bag % 2 == 0) for judge in ("ann", "bob") for bag in bags]
    found = tally(drawn).agreement
    assert found is not None
    assert found.value == 1
    found = tally([said(judge, bag, "exact") for judge in ("ann", "bob") for bag in bags]).agreement
    assert found is not None
    assert found.value is None


def test_what_is_told() -> None:
    """Two who agree, one who has seen half of it: each pair of judges has a κ of its own."""
    bags = range(6)
    judgements = [said("ann", bag, "exact" if bag % 2 else "beam") for bag in bags]
    judgements += [said("bob", bag, "exact" if bag % 2 else "beam", turned=True) for bag in bags]
    judgements += [said("eve", bag, None) for bag in range(3)]
    found = tally(judgements)
    text = found.text()
    assert "Krippendorff's α" in text
    assert "  ann and bob: Cohen's κ 1.000; 100.0 % of pairs of judges say the same (6 items, 2 judges)" in text
    assert "judges: ann 6, bob 6, eve 3 judgements" in text
    value = json.loads(json.dumps(found.to_json()))
    assert value["systems"][0] == {"system": "beam", "wins": 6, "ties": 3, "losses": 6, "share": 0.5}
    assert value["pairs"][0]["bags"] == {"wins": 3, "ties": 0, "losses": 3}
    assert value["agreement"]["coefficient"] == "Krippendorff's α"
    assert value["first_shown"] == {"wins": 6, "ties": 3, "losses": 6}
