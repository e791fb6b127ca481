"""Strings of other systems as LATTICES, as a user names them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gyro.cli import main
from gyro.run.folder import open_run


def test_outputs_are_chosen_by_our_posteriors_and_ours_by_theirs(
    ordered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = open_run(ordered / "first")
    best = run.best()
    outputs = tmp_path / "mt.jsonl"
    # Most systems turn the sentence round; one says what our lattice likes best. There are others and another order.
    rows = [
        {"id": bag.id, "outputs": {"A": text, "B": " ".join(text.split()[::-1]), "C": " ".join(text.split()[::-1])}}
        for bag, text in zip(run.bags, best, strict=True)
    ]
    outputs.write_text("".join(json.dumps(row) + "\n" for row in [{"id": "other", "outputs": {"A": "x"}}, *rows[::-1]]))
    words = ["mbr", str(outputs), "--hypotheses", "outputs", "--hypotheses-tokenized", "--scale", "1"]
    words += ["--ids", str(ordered / "first" / "bags.jsonl")]
    assert main(words) == 0
    alone = capsys.readouterr().out.splitlines()
    assert alone == [" ".join(text.split()[::-1]) for text in best]
    evidence = ["--mt", str(ordered / "first"), "--mt-format", "lattices", "--alpha", "0.1"]
    assert main([*words, *evidence]) == 0
    assert capsys.readouterr().out.splitlines() == best
    assert main([*words, *evidence, "--mt-by", "id", "-o", str(tmp_path / "run"), "--range", "2:"]) == 0
    found = open_run(tmp_path / "run")
    assert found.best() == best[1:]
    assert [bag.id for bag in found.bags] == [bag.id for bag in run.bags][1:]


def test_lists_are_tokenised_on_both_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "hypotheses.tsv").write_text("It's here.\t1\nHere it's.\t1.5\n\nNo.\t0\n")
    (tmp_path / "evidence.tsv").write_text("here it's.\t0\n\nno\t0\n")
    words = ["mbr", str(tmp_path / "hypotheses.tsv"), "--hypotheses", "nbest", "--hypotheses-lowercase"]
    words += ["--mt", str(tmp_path / "evidence.tsv"), "--mt-format", "tsv", "--alpha", "0"]
    assert main(words) == 0
    assert capsys.readouterr() == ("here it 's .\nno .\n", "")


def test_lattices_are_chosen_by_id_too(ordered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = open_run(ordered / "first")
    lines = (ordered / "first" / "bags.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "some.jsonl").write_text(lines[3] + lines[1])
    assert main(["mbr", str(ordered / "first")]) == 0
    whole = capsys.readouterr().out.splitlines()
    assert len(whole) == len(run)
    assert main(["mbr", str(ordered / "first"), "--ids", str(tmp_path / "some.jsonl")]) == 0
    assert capsys.readouterr().out.splitlines() == [whole[3], whole[1]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["{ordered}/first", "--hypotheses-weights", "A=1"],
            "--hypotheses-weights goes with --hypotheses nbest or out",
        ),
        (["{ordered}/first", "--hypotheses-lowercase"], "--hypotheses-lowercase goes with"),
        (["{ordered}/first", "--hypotheses", "nbest"], "an n-best list is needed"),
        (["{ordered}/mt.jsonl", "--hypotheses", "outputs", "--hypotheses-field", "x"], "mt.jsonl:1: found x None"),
        (["{ordered}/mt.jsonl", "--hypotheses", "outputs", "--hypotheses-weights", "A"], "SYSTEM=NUMBER"),
        (["{ordered}/mt.jsonl", "--hypotheses", "outputs", "--range", "9999:"], "no lattices in that range"),
        (["{ordered}/first", "--ids", "{tmp}/none"], "cannot read"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["mbr", *words], message)
