"""Faults of the machine: disks that are full or read-only, output that is closed, too little memory, kills."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import World

GYRO = (sys.executable, "-m", "gyro")
# What writes a file: {ordered} and {world} stand for the folders of the fixtures, {out} for the place to write to.
WRITERS = {
    "bags": "bags {ordered}/best.txt --tokenized -o {out}/x.jsonl",
    "bags text": "bags {ordered}/best.txt --tokenized -o /dev/null --text {out}/x.txt",
    "nbest": "nbest {ordered}/first -o {out}/x.txt",
    "best": "best {ordered}/first -o {out}/x.txt",
    "show": "show {ordered}/one.fst -o {out}/x.svg",
    "report": "report {ordered}/first -o {out}/x.html",
    "tune": "tune {ordered}/first --restarts 1 -o {out}/x.toml",
    "order": "order the,people --index {world}/index --lm {world}/model.lm --lattice {out}/x.fst",
    "oracle": "oracle {ordered}/first -o {out}/x.txt",
    "annotate": "annotate {ordered}/trees.conllu -o {out}/x.jsonl",
    "ccg": "ccg {ordered}/trees.conllu -o {out}/x.auto",
    "generate": "generate {ordered}/bags.jsonl -o {out}/run --index {world}/index --lm {world}/model.lm",
    "index": "index {ordered}/best.txt --tokenized -o {out}/x.index",
    "lm": "lm {ordered}/best.txt --tokenized --order 2 --memory 64M -o {out}/x.lm",
}
TREE = "1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n2\thome\thome\tADV\tRB\t_\t1\tadvmod\t_\t_\n\n"


@pytest.fixture
def given(ordered: Path, world: World, tmp_path: Path) -> Callable[[str, Path], list[str]]:
    """The words of a command with the places of its files."""
    place = tmp_path / "given"
    shutil.copytree(ordered, place)
    shutil.copy(place / "first" / "best.txt", place / "best.txt")
    shutil.copy(sorted((place / "first" / "lattices").rglob("*.fst*"))[0], place / "one.fst")
    (place / "trees.conllu").write_text(TREE)

    def words(command: str, out: Path) -> list[str]:
        return command.format(ordered=place, world=world.index_path.parent, out=out).replace(",", " ").split(" ")

    return words


def run(words: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    options = {"stdout": subprocess.PIPE, "cwd": Path(__file__).parents[3]} | options
    return subprocess.run([*GYRO, *words], stderr=subprocess.PIPE, text=True, timeout=300, **options)  # type: ignore[call-overload, no-any-return]


def assert_one_line(done: subprocess.CompletedProcess[str], *messages: str) -> None:
    """Exit code 2, and the last line alone is ours; before it there may be the progress of bags."""
    assert done.returncode == 2, done.stderr
    *progress, last = done.stderr.splitlines()
    assert last.startswith("gyro: ")
    assert any(message in last for message in messages), last
    assert all("/" in line and " id=" in line for line in progress), done.stderr


@pytest.fixture(scope="module")
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file system of 64 KB; only root may mount one."""
    place = tmp_path_factory.mktemp("disk")
    yield from _mounted(place, "size=64k")


@pytest.fixture(scope="module")
def read_only_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("disk")
    yield from _mounted(place, "ro")


def _mounted(place: Path, options: str) -> Iterator[Path]:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_one_line(name: str, small_disk: Path, given: Callable[[str, Path], list[str]]) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(b"")
    with open(filler, "ab", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 12))
        except OSError:
            pass
    assert_one_line(run(given(WRITERS[name], small_disk)), "No space left on device", "lack of disk space")
    shutil.rmtree(small_disk / "run", ignore_errors=True)
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_a_read_only_disk_is_one_line(name: str, read_only_disk: Path, given: Callable[[str, Path], list[str]]) -> None:
    assert_one_line(run(given(WRITERS[name], read_only_disk)), "Read-only file system")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nbest", "report", "generate", "index"])
def test_a_file_that_may_not_grow_is_one_line(
    name: str, tmp_path: Path, given: Callable[[str, Path], list[str]]
) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

    (tmp_path / "out").mkdir()
    assert_one_line(run(given(WRITERS[name], tmp_path / "out"), preexec_fn=limit), "File too large")


@pytest.mark.parametrize("command", ["best {ordered}/first", "bags {ordered}/best.txt --tokenized"])
def test_standard_output_that_is_full_is_one_line(command: str, given: Callable[[str, Path], list[str]]) -> None:
    with open("/dev/full", "w") as full:
        assert_one_line(run(given(command, Path()), stdout=full), "No space left on device")


def test_standard_output_that_is_closed_is_one_line(given: Callable[[str, Path], list[str]]) -> None:
    done = run(given("best {ordered}/first", Path()), stdout=None, preexec_fn=lambda: os.close(1))
    assert_one_line(done, "standard output is closed")


def test_standard_input_that_is_closed_is_one_line(given: Callable[[str, Path], list[str]]) -> None:
    done = run(given("bags - --tokenized", Path()), preexec_fn=lambda: os.close(0))
    assert_one_line(done, "standard input is closed")


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path, given: Callable[[str, Path], list[str]]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        assert run(given("best {ordered}/first -o " + str(pipe), Path())).returncode == 0
        assert reader.stdout is not None
        assert reader.stdout.read().count("\n") == 12
    assert pipe.is_fifo()


@pytest.mark.parametrize("megabytes", [100, 400])
def test_too_little_memory_is_one_line(megabytes: int, given: Callable[[str, Path], list[str]]) -> None:
    size = megabytes << 20
    done = run(given(WRITERS["nbest"], Path()), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))
    assert_one_line(done, f"found a limit of {megabytes} MB on the memory")


@pytest.mark.slow
def test_what_a_killed_estimate_left_is_removed_by_the_next(tmp_path: Path, world: World) -> None:
    """It is killed while its scratch folder is there; lmplz dies with it."""
    words = ["lm", str(world.text), "--tokenized", "--order", "3", "--memory", "64M", "-o", str(tmp_path / "x.lm")]
    process = subprocess.Popen([*GYRO, *words], cwd=Path(__file__).parents[3], stderr=subprocess.DEVNULL)
    while process.poll() is None and not list(tmp_path.glob(".x.lm.*.scratch/*")):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert list(tmp_path.glob(".x.lm.*.scratch"))
    assert run(words).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.lm", "x.lm.json"]
