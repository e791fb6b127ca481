"""Batches that are killed, whose disk is full or read-only, whose machine is busy: the same bytes in the end."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gyro.errors import GyroError, MachineError
from gyro.run.batch import Summary, run_batch
from gyro.run.folder import RunFolder
from gyro.run.journal import Journal
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from tests.gyro.run.test_batch import TEXTS, contents, make_bags, order, run

MANY = [" ".join(random.Random(seed).choices([*"abcde", "fail"], k=seed % 5 + 1)) for seed in range(40)]
FEW = [text for text in MANY if "fail" not in text]


def slowly(number: int, bag: Bag) -> Ordering | Outcome:
    time.sleep(0.005 * (number % 4))
    return order(bag)


def run_many(folder: Path, **options: Any) -> Summary:
    return run(folder, **{"bags": make_bags(MANY), "work": slowly, "jobs": 2, **options})


def in_another_process(target: Callable[..., Any], *arguments: Any) -> multiprocessing.process.BaseProcess:
    process = multiprocessing.get_context("fork").Process(target=target, args=arguments)
    process.start()
    return process


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    run_many(folder, jobs=1)
    return contents(folder)


# ---- kills


def die_at(step: int, after: bool, folder: Path) -> None:
    """Run the batch in this process and kill it at one of the calls that change the folder."""
    me, count = os.getpid(), 0

    def deadly(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            if os.getpid() != me:
                return call(*args, **kwargs)
            count += 1
            if count == step and not after:
                os.kill(me, signal.SIGKILL)
            mine = count == step
            try:
                return call(*args, **kwargs)
            finally:
                if mine:
                    os.kill(me, signal.SIGKILL)

        return wrapped

    for name in ("replace", "unlink", "write", "fsync", "mkdir", "truncate"):
        setattr(os, name, deadly(getattr(os, name)))
    run(folder, bags=make_bags(TEXTS[:4]), jobs=2)


@pytest.mark.parametrize("after", [False, True])
def test_killed_at_every_step_and_resumed(tmp_path: Path, after: bool) -> None:
    bags = make_bags(TEXTS[:4])
    run(tmp_path / "whole", bags=bags)
    expected = contents(tmp_path / "whole")
    for step in range(1, 100):
        folder = tmp_path / str(step)
        process = in_another_process(die_at, step, after, folder)
        process.join()
        run(folder, bags=bags)
        assert contents(folder) == expected, step
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
    assert step > 15


def has_come_to(phase: int, folder: RunFolder) -> bool:
    """Whether the run has taken its lock, written its first files, opened the journal, come to results, to the end."""
    signs = (".lock", "run.json", "journal", "lattices/*.fst", "lattices/*7.fst", ".results.jsonl.*", "results.jsonl")
    return any(folder.path.glob(signs[phase]))


def test_killed_at_moments_spread_over_all_phases(tmp_path: Path, whole: dict[str, bytes]) -> None:
    chance, killed = random.Random(7), 0
    for number in range(21):
        folder = RunFolder(tmp_path / str(number))
        for phase in (number % 7, chance.randrange(7)):
            process = in_another_process(run_many, folder.path)
            while process.is_alive() and not has_come_to(phase, folder):
                pass
            time.sleep(chance.uniform(0.0, 0.004))
            process.kill()
            process.join()
            killed += process.exitcode == -signal.SIGKILL
        run_many(folder.path)
        assert contents(folder.path) == whole, number
    assert killed > 21


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from tests.gyro.run.test_batch_faults import run_many
run_many(Path(sys.argv[1]), jobs=3, log=sys.stderr)
"""


def test_a_program_that_is_killed_again_and_again(tmp_path: Path, whole: dict[str, bytes]) -> None:
    folder, chance = tmp_path / "run", random.Random(7)
    command = [sys.executable, "-c", SCRIPT, str(folder), str(Path(__file__).parents[3])]
    for _ in range(3):
        process = subprocess.Popen(command, stderr=subprocess.PIPE)
        assert process.stderr is not None
        process.stderr.readline()  # some bags have ended
        time.sleep(chance.uniform(0, 0.1))
        process.kill()
        process.communicate()
    run_many(folder)
    assert contents(folder) == whole


def test_a_busy_machine_changes_nothing(tmp_path: Path, whole: dict[str, bytes]) -> None:
    def burn() -> None:
        while True:
            pass

    def nicely() -> None:
        os.nice(19)
        run_many(tmp_path / "run")

    burners = [in_another_process(burn) for _ in range(os.cpu_count() or 1)]
    try:
        in_another_process(nicely).join()
    finally:
        for burner in burners:
            burner.kill()
            burner.join()
    assert contents(tmp_path / "run") == whole


# ---- faults of the machine


def limited(limit: int, size: int, folder: Path) -> None:
    """Run the batch where files cannot be larger, or more be open: 0 when it ends, 2 for one line that says why."""
    resource.setrlimit(limit, (size, size))
    log = io.StringIO()
    try:
        run(folder, bags=make_bags(FEW), work=slowly, jobs=2, log=log)
    except GyroError as error:
        is_told = any(text in str(error) for text in ("File too large", "Too many open files"))
        os._exit(2 if is_told and "\n" not in str(error) and "failed" not in log.getvalue() else 3)
    os._exit(0)


