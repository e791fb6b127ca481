from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from gyro.errors import GyroError, InputError
from gyro.lattice.lattice import Hypothesis
from gyro.lattice.nbest import read_jsonl, read_moses, read_tsv
from gyro.run.batch import Summary, run_batch, write_nbest
from gyro.run.folder import open_run
from gyro.run.journal import Journal
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from tests.orders import failed, ordered
from tests.outside import needs_openfst_tools

SETTINGS: dict[str, Any] = {"search": {"beta": 10.0, "rules": (1, 5)}, "index": "abc"}
TEXTS = ["the dog saw the cat", "a | b", "fail now", "über q r s", "z", "crash one", "none at all"]


def make_bags(texts: list[str] | None = None) -> list[Bag]:
    return [Bag(tuple(text.split()), id=f"b{number}") for number, text in enumerate(texts or TEXTS, 1)]


def work(_number: int, bag: Bag) -> Ordering | Outcome:
    return order(bag)


def order(bag: Bag) -> Ordering | Outcome:
    """All orders of the bag, the cost of each told by its words; some bags fail in their ways."""
    if "fail" in bag.words:
        raise ValueError("found the word fail")
    if "crash" in bag.words:
        os.kill(os.getpid(), signal.SIGKILL)
    if "none" in bag.words:
        return failed(bag, "no parse", rung="rules")
    strings = sorted(set(permutations(bag.tokens)))
    costs = [1 + sum(place * ord(word[0]) for place, word in enumerate(string)) / 64 for string in strings]
    rung = "rules" if len(bag) > 3 else "1-gram rules"
    hypotheses = [Hypothesis(*pair) for pair in zip(strings, costs, strict=True)]
    return ordered(bag, hypotheses, rung=rung, proved=True, lower_bound=float("-inf"))


def run(folder: Path, **options: Any) -> Summary:
    chosen: dict[str, Any] = {"settings": SETTINGS, "nbest": 5, "log": io.StringIO(), **options}
    return run_batch(chosen.pop("bags", make_bags()), folder, chosen.pop("work", work), **chosen)


