"""The stage ngram: lattices with the costs of n-gram models of any order, exactly.

NgramStage   models and weights; in a pipeline the table [rescore]
NgramTuning  weights by line search over n-best lists, round by round
Scale        a model, the name of its column in n-best lists, and its weight
name_scales  models and weights as scales, with names like LM4 and SB5
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.notation import NO_KEY
from gyro.run.folder import open_run
from gyro.run.outcome import Ordering, Outcome
from gyro.score.evaluation import evaluate
from gyro.text.bag import Bag
from gyro.text.corpus import check_normalisation
from lm.loading import KINDS, MODEL_HELP, VOUCH_HELP, load_language_model, split_name
from lm.model import LanguageModel
from rescoring.nbest_lists import NbestLists
from rescoring.ngram import Rescorer, lattice_costs, string_costs
from rescoring.source import FIRST_PASS, LatticeSource, open_lattices
from rescoring.stage import Columns, Development, Place, Stage, Tuned, Tuning, run_stage
from rescoring.tuning import tune_weights

_COLUMN = re.compile(rf"({'|'.join(entry.column for entry in KINDS.values())})\d*(\.\d+)?")


class Scale(NamedTuple):
    """A model in a log-linear sum."""

    name: str
    model: LanguageModel
    weight: float


def name_scales(models: Sequence[LanguageModel], weights: Sequence[float] = ()) -> list[Scale]:
    """The models with their weights, 1 without any; a name that comes again gets a number: LM4, LM4.2.

    One weight is for all models.
    """
    if len(weights) not in (0, 1, len(models)):
        raise InputError(f"found {len(weights)} weights for {len(models)} models; none, one, or one a model is allowed")
    weights = [1.0] * len(models) if not weights else list(weights) * (len(models) if len(weights) == 1 else 1)
    seen: Counter[str] = Counter()
    scales = []
    for model, weight in zip(models, weights, strict=True):
        seen[model.column] += 1
        again = seen[model.column]
        scales.append(Scale(model.column if again == 1 else f"{model.column}.{again}", model, weight))
    return scales


class ReadyNgrams:
    """Open models with their weights; `keep` is the weight of the lattices' own costs."""

    most_strings = None

    def __init__(
        self, scales: Sequence[Scale], keep: float = 0.0, beta: float | None = None, *, vouched: bool | None = None
    ) -> None:
        for scale in scales[1:]:
            first = scales[0]
            names = (first.model.normalisation, first.name, scale.model.normalisation, scale.name)
            check_normalisation(*names, vouched=vouched)
        self.scales = scales
        self.settings = {
            "command": "rescore",
            "models": [{"name": s.name, "model": s.model.signature, "weight": s.weight} for s in scales],
            "keep": keep,
            "beta": beta,
        }
        self._rescorer = Rescorer([(scale.model, scale.weight) for scale in scales], keep=keep, beta=beta)
        self._walkers = {scale.name: scale.model.walkers() for scale in scales}
        self._rescorer(Lattice.from_strings(("a",), [Hypothesis(("a",), 0.0)]))  # loads compiled code

    def verify(self) -> None:
        for scale in self.scales:
            scale.model.verify()

    def title(self, before: str) -> str:
        return "+ " + " ".join(scale.name for scale in self.scales)

    def rescore(self, number: int, bag: Bag, lattice: Lattice) -> Ordering:
        rescored = self._rescorer(lattice)
        return Ordering(rescored, Outcome.ordered(bag, rescored.best().cost, arcs=rescored.num_arcs))

    def features(self, number: int, lattice: Lattice, hypotheses: Sequence[Hypothesis]) -> Columns:
        """LATTICE and a column for each model: the total is their sum, weighted with `keep` and the models' weights."""
        strings = [hypothesis.tokens for hypothesis in hypotheses]
        columns = {FIRST_PASS: lattice_costs(lattice, strings)}
        columns |= {name: string_costs(make, strings) for name, make in self._walkers.items()}
        return [{name: 0.0 - float(costs[i]) for name, costs in columns.items()} for i in range(len(strings))]