def test_files_that_grow_too_large_fail_no_bag(tmp_path: Path) -> None:
    bags = make_bags(FEW)
    run(tmp_path / "whole", bags=bags)
    expected, codes = contents(tmp_path / "whole"), []
    largest = max(len(data) for data in expected.values())
    sizes = [largest * part // 8 for part in range(1, 9)]
    for size in (50, 300, 700, 1100, *sizes, 10 * largest):
        folder = tmp_path / str(size)
        process = in_another_process(limited, resource.RLIMIT_FSIZE, size, folder)
        process.join()
        codes.append(process.exitcode)
        run(folder, bags=bags)
        assert contents(folder) == expected, size
    assert set(codes) == {0, 2}
    assert codes.count(2) > 5


def test_too_many_open_files_fail_no_bag(tmp_path: Path) -> None:
    bags = make_bags(FEW)
    run(tmp_path / "whole", bags=bags)
    used = len(os.listdir("/proc/self/fd"))
    codes = []
    for more in (3, 5, 7, 9, 12, 40):
        folder = tmp_path / str(more)
        process = in_another_process(limited, resource.RLIMIT_NOFILE, used + more, folder)
        process.join()
        codes.append(process.exitcode)
        run(folder, bags=bags)
        assert contents(folder) == contents(tmp_path / "whole"), more
    assert codes[-1] == 0
    assert set(codes) == {0, 2}


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Callable[[str], None]]:
    """A file system of its own, of so many bytes; what is yielded changes its options."""
    folder.mkdir()

    def mount(*options: str) -> None:
        done = subprocess.run(["mount", *options, str(folder)], capture_output=True, check=False)
        if done.returncode != 0:
            pytest.skip("no file system can be mounted here")

    mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs")
    try:
        yield lambda options: mount("-o", f"remount,{options}")
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


needs_root = pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="only root may mount a disk")


@needs_root
def test_a_full_disk_ends_the_run_and_more_space_lets_it_go_on(tmp_path: Path) -> None:
    bags = make_bags(FEW)
    run(tmp_path / "whole", bags=bags)
    faults = 0
    with small_disk(tmp_path / "disk", 4096 * 4) as remount:
        folder = tmp_path / "disk" / "run"
        for pages in range(4, 400, 6):
            remount(f"size={4096 * pages}")
            told = ""
            try:
                run(folder, bags=bags, jobs=2)
                break
            except GyroError as error:
                told = str(error)
            assert "No space left on device" in told
            faults += 1
            if (folder / "journal").exists():
                with Journal(folder / "journal", len(bags)) as journal:
                    known = [number for number in range(len(bags)) if journal.knows(number)]
                    assert all(journal.is_ok(number) for number in known)
        assert contents(folder) == contents(tmp_path / "whole")
    assert faults > 5


@needs_root
def test_a_run_goes_on_when_a_read_only_disk_can_be_written_again(tmp_path: Path, whole: dict[str, bytes]) -> None:
    with small_disk(tmp_path / "disk", 2**22) as remount:
        folder = RunFolder(tmp_path / "disk" / "run")
        process = in_another_process(run_many, folder.path)
        while not has_come_to(4, folder):
            pass
        process.kill()
        process.join()
        time.sleep(0.2)  # for the workers, which die with it and have files open
        before = contents(folder.path)
        remount("ro")
        with pytest.raises(GyroError, match="Read-only file system"):
            run_many(folder.path)
        assert contents(folder.path) == before
        remount("rw")
        run_many(folder.path)
        assert contents(folder.path) == whole


@pytest.mark.skipif(os.geteuid() == 0, reason="needs a user other than root, who may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir(mode=0o500)
    with pytest.raises(GyroError, match="Permission denied"):
        run(tmp_path / "run")


def test_a_folder_that_vanishes_fails_no_bag(tmp_path: Path) -> None:
    def work(number: int, bag: Bag) -> Ordering | Outcome:
        if number == 3:
            (tmp_path / "run" / "lattices").rename(tmp_path / "moved")
        return order(bag)

    with pytest.raises(MachineError, match="cannot write: No such file or directory"):
        run(tmp_path / "run", bags=make_bags(FEW), work=work)
    (tmp_path / "moved").rename(tmp_path / "run" / "lattices")
    assert run(tmp_path / "run", bags=make_bags(FEW)).failed == 0


def test_limits_of_a_bag_are_failures_of_it(tmp_path: Path) -> None:
    def greedy(number: int, bag: Bag) -> Ordering | Outcome:
        if number == 1:
            raise MemoryError("found too little")
        return order(bag)

    summary = run_batch(make_bags(["a b", "c d"]), tmp_path / "run", greedy, settings={}, log=io.StringIO())
    assert summary.failures == (("b2", "MemoryError: found too little"),)
    assert json.loads((tmp_path / "run" / "results.jsonl").read_text().splitlines()[0])["status"] == "ok"
