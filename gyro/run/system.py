"""Systems: what orders bags. One protocol and one table, for GYRO itself and those that it is compared with.

System        orders one bag, or many into a run folder
SystemKind    what the module of a system offers to `gyro generate`
TrainedKind   the same for one that learns from treebanks: what it offers to `gyro train`
SYSTEMS       the modules by the name of the system; `system_kind` imports one

A new system is a room with a module like comparison/best_first/options.py, and its line in SYSTEMS.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from gyro.run.batch import Summary
    from gyro.run.outcome import Ordering
    from gyro.text.bag import Bag


class _Entry(NamedTuple):
    module: str
    is_trained: bool


SYSTEMS = {
    "gyro": _Entry("gyro.pipeline.options", False),
    "best-first": _Entry("comparison.best_first.options", True),
    "transition": _Entry("comparison.transition.options", True),
    "ngram-beam": _Entry("comparison.ngram_beam.options", True),
    "wan": _Entry("comparison.wan.options", True),
}


class System(Protocol):
    """A system with its models open."""

    def order(self, bag: Bag) -> Ordering:
        """Order one bag."""

    def run(self, bags: Iterable[Bag], folder: str | PathLike[str], **options: Any) -> Summary:
        """Order many bags into a run folder; the options are those of `gyro.run.batch.run_batch`."""

    def run_text(self, folder: str | PathLike[str]) -> str:
        """What it tells of a finished run besides the summary; may be empty."""


class SystemKind(Protocol):
    """The module of a system."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The options of its own at `gyro generate`."""

    def open_system(self, arguments: argparse.Namespace) -> System:
        """The system that the options ask for."""


class TrainedKind(SystemKind, Protocol):
    """The module of a system that learns."""

    def add_training_arguments(self, parser: argparse.ArgumentParser) -> None:
        """All its arguments at `gyro train`."""

    def train_system(self, arguments: argparse.Namespace) -> str:
        """Train a model, and tell in a line what was made."""


def system_kind(name: str) -> SystemKind:
    """The module of a system."""
    return cast(SystemKind, import_module(SYSTEMS[name].module))


def trained_kinds() -> dict[str, TrainedKind]:
    """The modules of the systems that can be trained."""
    trained = (name for name, entry in SYSTEMS.items() if entry.is_trained)
    return {name: cast(TrainedKind, import_module(SYSTEMS[name].module)) for name in trained}
