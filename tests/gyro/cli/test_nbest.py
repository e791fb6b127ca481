"""`gyro nbest` as a user types it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

from gyro.cli import main
from gyro.lattice.nbest import read_jsonl, read_moses, read_tsv


def test_lists_are_the_heads_of_the_runs_own(ordered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ordered / "first"
    assert main(["nbest", str(run), "-n", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.count(" ||| ") == 3 for line in lines)
    whole = (run / "nbest.txt").read_text().splitlines()
    lists = [list(entries) for _, entries in groupby(whole, key=lambda line: line.split(" ||| ")[0])]
    assert lines == [line for entries in lists for line in entries[:3]]
    assert main(["nbest", str(run), "-n", "3", "--format", "jsonl", "-o", str(tmp_path / "list.jsonl")]) == 0
    (tmp_path / "list.txt").write_text("".join(line + "\n" for line in lines))
    pairs = zip(read_jsonl(tmp_path / "list.jsonl"), read_moses(tmp_path / "list.txt"), strict=True)
    assert all((one.tokens, one.cost, one.rank) == (other.tokens, other.cost, other.rank) for one, other in pairs)
    assert main(["nbest", str(run), "-n", "3", "--format", "tsv", "-o", str(tmp_path / "list.tsv")]) == 0
    pairs = zip(read_tsv(tmp_path / "list.tsv"), read_moses(tmp_path / "list.txt"), strict=True)
    assert all(
        (one.sentence, one.tokens, one.cost) == (other.sentence, other.tokens, other.cost) for one, other in pairs
    )


@pytest.mark.parametrize("n", ["2", "150"])
def test_the_sentences_of_several_runs_are_numbered_through(ordered: Path, tmp_path: Path, n: str) -> None:
    """Also in lists that are longer than the runs' own, which are made of the lattices."""
    run = tmp_path / "run"
    shutil.copytree(ordered / "first", run)
    if n == "150":  # the scores of several models are known to the run alone
        settings = (run / "nbest.txt").read_text()
        (run / "nbest.txt").write_text(re.sub(r" PHRASES= \S+", "", settings))
    words = ["-n", n, "-o", str(tmp_path / "list")]
    assert main(["nbest", str(run), *words]) == 0
    once = list(read_moses(tmp_path / "list"))
    assert main(["nbest", str(run), str(run), *words]) == 0
    twice = list(read_moses(tmp_path / "list"))
    assert [entry.sentence for entry in twice] == [e.sentence + more for more in (0, 12) for e in once]
    assert [entry.tokens for entry in twice] == [entry.tokens for entry in once] * 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{tmp}"], "{tmp}"),
        (["{ordered}/first", "-n", "0"], "found -n 0; at least 1 is allowed"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["nbest", *words], message)
