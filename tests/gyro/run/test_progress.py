from __future__ import annotations

import io

from gyro.run.progress import Progress


def test_lines_of_bags_and_of_what_is_known() -> None:
    log = io.StringIO()
    with Progress(3, 1, log) as progress:
        progress.show({"id": "x", "status": "ok", "cost": 1.5}, 4, 0.25)
        progress.show({"id": "y", "status": "failed", "reason": "no parse"}, 0, 0.5)
    assert log.getvalue().splitlines() == [
        "going on: 1 of 3 bags are known",
        "2/3 id=x ok 4 tokens cost 1.50 0.25 s",
        "3/3 id=y failed (no parse) 0.50 s",
    ]


def test_a_bar_over_items_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for log, is_told in ((Terminal(), True), (io.StringIO(), False)):
        with Progress(2, 2, log) as progress:
            assert list(progress.over(iter("ab"), "final files", 2)) == ["a", "b"]
        assert ("final files: 100%" in log.getvalue()) == is_told
