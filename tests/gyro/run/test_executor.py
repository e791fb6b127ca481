"""Batches in executors of Spark, which are processes of their own here, against the same batches on one machine."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gyro.cli import read_words
from gyro.cli.generate import _options
from gyro.cli.lattice_options import open_source
from gyro.errors import InputError
from gyro.run.batch import Summary
from gyro.run.executor import Executors
from gyro.run.journal import Journal
from gyro.run.system import system_kind
from gyro.spark.pool import Cluster
from gyro.text.bag_file import read_bag_files, read_bags
from gyro.text.parsing import parse_sentences, parsing_work
from rescoring.mbr_stage import MbrStage
from rescoring.ngram_stage import NgramStage
from rescoring.stage import Stage, run_stage
from tests.executor_processes import executors
from tests.outside import needs_spark

if TYPE_CHECKING:
    from tests.conftest import World

MASTER = "local-cluster[2,1,1024]"
BAGS = 120

pytestmark = [needs_spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def copied(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the index, which Spark sends to the executors."""
    return Path(shutil.copytree(world.index_path, tmp_path_factory.mktemp("copy") / "index"))


@pytest.fixture(scope="module")
def cluster(copied: Path) -> Iterator[Cluster]:
    with Cluster(MASTER, [str(copied)]) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def bags(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bags") / "bags.jsonl"
    references = [s for s in world.held_out if 4 <= len(s) <= 12][:BAGS]
    assert len(references) == BAGS
    path.write_text("".join(json.dumps({"id": f"s{i}", "tokens": s}) + "\n" for i, s in enumerate(references)))
    return path


@pytest.fixture(scope="module")
def alone(world: World, bags: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run on this machine."""
    folder = tmp_path_factory.mktemp("alone") / "run"
    generate(words(world, bags, folder))
    return folder


def words(world: World, bags: Path, folder: Path, index: Path | None = None) -> list[str]:
    models = ["--index", str(index or world.index_path), "--lm", str(world.model_path)]
    return ["generate", str(bags), "-o", str(folder), *models, "--phrase-cost", "phrase=0.5", "--beta", "4", "-n", "9"]


def generate(words: list[str], cluster: Cluster | None = None, *, log: io.StringIO | None = None) -> Summary:
    arguments = read_words(words)
    options: dict[str, Any] = {"log": log or io.StringIO(), **_options(arguments)}
    if cluster is not None:
        options["executors"] = Executors(cluster, "command", words)
    system = system_kind("gyro").open_system(arguments)
    return system.run(read_bag_files(arguments.bags), arguments.output, **options)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in ("times.jsonl", ".lock"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


class Killing(io.StringIO):
    """A log that ends one executor after some of its lines."""

    killed: list[int]

    def __init__(self, lines: int) -> None:
        super().__init__()
        self.lines, self.killed = lines, []

    def write(self, text: str) -> int:
        self.lines -= text.count("\n")
        if self.lines < 0 and not self.killed:
            victim = executors()[0]
            self.killed.append(victim.pid)
            victim.kill()
        return super().write(text)


def test_a_run_has_the_bytes_of_one_machine(
    world: World, cluster: Cluster, bags: Path, alone: Path, tmp_path: Path
) -> None:
    summary = generate(words(world, bags, tmp_path / "run"), cluster)
    assert summary.failed == 0
    assert contents(tmp_path / "run") == contents(alone)
    assert len(executors()) == 2


def test_a_killed_executor_changes_nothing(
    world: World, cluster: Cluster, bags: Path, alone: Path, tmp_path: Path
) -> None:
    log = Killing(BAGS // 10)
    generate(words(world, bags, tmp_path / "run"), cluster, log=log)
    assert log.killed
    assert contents(tmp_path / "run") == contents(alone)
    ids = [line.split()[1] for line in log.getvalue().splitlines()]
    assert sorted(ids) == sorted({f"id=s{number}" for number in range(BAGS)})  # none is told twice


def test_a_killed_driver_goes_on_where_it_was(
    world: World, cluster: Cluster, bags: Path, alone: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "gyro", *words(world, bags, folder), "--spark", "local[2]"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as driver:
        assert driver.stderr is not None
        for line in driver.stderr:
            if line.startswith("1/"):
                break
        driver.send_signal(signal.SIGKILL)
    with Journal(folder / "journal", BAGS) as journal:
        known = sum(journal.knows(number) for number in range(BAGS))
    assert 0 < known < BAGS
    log = io.StringIO()
    generate(words(world, bags, folder), cluster, log=log)
    assert log.getvalue().splitlines()[0] == f"going on: {known} of {BAGS} bags are known"
    assert contents(folder) == contents(alone)


@pytest.mark.parametrize(
    ("stage", "options"),
    [
        (NgramStage, ["--lm", "stupid-backoff:INDEX:5", "--weight", "0.4", "--add"]),
        (MbrStage, ["--scale", "0.3"]),
    ],
)
def test_stages_have_the_bytes_of_one_machine(
    world: World, cluster: Cluster, alone: Path, tmp_path: Path, stage: type[Stage], options: list[str]
) -> None:
    options = [option.replace("INDEX", str(world.index_path)) for option in options]
    given = [stage.command, str(alone), "-o", str(tmp_path / "spark"), "--range", "3:40", "--gzip", *options]
    chosen = stage.from_arguments(read_words(given))
    assert chosen is not None
    source, common = open_source([str(alone)], "3:40"), {"gzip": True, "log": io.StringIO()}
    run_stage(chosen, source, tmp_path / "here", **common)
    run_stage(chosen, source, tmp_path / "spark", **common, executors=Executors(cluster, "command", given))
    assert contents(tmp_path / "spark") == contents(tmp_path / "here")


def test_trees_are_those_of_one_machine(world: World, cluster: Cluster) -> None:
    sentences = world.held_out[:1500]
    found = parse_sentences(sentences, remote=partial(cluster.pool, *parsing_work()))
    assert list(found) == list(parse_sentences(sentences))


def test_executors_take_the_copies_that_were_shipped(
    world: World, cluster: Cluster, copied: Path, bags: Path, alone: Path, tmp_path: Path
) -> None:
    """The driver has the same index in another place."""
    here, there = (words(world, bags, tmp_path / "run", index) for index in (world.index_path, copied))
    with cluster.pool("parse", parsing_work()[1]):
        away = copied.rename(copied.with_name("away"))  # it was sent by now
    try:
        options = {"log": io.StringIO(), **_options(read_words(here))}
        system = system_kind("gyro").open_system(read_words(here))
        system.run(read_bags(bags), tmp_path / "run", executors=Executors(cluster, "command", there), **options)
    finally:
        away.rename(copied)
    assert contents(tmp_path / "run") == contents(alone)


def test_what_executors_do_not_see_is_told(world: World, cluster: Cluster, bags: Path, tmp_path: Path) -> None:
    given = words(world, bags, tmp_path / "run")
    absent = [word.replace(str(world.index_path), str(tmp_path / "nowhere")) for word in given]
    system = system_kind("gyro").open_system(read_words(given))
    with pytest.raises(InputError, match=r"the executor on .* cannot begin: .*nowhere.*; give paths that all nodes"):
        system.run(read_bags(bags), tmp_path / "run", executors=Executors(cluster, "command", absent))


def test_other_models_than_the_drivers_are_refused(world: World, cluster: Cluster, bags: Path, tmp_path: Path) -> None:
    given = words(world, bags, tmp_path / "run")
    other = [*given[:-2], "-n", "8", "--beta", "5"]
    system = system_kind("gyro").open_system(read_words(given))
    with pytest.raises(InputError, match=r"is not what the driver has: settings.beta is 4.0 there and 5.0 here"):
        system.run(read_bags(bags), tmp_path / "run", nbest=9, executors=Executors(cluster, "command", other))


def test_no_executor_process_stays(cluster: Cluster) -> None:
    """The children of executors end with them."""
    cluster.__exit__()
    deadline = time.monotonic() + 30
    left = executors()
    while left and time.monotonic() < deadline:
        time.sleep(0.1)
        left = executors()
    assert left == []
    assert os.getpid() not in [process.pid for process in left]
