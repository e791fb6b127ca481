"""The stage neural: strings with the cost of a pretrained model besides, and a search for orders that it likes better.

NeuralStage   a model, its weight, and the budget of the search; in a pipeline the table [neural]
NeuralTuning  λ by an exact line search
ReadyNeural   the stage with its models open (rescoring.neural does the work on a lattice)
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.run.outcome import Ordering
from gyro.text.bag import Bag
from lm.loading import load_language_model, split_name
from lm.model import LanguageModel
from rescoring.added_weight import LEAST_WEIGHT, known_features, tune_added_weight
from rescoring.neural import (
    FEATURE,
    Before,
    NeuralRescorer,
    NeuralSearcher,
    check_neural_model,
    open_neural_model,
)
from rescoring.neural_options import WEIGHT, add_model_arguments
from rescoring.source import LatticeSource
from rescoring.stage import Columns, Development, Place, Stage, Tuned, Tuning


class ReadyNeural:
    """A rescorer, or a searcher, for the `nbest` cheapest strings of each lattice of a source."""

    def __init__(self, source: LatticeSource, rescorer: NeuralRescorer, nbest: int) -> None:
        self.most_strings = nbest
        self.settings = {"command": "rescore", **rescorer.settings, "strings": nbest}
        self._rescorer = rescorer
        self._ids = [item.id for item in source]
        self._known = known_features(source.path)

    def verify(self) -> None:
        self._rescorer.verify()

    def title(self, before: str) -> str:
        return self._rescorer.title(before)

    def rescore(self, number: int, bag: Bag, lattice: Lattice) -> Ordering:
        return self._rescorer.rescore(bag, lattice, self.most_strings)

    def features(self, number: int, lattice: Lattice, hypotheses: Sequence[Hypothesis]) -> Columns:
        known = self._known.get(self._ids[number], {})
        return self._rescorer.columns(hypotheses, lambda: Before(lattice, known))


@dataclass(frozen=True)
class NeuralTuning(Tuning):
    """λ, the weight of the neural cost, by the lists of the weight `start`; with `fixed`, that weight as it is."""

    model: str = "default"
    start: float = WEIGHT
    budget: int = 0
    guide: str = ""
    nbest: int = 100
    fixed: bool = False

    bag_seconds = 2.0

    @property
    def kenlm_orders(self) -> list[int]:
        kind, place = split_name(self.guide)
        return [int(place)] if kind == "kenlm" and place.isdecimal() else []

    def check(self) -> None:
        check_neural_model(self.model)

    def known(self) -> dict[str, Any] | None:
        return {"weight": self.start} if self.fixed else None

    def tune(self, development: Development) -> Tuned:
        stage = self.stage({"weight": self.start}, development.place)
        weight, bleu = tune_added_weight(development, stage, FEATURE, self.start)
        return Tuned({"weight": weight}, bleu)

    def stage(self, values: Mapping[str, Any], place: Place) -> Stage:
        return NeuralStage(self.model, values["weight"], self.nbest, self.budget, self.guide)


@dataclass(frozen=True)
class NeuralStage(Stage):
    """The cost of a string and `weight` times that of the neural model, for the `nbest` cheapest strings.

    `model` is a GGUF file, a Hugging Face folder, or `default`. With a `budget`, of so many pieces for each word of a
    bag, a search goes on from there, under the model and the n-gram model `guide` (default: that of the first pass).
    """

    model: str = "default"
    weight: float = WEIGHT
    nbest: int = 100
    budget: int = 0
    guide: str = ""

    kind = "neural"
    command = "rescore"
    usage = "--neural MODEL"
    table = "neural"
    folder = "neural"
    bag_seconds = 2.0
    tuning = NeuralTuning

    def __post_init__(self) -> None:
        if self.nbest < 1:
            raise InputError(f"found n-best lists of {self.nbest}; at least 1 is allowed")
        if not 0 < self.weight < np.inf:
            raise InputError(f"found the weight {self.weight} of the neural model; a number above 0 is allowed")
        if self.budget < 0:
            raise InputError(f"found a budget of {self.budget} pieces a word; 0 (no search) or more are allowed")

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group(f"a neural model, for n-best strings, instead of --lm; --weight {WEIGHT:g}")
        add_model_arguments(group)
        group.add_argument(
            "--guide",
            metavar="LM",
            help="with --search: the n-gram model beside it, as a rule the first pass' own (or the variable GYRO_LM)",
        )

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Self | None:
        budget, guide = arguments.search or 0, arguments.guide or ""
        if not arguments.neural:
            if arguments.search is not None or guide:
                raise InputError(f"found {'--guide' if guide else '--search'}, which goes with --neural MODEL")
            return None
        if guide and not budget:
            raise InputError("found --guide, which goes with --search; n-best strings keep the costs that they have")
        if len(arguments.weight) > 1:
            raise InputError(f"found {len(arguments.weight)} weights; --neural takes one --weight λ")
        if arguments.add or arguments.beta is not None:
            raise InputError("--add and --beta go with --lm; the neural model always adds, to n-best strings")
        weight = arguments.weight[0] if arguments.weight else WEIGHT
        guide = guide or os.environ.get("GYRO_LM", "")
        return cls(arguments.neural, weight, arguments.nbest, budget, guide if budget else "")

    @classmethod
    def owns(cls, feature: str) -> bool:
        return feature.partition(".")[0] == FEATURE

    @classmethod
    def weights_to_table(cls, weights: Mapping[str, float]) -> dict[str, Any]:
        """A weight that is not above 0 says that the model does not help."""
        return {"weight": max(LEAST_WEIGHT, weights[FEATURE])} if FEATURE in weights else {}

    def check(self) -> None:
        check_neural_model(self.model)

    def rescorer(self, guide: LanguageModel | None = None) -> NeuralRescorer:
        """What does the work on a lattice; a search needs the n-gram model beside it."""
        if not self.budget:
            return NeuralRescorer(open_neural_model(self.model), self.weight)
        if guide is None:
            raise InputError(
                "a search needs the n-gram model beside the neural one: --guide LM, or the variable GYRO_LM"
            )
        return NeuralSearcher(open_neural_model(self.model), self.weight, guide, self.budget)

    def ready(self, source: LatticeSource, place: Place) -> ReadyNeural:
        name = self.budget and (self.guide or place.first_pass)
        guide = load_language_model(name, place.own) if name else None
        return ReadyNeural(source, self.rescorer(guide), self.nbest)
