"""What models say of outputs and references: the costs of both, and who errs.

read_costs     of the bags of a run that was scored by a neural model too
BagCosts       those of one bag: of the output, of the reference where they are known, and the verdict
Costs          what a string costs under the whole score, and under the parts of it
ScoreSummary   a run's bags under one score: means a word, and how often output or reference is cheaper
neural_weight  λ of a run
summarise      all of a run: by the whole score first, then by its parts
VERDICTS       who errs, as counted: the model where it prefers another order, the search where it missed the reference

The score is the cost of what came before, an n-gram model as a rule, + λ · that of the neural model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gyro.lattice.nbest import read_moses
from gyro.run.folder import Run
from gyro.run.outcome import Finite, Outcome

FEATURE = "NEURAL"  # the column of n-best lists with the neural model's score
WHOLE, BEFORE, NEURAL = "all", "other models", "neural model"
VERDICTS = MODEL_ERRS, SAME, SEARCH_ERRS, UNKNOWN = (
    "output costs less",
    "the same",
    "reference costs less",
    "reference not known",
)
# Costs of lattices are summed up in single precision, those of references are written with four decimals.
TOLERANCE = 2e-3


class _Told(Outcome):
    """What results.jsonl may tell of costs: the neural model's share is not in those of older runs."""

    neural: Finite = None
    reference_neural: Finite = None


class Costs(NamedTuple):
    """What a string costs: all together, and the part of the neural model, whose weight is λ."""

    whole: float | None
    neural: float | None
    weight: float

    @property
    def before(self) -> float | None:
        """The part of the other models."""
        return None if self.neural is None or self.whole is None else self.whole - self.weight * self.neural

    def under(self, score: str) -> float | None:
        """The cost under the whole score or one part of it; None where it is not known."""
        return {WHOLE: self.whole, BEFORE: self.before, NEURAL: self.neural}[score]


class BagCosts(NamedTuple):
    """The costs of a bag's output, of `words` words, and of its reference; `is_same` says that they are one string."""

    words: int
    output: Costs
    reference: Costs
    is_same: bool

    def verdict(self, score: str = WHOLE) -> str:
        """Who errs under a score."""
        output, reference = self.output.under(score), self.reference.under(score)
        if output is None or reference is None:
            return UNKNOWN
        if self.is_same or abs(output - reference) <= TOLERANCE:
            return SAME
        return MODEL_ERRS if output < reference else SEARCH_ERRS


class ScoreSummary(NamedTuple):
    """Bags under one score; the means are those a word, of the bags whose reference has a cost there.

    Where no reference has one, the mean of the outputs is that of all bags.
    """

    score: str
    output: float | None
    reference: float | None
    counts: Counter[str]


def read_costs(run: Run, outputs: Sequence[Sequence[str]]) -> list[BagCosts | None]:
    """One for each bag, None for one that failed; an empty list for a run without a neural model."""
    weight = neural_weight(run.settings)
    if weight is None:
        return []
    told = run.outcomes_as(_Told)
    listed = {} if all(each.neural is not None for each in told if each.ok) else _listed(run)
    found: list[BagCosts | None] = []
    for number, (bag, output, each) in enumerate(zip(run.bags, outputs, told, strict=True)):
        if not each.ok or each.cost is None:
            found.append(None)
            continue
        neural = each.neural if each.neural is not None else listed.get(number)
        reference = Costs(each.reference_cost, each.reference_neural, weight)
        is_same = bag.reference is not None and tuple(output) == bag.reference
        found.append(BagCosts(len(output), Costs(each.cost, neural, weight), reference, is_same))
    return found


def neural_weight(settings: Mapping[str, Any]) -> float | None:
    """λ of a run, of its own stage or in one go with its first pass; None without a neural model."""
    own = settings.get("neural", settings)
    weight = own.get("weight") if isinstance(own, Mapping) and "neural_model" in own else None
    return float(weight) if isinstance(weight, int | float) else None


def _listed(run: Run) -> dict[int, float]:
    """The neural cost of the best string of each bag, as the n-best lists have it."""
    best = (entry for entry in read_moses(run.folder.nbest_moses) if entry.rank == 1)
    return {entry.sentence: 0.0 - entry.features[FEATURE][0] for entry in best if FEATURE in entry.features}


def summarise(costs: Sequence[BagCosts | None]) -> list[ScoreSummary]:
    """The whole score, then the parts that are known of the outputs."""
    bags = [bag for bag in costs if bag is not None]
    summaries = (_summary(bags, score) for score in (WHOLE, BEFORE, NEURAL))
    return [each for each in summaries if each.output is not None]


def _summary(bags: Sequence[BagCosts], score: str) -> ScoreSummary:
    compared = [bag for bag in bags if bag.verdict(score) != UNKNOWN]
    output = _mean([(bag.output.under(score), bag.words) for bag in compared or bags])
    reference = _mean([(bag.reference.under(score), bag.words) for bag in compared])
    return ScoreSummary(score, output, reference, Counter(bag.verdict(score) for bag in bags))


def _mean(costs: Sequence[tuple[float | None, int]]) -> float | None:
    """The mean a word of costs and numbers of words; None unless all costs are known."""
    known = [cost for cost, _ in costs if cost is not None]
    words = sum(count for _, count in costs)
    return sum(known) / words if words and len(known) == len(costs) else None
