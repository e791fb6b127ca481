from __future__ import annotations

from pathlib import Path

from gyro.run.folder import Entry
from gyro.run.outcome import Outcome, Search
from gyro.run.summary import summarise
from gyro.text.bag import Bag


def test_counts_and_failures() -> None:
    bags = [Bag((), id=str(number)) for number in range(4)]
    outcomes = [
        Outcome.ordered(bags[0], 1.0, rung="rules", proved=True),
        Outcome.ordered(bags[1], 1.0, rung="rules", proved=False),
        Outcome.ordered(bags[2], 1.0, rung="1-gram rules", proved=True),
        Outcome.failed(bags[3], "no parse"),
    ]
    summary = summarise(Path("run"), (Entry(o, n + 0.5, 10 * n) for n, o in enumerate(outcomes)))
    assert (summary.ok, summary.failed, summary.proved, summary.exit_code) == (3, 1, 2, 1)
    assert (summary.unproved, summary.references) == (0, {})
    assert summary.rungs == {"rules": 2, "1-gram rules": 1}
    assert (summary.seconds, summary.slowest, summary.memory) == (8.0, 3.5, 30)
    assert summary.text().splitlines()[-1] == "bag 3: no parse"
    assert summarise(Path("run"), []).exit_code == 0


def neural(id: str, cost: float, reference: float | None = None, first: Outcome | None = None) -> Outcome:
    facts = {} if reference is None else {"reference_cost": reference}
    return Outcome.ordered(
        Bag((), id=id), cost, proved=False, **facts, **({} if first is None else {"first_pass": first})
    )


def test_what_the_costs_of_references_say() -> None:
    costs = [(2.0, 1.0), (2.0, 2.0), (2.0, 3.5), (2.0, 4.0), (2.0, None)]
    outcomes = [neural(str(number), *pair) for number, pair in enumerate(costs)]
    summary = summarise(Path("run"), (Entry(outcome, 0.0, 0) for outcome in outcomes))
    assert summary.references == {"found": 1, "cheaper (search error)": 1, "dearer (model error)": 2}
    assert summary.text().splitlines()[2:7] == [
        "  not proved                        5 (100.0 %)",
        "  reference cost known              4 (80.0 %)",
        "  reference found                   1 (25.0 %)",
        "  reference cheaper (search error)  1 (25.0 %)",
        "  reference dearer (model error)    2 (50.0 %)",
    ]


def test_the_first_pass_of_a_run_in_one_go() -> None:
    """Its rungs and proofs are told, and that nothing is proved of what came after it, also when it is read back."""
    piece = Search(rung="rules", proved=True)
    firsts = [
        Outcome.ordered(Bag((), id="0"), 1.0, rung="rules", proved=True),
        Outcome.ordered(Bag((), id="1"), 1.0, rung="1-gram rules", proved=False, pieces=[piece, piece]),
    ]
    outcomes = [neural(first.id, 5.0, first=first) for first in firsts]
    read = [Outcome.from_json(outcome.to_json(), "results.jsonl", 1) for outcome in outcomes]
    assert read == outcomes
    summary = summarise(Path("run"), (Entry(outcome, 0.0, 0) for outcome in read))
    assert summary.rungs == {"rules": 1, "1-gram rules": 1}
    assert (summary.proved, summary.unproved, summary.cut) == (1, 2, 1)
    assert "  optimum proved   1 (50.0 %) in the first pass" in summary.text()
    assert not any(outcome.is_proved for outcome in read)
