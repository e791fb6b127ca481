"""`gyro nbest` as a user types it."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{tmp}"], "{tmp}"),
        (["{ordered}/first", "-n", "0"], "found -n 0; at least 1 is allowed"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["nbest", *words], message)
