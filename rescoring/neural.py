"""Strings with the cost of a pretrained model besides, and a search for orders that it likes better.

NeuralRescorer      new costs for the n-best strings of a lattice: old + λ · neural
NeuralSearcher      the same strings are where a search begins: costs are guide + λ · neural
NeuralOutcome       what the model and its search did
Before              a lattice before this, and the columns that are known of its strings
open_neural_model   the model that a name stands for, or in one line what is missing
check_neural_model  see that it is there, before any work begins

With a search, the cost of a string is that of an n-gram model, the guide, + λ · neural: that is known of every order,
also of those that no lattice has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.util import find_spec
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.run.constraint import KNOWN_BY
from gyro.run.outcome import Ordering, Outcome
from gyro.text.allowed_order import is_allowed
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from lm.model import LanguageModel
from lm.neural.checkpoint import PACKAGES, missing_package, open_checkpoint
from rescoring.neural_search import DIGITS, FoundOrders, ScoredOrder, SearchSettings, search_orders
from rescoring.ngram import lattice_costs
from rescoring.source import FIRST_PASS

if TYPE_CHECKING:
    from lm.neural.model import NeuralModel

FEATURE = "NEURAL"
GUIDE = "LM"  # the column of the guide, as first passes have it
COST_DIGITS = 4  # of costs in outcomes

Columns = list[dict[str, float]]
Tokens = tuple[str, ...]


def next_feature(columns: Collection[str]) -> str:
    """The name of a model's column beside others: after one neural model comes another.

    >>> next_feature(["LM"]), next_feature(["LM", "NEURAL"])
    ('NEURAL', 'NEURAL.2')
    """
    names = (FEATURE if number == 1 else f"{FEATURE}.{number}" for number in count(1))
    return next(name for name in names if name not in columns)


class NeuralOutcome(Outcome):
    """What came of a bag under the neural model; nothing of it is proved.

    `neural` and `reference_neural` are the costs of best string and reference under the model alone. `start_cost` is
    that of the best string that the search began with; `scored`, `expanded` and `computed` count strings with a cost,
    those that gave rise to others, and the pieces of words that went through the model.
    """

    neural: float | None = None
    reference_neural: float | None = None
    start_cost: float | None = None
    scored: int | None = None
    expanded: int | None = None
    computed: int | None = None


class Before(NamedTuple):
    """A lattice whose strings get new costs, and the columns that strings of its n-best list have already."""

    lattice: Lattice
    known: Mapping[Tokens, Mapping[str, float]]


class NeuralRescorer:
    """A model with its weight. Strings keep the columns that they have; the others have their cost in the lattice."""

    def __init__(self, model: NeuralModel, weight: float) -> None:
        self.model = model
        self.weight = weight
        model.load()

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides the results besides lattices and the length of lists."""
        return {"neural_model": self.model.signature, "weight": self.weight}

    def verify(self) -> None:
        """The signature of the model is a hash of its contents."""

    def title(self, before: str) -> str:
        return f"{before} + neural LM"

    def rescore(self, bag: Bag, lattice: Lattice, nbest: int) -> Ordering:
        """The cheapest strings of a lattice with their new costs."""
        strings = lattice.nbest(nbest)
        costs, computed = self.model.count_costs([string.tokens for string in strings])
        new = [Hypothesis(s.tokens, s.cost + self.weight * float(cost)) for s, cost in zip(strings, costs, strict=True)]
        rescored = Lattice.from_strings(lattice.words, new)

        def old_cost(tokens: Tokens) -> float:
            return float(lattice_costs(lattice, [tokens])[0])

        facts = {"strings": len(new), "computed": computed}
        return self._ordering(bag, rescored, facts, old_cost)

    def columns(self, hypotheses: Sequence[Hypothesis], before: Callable[[], Before]) -> Columns:
        """The named scores of rescored strings."""
        lattice, known = before()
        strings = [hypothesis.tokens for hypothesis in hypotheses]
        old = lattice_costs(lattice, strings)
        # What the rescoring has added, rather than a second look; the costs of lattices have six digits or so.
        added = [round((h.cost - float(cost)) / self.weight, DIGITS) for h, cost in zip(hypotheses, old, strict=True)]
        columns: Columns = []
        for tokens, cost, neural in zip(strings, old, added, strict=True):
            others = known.get(tokens, {FIRST_PASS: 0.0 - float(cost)})
            columns.append({**others, next_feature(others): 0.0 - neural})
        return columns

    def _ordering(
        self, bag: Bag, lattice: Lattice, facts: dict[str, Any], old_cost: Callable[[Tokens], float]
    ) -> Ordering:
        """The new lattice, and what came of the bag; `old_cost` is that of a string without the neural model.

        It is infinite of strings that are not in the lattice whose costs these are. A reference that was found costs
        what the best string does.
        """
        best = lattice.best()
        facts["neural"] = round((best.cost - old_cost(best.tokens)) / self.weight, DIGITS)
        if bag.reference == best.tokens:
            facts |= {"reference_cost": round(best.cost, COST_DIGITS), "reference_neural": facts["neural"]}
        elif bag.reference is not None:
            facts["reference_neural"] = float(self.model.costs([bag.reference])[0])
            cost = old_cost(bag.reference) + self.weight * facts["reference_neural"]
            facts |= {"reference_cost": round(cost, COST_DIGITS)} if np.isfinite(cost) else {}
        return Ordering(lattice, NeuralOutcome.ordered(bag, round(best.cost, COST_DIGITS), proved=False, **facts))


