"""The stage mbr: lattice minimum Bayes risk, alone or with the posteriors of MT systems.

MbrStage         the parameters and the evidence; in a pipeline the tables [mbr] and [mt]
MbrTuning        a grid of parameters
mbr_best         the best string of each lattice, without a run folder
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.nbest import cost_feature
from gyro.notation import NO_KEY
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from rescoring.evidence import EvidenceFiles, align, missing_orders_warning, shared_words_warning
from rescoring.evidence_options import add_evidence_arguments, evidence_of_arguments
from rescoring.in_order import each_in_order
from rescoring.mbr import MbrDecoder, MbrParameters
from rescoring.mbr_tuning import mbr_grid, try_grid
from rescoring.posterior import Posteriors
from rescoring.source import LatticeSource, open_lattices
from rescoring.stage import Columns, Development, Place, Stage, Tuned, Tuning

FEATURE = "MBR"
ORDERS = ("min_order", "max_order")
GRID = {
    "scale": [0.1, 0.2, 0.4, 0.7, 1.0],
    "precision": [0.7, 0.85],
    "ratio": [0.5, 0.62, 0.75],
    "prune": [5.0, 10.0],
    "alpha": [0.0, 0.1, 0.25, 0.5, 0.75],
}


class ReadyMbr:
    """Parameters and evidence for the lattices of one source; the sentences of both are brought together here."""

    most_strings = None

    def __init__(self, source: LatticeSource, parameters: MbrParameters, mt: EvidenceFiles | None) -> None:
        self.parameters = parameters
        values = {f.name: getattr(parameters, f.name) for f in fields(MbrParameters)}
        if (parameters.min_order, parameters.max_order) == (MbrParameters.min_order, MbrParameters.max_order):
            del values["min_order"], values["max_order"]  # runs of the time when there were no others go on
        self.settings = {
            "command": "mbr",
            "parameters": {name: None if value == np.inf else value for name, value in values.items()},
            "mt": None if mt is None else mt.settings(),
        }
        self.posteriors = evidence_of(source, parameters, mt)
        self._with_mt = mt is not None
        _load_kernels()

    def verify(self) -> None:
        """It has no models."""

    def title(self, before: str) -> str:
        return f"{before} + LMBR{' with MT' if self._with_mt else ''}"

    def decode(self, number: int, lattice: Lattice) -> Hypothesis:
        """The string with the highest gain."""
        return MbrDecoder(lattice, self.parameters.max_order).decode(self.parameters, mt=self.posteriors(number))

    def rescore(self, number: int, bag: Bag, lattice: Lattice) -> Ordering:
        """The lattice with minus the gains as costs."""
        decoder, mt = MbrDecoder(lattice, self.parameters.max_order), self.posteriors(number)
        decoded = decoder.to_lattice(self.parameters, mt=mt)
        cost = decoder.decode(self.parameters, mt=mt).cost
        widths = {"beta": decoder.width, "evidence_beta": decoder.evidence_width}
        narrowed = {name: round(width, 4) for name, width in widths.items() if width != np.inf}
        return Ordering(decoded, Outcome.ordered(bag, cost, arcs=decoded.num_arcs, **narrowed))

    def features(self, number: int, lattice: Lattice, hypotheses: Sequence[Hypothesis]) -> Columns:
        return cost_feature(FEATURE, hypotheses)


def evidence_of(
    source: LatticeSource, parameters: MbrParameters, mt: EvidenceFiles | None
) -> Callable[[int], Posteriors | None]:
    """The posteriors of MT systems for the lattice with a number; that all fit together is checked here."""
    if mt is None:
        return lambda number: None
    evidence = mt.read(parameters.scale, parameters.prune, parameters.max_order)
    # By order the evidence is for all lattices, also where a part of them is asked for.
    lattices = source.whole if mt.by == "order" else source
    sentence = align(evidence, [item.id for item in lattices], mt.by)
    if mt.by == "order":
        sentence = sentence[source.first : source.first + len(source)]
    warnings = (
        shared_words_warning(evidence, source, sentence),
        missing_orders_warning(evidence, parameters.min_order, parameters.max_order),
    )
    for warning in filter(None, warnings):
        print(f"warning: {', '.join(mt.files)}: {warning}", file=sys.stderr)
    return lambda number: evidence.posteriors(sentence[number])


def _load_kernels() -> None:
    """Compiled code is loaded at its first use: here once, so that no worker pays for it."""
    words = ("a", "b")
    lattice = Lattice.from_strings(words, [Hypothesis(words, 0.0), Hypothesis(("a", "a"), 1.0)])
    decoder = MbrDecoder(lattice)
    parameters = MbrParameters()
    decoder.decode(parameters, mt=decoder.posteriors(1.0))
    decoder.to_lattice(parameters)


def mbr_best(ready: ReadyMbr, source: LatticeSource, jobs: int = 1, **limits: Any) -> Iterator[Hypothesis | None]:
    """The string with the highest gain of each lattice, in order; None where there is no lattice.

    The limits are those of `gyro.pool.run_tasks`; the first lattice over one ends the work.
    """

    def decode(number: int, lattice: Lattice | None) -> Hypothesis | None:
        return None if lattice is None or lattice.empty() else ready.decode(number, lattice)

    for found in each_in_order(source, decode, jobs, **limits):
        yield None if found is None else Hypothesis(tuple(found[0]), found[1])


@dataclass(frozen=True)
class MbrTuning(Tuning):
    """All combinations of the values given; with `mt`, also by the posteriors of MT systems. The orders stay.

    The start, of equal scores the one that wins, is made of the first of each list unless it is given.
    """

    mt: bool = False
    scale: list[float] = field(default_factory=lambda: GRID["scale"])
    precision: list[float] = field(default_factory=lambda: [MbrParameters.precision])
    ratio: list[float] = field(default_factory=lambda: GRID["ratio"])
    prune: list[float] = field(default_factory=lambda: GRID["prune"])
    alpha: list[float] = field(default_factory=lambda: GRID["alpha"])
    min_order: int = MbrParameters.min_order
    max_order: int = MbrParameters.max_order
    start: MbrParameters | None = field(default=None, metadata=NO_KEY)

    bag_seconds = 0.8

    def __post_init__(self) -> None:
        for name in GRID:
            if not getattr(self, name):
                raise InputError(f"found no values for {name}; at least one is needed")
        self.grid()  # the parameters tell what is allowed

    @property
    def needs_mt(self) -> bool:
        return self.mt

    @property
    def _tried(self) -> dict[str, list[float]]:
        return {name: getattr(self, name) for name in GRID if name != "alpha" or self.mt}

    def grid(self) -> list[MbrParameters]:
        firsts: dict[str, Any] = {"alpha": 1.0} | {name: numbers[0] for name, numbers in self._tried.items()}
        start = self.start or MbrParameters(**firsts)
        return mbr_grid(replace(start, min_order=self.min_order, max_order=self.max_order), self._tried)

    def tune(self, development: Development) -> Tuned:
        grid, source = self.grid(), open_lattices(development.lattices)
        posteriors = evidence_of(source, grid[0], development.place.mt if self.mt else None)
        trials = try_grid(source, posteriors, development.references, grid, jobs=development.jobs)
        best, first = trials[0], next(trial for trial in trials if trial.parameters == grid[0])
        words = f"BLEU {first.bleu:.2f} with the default parameters, {best.bleu:.2f} with the best of {len(grid)}"
        values: dict[str, Any] = {name: getattr(best.parameters, name) for name in self._tried}
        for name in ORDERS:  # what was set by hand goes with what was tuned under it
            if getattr(self, name) != getattr(MbrParameters, name):
                values[name] = getattr(self, name)
        return Tuned(values, best.bleu, words)

    def stage(self, values: Mapping[str, Any], place: Place) -> Stage:
        chosen = {name: value for name, value in values.items() if name in GRID}
        first = {f.name: getattr(self.grid()[0], f.name) for f in fields(MbrParameters)}
        return MbrStage(**{**first, **chosen}, mt=place.mt if self.mt else None)

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("minimum Bayes risk, a grid")
        group.add_argument(
            "--mbr", action="store_true", help="tune MBR parameters on the run's lattices instead of weights"
        )
        for name, values in GRID.items():
            text = ",".join(f"{value:g}" for value in values)
            what = "with --mt: values to try" if name == "alpha" else "values to try"
            group.add_argument(f"--{name}", default=text, metavar="X,…", help=f"{what} (default {text})")
        _add_order_arguments(group)
        add_evidence_arguments(parser)

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> tuple[Self, Place] | None:
        if not arguments.mbr:
            return None
        values: dict[str, Any] = {name: _number_list(getattr(arguments, name), name) for name in GRID}
        mt = evidence_of_arguments(arguments)
        orders = {name: getattr(arguments, name) for name in ORDERS}
        return cls(mt=mt is not None, start=MbrParameters(), **values, **orders), Place(mt=mt)


def _add_order_arguments(group: argparse._ArgumentGroup) -> None:
    for name, what in zip(ORDERS, ("shortest", "longest"), strict=True):
        value = getattr(MbrParameters, name)
        help_line = f"words of the {what} n-grams that count (default {value})"
        group.add_argument(f"--{name.replace('_', '-')}", type=int, default=value, metavar="N", help=help_line)


def _number_list(text: str, name: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"found --{name} {text!r}; numbers with commas between are allowed") from error


@dataclass(frozen=True)
class MbrStage(MbrParameters, Stage):
    """The parameters of minimum Bayes risk, and what MT systems say of the same sentences."""

    mt: EvidenceFiles | None = field(default=None, metadata=NO_KEY)

    kind = "mbr"
    command = "mbr"
    table = "mbr"
    folder = "mbr"
    bag_seconds = 0.15
    takes_lists = False
    uses_mt = True
    tuning = MbrTuning

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("minimum Bayes risk")
        for name, help_line in (
            ("scale", "of the costs of the evidence"),
            ("precision", "unigram precision"),
            ("ratio", "of the precisions of successive orders"),
            ("tokens", "T"),
            ("word-penalty", "cost of a word"),
            ("prune", "only paths within so many nats of the cheapest are evidence; inf: all"),
        ):
            value = getattr(cls, name.replace("-", "_"))
            help_line = f"{help_line} (default {value:g})"
            group.add_argument(f"--{name}", type=float, default=value, metavar="X", help=help_line)
        help_line = f"share of our own posteriors beside --mt (default {cls.alpha:g})"
        group.add_argument("--alpha", type=float, default=cls.alpha, metavar="α", help=help_line)
        _add_order_arguments(group)
        add_evidence_arguments(parser)

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Self:
        names = [f.name for f in fields(MbrParameters) if hasattr(arguments, f.name)]
        return cls(**{name: getattr(arguments, name) for name in names}, mt=evidence_of_arguments(arguments))

    @classmethod
    def owns(cls, feature: str) -> bool:
        return feature == FEATURE

    def variants(self, place: Place) -> list[tuple[str, Stage]]:
        """By our own posteriors alone and, where MT systems say something, by theirs too."""
        alone: list[tuple[str, Stage]] = [(self.folder, replace(self, alpha=1.0, mt=None))]
        return alone if place.mt is None else [*alone, (f"{self.folder}-mt", replace(self, mt=place.mt))]

    def ready(self, source: LatticeSource, place: Place) -> ReadyMbr:
        return ReadyMbr(source, self, self.mt)
