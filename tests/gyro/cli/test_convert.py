"""`gyro convert` as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gyro.cli import main
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.run.batch import run_batch
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from rescoring.source import open_lattices
from tests.gyro.lattice.foreign import INFINITE, tuple_of, vector_file
from tests.orders import failed
from tests.orders import ordered as ordering


def strings(source: object) -> list[list[Hypothesis]]:
    return [item.lattice().nbest(50) for item in source]  # type: ignore[attr-defined]


@pytest.fixture
def wordmap(ordered: Path, tmp_path: Path) -> Path:
    """The words of the run, and the labels that MT decoders give them."""
    words = sorted(open_lattices(ordered / "first").words())
    path = tmp_path / "wordmap"
    path.write_text("".join(f"{word}\t{n}\n" for n, word in enumerate(("<epsilon>", "<s>", "</s>", *words))))
    return path


@pytest.mark.parametrize("arc_type", ["standard", "tropical_LT_tropical"])
@pytest.mark.parametrize("bare", [["--no-symbols"], []])
def test_a_run_there_and_back(
    ordered: Path, wordmap: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arc_type: str, bare: list[str]
) -> None:
    run, pattern = str(ordered / "first"), str(tmp_path / "lats" / "%d.fst.gz")
    labels = ["--wordmap", str(wordmap), "--marks", "1", "2"]
    assert main(["convert", run, "-o", pattern, *labels, "--arc-type", arc_type, *bare]) == 0
    assert capsys.readouterr() == (f"12 lattices: {pattern}\n", "")
    names = sorted(path.name for path in (tmp_path / "lats").iterdir())
    assert names == sorted(f"{number}.fst.gz" for number in range(1, 13))
    back = str(tmp_path / "back" / "%d.fst")
    assert main(["convert", str(tmp_path / "lats"), "-o", back, *labels]) == 0
    assert strings(open_lattices(tmp_path / "back")) == strings(open_lattices(run))
    first = Lattice.read(tmp_path / "lats" / "1.fst.gz").best().tokens
    assert (first[0], first[-1]) == (("1", "2") if bare else ("<s>", "</s>"))


def test_a_range_keeps_its_numbers(ordered: Path, tmp_path: Path) -> None:
    assert main(["convert", str(ordered / "first"), "-o", str(tmp_path / "%d.fst"), "--range", "3:4"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["3.fst", "4.fst"]
    both = [item.lattice() for item in open_lattices(tmp_path)]
    expected = strings(open_lattices(ordered / "first").part(3, 4))
    assert [lattice.nbest(50) for lattice in both if lattice is not None] == expected


def test_an_n_best_list(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(
        "0 ||| b a ||| LM= -1 ||| -1.5\n0 ||| a b ||| LM= -1 ||| -2\n1 ||| c ||| LM= -1 ||| 1\n"
    )
    assert main(["convert", str(tmp_path / "list.txt"), "-o", str(tmp_path / "lats" / "%d.fst")]) == 0
    assert strings(open_lattices(tmp_path / "lats")) == strings(open_lattices(tmp_path / "list.txt"))


def test_tuples_become_costs(tmp_path: Path) -> None:
    states = [(tuple_of(INFINITE), [(7, 70, tuple_of(0.0, {1: 1.0, 2: 4.0}), 1)]), (tuple_of(0.0), [])]
    (tmp_path / "x.fst").write_bytes(vector_file("tropicalsparsetuple", states))
    words = ["convert", str(tmp_path / "x.fst"), "-o", str(tmp_path / "lats" / "%d.fst"), "--no-symbols"]
    assert main([*words, "--scales", "1,0.5", "--project", "output"]) == 0
    assert Lattice.read(tmp_path / "lats" / "1.fst").strings() == [Hypothesis(("70",), 3.0)]
    assert main([*words, "--scales", "1", "-1", "--project", "input"]) == 0
    assert Lattice.read(tmp_path / "lats" / "1.fst").strings() == [Hypothesis(("7",), -3.0)]


def test_bags_that_failed_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def work(_number: int, bag: Bag) -> Ordering | Outcome:
        return failed(bag) if "fail" in bag.words else ordering(bag, [Hypothesis(bag.tokens, 1.0)])

    bags = [Bag((text,), id=text) for text in ("a", "fail", "b")]
    with (tmp_path / "log").open("w") as log:
        run_batch(bags, tmp_path / "run", work, settings={}, log=log)
    assert main(["convert", str(tmp_path / "run"), "-o", str(tmp_path / "lats" / "%d.fst")]) == 1
    assert sorted(path.name for path in (tmp_path / "lats").iterdir()) == ["1.fst", "3.fst"]
    found = capsys.readouterr()
    assert found.out.startswith("2 lattices: ")
    assert found.err == "gyro: 1 bags failed and have no lattice, so these are left out: 2\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{run}", "-o", "{tmp}/x.fst"], "one %d is needed"),
        (["{run}", "-o", "{tmp}/%d.fst", "--no-symbols"], "labels come from a word map (--wordmap)"),
        (["{run}", "-o", "{tmp}/%d.fst", "--oov", "3"], "and no word map"),
        (["{run}", "-o", "{tmp}/%d.fst", "--wordmap", "{tmp}/none"], "none: cannot read"),
        (["{run}", "-o", "{tmp}/%d.fst", "--range", "20:30"], "no lattices in that range"),
        (["{run}", "-o", "{run}/lattices/%d.fst"], "found the folder of the lattices that are read"),
        (
            ["{run}/lattices/000001.fst", "-o", "{run}/lattices/%d.fst"],
            "found the folder of the lattices that are read",
        ),
    ],
)
def test_mistakes(
    ordered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["convert", *(word.format(run=ordered / "first", tmp=tmp_path) for word in words)]) == 2
    found = capsys.readouterr()
    assert message in found.err
    assert found.err.count("\n") == 1
    assert found.out == ""


def test_a_word_that_is_not_in_the_map_is_told_with_its_lattice(
    ordered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wordmap").write_text("the 1\n")
    words = ["convert", str(ordered / "first"), "-o", str(tmp_path / "lats" / "%d.fst")]
    assert main([*words, "--wordmap", str(tmp_path / "wordmap")]) == 2
    found = capsys.readouterr().err
    assert "lattice s0: " in found
    assert "--oov LABEL" in found
    assert main([*words, "--wordmap", str(tmp_path / "wordmap"), "--oov", "3"]) == 0
