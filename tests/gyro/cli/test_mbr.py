"""`gyro mbr` as a user types it; on lattices of others see tests/rescoring/test_mbr.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import pywrapfst

from gyro.cli import main
from gyro.lattice.nbest import read_moses


def test_mbr_with_what_mt_systems_say(
    ordered: Path, tmp_path: Path, bleu: Callable[[Path], float], capsys: pytest.CaptureFixture[str]
) -> None:
    first = str(ordered / "first")
    assert main(["mbr", first, "-o", str(tmp_path / "mbr"), "--alpha", "1"]) == 0
    mt = ["--mt", str(ordered / "mt.jsonl"), "--mt-by", "id", "--mt-tokenized"]
    assert main(["mbr", first, "-o", str(tmp_path / "mbr-mt"), "--alpha", "0.1", *mt]) == 0
    assert {name for entry in read_moses(tmp_path / "mbr-mt" / "nbest.txt") for name in entry.features} == {"MBR"}
    # Half of the systems say the reference: their posteriors must help.
    assert bleu(tmp_path / "mbr-mt") > max(bleu(ordered / "first"), bleu(tmp_path / "mbr"))
    assert main(["mbr", first, "--alpha", "0.1", *mt]) == 0
    assert capsys.readouterr().out == (tmp_path / "mbr-mt" / "best.txt").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{ordered}/first", "--scale", "-1"], "scale = -1"),
        (["{ordered}/first", "--max-order", "10"], "max_order = 10; 1 to 9 are allowed"),
        (["{ordered}/first", "--mt", "{ordered}/bags.jsonl"], "bags.jsonl:1"),
    ],
)
def test_mistakes(refused: Callable[[list[str], str], None], words: list[str], message: str) -> None:
    refused(["mbr", *words], message)


def test_orders_change_the_gains(ordered: Path, tmp_path: Path) -> None:
    """The default orders are 1 to 4; other ones give other costs and stand in the settings."""
    first, best = str(ordered / "first"), {}
    for name, orders in {"none": [], "1-4": ["1", "4"], "2-3": ["2", "3"], "1-6": ["1", "6"]}.items():
        options = ["--min-order", orders[0], "--max-order", orders[1]] if orders else []
        assert main(["mbr", first, "-o", str(tmp_path / name), *options]) == 0
        best[name] = [entry.cost for entry in read_moses(tmp_path / name / "nbest.txt") if entry.rank == 1]
    assert best["none"] == best["1-4"]
    assert (tmp_path / "none" / "run.json").read_bytes() == (tmp_path / "1-4" / "run.json").read_bytes()
    assert all(a > b for a, b in zip(best["2-3"], best["1-4"], strict=True))
    assert all(a >= b for a, b in zip(best["1-4"], best["1-6"], strict=True))
    assert best["1-4"] != best["1-6"]


def write_bare(path: Path, *strings: tuple[str, float]) -> None:
    """A lattice as OpenFst's own compiler makes it: labels and no symbols."""
    compiler = pywrapfst.Compiler(acceptor=True)
    state = 0
    for text, cost in strings:
        labels = text.split()
        for place, label in enumerate(labels):
            compiler.write(f"{state if place else 0} {state + 1} {label}\n")
            state += 1
        compiler.write(f"{state} {cost}\n")
    compiler.compile().write(str(path))


def test_bare_labels_that_are_sentence_marks_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lattices, evidence = tmp_path / "lattices", tmp_path / "evidence"
    for folder in (lattices, evidence):
        folder.mkdir()
    write_bare(lattices / "1.fst", ("1 7 8 2", 0.0), ("1 8 7 2", 0.5))
    write_bare(evidence / "1.fst", ("1 8 7 2", 0.0))
    words = ["mbr", str(lattices), "--mt", str(evidence), "--mt-format", "lattices", "--alpha", "0"]
    assert main(words) == 0
    assert main([*words, "--marks", "1", "2"]) == 0
    assert capsys.readouterr() == ("1 8 7 2\n8 7\n", "")


def test_the_evidence_may_be_read_in_another_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hypotheses with bare labels, evidence between marks and with labels of its own."""
    lattices, evidence = tmp_path / "lattices", tmp_path / "evidence"
    for folder in (lattices, evidence):
        folder.mkdir()
    write_bare(lattices / "1.fst", ("7 8", 0.0), ("8 7", 0.5))
    write_bare(evidence / "1.fst", ("1 4 3 2", 0.0))
    (tmp_path / "map").write_text("a 7\nb 8\n")
    (tmp_path / "mt-map").write_text("3 a\n4 b\n")
    words = ["mbr", str(lattices), "--mt", str(evidence), "--mt-format", "lattices", "--alpha", "0"]
    words += ["--wordmap", str(tmp_path / "map")]
    assert main([*words, "--mt-wordmap", str(tmp_path / "mt-map"), "--mt-marks", "1", "2"]) == 0
    assert capsys.readouterr() == ("b a\n", "")


def test_evidence_that_shares_no_word_with_the_lattices_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lattices, evidence = tmp_path / "lattices", tmp_path / "mt.txt"
    lattices.mkdir()
    write_bare(lattices / "1.fst", ("7 8", 0.0), ("8 7", 0.5))
    write_bare(lattices / "2.fst", ("9 3", 0.0))
    evidence.write_text("the dog barks\n9 dogs\n")
    words = ["mbr", str(lattices), "--mt", str(evidence), "--mt-format", "text", "--mt-tokenized"]
    assert main(words) == 0
    found = capsys.readouterr()
    assert found.out == "7 8\n9 3\n"
    assert found.err == (
        f"warning: {evidence}: the evidence shares no word with 1 of 2 lattices; 1 of its 5 words are in theirs; "
        "lattice '1' has '7', its evidence 'barks'\n"
    )


def test_gzipped_runs_are_written_and_read(ordered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = str(ordered / "first")
    assert main(["mbr", first, "-o", str(tmp_path / "plain")]) == 0
    assert main(["mbr", first, "-o", str(tmp_path / "packed"), "--gzip"]) == 0
    packed = list((tmp_path / "packed" / "lattices").rglob("*.fst.gz"))
    assert len(packed) == len(list((tmp_path / "plain" / "lattices").rglob("*.fst")))
    capsys.readouterr()
    for name in ("plain", "packed"):
        assert main(["mbr", str(tmp_path / name)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[: len(lines) // 2] == lines[len(lines) // 2 :]
    assert main(["show", str(packed[0]), "-o", str(tmp_path / "drawing.svg")]) == 0
