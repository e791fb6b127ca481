"""The stage neural: strings with the cost of a pretrained model besides, and a search for orders that it likes better.

NeuralStage    a model, its weight, and the budget of the search; in a pipeline the table [neural]
NeuralTuning   λ by an exact line search
NeuralOutcome  what the search did, and what the reference would have cost

Without a budget the strings of the n-best list get new costs: old + λ · neural. With one, the list is where a search
begins (rescoring.neural_search), and the cost of a string is that of an n-gram model, the guide, + λ · neural: that is
known of every order, also of those that no lattice has.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.nbest import NbestEntry
from gyro.run.folder import open_run
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from lm.loading import load_language_model
from lm.model import LanguageModel
from rescoring.dependency_stage import LEAST_LAMBDA, known_features
from rescoring.nbest_lists import NbestLists
from rescoring.neural_search import DIGITS, FoundOrders, SearchSettings, search_orders
from rescoring.ngram import lattice_costs
from rescoring.source import FIRST_PASS, LatticeSource, open_lattices
from rescoring.stage import Columns, Development, Place, Stage, Tuned, Tuning, run_stage
from rescoring.tuning import line_search

if TYPE_CHECKING:
    from lm.neural.model import NeuralModel

FEATURE = "NEURAL"
GUIDE = "LM"  # the column of the guide, as first passes have it
WEIGHT = 2.5
TOKENS_A_WORD = 500  # of a search, by default


class NeuralOutcome(Outcome):
    """What came of a bag under the neural model; nothing of it is proved.

    `reference_cost` is what the reference would have cost: where it is below the cost, the search has erred, and where it
    is above, the model prefers another order. `start_cost` is the best of the n-best list; `scored`, `expanded` and
    `computed` count strings and the pieces that went through the model.
    """

    reference_cost: float | None = None
    start_cost: float | None = None
    scored: int | None = None
    expanded: int | None = None
    computed: int | None = None


class ReadyNeural:
    """An open model with its weight, for the `nbest` cheapest strings of each lattice of a source.

    Strings keep the features that they have in the source's n-best lists; the others have their cost in the lattice.
    """

    def __init__(self, source: LatticeSource, model: NeuralModel, weight: float, nbest: int) -> None:
        self.most_strings = nbest
        self.weight = weight
        self.settings: dict[str, Any] = {
            "command": "rescore",
            "neural_model": model.signature,
            "weight": weight,
            "strings": nbest,
        }
        self.model = model
        self._ids = [item.id for item in source]
        self._known = known_features(source.path)
        model.load()

    def verify(self) -> None:
        """The signature of the model is a hash of its contents."""

    def title(self, before: str) -> str:
        return f"{before} + neural LM"

    def rescore(self, number: int, bag: Bag, lattice: Lattice) -> Ordering:
        strings = lattice.nbest(self.most_strings)
        costs, computed = self.model.count_costs([string.tokens for string in strings])
        new = [
            Hypothesis(s.tokens, s.cost + self.weight * float(cost)) for s, cost in zip(strings, costs, strict=True)
        ]
        rescored = Lattice.from_strings(lattice.words, new)
        facts: dict[str, Any] = {"strings": len(new), "computed": computed}
        if bag.reference is not None and (cost := self._reference_cost(bag.reference, lattice)) is not None:
            facts["reference_cost"] = cost
        return Ordering(rescored, NeuralOutcome.ordered(bag, rescored.best().cost, proved=False, **facts))

    def features(self, number: int, lattice: Lattice, hypotheses: Sequence[Hypothesis]) -> Columns:
        strings = [hypothesis.tokens for hypothesis in hypotheses]
        before = lattice_costs(lattice, strings)
        # What the rescoring has added, rather than a second look; the costs of lattices have six digits or so.
        added = [round((h.cost - float(cost)) / self.weight, DIGITS) for h, cost in zip(hypotheses, before, strict=True)]
        others = self._known.get(self._ids[number], {})
        return [
            {**others.get(tokens, {FIRST_PASS: 0.0 - float(cost)}), FEATURE: 0.0 - neural}
            for tokens, cost, neural in zip(strings, before, added, strict=True)
        ]

    def _reference_cost(self, reference: tuple[str, ...], lattice: Lattice) -> float | None:
        """What it would cost; None where the lattice, whose costs these are, does not have it."""
        cost = float(lattice_costs(lattice, [reference])[0])
        if not np.isfinite(cost):
            return None
        return round(cost + self.weight * float(self.model.costs([reference])[0]), 4)


class ReadySearch(ReadyNeural):
    """The same with a search that begins at these strings, under the model and its guide."""

    def __init__(
        self, source: LatticeSource, model: NeuralModel, weight: float, nbest: int, guide: LanguageModel, budget: int
    ) -> None:
        super().__init__(source, model, weight, nbest)
        self.guide = guide
        self.budget = budget
        self.settings |= {"guide": guide.signature, "budget": budget}
        self._search(Bag(("a", "b", "c")), [("a", "b", "c")])  # loads compiled code

    def verify(self) -> None:
        self.guide.verify()

    def title(self, before: str) -> str:
        return f"{before} + neural search"

    def rescore(self, number: int, bag: Bag, lattice: Lattice) -> Ordering:
        strings = [string.tokens for string in lattice.nbest(self.most_strings)]
        bag = bag if len(bag) else Bag(strings[0], id=bag.id)  # lattices of other tools come without their bags
        found = self._search(bag, strings)
        new = [Hypothesis(tuple(bag.words[word] for word in order.words), order.total) for order in found.orders]
        searched = Lattice.from_strings(bag.words, new)
        facts: dict[str, Any] = {"start_cost": round(found.start_cost, 4), "scored": found.scored}
        facts |= {"expanded": found.expanded, "computed": found.computed}
        if bag.reference is not None:
            cost = self.guide.score(bag.reference) + self.weight * float(self.model.costs([bag.reference])[0])
            facts["reference_cost"] = round(cost, 4)
        return Ordering(searched, NeuralOutcome.ordered(bag, searched.best().cost, proved=False, **facts))

    def features(self, number: int, lattice: Lattice, hypotheses: Sequence[Hypothesis]) -> Columns:
        guided = [self.guide.score(hypothesis.tokens) for hypothesis in hypotheses]
        return [
            {GUIDE: 0.0 - cost, FEATURE: 0.0 - round((hypothesis.cost - cost) / self.weight, DIGITS)}
            for hypothesis, cost in zip(hypotheses, guided, strict=True)
        ]

    def _search(self, bag: Bag, strings: Sequence[tuple[str, ...]]) -> FoundOrders:
        number = {word: place for place, word in enumerate(bag.words)}
        starts = [[number[token] for token in string] for string in strings]
        settings = SearchSettings(budget=self.budget * len(bag), weight=self.weight)
        return search_orders(self.model.scorer(bag.words), self.guide.acceptor(bag.words), starts, settings)


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

    def tune(self, development: Development) -> Tuned:
        """The λ with the best BLEU of all; one that does not help is LEAST_LAMBDA."""
        target = development.folder / "start"
        stage = self.stage({"weight": self.start}, development.place)
        run_stage(stage, open_lattices(development.lattices), target, place=development.place, **development.options)
        lists = NbestLists(len(development.references))
        lists.add(open_run(target), self._before_and_neural)
        data = lists.tuning_set(development.references)
        before, neural = np.eye(2)
        weight = self.start if self.fixed else max(LEAST_LAMBDA, round(line_search(data, before, neural), 6))
        return Tuned({"weight": weight}, data.bleu(before + weight * neural))

    def _before_and_neural(self, entry: NbestEntry) -> dict[str, float]:
        """The score of a string without the neural model, and that of the model."""
        neural = entry.features[FEATURE][0]
        return {FIRST_PASS: -entry.cost - self.start * neural, FEATURE: neural}

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
        group = parser.add_argument_group("a neural model, for n-best strings, instead of --lm")
        group.add_argument(
            "--neural",
            metavar="MODEL",
            help=f"a GGUF file, a Hugging Face folder, or default; takes one --weight (default {WEIGHT:g})",
        )
        group.add_argument(
            "--search",
            type=int,
            nargs="?",
            const=TOKENS_A_WORD,
            default=0,
            metavar="BUDGET",
            help=f"search for better orders: BUDGET pieces computed for each word of a bag (default {TOKENS_A_WORD})",
        )
        group.add_argument(
            "--guide",
            default=os.environ.get("GYRO_LM", ""),
            metavar="LM",
            help="with --search: the n-gram model beside it, as a rule that of the first pass (or the variable GYRO_LM)",
        )

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Self | None:
        if not arguments.neural:
            if arguments.search:
                raise InputError("--search goes with --neural")
            return None
        if len(arguments.weight) > 1:
            raise InputError(f"found {len(arguments.weight)} weights; --neural takes one --weight λ")
        if arguments.add or arguments.beta is not None:
            raise InputError("--add and --beta go with --lm; the neural model always adds, to n-best strings")
        weight = arguments.weight[0] if arguments.weight else WEIGHT
        return cls(arguments.neural, weight, arguments.nbest, arguments.search, arguments.guide)

    @classmethod
    def owns(cls, feature: str) -> bool:
        return feature == FEATURE

    @classmethod
    def weights_to_table(cls, weights: Mapping[str, float]) -> dict[str, Any]:
        return {"weight": weights[FEATURE]} if FEATURE in weights else {}

    def ready(self, source: LatticeSource, place: Place) -> ReadyNeural:
        from lm.neural.model import load_neural_model  # only here: its packages are an extra, and heavy

        if not self.budget:
            return ReadyNeural(source, load_neural_model(self.model), self.weight, self.nbest)
        if not (name := self.guide or place.first_pass):
            raise InputError("a search needs the n-gram model beside the neural one: --guide MODEL")
        guide = load_language_model(name, place.own)
        return ReadySearch(source, load_neural_model(self.model), self.weight, self.nbest, guide, self.budget)
