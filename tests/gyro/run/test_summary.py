from __future__ import annotations

from pathlib import Path

from gyro.run.folder import Entry
from gyro.run.outcome import Outcome
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
    assert summary.rungs == {"rules": 2, "1-gram rules": 1}
    assert (summary.seconds, summary.slowest, summary.memory) == (8.0, 3.5, 30)
    assert summary.text().splitlines()[-1] == "bag 3: no parse"
    assert summarise(Path("run"), []).exit_code == 0