class NeuralSearcher(NeuralRescorer):
    """A search under the model and its guide, within a budget of so many pieces for each word of a bag.

    It begins at the strings of a lattice. These may be of another tool, and then some may have other words than others:
    the search takes those that are orders of the words of the cheapest string, and the new lattice has no others.
    """

    def __init__(self, model: NeuralModel, weight: float, guide: LanguageModel, budget: int) -> None:
        super().__init__(model, weight)
        self.guide = guide
        self.budget = budget
        self._search(Bag(("a", "b", "c")), ("a", "b", "c"), [("a", "b", "c")])  # loads compiled code

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "guide": self.guide.signature, "budget": self.budget}

    def verify(self) -> None:
        self.guide.verify()

    def title(self, before: str) -> str:
        return f"{before} + neural search"

    def rescore(self, bag: Bag, lattice: Lattice, nbest: int) -> Ordering:
        """The orders that the search has scored."""
        strings = [string.tokens for string in lattice.nbest(nbest)]
        words, content = tuple(sorted(set(strings[0]))), Counter(strings[0])
        starts = [string for string in strings if Counter(string) == content]
        found = self._search(bag, words, starts) if words else self._empty_string()
        new = [Hypothesis(tuple(words[word] for word in order.words), order.total) for order in found.orders]
        searched = Lattice.from_strings(words, new)
        facts: dict[str, Any] = {"start_cost": round(found.start_cost, COST_DIGITS), "scored": found.scored}
        facts |= {"expanded": found.expanded, "computed": found.computed}

        def guide_cost(tokens: Tokens) -> float:
            return self.guide.score(tokens) if Counter(tokens) == content else np.inf

        return self._ordering(bag, searched, facts, guide_cost)

    def columns(self, hypotheses: Sequence[Hypothesis], before: Callable[[], Before]) -> Columns:
        guided = [self.guide.score(hypothesis.tokens) for hypothesis in hypotheses]
        return [
            {GUIDE: 0.0 - cost, FEATURE: 0.0 - round((hypothesis.cost - cost) / self.weight, DIGITS)}
            for hypothesis, cost in zip(hypotheses, guided, strict=True)
        ]

    def _search(self, bag: Bag, words: Sequence[str], strings: Sequence[Tokens]) -> FoundOrders:
        from lm.neural.bag_scorer import BagScorer  # only here: its packages are an extra

        number = {word: place for place, word in enumerate(words)}
        starts = [[number[token] for token in string] for string in strings]
        settings = SearchSettings(budget=self.budget * len(strings[0]), weight=self.weight)

        def keeps_to_constraints(order: Sequence[int]) -> bool:
            return is_allowed(bag, [words[word] for word in order])

        asked = isinstance(bag, AnnotatedBag) and bool(set(bag.constraints) & set(KNOWN_BY["gyro"]))
        asked = asked and is_allowed(bag, strings[0])  # a system that does not keep to them need not begin to
        scorer, acceptor = BagScorer(self.model, words), self.guide.acceptor(words)
        return search_orders(scorer, acceptor, starts, settings, keeps_to_constraints if asked else None)

    def _empty_string(self) -> FoundOrders:
        """There is nothing to search for in the orders of no words."""
        ngram, (costs, computed) = self.guide.score(()), self.model.count_costs([()])
        total = ngram + self.weight * float(costs[0])
        return FoundOrders((ScoredOrder((), float(costs[0]), ngram, total, True),), total, total, 0, computed)


def open_neural_model(name: str) -> NeuralModel:
    """Open a GGUF file, a Hugging Face folder, or `default`; the first time, its graphs are written."""
    check_packages()
    from lm.neural.model import load_neural_model  # only here: its packages are an extra, and heavy

    return load_neural_model(name)


def check_neural_model(name: str) -> None:
    """See that the packages and the model are there, and that the model is one that is read."""
    check_packages()
    open_checkpoint(name)


def check_packages() -> None:
    for package in PACKAGES:
        if find_spec(package) is None:
            raise missing_package(package)
