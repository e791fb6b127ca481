from __future__ import annotations

import json
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gyro.errors import InputError
from gyro.run.folder import Entry, RunFolder, labels, open_run, words_of
from gyro.run.outcome import Outcome
from gyro.text.bag import Bag
from gyro.text.bag_file import read_bags, record_to_bag
from tests.gyro.text.records import DOGS

BAGS = [Bag(("b", "a", "b"), id="1"), Bag(("c",), id="2")]
FAILED = Outcome.failed(BAGS[0], "no parse")


def start(path: Path, **options: Any) -> list[Entry]:
    """What every start of a run does first."""
    folder = RunFolder(path)
    with folder.locked():
        inputs = folder.prepare(BAGS, {"beta": 10}, 5, {"time_limit": 1.0}, overwrite=options.get("overwrite", False))
        assert list(inputs.bags) == BAGS
        return list(folder.entries())


def files(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}


def test_a_new_folder(tmp_path: Path) -> None:
    assert start(tmp_path / "deep" / "run") == []
    written = files(tmp_path / "deep" / "run")
    assert sorted(written) == [".lock", "bags.jsonl", "run.json", "words.syms"]
    assert written["words.syms"] == b"<eps>\t0\na\t1\nb\t2\nc\t3\n"
    assert written["bags.jsonl"] == b'{"id": "1", "tokens": ["a", "b", "b"]}\n{"id": "2", "tokens": ["c"]}\n'
    with pytest.raises(InputError, match="the run is not finished"):
        open_run(tmp_path / "deep" / "run")


def test_bags_are_not_held_in_memory(tmp_path: Path) -> None:
    alive: list[weakref.ref[Bag]] = []

    def stream() -> Iterator[Bag]:
        for number in range(300):
            bag = Bag(("a", "b"), id=str(number))
            alive.append(weakref.ref(bag))
            yield bag
            assert sum(reference() is not None for reference in alive) <= 2

    folder = RunFolder(tmp_path)
    with folder.locked():
        inputs = folder.prepare(stream(), {}, 1, {}, overwrite=False)
    assert [bag.id for bag in inputs.bags] == [str(number) for number in range(300)]


def test_an_error_in_the_bags_leaves_no_new_folder(tmp_path: Path) -> None:
    def stream() -> Iterator[Bag]:
        yield BAGS[0]
        raise InputError("found a bad line")

    with pytest.raises(InputError, match="found a bad line"), (folder := RunFolder(tmp_path / "run")).locked():
        folder.prepare(stream(), {}, 1, {}, overwrite=False)
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_no_folder_for_lattices(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    start(tmp_path / "run")
    (tmp_path / "run" / "lattices").rmdir()
    (tmp_path / "run" / "lattices").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="lattices: found a link"):
        start(tmp_path / "run")


def test_runs_of_earlier_versions_are_read_or_overwritten(tmp_path: Path) -> None:
    start(tmp_path)
    told = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps({**told, "format": "gyro-run-1"}))
    for name in ("times.jsonl", "best.txt", "nbest.txt", "nbest.jsonl"):
        (tmp_path / name).write_text("")
    (tmp_path / "results.jsonl").write_text(2 * (json.dumps(FAILED.to_json()) + "\n"))
    assert open_run(tmp_path).folder.lattice(1000) == tmp_path / "lattices" / "001001.fst"
    with pytest.raises(InputError, match='format is "gyro-run-1" there and "gyro-run-2" here'):
        start(tmp_path)
    assert start(tmp_path, overwrite=True) == []


def test_labels_of_a_run() -> None:
    assert words_of(BAGS) == {"a", "b", "c"}
    assert labels(["c", "a", "b", "a"]) == {"a": 1, "b": 2, "c": 3}


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_foreign_folder_is_left_alone(tmp_path: Path, overwrite: bool) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(InputError, match=r"found 'thesis.txt' but no run.json; an empty folder is allowed"):
        start(tmp_path, overwrite=overwrite)
    assert files(tmp_path) == {"thesis.txt": b"precious"}


@pytest.mark.parametrize("text", ["{}", '{"format": "other"}', "half a li", "[]"])
def test_a_foreign_run_json_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    for use in (start, open_run):
        with pytest.raises(InputError, match=r"run\.json: "):
            use(tmp_path)
    assert files(tmp_path) == {"run.json": text.encode()}


def test_overwriting_leaves_what_is_not_the_runs(tmp_path: Path) -> None:
    start(tmp_path)
    told = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps({**told, "gyro": "0.0.1"}))
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "best.txt").write_text("old")
    with pytest.raises(InputError, match=r'gyro is "0\.0\.1" there'):
        start(tmp_path)
    start(tmp_path, overwrite=True)
    assert sorted(files(tmp_path)) == [".lock", "bags.jsonl", "notes.txt", "run.json", "words.syms"]
    assert json.loads((tmp_path / "run.json").read_text()) == told


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="file/run: cannot make the run's folder: Not a directory"):
        start(tmp_path / "file" / "run")
    with pytest.raises(InputError, match="file: cannot make the run's folder: File exists"):
        start(tmp_path / "file")


def test_two_runs_cannot_share_a_folder(tmp_path: Path) -> None:
    code = "import fcntl,sys; f = open(sys.argv[1], 'a'); fcntl.lockf(f, fcntl.LOCK_EX); print(1, flush=True); input()"
    start(tmp_path)
    command = [sys.executable, "-c", code, str(tmp_path / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(InputError, match="another run is at work in this folder"):
            start(tmp_path)
        other.communicate(b"\n")
    start(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("results.jsonl", "[1]\n", r"results.jsonl:1: found JSON that is not an object"),
        ("results.jsonl", '{"id": "b1"}\n', r"results.jsonl:1: found no result of a bag: status: Field required"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    start(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        start(tmp_path)


def test_run_folders_keep_the_annotation(tmp_path: Path) -> None:
    lemmas = {"id": "l", "lemmas": ["be"], "reference": ["is"]}
    bags = [record_to_bag(DOGS, 1), Bag(("b", "a"), id="plain"), record_to_bag(lemmas, 3)]
    folder = RunFolder(tmp_path)
    with folder.locked():
        folder.prepare(bags, {}, 1, {}, overwrite=False)
        folder.prepare(list(read_bags(folder.bags)), {}, 1, {}, overwrite=False)  # the same run: not refused
    assert list(read_bags(folder.bags)) == bags
    assert folder.bags.read_text().splitlines()[1] == '{"id": "plain", "tokens": ["a", "b"]}'
    assert [bag.reference for bag in read_bags(folder.bags)] == [None, None, ("is",)]