@dataclass(frozen=True)
class NgramTuning(Tuning):
    """The cost of a lattice and of each model, weighted; models are kenlm:ORDER and stupid-backoff:ORDER."""

    models: list[str]
    rounds: int = 3

    bag_seconds = 0.7

    def __post_init__(self) -> None:
        allowed = " and ".join(f"{kind}:ORDER" for kind in KINDS) + " are allowed"
        if not self.models:
            raise InputError(f"found no models; {allowed}")
        for model in self.models:
            if ":" not in model or not split_name(model)[1].isdecimal():
                raise InputError(f"found the model {model!r}; {allowed}")

    @property
    def kenlm_orders(self) -> list[int]:
        named = map(split_name, self.models)
        return [int(order) for kind, order in named if kind == "kenlm"]

    def tune(self, development: Development) -> Tuned:
        """Rescore, collect n-best lists, tune on all lists so far, and again; the best weights of all rounds.

        What counts is BLEU of the rescored lattices, not of the lists. The first round has equal weights. None is
        below 0: in lattices, as opposed to lists, a model taken the wrong way round finds its worst strings.
        """
        own, references = development.place.own, development.references
        scales = name_scales([load_language_model(name, own) for name in self.models])
        names = [FIRST_PASS, *(scale.name for scale in scales)]
        weights = dict.fromkeys(names, round(1 / len(names), 6))
        lists = NbestLists(len(references))
        best: tuple[float, dict[str, float]] | None = None
        for number in range(self.rounds):
            target = development.folder / f"round-{number + 1}"
            stage = self.stage({"weights": weights}, development.place)
            source = open_lattices(development.lattices)
            run_stage(stage, source, target, place=development.place, **development.options)
            bleu = evaluate([line.split() for line in open_run(target).best()], references)["bleu"]
            if best is not None and bleu <= best[0]:
                break
            best = (bleu, weights)
            lists.add(open_run(target))
            weights = _not_negative(tune_weights(lists.tuning_set(references), weights).weights)
        assert best is not None
        return Tuned({"weights": best[1]}, best[0])

    def stage(self, values: Mapping[str, Any], place: Place) -> Stage:
        weights = dict(values["weights"])
        keep = weights.pop(FIRST_PASS)
        return NgramStage(self.models, list(weights.values()), keep)


def _not_negative(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights below 0 as 0, and the sum 1 again; equal ones where none is above.

    >>> _not_negative({"LM5": 0.6, "SB5": 0.2, "LATTICE": -0.2})
    {'LM5': 0.75, 'SB5': 0.25, 'LATTICE': 0.0}
    """
    whole = sum(max(0.0, weight) for weight in weights.values())
    if not whole:
        return dict.fromkeys(weights, round(1 / len(weights), 6))
    return {name: round(max(0.0, weight) / whole, 6) for name, weight in weights.items()}


@dataclass(frozen=True)
class NgramStage(Stage):
    """Models that give the lattices new costs: `keep` times the old one and the weighted sum of the models'.

    A model is a name of lm.loading; in a pipeline stupid-backoff:ORDER is over the run's own index. With `beta`, only
    what is on a path within so many nats of the new best stays. `vouched`: the text of the models was split alike,
    where this is not recorded.
    """

    models: list[str]
    weights: list[float] = field(default_factory=list)
    keep: float = 0.0
    beta: float | None = None
    vouched: bool | None = field(default=None, metadata=NO_KEY)

    kind = "ngram"
    command = "rescore"
    usage = "--lm MODEL"
    table = "rescore"
    folder = "rescored"
    bag_seconds = 0.3
    tuning = NgramTuning

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--lm",
            action="append",
            default=[],
            metavar="MODEL",
            help=f"{MODEL_HELP}; may be given again",
        )
        parser.add_argument("--vouch", action="store_true", help=f"with --lm: {VOUCH_HELP}")

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Self | None:
        if not arguments.lm:
            return None
        keep = 1.0 if arguments.add else 0.0
        return cls(arguments.lm, arguments.weight, keep, arguments.beta, vouched=arguments.vouch)

    @classmethod
    def owns(cls, feature: str) -> bool:
        return feature == FIRST_PASS or _COLUMN.fullmatch(feature) is not None

    @classmethod
    def weights_to_table(cls, weights: Mapping[str, float]) -> dict[str, Any]:
        """LM is the first pass' own column, so a run that has it alone was not rescored."""
        others = [weight for name, weight in weights.items() if name not in (FIRST_PASS, "LM")]
        return {"keep": weights.get(FIRST_PASS, 0.0), "weights": others} if others else {}

    def ready(self, source: LatticeSource, place: Place) -> ReadyNgrams:
        models = [load_language_model(name, place.own) for name in self.models]
        return ReadyNgrams(name_scales(models, self.weights), self.keep, self.beta, vouched=self.vouched)
