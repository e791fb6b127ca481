"""Rescoring many lattices into a run folder like that of `gyro generate`.

Scale         a model, the name of its column in n-best lists, and its weight
name_scales   models and weights as scales, with names like LM4 and SB5
rescore_run   rescore every lattice of a source; n-best lists show what each model says
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from os import PathLike
from typing import Any, NamedTuple

from gyro.bag import Bag
from gyro.batch import Outcome, Summary, run_batch
from gyro.corpus import check_normalisation
from gyro.errors import InputError
from gyro.lattice import Hypothesis, Lattice
from lm.model import LanguageModel
from lm.stupid_backoff import StupidBackoff
from lm.walker import walkers_of
from rescoring.ngram import Rescorer, lattice_costs, string_costs
from rescoring.source import FIRST_PASS, NO_LATTICE, LatticeSource


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
        name = f"{'SB' if isinstance(model, StupidBackoff) else 'LM'}{model.order}"
        seen[name] += 1
        scales.append(Scale(name if seen[name] == 1 else f"{name}.{seen[name]}", model, weight))
    return scales


def rescore_run(
    source: LatticeSource,
    folder: str | PathLike[str],
    scales: Sequence[Scale],
    *,
    keep: float = 0.0,
    beta: float | None = None,
    **options: Any,
) -> Summary:
    """Rescore all lattices of a source into a run folder; the options are those of `gyro.batch.run_batch`.

    `keep` is the weight of the lattices' own costs. The total of a string in the n-best lists is the weighted sum of
    its columns: LATTICE with `keep`, and each model with its weight.
    """
    for scale in scales[1:]:
        first = scales[0]
        check_normalisation(first.model.normalisation, first.name, scale.model.normalisation, scale.name)
    rescorer = Rescorer([(scale.model, scale.weight) for scale in scales], keep=keep, beta=beta)
    # Compiled code is loaded at its first use: here once, so that no worker pays for it.
    rescorer(Lattice.from_strings(("a",), [Hypothesis(("a",), 0.0)]))
    walkers = {scale.name: walkers_of(scale.model) for scale in scales}

    def work(number: int, _bag: Bag) -> Outcome:
        lattice = source[number].lattice()
        if lattice is None:
            return Outcome(None, {"reason": NO_LATTICE})
        rescored = rescorer(lattice)
        return Outcome(rescored, {"arcs": rescored.num_arcs})

    def features(number: int, hypotheses: Sequence[Hypothesis]) -> list[dict[str, float]]:
        lattice, strings = source[number].lattice(), [hypothesis.tokens for hypothesis in hypotheses]
        columns = {} if lattice is None else {FIRST_PASS: lattice_costs(lattice, strings)}
        columns |= {name: string_costs(make, strings) for name, make in walkers.items()}
        return [{name: 0.0 - float(costs[i]) for name, costs in columns.items()} for i in range(len(strings))]

    settings = {
        "command": "rescore",
        "lattices": source.signature,
        "models": [{"name": s.name, "model": s.model.signature, "weight": s.weight} for s in scales],
        "keep": keep,
        "beta": beta,
    }
    return run_batch(source.bags(), folder, work, settings=settings, words=source.words(), features=features, **options)
