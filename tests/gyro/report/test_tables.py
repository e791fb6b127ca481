from __future__ import annotations

from pathlib import Path

import pytest

from gyro.report.data import read_groups
from gyro.report.tables import difference_text, oracles_table, p_text, seconds_text, settings_table, systems_table
from gyro.score.significance import Difference, compare
from gyro.version import __version__


def test_settings_are_told_once(runs: dict[str, Path]) -> None:
    """A value that all runs share stands by itself; the others stand at each run, also what only one has."""
    [group] = read_groups([(runs[name], name) for name in ("perfect", "turned")])
    made = settings_table(group.members)
    own, common = made.split("The same in all runs that have it</caption>")
    assert own.count("<i>algorithm</i>") == 2
    assert "<i>algorithm</i> beam" in own
    assert "<i>lm_order</i> 4" in own
    assert "<i>gyro</i>" not in own
    assert f"<code>{__version__}</code>" in common
    assert "algorithm" not in common


def test_the_best_score_and_marks_stand_out() -> None:
    """Twenty sentences in order against twenty turned ones: the difference is no chance, and each has its mark."""
    references = [[f"w{k}" for k in range(n, n + 6)] for n in range(20)]
    outputs = {"<one>": references, "two": [list(reversed(words)) for words in references]}
    html = systems_table(compare(outputs, references), {"<one>": 0, "two": 1})
    assert "&lt;one&gt;" in html
    assert "<one>" not in html
    assert '<small class="base">baseline</small>' in html
    assert "<b>100.00</b>" in html
    assert '<abbr class="worse" title="worse than &lt;one&gt;: −100.00 (' in html
    assert "▼▼" in html
    assert "▲▲" not in html
    alone = systems_table(compare({"two": outputs["two"]}, references), {"two": 1})
    assert "baseline" not in alone
    assert "<b>" not in alone
    assert "better" not in alone


def test_oracles(runs: dict[str, Path]) -> None:
    """Of a run with an oracle and one with an order; alone, the order of a model is left to the settings."""
    [group] = read_groups([(runs[name], name) for name in ("perfect", "turned")])
    html = oracles_table(group)
    assert "BLEU of the oracle: lattice" in html
    assert "<td>4-gram</td><td>100.00</td><td></td>" in html
    assert html.count("<tr>") == 3
    [alone] = read_groups([(runs["perfect"], None)])
    assert oracles_table(alone) == ""


@pytest.mark.parametrize(("seconds", "text"), [(0.0042, "4 ms"), (0.99, "990 ms"), (1.25, "1.2 s"), (75.0, "75.0 s")])
def test_times(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_differences_in_words() -> None:
    assert difference_text(Difference(-1.2, -2.1, 0.35, 0.004)) == "−1.20 (−2.10 to +0.35), p = 0.004"
    assert p_text(0.0001) == "< 0.001"
