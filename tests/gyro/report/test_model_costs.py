from __future__ import annotations

import json
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.report.data import Member, read_groups
from gyro.report.model_costs import (
    BEFORE,
    MODEL_ERRS,
    NEURAL,
    SAME,
    SEARCH_ERRS,
    UNKNOWN,
    WHOLE,
    BagCosts,
    Costs,
    summarise,
)
from tests.gyro.report.samples import make_neural_run


def member(path: Path) -> Member:
    [group] = read_groups([(path, None)])
    return group.members[0]


@pytest.mark.parametrize(
    ("output", "reference", "is_same", "verdicts"),
    [
        (Costs(10, 3, 2), Costs(10, 3, 2), True, [SAME, SAME, SAME]),
        (Costs(10, 3, 2), Costs(10.0015, 3, 2), False, [SAME, SAME, SAME]),
        (Costs(10, 4, 2), Costs(12, 3, 2), False, [MODEL_ERRS, MODEL_ERRS, SEARCH_ERRS]),
        (Costs(12, 3, 2), Costs(10, 4, 2), False, [SEARCH_ERRS, SEARCH_ERRS, MODEL_ERRS]),
        (Costs(12, 3, 2), Costs(None, 4, 2), False, [UNKNOWN, UNKNOWN, MODEL_ERRS]),
        (Costs(12, 3, 2), Costs(10, None, 2), False, [SEARCH_ERRS, UNKNOWN, UNKNOWN]),
        (Costs(12, None, 2), Costs(10, 3, 2), False, [SEARCH_ERRS, UNKNOWN, UNKNOWN]),
    ],
)
def test_who_errs(output: Costs, reference: Costs, is_same: bool, verdicts: list[str]) -> None:
    bag = BagCosts(5, output, reference, is_same)
    assert [bag.verdict(score) for score in (WHOLE, BEFORE, NEURAL)] == verdicts


def test_costs_are_those_of_the_results(tmp_path: Path) -> None:
    found = member(make_neural_run(tmp_path / "run")).costs
    assert found[3] is None  # the bag failed
    assert found[1] == BagCosts(5, Costs(10.0, 4.0, 2.0), Costs(12.0, 4.5, 2.0), False)
    whole, before, neural = summarise(found)
    # Words of the bags whose reference has a cost: 6, 5 and 12; of those with a neural one, 4 more.
    assert (whole.score, before.score, neural.score) == (WHOLE, BEFORE, NEURAL)
    assert whole.output == pytest.approx((10 + 10 + 20) / 23)
    assert whole.reference == pytest.approx((10.0004 + 12 + 18) / 23)
    assert before.output == pytest.approx((4 + 2 + 4) / 23)
    assert before.reference == pytest.approx((4.0004 + 3 + 6) / 23)
    assert neural.output == pytest.approx((3 + 4 + 8 + 2) / 27)
    assert neural.reference == pytest.approx((3 + 4.5 + 6 + 2.5) / 27)
    assert whole.counts == {SAME: 1, MODEL_ERRS: 1, SEARCH_ERRS: 1, UNKNOWN: 1}
    assert before.counts == {SAME: 1, MODEL_ERRS: 2, UNKNOWN: 1}
    assert neural.counts == {SAME: 1, MODEL_ERRS: 2, SEARCH_ERRS: 1}


def test_older_runs_have_the_parts_of_outputs_in_their_lists(tmp_path: Path) -> None:
    new, old = (member(make_neural_run(tmp_path / str(has), has_parts=has)).costs for has in (True, False))
    assert [bag and bag.output for bag in new] == [bag and bag.output for bag in old]
    whole, before, neural = summarise(old)
    assert whole == summarise(new)[0]
    assert (before.reference, neural.reference) == (None, None)
    assert neural.output == pytest.approx((3 + 4 + 8 + 2) / 27)
    assert neural.counts == {UNKNOWN: 4}


def test_runs_without_a_neural_model_say_nothing(runs: dict[str, Path]) -> None:
    found = member(runs["perfect"]).costs
    assert found == []
    assert summarise(found) == []


def test_a_cost_that_is_no_number_is_refused(tmp_path: Path) -> None:
    run = make_neural_run(tmp_path / "run")
    lines = [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]
    lines[1]["reference_cost"] = "low"
    (run / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError, match=r"results\.jsonl:2: found no result of a bag: reference_cost: "):
        _ = member(run).costs
