"""The stage dependency: n-best strings with the cost of their parses besides.

DependencyStage   a dependency model and its weight; in a pipeline the table [dependency]
DependencyTuning  λ by an exact line search
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from gyro.text.parsing import parse_sentences
from lm.dependency.model import DependencyModel, load_dependency_model, train_dependency_model
from rescoring.added_weight import known_features, tune_added_weight
from rescoring.dependency import FEATURE, DependencyRescorer
from rescoring.ngram import lattice_costs
from rescoring.source import FIRST_PASS, LatticeSource
from rescoring.stage import Columns, Development, Place, Stage, TextWork, Tuned, Tuning

_MANY_SENTENCES = 200_000  # for an estimate of time where the whole text is parsed


class ReadyDependencies:
    """An open dependency model with its weight, for the `nbest` cheapest strings of each lattice of a source.

    Strings keep the features that they have in the source's n-best lists; the others have their cost in the lattice.
    """

    def __init__(self, source: LatticeSource, model: DependencyModel, weight: float, nbest: int) -> None:
        self.most_strings = nbest
        self.settings = {
            "command": "rescore",
            "dependency_model": model.signature,
            "weight": weight,
            "strings": nbest,
        }
        self._ids = [item.id for item in source]
        self._known = known_features(source.path)
        self._model = model
        self._rescorer = DependencyRescorer(model, weight)
        list(parse_sentences([["."]]))  # the parser is loaded before the workers are forked, so that they share it

    def verify(self) -> None:
        self._model.verify()

    def title(self, before: str) -> str:
        return f"{before} + dependency LM"

    def rescore(self, number: int, bag: Bag, lattice: Lattice) -> Ordering:
        strings = [hypothesis for hypothesis, _ in self._rescorer.rescore_nbest(lattice.nbest(self.most_strings))]
        rescored = Lattice.from_strings(lattice.words, strings)
        return Ordering(rescored, Outcome.ordered(bag, rescored.best().cost, strings=len(strings)))

    def features(self, number: int, lattice: Lattice, hypotheses: Sequence[Hypothesis]) -> Columns:
        strings = [hypothesis.tokens for hypothesis in hypotheses]
        before, weight = lattice_costs(lattice, strings), self._rescorer.weight
        # What the rescoring has added, rather than a second parse; the costs of lattices have six digits or so.
        added = [round((h.cost - float(cost)) / weight, 3) for h, cost in zip(hypotheses, before, strict=True)]
        others = self._known.get(self._ids[number], {})
        return [
            {**others.get(tokens, {FIRST_PASS: 0.0 - float(cost)}), FEATURE: 0.0 - dependency}
            for tokens, cost, dependency in zip(strings, before, added, strict=True)
        ]


@dataclass(frozen=True)
class DependencyTuning(Tuning):
    """λ, the weight of a parse's cost; the lists are those of the weight `start`."""

    start: float = 0.3

    bag_seconds = 0.5

    def tune(self, development: Development) -> Tuned:
        stage = self.stage({"lambda": self.start}, development.place)
        weight, bleu = tune_added_weight(development, stage, FEATURE, self.start)
        return Tuned({"lambda": weight}, bleu)

    def stage(self, values: Mapping[str, Any], place: Place) -> Stage:
        return DependencyStage(values["lambda"])


@dataclass(frozen=True)
class DependencyStage(Stage):
    """The cost of a string and `weight` times that of its parse, for the `nbest` cheapest strings of each lattice.

    `model` is a folder of gyro dependency-lm; a pipeline estimates its own, of this order, on about so many `sentences`
    spread over its text (0: all).
    """

    weight: float = 0.3
    order: int = 3
    sentences: int = 0
    nbest: int = 100
    model: str = ""

    kind = "dependency"
    command = "rescore"
    usage = "--dependency-lm MODEL --weight λ"
    table = "dependency"
    folder = "dependency"
    bag_seconds = 0.5
    gives_lattices = False
    model_file = "dependency.lm"
    tuning = DependencyTuning

    def __post_init__(self) -> None:
        if self.nbest < 1:
            raise InputError(f"found n-best lists of {self.nbest}; at least 1 is allowed")
        if self.weight == 0:
            raise InputError("found the weight 0 of the dependency model; it would change nothing")

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--dependency-lm",
            metavar="MODEL",
            help="a model of gyro dependency-lm, for n-best strings, instead of --lm; takes one --weight",
        )

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Self | None:
        if not arguments.dependency_lm:
            return None
        if len(arguments.weight) != 1:
            raise InputError(f"found {len(arguments.weight)} weights; --dependency-lm takes one --weight λ")
        if arguments.add or arguments.beta is not None:
            raise InputError("--add and --beta go with --lm; the dependency model always adds, to n-best strings")
        return cls(arguments.weight[0], nbest=arguments.nbest, model=arguments.dependency_lm)

    @classmethod
    def owns(cls, feature: str) -> bool:
        return feature == FEATURE

    @classmethod
    def weights_to_table(cls, weights: Mapping[str, float]) -> dict[str, Any]:
        return {"weight": weights[FEATURE]} if FEATURE in weights else {}

    def ready(self, source: LatticeSource, place: Place) -> ReadyDependencies:
        model = load_dependency_model(self.model or place.folder / self.model_file)
        return ReadyDependencies(source, model, self.weight, self.nbest)

    @property
    def estimate_seconds(self) -> float:
        return 0.006 * (self.sentences or _MANY_SENTENCES)

    def estimate(self, text: TextWork) -> None:
        target = text.folder / self.model_file

        def make() -> None:
            train_dependency_model(
                text.sentences(self.sentences),
                target,
                order=self.order,
                memory=text.memory,
                normalisation=text.normalisation,
                jobs=text.jobs,
            )

        facts = {"text": text.facts, "order": self.order, "sentences": self.sentences}
        text.make("dependency model", target, facts, make)
