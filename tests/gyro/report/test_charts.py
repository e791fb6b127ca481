from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

from gyro.lattice.lattice import Hypothesis
from gyro.report.charts import proof_counts, rung_counts, rung_order, score_charts, search_charts
from gyro.report.data import read_groups
from gyro.run.batch import run_batch
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from tests.orders import failed, ordered


def test_bags_by_what_is_proved_of_them(tmp_path: Path) -> None:
    """Five bags: proved, cut with each piece proved, cut with one piece proved, not proved, failed."""
    facts: list[dict[str, object]] = [
        {"proved": True},
        {"proved": False, "runs": [{"proved": True}, {"proved": True}]},
        {"proved": False, "runs": [{"proved": True}, {"proved": False}]},
        {"proved": False},
    ]

    def work(number: int, bag: Bag) -> Ordering | Outcome:
        if number == len(facts):
            return failed(bag, "no order", proved=False)
        return ordered(bag, [Hypothesis(bag.tokens, 1.0)], **facts[number])

    bags = [Bag(("a", "b"), id=str(n)) for n in range(5)]
    run_batch(bags, tmp_path / "run", work, settings={}, log=io.StringIO())
    [group] = read_groups([(tmp_path / "run", None)])
    counts = proof_counts(group.members)["run"]
    assert counts == {"proved": 1, "cut, each piece proved": 1, "not proved": 2, "failed": 1}


def test_times_are_those_of_searches(runs: dict[str, Path], tmp_path: Path) -> None:
    """Stages after the search are not among them, unless the report is on stages alone."""
    stage = shutil.copytree(runs["perfect"], tmp_path / "stage")
    record = json.loads((stage / "run.json").read_text())
    record["settings"] = {"command": "rescore"}
    (stage / "run.json").write_text(json.dumps(record))
    for names, expected in ((["perfect", "stage"], ["perfect"]), (["stage"], ["stage"])):
        [group] = read_groups([({**runs, "stage": stage}[name], name) for name in names])
        charts = search_charts(group.members, {name: number for number, name in enumerate(names)})
        assert [each.name for each in charts[0].series] == expected


def test_orders_by_the_rung_that_gave_them(runs: dict[str, Path]) -> None:
    """One bag of `turned` failed: it has no rung."""
    [group] = read_groups([(runs[name], name) for name in ("perfect", "turned")])
    counts = rung_counts(group.members)
    assert counts == {"perfect": {"2-gram rules": 3, "rules": 2}, "turned": {"2-gram rules": 3, "rules": 1}}
    assert rung_order(counts) == ["rules", "2-gram rules"]
    assert rung_order({"a": {"another": 1, "1-gram rules": 1}}) == ["1-gram rules", "another"]


def test_the_charts_of_a_report(runs: dict[str, Path]) -> None:
    """Runs with the same phrases share one line; four systems are few enough for bars."""
    [group] = read_groups([(runs[name], name) for name in ("perfect", "turned")])
    colours = {"perfect": 0, "turned": 1}
    scores = {figure.title: figure for figure in score_charts(group, colours)}
    assert list(scores) == [
        "BLEU by bag size",
        "Exact match by bag size",
        "Kendall's τ by bag size",
        "How far words stand from their places",
    ]
    assert scores["Exact match by bag size"].classes == ["1-5", "6-10", "11-15"]
    assert [each.colour for each in scores["BLEU by bag size"].series] == [0, 1]
    assert 'class="bar s1"' in scores["How far words stand from their places"].drawing
    searches = {figure.title: figure for figure in search_charts(group.members, colours)}
    assert [each.name for each in searches["Time a bag by bag size"].series] == ["perfect", "turned"]
    assert [each.name for each in searches["Phrases by bag size"].series] == ["perfect", "turned"]
    assert {"Optimum proved", "Which rules gave the order"} <= {*searches}
