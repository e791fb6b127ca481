"""Stages: what makes better lattices of lattices. One protocol, one table, one way to run them.

Stage        the settings of one stage; its subclasses are the kinds of stages
ReadyStage   a stage with its models open: its work on one lattice, and the columns of its n-best lists
Place        what belongs to lattices besides themselves: models made with them, what MT systems say of them
TextWork     the text of a pipeline, for stages whose model is estimated on it
Tuning       what of a stage can be tuned on a development set, and how
run_stage    a stage over all lattices of a source, into a run folder
STAGES       the kinds by name, in the order in which a pipeline runs them; `stage_kinds` imports them

A new stage is a file like rescoring/dependency_stage.py, and its line in STAGES.
"""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.run.batch import Summary, run_batch
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from gyro.text.corpus import Normalisation
from lm.loading import OwnModels
from rescoring.evidence import EvidenceFiles
from rescoring.source import LatticeSource

STAGES = {
    "ngram": "rescoring.ngram_stage:NgramStage",
    "dependency": "rescoring.dependency_stage:DependencyStage",
    "neural": "rescoring.neural_stage:NeuralStage",
    "mbr": "rescoring.mbr_stage:MbrStage",
}
NO_LATTICE = "there is no lattice: the bag failed before"

AnyPath = str | PathLike[str]
Columns = list[dict[str, float]]


@dataclass(frozen=True)
class Place:
    """What a stage finds in a pipeline or an experiment; at the command line there is nothing of it."""

    own: OwnModels = field(default_factory=OwnModels)
    folder: Path = Path()  # where models that were estimated for stages are
    first_pass: str = ""  # the name of the first pass' language model
    mt: EvidenceFiles | None = None


@dataclass(frozen=True)
class TextWork:
    """The tokenised text of a pipeline; `facts` tell it from another text, models go into `folder`.

    `sentences(n)` are about n of them, spread over the text (0: all). `make` does a piece of work unless its target is
    there, made from the same facts.
    """

    facts: Mapping[str, Any]
    folder: Path
    normalisation: Normalisation
    memory: int
    jobs: int
    sentences: Callable[[int], Iterator[list[str]]]
    make: Callable[[str, Path, Mapping[str, Any], Callable[[], None]], None]


class ReadyStage(Protocol):
    """A stage with its models open, for the lattices of one source."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that decides the results besides the lattices, for run.json."""

    @property
    def most_strings(self) -> int | None:
        """How many strings of a lattice it looks at; None for all."""

    def verify(self) -> None:
        """Compare the models with the checksums of their making."""

    def title(self, before: str) -> str:
        """A name for tables, when `before` is that of its input."""

    def rescore(self, number: int, bag: Bag, lattice: Lattice) -> Ordering:
        """The new lattice of the item with this number, whose old one is not empty."""

    def features(self, number: int, lattice: Lattice, hypotheses: Sequence[Hypothesis]) -> Columns:
        """The named scores of strings in the new n-best list; `lattice` is the old one."""


class Stage(ABC):
    """The settings of a stage; a subclass is a frozen dataclass whose fields are the keys of its TOML table."""

    kind: ClassVar[str]  # its name in STAGES
    command: ClassVar[str]  # the gyro command that runs it
    usage: ClassVar[str] = ""  # the options that ask for it there; empty where the command has no other stage
    table: ClassVar[str]  # its table in the configuration of a pipeline
    folder: ClassVar[str]  # its run folder there
    gives_lattices: ClassVar[bool] = True  # and not only those of n-best lists
    takes_lists: ClassVar[bool] = True  # else it starts from the last run that has whole lattices
    uses_mt: ClassVar[bool] = False
    model_file: ClassVar[str] = ""  # of a model that is estimated on the pipeline's text
    bag_seconds: ClassVar[float]  # about what a bag takes: for estimates before any run
    tuning: ClassVar[type[Tuning]]

    @classmethod
    @abstractmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """The options of its own; --weight, --add, --beta and -n are the command's."""

    @classmethod
    @abstractmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Self | None:
        """The stage that the options ask for; None when they ask for another one."""

    @abstractmethod
    def ready(self, source: LatticeSource, place: Place) -> ReadyStage:
        """Open the models and load compiled code: once, before worker processes are forked."""

    @classmethod
    def owns(cls, feature: str) -> bool:
        """Whether the weight of this column of n-best lists is a setting of the stage."""
        return False

    @classmethod
    def weights_to_table(cls, weights: Mapping[str, float]) -> dict[str, Any]:
        """The weights of its columns as keys of its TOML table; those of all n-gram models sum to 1."""
        return {}

    def variants(self, place: Place) -> list[tuple[str, Stage]]:
        """The runs that a pipeline makes of it, with their folders."""
        return [(self.folder, self)]

    def check(self) -> None:
        """See that what it needs and cannot make is there: packages, models of others. Before any work begins."""

    def estimate(self, text: TextWork) -> None:
        """Estimate the model that it needs on the text of a pipeline."""

    @property
    def estimate_seconds(self) -> float:
        """About what that takes."""
        return 0.0


