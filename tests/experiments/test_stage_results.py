from __future__ import annotations

import io
import json
from pathlib import Path
from statistics import fmean, median

import numpy as np
import pytest

from experiments.stage_results import cut_systems, gains_table, reference_table, seconds_table
from gyro.lattice.lattice import Hypothesis
from gyro.report.data import Group, read_groups
from gyro.run.batch import run_batch
from gyro.run.outcome import Ordering
from gyro.score.significance import compare
from gyro.text.bag import Bag
from tests.experiments.tables import read_table
from tests.gyro.report.samples import REFERENCES, make_neural_run, make_run
from tests.orders import ordered

SECONDS = {"first": [0.5, 1.0, 1.5, 2.0, 10.0], "second": [1.0] * 5, "third": [0.25] * 5}


def set_seconds(folder: Path, seconds: list[float]) -> None:
    lines = [json.loads(line) for line in (folder / "times.jsonl").read_text().splitlines()]
    told = [{**line, "seconds": value} for line, value in zip(lines, seconds, strict=True)]
    (folder / "times.jsonl").write_text("".join(json.dumps(line) + "\n" for line in told))


@pytest.fixture
def group(tmp_path: Path) -> Group:
    """Three runs, each made from the one before."""
    make_run(tmp_path / "first", 2)
    make_run(tmp_path / "second", 1, lattices="of first")
    make_neural_run(tmp_path / "third", lattices="of second")
    for name, seconds in SECONDS.items():
        set_seconds(tmp_path / name, seconds)
    [found] = read_groups([(tmp_path / name, None) for name in SECONDS], signature=lambda path: f"of {path.name}")
    return found


def test_seconds_are_those_of_the_run_and_of_its_chain(group: Group) -> None:
    table = {row.pop("system"): row for row in read_table(seconds_table(group))}
    chain = 0.0
    for name, seconds in SECONDS.items():
        chain += fmean(seconds)
        numbers = (fmean(seconds), median(seconds), np.percentile(seconds, 95), chain)
        assert [*table[name].values()] == [f"{number:.2f}" for number in numbers]


def test_gains_are_differences_with_their_intervals(group: Group) -> None:
    pairs = [("first", "second"), ("second", "first"), ("first", "none"), ("second", "third")]
    rows = read_table(gains_table([group], pairs))
    assert [(row["without"], row["with"]) for row in rows] == [pairs[0], pairs[1], pairs[3]]
    outputs = {member.name: member.outputs for member in group.members}
    wanted = compare(outputs, [reference.split() for reference in REFERENCES], baseline="first")
    scores, difference = wanted.evaluations, wanted.differences["second"]["bleu"]
    assert rows[0]["BLEU without"] == f"{scores['first']['bleu']:.2f}"
    assert rows[0]["BLEU with"] == f"{scores['second']['bleu']:.2f}"
    assert rows[0]["difference"] == f"{difference.difference:+.2f}"
    assert rows[0]["95 %"] == f"{difference.low:+.2f} to {difference.high:+.2f}"
    assert rows[0]["p"] == f"{difference.p:.3f}"
    assert float(rows[1]["difference"]) == -float(rows[0]["difference"])
    assert gains_table([group], pairs[2:3]) == ""


def test_who_errs_and_by_how_much(group: Group) -> None:
    [row] = read_table(reference_table(group.members))
    assert row == {
        "system": "third",
        "λ": "2",
        "bags": "4",
        "search error": "1",
        "found": "1",
        "model error": "1",
        "reference not known": "1",
        "cost a word, output": f"{40 / 23:.3f}",
        "cost a word, reference": f"{40.0004 / 23:.3f}",
        "neural cost a word, output": f"{17 / 27:.3f}",
        "neural cost a word, reference": f"{16 / 27:.3f}",
    }
    assert reference_table(group.members[:2]) == ""


def test_cut_systems_and_what_is_made_from_them(tmp_path: Path) -> None:
    def work(number: int, bag: Bag) -> Ordering:
        pieces = [{"proved": True}, {"proved": True}] if number == 1 else []
        return ordered(bag, [Hypothesis(bag.tokens, 1.0)], **({"runs": pieces} if pieces else {}))

    bags = [Bag(("a", "b"), id=str(n), reference=("a", "b")) for n in range(2)]
    run_batch(bags, tmp_path / "cut", work, settings={}, log=io.StringIO())
    for name, before in (("stage", "cut"), ("last", "stage"), ("whole", "nothing")):
        settings = {"lattices": f"of {before}"}
        run_batch(bags, tmp_path / name, lambda _, bag: ordered(bag, [Hypothesis(bag.tokens, 1.0)]), settings=settings)
    named = [(tmp_path / name, None) for name in ("cut", "stage", "last", "whole")]
    groups = read_groups(named, signature=lambda path: f"of {path.name}")
    assert cut_systems(groups) == {"cut", "stage", "last"}
