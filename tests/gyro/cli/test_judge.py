"""`gyro judge` as a user types it; what the page does is told in tests/gyro/judge."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.cli import main
from tests.gyro.judge.samples import as_lines, said


def test_a_page_of_two_runs(ordered: Path, rescored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "judge.html"
    first, second = str(ordered / "first"), str(rescored / "second")
    assert main(["judge", f"{first}:plain", second, "-o", str(page), "--seed", "3", "--title", "Bags & orders"]) == 0
    printed = capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    bests = [(Path(run) / "best.txt").read_text().splitlines() for run in (first, second)]
    differ = sum(one != other for one, other in zip(*bests, strict=True))
    assert 0 < differ < 12
    expected = f"{page}: {differ} pairs of {differ} bags, seed 3; left out: {12 - differ} pairs of equal orders, 0 with"
    assert printed.startswith(expected)
    assert "<title>Bags &amp; orders</title>" in text
    assert text.count('"bag": ') == differ


def test_tally(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for judge, winners in (("ann", ["exact", "exact", None]), ("bob", ["exact", "beam", None])):
        files.append(str(tmp_path / judge))
        Path(files[-1]).write_text(as_lines(said(judge, bag, winner) for bag, winner in enumerate(winners)))
    assert main(["judge", "--tally", *files]) == 0
    text = capsys.readouterr().out
    assert "exact – beam 3 / 2 / 1 1 / 2 / 0 0.833 = 1.000" in " ".join(text.split())
    assert "agreement: Cohen's κ 0.500; 66.7 % of pairs of judges say the same (3 items, 2 judges)" in text
    assert main(["judge", "--tally", *files, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["pairs"][0]["judgements"] == {"wins": 3, "ties": 2, "losses": 1}
    assert value["agreement"]["value"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "-o FILE is needed for a page, or --tally FILE … for a count"),
        (["{ordered}/first", "-o", "{tmp}/j.html"], "found 1 system; two or more are needed"),
        (["{ordered}/first", "{ordered}/none", "-o", "{tmp}/j.html"], "cannot read"),
        (["{ordered}/first", "{ordered}/first:b", "-o", "{tmp}/j.html"], "found no two different orders of a bag"),
        (["{ordered}/first", "{bad}", "-o", "{tmp}/j.html", "--bags", "0"], "found --bags 0; at least 1 is allowed"),
        (["{ordered}/first", "{bad}", "-o", "{tmp}/j.html", "--json"], "--json goes with --tally"),
        (["{ordered}/first", "--tally", "{bad}"], "found a RUN beside --tally"),
        (["--tally", "{bad}", "--seed", "0"], "found --seed beside --tally"),
        (["--tally", "{bad}"], "bad.jsonl:1: found no judgement"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["judge", *words], message)