class Tuned(NamedTuple):
    """What tuning found: the values that `Tuning.stage` takes, BLEU with them, and in words what they were found by."""

    values: dict[str, Any]
    bleu: float
    words: str = ""


@dataclass(frozen=True)
class Development:
    """A development set: lattices, references, and a folder for the runs that tuning takes."""

    lattices: Path
    references: Sequence[Sequence[str]]
    place: Place
    folder: Path
    options: Mapping[str, Any]  # those of `gyro.run.batch.run_batch`

    @property
    def jobs(self) -> int:
        return int(self.options.get("jobs", 1))


class Tuning(ABC):
    """What is tried; a subclass is a frozen dataclass whose fields are keys of an experiment's [[stages]]."""

    bag_seconds: ClassVar[float]

    @property
    def needs_mt(self) -> bool:
        return False

    @property
    def kenlm_orders(self) -> list[int]:
        """The orders of the KenLM models that it names."""
        return []

    def check(self) -> None:
        """See that what its stage needs and cannot make is there, before any work begins."""

    def known(self) -> dict[str, Any] | None:
        """The values, where there is nothing to be tuned."""
        return None

    @abstractmethod
    def tune(self, development: Development) -> Tuned:
        """The values with the best BLEU on the development set."""

    @abstractmethod
    def stage(self, values: Mapping[str, Any], place: Place) -> Stage:
        """The stage with these values."""

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """The options of `gyro tune` that ask for it, where there are any."""

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> tuple[Self, Place] | None:
        """What the options of `gyro tune` ask for; None when they do not."""
        return None


def stage_kinds() -> dict[str, type[Stage]]:
    """All kinds of stages."""
    kinds = {}
    for name, place in STAGES.items():
        module, _, kind = place.partition(":")
        kinds[name] = getattr(import_module(module), kind)
    return kinds


def run_stage(
    stage: Stage, source: LatticeSource, folder: AnyPath, *, place: Place | None = None, **options: Any
) -> Summary:
    """Run a stage over all lattices of a source; the options are those of `gyro.run.batch.run_batch`."""
    return run_ready(stage.ready(source, place or Place()), source, folder, **options)


def run_ready(ready: ReadyStage, source: LatticeSource, folder: AnyPath, **options: Any) -> Summary:
    """The same for a stage whose models are open."""

    read: dict[int, Lattice | None] = {}  # the last one alone: its list is made right after it

    def lattice_of(number: int) -> Lattice | None:
        if number not in read:
            read.clear()
            read[number] = source[number].lattice()
        return read[number]

    def work(number: int, bag: Bag) -> Ordering | Outcome:
        lattice = lattice_of(number)
        if lattice is None or lattice.empty():
            return Outcome.failed(bag, NO_LATTICE)
        return ready.rescore(number, bag, lattice)

    def features(number: int, hypotheses: Sequence[Hypothesis]) -> Columns:
        lattice = lattice_of(number)
        return [{} for _ in hypotheses] if lattice is None else ready.features(number, lattice, hypotheses)

    def verify() -> None:
        source.verify()
        ready.verify()

    if ready.most_strings is not None:
        options["nbest"] = ready.most_strings
    settings = {"lattices": source.signature, **ready.settings}
    return run_batch(
        source.bags(),
        folder,
        work,
        settings=settings,
        words=source.words(),
        features=features,
        verify=verify,
        **options,
    )