def contents(folder: Path) -> dict[str, bytes]:
    """All files with their bytes, but for times.jsonl, which may differ."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != "times.jsonl")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished") / "run"
    run(folder)
    return folder


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# ---- what is in the folder


def test_results_are_in_the_order_of_the_bags(finished: Path) -> None:
    results = lines(finished / "results.jsonl")
    assert [(r["id"], r["status"], r["reason"]) for r in results] == [
        ("b1", "ok", None),
        ("b2", "ok", None),
        ("b3", "failed", "ValueError: found the word fail"),
        ("b4", "ok", None),
        ("b5", "ok", None),
        ("b6", "failed", "the process died: signal 9"),
        ("b7", "failed", "no parse"),
    ]
    assert results[0]["lower_bound"] is None  # JSON has no infinities
    assert results[0]["cost"] == order(make_bags()[0]).lattice.best().cost  # type: ignore[union-attr]


def test_best_strings_have_empty_lines_for_failures(finished: Path) -> None:
    lattices = [order(bag).lattice for bag in make_bags() if not {"fail", "crash", "none"} & set(bag.words)]
    best = iter([" ".join(lattice.best().tokens) for lattice in lattices if lattice is not None])
    expected = [next(best), next(best), "", next(best), next(best), "", ""]
    assert (finished / "best.txt").read_text(encoding="utf-8") == "".join(line + "\n" for line in expected)
    assert open_run(finished).best() == expected


def test_nbest_lists_agree_with_the_lattices(finished: Path) -> None:
    moses, jsonl = list(read_moses(finished / "nbest.txt")), list(read_jsonl(finished / "nbest.jsonl"))
    assert [(e.tokens, e.cost, e.rank, e.features) for e in moses] == [
        (e.tokens, e.cost, e.rank, e.features) for e in jsonl
    ]
    assert {entry.sentence for entry in moses} == {0, 1, 3, 4}
    assert {entry.id for entry in jsonl} == {"b1", "b2", "b4", "b5"}
    lattice = order(make_bags()[0]).lattice
    assert lattice is not None
    assert [Hypothesis(e.tokens, e.cost) for e in moses if e.sentence == 0] == lattice.nbest(5)


def test_lattices_use_the_labels_of_the_run(finished: Path) -> None:
    words = [line.split("\t") for line in (finished / "words.syms").read_text(encoding="utf-8").splitlines()]
    assert [word for word, _ in words] == ["<eps>", *sorted({word for text in TEXTS for word in text.split()})]
    assert [int(label) for _, label in words] == list(range(len(words)))
    assert sorted(path.name for path in (finished / "lattices").iterdir()) == [f"00000{n}.fst" for n in (1, 2, 4, 5)]


@needs_openfst_tools
def test_openfst_reads_the_lattices_with_the_symbols(finished: Path) -> None:
    symbols = f"--isymbols={finished / 'words.syms'}"
    command = ["fstprint", "--acceptor", symbols, str(finished / "lattices" / "000005.fst")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.split("\n")[0].split("\t")[2] == "z"


def test_the_folder_tells_how_it_was_made(finished: Path) -> None:
    told = json.loads((finished / "run.json").read_text())
    assert told["settings"] == {"search": {"beta": 10.0, "rules": [1, 5]}, "index": "abc"}
    assert (told["bags"], told["nbest"], len(told["settings_sha256"])) == (7, 5, 64)
    times = lines(finished / "times.jsonl")
    assert [line["id"] for line in times] == [bag.id for bag in make_bags()]
    assert all(line["seconds"] >= 0 and line["memory"] >= 0 for line in times)
    assert not list(finished.rglob("*.tmp"))
    assert not (finished / "journal").exists()


def test_references_are_written_when_all_bags_have_them(tmp_path: Path) -> None:
    bags = [Bag(("b", "a"), id="1", reference=("b", "a")), Bag(("c",), id="2", reference=("c",))]
    run(tmp_path / "all", bags=bags)
    assert (tmp_path / "all" / "references.txt").read_text() == "b a\nc\n"
    assert [bag.reference for bag in open_run(tmp_path / "all").bags] == [("b", "a"), ("c",)]
    run(tmp_path / "some", bags=[bags[0], Bag(("c",), id="2")])
    assert not (tmp_path / "some" / "references.txt").exists()


def test_no_bags(tmp_path: Path) -> None:
    summary = run_batch([], tmp_path / "run", work, settings={})
    assert (summary.ok, summary.exit_code, open_run(tmp_path / "run").best()) == (0, 0, [])


def test_limits_leave_their_reason(tmp_path: Path) -> None:
    def greedy(_number: int, bag: Bag) -> Ordering | Outcome:
        block = bytearray(300 * 2**20 if "memory" in bag.words else 0)
        time.sleep(60)
        return failed(bag, str(len(block)))

    summary = run(
        tmp_path / "run", bags=make_bags(["time", "memory"]), work=greedy, jobs=2, time_limit=3, memory_limit=2**27
    )
    assert summary.failures == (("b1", "time limit of 3 s reached"), ("b2", "memory limit of 128 MB reached"))
    assert summary.slowest >= 3
    assert summary.memory > 2**27
    assert (tmp_path / "run" / "best.txt").read_text() == "\n\n"


def test_a_thousand_lattices_and_more_are_in_folders(tmp_path: Path) -> None:
    bags = make_bags([f"w{number}" for number in range(1003)])
    assert run(tmp_path / "run", bags=bags, jobs=2, nbest=1).ok == 1003
    names = [str(path.relative_to(tmp_path / "run" / "lattices")) for path in (tmp_path / "run").rglob("*.fst")]
    assert len(names) == 1003
    assert [name for name in sorted(names) if "/" in name] == [f"001/00100{number}.fst" for number in range(4)]
    made = open_run(tmp_path / "run")
    assert made.lattice(1002).best().tokens == ("w1002",)  # type: ignore[union-attr]
    assert made.best() == [bag.tokens[0] for bag in bags]
    run(tmp_path / "run", bags=make_bags(["a", "b"]), overwrite=True)
    assert sorted(path.name for path in (tmp_path / "run" / "lattices").iterdir()) == ["000001.fst", "000002.fst"]


# ---- summary and log


def test_summary(copied: Path) -> None:
    summary = run(copied)
    assert (summary.ok, summary.failed, summary.proved, summary.exit_code) == (4, 3, 4, 1)
    assert summary.rungs == {"rules": 2, "1-gram rules": 2}
    assert 0 < summary.slowest <= summary.seconds
    assert "ordered            4 (57.1 %)" in summary.text()
    assert "bag b7: no parse" in summary.text()
    assert "and 2 more failures" in summary.text(most_failures=1)


def test_log_has_a_line_for_each_bag(tmp_path: Path) -> None:
    log = io.StringIO()
    run(tmp_path / "run", log=log)
    texts = log.getvalue().splitlines()
    assert len(texts) == 7
    assert texts[0].startswith("1/7 id=b1 ok 5 tokens cost ")
    assert texts[2].startswith("3/7 id=b3 failed 2 tokens (ValueError: found the word fail) ")


def test_bar_on_a_terminal(tmp_path: Path) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    log = Terminal()
    run(tmp_path / "run", log=log)
    assert "7/7" in log.getvalue()
    assert "failed=3" in log.getvalue()
    assert "id=" not in log.getvalue()


# ---- other jobs, other starts, same bytes


@pytest.mark.parametrize("jobs", [1, 3])
def test_number_of_processes_changes_nothing(finished: Path, tmp_path: Path, jobs: int) -> None:
    run(tmp_path / "run", jobs=jobs)
    assert contents(tmp_path / "run") == contents(finished)


def test_order_of_tokens_changes_nothing(finished: Path, tmp_path: Path) -> None:
    run(tmp_path / "run", bags=make_bags([" ".join(reversed(text.split())) for text in TEXTS]))
    assert contents(tmp_path / "run") == contents(finished)


def refuse(_number: int, bag: Bag) -> Ordering | Outcome:
    raise AssertionError(f"{bag} should not be done again")


@pytest.mark.parametrize("overwrite", [False, True])
def test_second_start_does_nothing(copied: Path, overwrite: bool) -> None:
    before = {path: path.stat().st_mtime_ns for path in copied.rglob("*.*")}
    assert run(copied, work=refuse, overwrite=overwrite).ok == 4
    assert {path: path.stat().st_mtime_ns for path in copied.rglob("*.*")} == before


def test_failures_are_kept_unless_retried(copied: Path) -> None:
    assert run(copied, work=refuse).failed == 3
    summary = run(copied, retry_failed=True, work=lambda _, bag: order(Bag(bag.tokens[-1:], id=bag.id)))
    assert summary.failures == (("b7", "no parse"),)
    assert open_run(copied).best()[2:] == ["now", *open_run(copied).best()[3:5], "one", ""]


def test_other_lists_are_made_from_the_same_lattices(copied: Path, tmp_path: Path) -> None:
    run(copied, work=refuse, nbest=3)
    run(tmp_path / "fresh", nbest=3)
    assert contents(copied) == contents(tmp_path / "fresh")


@pytest.mark.parametrize("format", ["moses", "jsonl"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_write_nbest_of_a_finished_run(finished: Path, format: str, jobs: int) -> None:
    file = io.StringIO()
    write_nbest(open_run(finished), 5, format, file, jobs=jobs)
    name = {"moses": "nbest.txt", "jsonl": "nbest.jsonl"}[format]
    assert file.getvalue() == (finished / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("n", [2, 9])
def test_text_and_cost_of_a_finished_run(finished: Path, tmp_path: Path, n: int) -> None:
    """Bags that failed are empty lines, so that the others keep their numbers."""
    outcomes = open_run(finished).outcomes
    assert not all(outcome.ok for outcome in outcomes)
    moses, tsv = tmp_path / "list.txt", tmp_path / "list.tsv"
    for path, format in ((moses, "moses"), (tsv, "tsv")):
        with path.open("w", encoding="utf-8") as file:
            write_nbest(open_run(finished), n, format, file)
    facts = [
        [(e.sentence, e.tokens, e.cost, e.rank, e.id) for e in entries]
        for entries in (read_moses(moses), read_tsv(tsv))
    ]
    assert facts[0] == facts[1]
    assert tsv.read_text(encoding="utf-8").split("\n").count("") == len(outcomes) + 1


def test_lists_longer_than_the_runs_own_are_made_of_the_lattices(finished: Path, tmp_path: Path) -> None:
    file = io.StringIO()
    write_nbest(open_run(finished), 9, "moses", file)
    run(tmp_path / "long", nbest=9)
    assert file.getvalue() == (tmp_path / "long" / "nbest.txt").read_text(encoding="utf-8")


# ---- features and words


def number_and_cost(number: int, hypotheses: Sequence[Hypothesis]) -> list[dict[str, float]]:
    return [{"NUMBER": float(number), "COST": -hypothesis.cost} for hypothesis in hypotheses]


def test_features_are_the_columns_of_the_lists(finished: Path, tmp_path: Path) -> None:
    run(tmp_path / "one", features=number_and_cost)
    run(tmp_path / "two", features=number_and_cost, jobs=3)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    entries = list(read_moses(tmp_path / "one" / "nbest.txt"))
    assert [e.features for e in entries] == [{"NUMBER": (float(e.sentence),), "COST": (-e.cost,)} for e in entries]
    lists = {"nbest.txt", "nbest.jsonl", "checksums.xxh128"}
    others = [
        {name: data for name, data in contents(f).items() if name not in lists} for f in (finished, tmp_path / "one")
    ]
    assert others[0] == others[1]


def test_several_features_cannot_be_made_anew(tmp_path: Path) -> None:
    run(tmp_path / "run", features=number_and_cost)
    with pytest.raises(
        InputError, match="have the scores NUMBER, COST and 5 strings a bag; for 6, start the run again"
    ):
        write_nbest(open_run(tmp_path / "run"), 6, "moses", io.StringIO())
    run(tmp_path / "cost", features=lambda _, hypotheses: [{"COST": -h.cost} for h in hypotheses])
    file = io.StringIO()
    write_nbest(open_run(tmp_path / "cost"), 6, "moses", file)
    assert all(" ||| COST= -" in line for line in file.getvalue().splitlines())


def test_work_knows_the_number_and_words_need_no_bags(tmp_path: Path) -> None:
    def from_elsewhere(number: int, bag: Bag) -> Ordering | Outcome:
        assert bag == bags[number]
        return ordered(bag, [Hypothesis(("y", "x", "y")[number:], 1.0)], ("x", "y"))

    bags = [Bag((), id="one"), Bag((), id="two")]
    log = io.StringIO()
    run(tmp_path / "run", bags=bags, work=from_elsewhere, words={"y", "x", "z"}, log=log)
    assert open_run(tmp_path / "run").best() == ["y x y", "x y"]
    assert (tmp_path / "run" / "words.syms").read_text() == "<eps>\t0\nx\t1\ny\t2\nz\t3\n"
    assert "id=one ok cost 1.00" in log.getvalue()


@pytest.mark.parametrize("keep", [0, 1, 3])
@pytest.mark.parametrize("lost", [1, 9, 400])
def test_half_a_record_at_the_end_of_the_journal_is_dropped(copied: Path, keep: int, lost: int) -> None:
    expected = contents(copied)
    results, times = lines(copied / "results.jsonl"), lines(copied / "times.jsonl")
    places = [0]
    with Journal(copied / "journal", len(TEXTS)) as journal:
        for number, (result, spent) in enumerate(zip(results, times, strict=True)):
            list_of = [expected[name].splitlines(keepends=True) for name in ("nbest.txt", "nbest.jsonl")]
            moses = b"".join(line for line in list_of[0] if line.startswith(b"%d |||" % number))
            jsonl = b"".join(line for line in list_of[1] if json.loads(line)["id"] == result["id"])
            best = expected["best.txt"].splitlines(keepends=True)[number]
            journal.append(number, result, spent["seconds"], spent["memory"], 5, (best, moses, jsonl))
            journal.commit()
            places.append((copied / "journal").stat().st_size)
    os.truncate(copied / "journal", max(places[keep], places[keep + 1] - lost))
    for name in ("results.jsonl", "times.jsonl", "best.txt", "nbest.txt"):
        (copied / name).unlink()
    log = io.StringIO()
    run(copied, log=log)
    assert contents(copied) == expected
    assert len([line for line in log.getvalue().splitlines() if "id=" in line]) == len(TEXTS) - keep


def test_a_missing_lattice_is_made_again(copied: Path) -> None:
    expected = contents(copied)
    (copied / "lattices" / "000002.fst").unlink()
    log = io.StringIO()
    run(copied, log=log)
    assert contents(copied) == expected
    assert log.getvalue().startswith("going on: 6 of 7 bags are known\n7/7 id=b2 ok")


def test_what_killed_workers_left_is_removed(copied: Path) -> None:
    expected = contents(copied)
    (copied / "lattices" / ".000003.fst.77.tmp").write_bytes(b"half")
    (copied / ".best.txt.77.tmp").write_bytes(b"half")
    run(copied)
    assert contents(copied) == expected


# ---- refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": {**SETTINGS, "index": "xyz"}}, r'settings.index is "abc" there and "xyz" here'),
        (
            {"settings": {**SETTINGS, "search": {"beta": 12, "rules": [1, 5]}}},
            "settings.search.beta is 10.0 there and 12 here",
        ),
        ({"settings": {**SETTINGS, "more": 1}}, "settings.more is given only here"),
        ({"settings": {"index": "abc"}}, "settings.search is given only there"),
        ({"bags": make_bags(TEXTS[:3])}, "it has 7 bags and 3 are given"),
        ({"bags": make_bags(["x", *TEXTS[1:]])}, r'bag 1 is .*"cat".* there and .*"x".* here'),
    ],
)
def test_another_run_is_refused_or_overwritten(
    copied: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    before = contents(copied)
    with pytest.raises(InputError, match=f"the folder holds another run: {message}"):
        run(copied, **options)
    assert contents(copied) == before
    run(copied, overwrite=True, **options)
    run(tmp_path / "fresh", **options)
    assert contents(copied) == contents(tmp_path / "fresh")


def test_a_damaged_lattice_is_named(copied: Path) -> None:
    path = copied / "lattices" / "000002.fst"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(GyroError, match=r"no n-best list of .*000002.fst: .*; without the file it is made anew"):
        run(copied, nbest=2)


def test_open_run_wants_a_finished_run(copied: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no run\.json here"):
        open_run(tmp_path / "nothing")
    (copied / "best.txt").unlink()
    with pytest.raises(InputError, match="the run is not finished"):
        open_run(copied)
    assert run(copied, work=refuse).ok == 4
    assert open_run(copied).lattice(2) is None
    assert open_run(copied).lattice(4).best().tokens == ("z",)  # type: ignore[union-attr]


def test_bad_numbers(tmp_path: Path, finished: Path) -> None:
    with pytest.raises(InputError, match="found n-best lists of 0"):
        run(tmp_path / "run", nbest=0)
    with pytest.raises(InputError, match="found the n-best format 'xml'; allowed are moses, jsonl"):
        write_nbest(open_run(finished), 5, "xml", io.StringIO())


def test_gzipped_lattices_are_the_same_lattices(tmp_path: Path) -> None:
    bags = make_bags(["the dog saw the cat", "z", "fail now"])
    run(tmp_path / "plain", bags=bags)
    run(tmp_path / "packed", bags=bags, gzip=True)
    names = [
        sorted(path.name for path in (tmp_path / name / "lattices").rglob("*.fst*")) for name in ("plain", "packed")
    ]
    assert names[1] == [f"{name}.gz" for name in names[0]]
    plain, packed = (open_run(tmp_path / name) for name in ("plain", "packed"))
    for number in range(3):
        ours, theirs = packed.lattice(number), plain.lattice(number)
        assert (ours is None) == (theirs is None) == (number == 2)
        if ours is not None and theirs is not None:
            assert ours.strings() == theirs.strings()
            assert (
                gzip.decompress(packed.folder.lattice(number).read_bytes()) == plain.folder.lattice(number).read_bytes()
            )
    for name in ("best.txt", "nbest.txt", "results.jsonl"):
        assert (tmp_path / "packed" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes()


def test_a_run_is_gzipped_or_not_as_a_whole(tmp_path: Path) -> None:
    bags = make_bags(["a b", "z"])
    run(tmp_path, bags=bags, gzip=True)
    first = {path: path.stat().st_mtime_ns for path in (tmp_path / "lattices").rglob("*.gz")}
    run(tmp_path, bags=bags, gzip=True)  # it is there already
    assert first == {path: path.stat().st_mtime_ns for path in (tmp_path / "lattices").rglob("*.gz")}
    with pytest.raises(InputError, match="gzip is given only there"):
        run(tmp_path, bags=bags)
    run(tmp_path, bags=bags, overwrite=True)
    assert not list((tmp_path / "lattices").rglob("*.gz"))


def test_ids_are_shown_without_escape_sequences_and_line_breaks(tmp_path: Path) -> None:
    log = io.StringIO()
    bags = [Bag(("a",), id="one\x1b[2J\nbag"), Bag(("none",), id="two\r\u2028")]
    summary = run(tmp_path / "run", bags=bags, log=log)
    assert log.getvalue().count("\n") == 2
    assert r"id=one\x1b[2J\nbag ok" in log.getvalue()
    assert r"bag two\r\u2028: no parse" in summary.text()
    assert [bag.id for bag in open_run(tmp_path / "run").bags] == [bag.id for bag in bags]
