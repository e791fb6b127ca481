"""The bags of a run in executors of Spark: what the driver sends, and what is made of it there.

Executors      the driver's side: how an executor opens the work of a batch
open_work      the executor's side: what it does with a bag
unpack         a lattice that came back

An executor gets the words of the command that runs in the driver, and goes through it as far as the start of the batch:
so it opens the same system or stage from the same files, and where its settings (signatures of index and models among
them) are not the driver's, it says so instead of giving other results.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import zstandard

from gyro.errors import InputError
from gyro.lattice.lattice import Lattice
from gyro.run.bag_work import HandOver, load_compiled
from gyro.run.folder import first_difference
from gyro.spark.pool import Cluster, SparkPool
from gyro.text.bag import Bag
from gyro.text.bag_file import bag_to_record, record_to_bag

# The name of what is run → the module whose `hand_over(arguments, bag, copies)` goes through it and raises HandOver.
COMMANDS = {"command": "gyro.cli.replay", "experiment": "experiments.replay"}


@dataclass(frozen=True)
class Executors:
    """Where and how the work of a batch is opened: one of COMMANDS with its arguments, which are JSON."""

    cluster: Cluster
    command: str
    arguments: Any

    @contextmanager
    def pool(
        self,
        settings: Mapping[str, Any],
        labels: Mapping[str, int],
        first: Bag,
        *,
        nbest: int,
        gzip: bool,
        limits: Mapping[str, Any],
    ) -> Iterator[SparkPool]:
        """Executors that order bags; they load their compiled code with the first one."""
        facts = {"settings": settings, "labels": labels, "nbest": nbest, "gzip": gzip}
        how = {"command": self.command, "arguments": self.arguments, "bag": bag_to_record(first)}
        with self.cluster.pool("batch", facts | how, **limits) as pool:
            yield pool


def open_work(facts: Mapping[str, Any], copies: Mapping[str, Any]) -> Callable[[Any], Any]:
    """The work on a bag: its number and record in; outcome, tokens, lists and lattice out."""
    try:
        replay = import_module(COMMANDS[facts["command"]])
        replay.hand_over(facts["arguments"], record_to_bag(facts["bag"], 1), copies)
    except HandOver as found:
        work, settings = found.work, {**found.settings, "n-best lists of": found.work.nbest}
    else:
        raise AssertionError("a batch began in an executor")
    wanted = {**facts["settings"], "n-best lists of": facts["nbest"]}
    if difference := first_difference(wanted, json.loads(json.dumps(settings)), "settings"):
        raise InputError(f"what is opened here is not what the driver has: {difference}")
    load_compiled()
    labels, gzipped = facts["labels"], facts["gzip"]

    def order(task: tuple[int, dict[str, Any]]) -> list[Any]:
        number, record = task
        lattices: list[str] = []

        def keep(lattice: Lattice) -> None:
            data = zstandard.compress(lattice.encode(labels, gzipped=gzipped), 1)
            lattices.append(base64.b64encode(data).decode())

        return [*work.order(number, record_to_bag(record, number + 1), keep), lattices]

    return order


def unpack(lattices: list[str]) -> bytes | None:
    """The lattice of a bag that came back, if there is one."""
    return zstandard.decompress(base64.b64decode(lattices[0])) if lattices else None
