from __future__ import annotations

import argparse
import io
import shutil
from pathlib import Path

import pytest

from gyro.cli.lattice_options import LATTICES, add_batch_arguments, add_lattice_arguments, batch_options, open_source
from gyro.cli.parser import CommandParser
from gyro.errors import InputError
from gyro.lattice.file_format import OWN_FORMAT, LatticeFormat
from gyro.lattice.lattice import Hypothesis
from tests.gyro.lattice.samples import small_lattice

LISTS = {
    "list.txt": "0 ||| a b ||| LM= -1 ||| -1.5\n0 ||| b a ||| LM= -2 ||| -2.5\n",
    "list.jsonl": '{"id": "1", "rank": 1, "tokens": ["a", "b"], "cost": 1.5, "features": {}}\n'
    '{"id": "1", "rank": 2, "tokens": ["b", "a"], "cost": 2.5, "features": {}}\n',
}
LISTS["list.nbest"] = LISTS["list.txt"]


@pytest.mark.parametrize("name", LISTS)
def test_n_best_lists_stand_for_lattices(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(LISTS[name])
    (item,) = open_source([str(path)])
    lattice = item.lattice()
    assert lattice is not None
    assert lattice.strings() == [Hypothesis(("a", "b"), 1.5), Hypothesis(("b", "a"), 2.5)]
    assert path.suffix in LATTICES


def test_a_file_and_a_folder_of_files_stand_for_lattices(tmp_path: Path) -> None:
    for name in ("10.fst", "9.fst"):
        small_lattice().write(tmp_path / name)
    assert [item.id for item in open_source([str(tmp_path)])] == ["9", "10"]
    (item,) = open_source([str(tmp_path / "10.fst")])
    lattice = item.lattice()
    assert lattice is not None
    assert lattice.strings() == small_lattice().strings()


def test_the_folder_of_a_run_stands_for_its_lattices(ordered: Path) -> None:
    source = open_source([str(ordered / "first")])
    assert [item.id for item in source] == [f"s{number}" for number in range(12)]
    best = [item.lattice() for item in source]
    assert [" ".join(lattice.best().tokens) for lattice in best if lattice is not None] == (
        ordered / "first" / "best.txt"
    ).read_text().splitlines()


@pytest.mark.parametrize("name", ["list.txt", "list.jsonl"])
def test_an_n_best_list_by_a_pipe(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / name).write_text(LISTS[name])
    signatures = []
    for text in (LISTS[name], LISTS[name], LISTS[name].replace("2.5", "3.5")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode()))))  # type: ignore[type-var]
        source = open_source(["-"])
        signatures.append(source.signature)
    assert signatures[0] == signatures[1] != signatures[2]
    (item,), (other,) = source, open_source([str(tmp_path / name)])
    piped, read = item.lattice(), other.lattice()
    assert piped is not None
    assert read is not None
    assert piped.strings()[0] == read.strings()[0]
    assert (item.id, piped.strings()[1].cost) == (other.id, 3.5)


def test_several_sources_are_one(ordered: Path, tmp_path: Path) -> None:
    run, lattice = ordered / "first", tmp_path / "x.fst"
    small_lattice().write(lattice)
    source = open_source([str(run), str(lattice)])
    assert [item.id for item in source] == [*(f"s{number}" for number in range(12)), "x"]
    assert source.words() == open_source([str(run)]).words() | set(small_lattice().words)
    assert [item.id for item in open_source([str(run), str(lattice)], "12:")] == ["s11", "x"]
    assert source.signature not in (open_source([str(run)]).signature, open_source([str(lattice), str(run)]).signature)
    with pytest.raises(InputError, match=r"found the id 's0', which is in .* too"):
        open_source([str(run), str(run)])


def test_the_checksums_of_all_sources_are_compared(ordered: Path, tmp_path: Path) -> None:
    lattice = tmp_path / "x.fst"
    small_lattice().write(lattice)
    run = tmp_path / "run"
    shutil.copytree(ordered / "first", run)
    source = open_source([str(lattice), str(run)])
    source.verify()
    damaged = run / "lattices" / "000003.fst"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    for found in (source, source.part(1, 1)):
        with pytest.raises(InputError, match=r"000003\.fst"):
            found.verify()


@pytest.mark.parametrize("name", ["empty.txt", "empty.jsonl", "empty.nbest"])
def test_no_lattices_are_a_mistake(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(InputError) as caught:
        open_source([str(tmp_path / name)])
    assert str(caught.value) == f"{tmp_path / name}: no lattices"


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {"jobs": 1, "nbest": 100, "overwrite": False, "gzip": False}),
        (["-j", "3", "-n", "7"], {"jobs": 3, "nbest": 7, "overwrite": False, "gzip": False}),
        (
            ["--jobs", "2", "--nbest", "1", "--overwrite", "--gzip"],
            {"jobs": 2, "nbest": 1, "overwrite": True, "gzip": True},
        ),
    ],
)
def test_batch_options_are_what_the_words_say(words: list[str], options: dict[str, object]) -> None:
    parser = argparse.ArgumentParser()
    add_batch_arguments(parser, "how many strings")
    parser.add_argument("--other", default="is not of the batch")
    default = {"jobs": 1, "nbest": 100, "time_limit": None, "memory_limit": None}
    assert batch_options(parser.parse_args(words)) == {**default, "overwrite": False, "retry_failed": False, **options}
    assert "how many strings (default 100)" in parser.format_help()


@pytest.mark.parametrize(
    ("words", "format"),
    [
        ([], OWN_FORMAT),
        (["--marks", "1", "2", "--epsilon", "9", "-1"], LatticeFormat(marks=(1, 2), epsilon=(9, -1))),
        (["--scales", "1", "-0.5"], LatticeFormat(scales=(1.0, -0.5))),
        (["--scales=-1,0.5,2"], LatticeFormat(scales=(-1.0, 0.5, 2.0))),
        (["--project", "input"], LatticeFormat(project="input")),
        (["--wordmap", "a", "--unknown", "b"], LatticeFormat(wordmap="a", unknown="b")),
    ],
)
def test_how_lattices_are_read_is_what_the_words_say(words: list[str], format: LatticeFormat) -> None:
    parser = CommandParser()
    add_lattice_arguments(parser)
    add_lattice_arguments(parser, "mt-", " (evidence)")
    found = parser.parse_args(words)
    assert LatticeFormat.from_arguments(found) == LatticeFormat.of_evidence(found) == format
    evidence = parser.parse_args([word.replace("--", "--mt-", 1) for word in words])
    assert LatticeFormat.from_arguments(evidence) == OWN_FORMAT
    assert LatticeFormat.of_evidence(evidence) == format


@pytest.mark.parametrize("words", [["--scales", "x"], ["--scales", "1,2x"], ["--epsilon"], ["--project", "both"]])
def test_words_that_say_nothing(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    parser = CommandParser()
    add_lattice_arguments(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(words)
    assert f"argument {words[0]}: " in capsys.readouterr().err
