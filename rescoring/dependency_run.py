"""Dependency-model rescoring of the n-best strings of many lattices, into a run folder.

dependency_run  the n best strings of every lattice with their new costs, and each model's score as its own feature
known_features  the features that the strings of a run's n-best lists have already
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from gyro.bag import Bag
from gyro.batch import Outcome, Summary, run_batch
from gyro.errors import InputError
from gyro.lattice import Hypothesis, Lattice
from gyro.nbest import read_jsonl
from gyro.parsing import parse_sentences
from lm.dependency_lm import DependencyModel
from rescoring.dependency import FEATURE, DependencyRescorer
from rescoring.ngram import lattice_costs
from rescoring.source import FIRST_PASS, NO_LATTICE, LatticeSource

Known = Mapping[str, Mapping[tuple[str, ...], Mapping[str, float]]]  # by the id of the lattice, then by the string


def known_features(path: str | PathLike[str]) -> Known:
    """The features in the n-best lists of a run folder; of lattices from elsewhere none are known."""
    known: dict[str, dict[tuple[str, ...], dict[str, float]]] = {}
    lists = Path(path) / "nbest.jsonl"
    for entry in read_jsonl(lists) if lists.exists() else ():
        features = {name: values[0] for name, values in entry.features.items()}
        known.setdefault(entry.id, {})[entry.tokens] = features
    return known


def dependency_run(
    source: LatticeSource,
    folder: str | PathLike[str],
    model: DependencyModel,
    *,
    weight: float,
    nbest: int = 100,
    known: Known | None = None,
    **options: Any,
) -> Summary:
    """Rescore the `nbest` cheapest strings of each lattice: cost + weight · dependency cost.

    `known` has the features that strings have already; of others, the cost in the lattice is the only other feature.
    The options are those of `gyro.batch.run_batch`.
    """
    if nbest < 1:
        raise InputError(f"found n-best lists of {nbest}; at least 1 is allowed")
    if weight == 0:
        raise InputError("found the weight 0 of the dependency model; it would change nothing")
    list(parse_sentences([["."]]))  # the parser is loaded before the workers are forked, so that they share it
    rescorer = DependencyRescorer(model, weight)

    def work(number: int, _bag: Bag) -> Outcome:
        lattice = source[number].lattice()
        if lattice is None or lattice.empty():
            return Outcome(None, {"reason": NO_LATTICE})
        strings = [hypothesis for hypothesis, _ in rescorer.rescore_nbest(lattice.nbest(nbest))]
        return Outcome(Lattice.from_strings(lattice.words, strings), {"strings": len(strings)})

    def features(number: int, hypotheses: Sequence[Hypothesis]) -> list[dict[str, float]]:
        item = source[number]
        lattice, strings = item.lattice(), [hypothesis.tokens for hypothesis in hypotheses]
        if lattice is None:
            return [{} for _ in hypotheses]
        before = lattice_costs(lattice, strings)
        # What the rescoring has added, rather than a second parse; the costs of lattices have six digits or so.
        added = [round((h.cost - float(cost)) / weight, 3) for h, cost in zip(hypotheses, before, strict=True)]
        others = (known or {}).get(item.id, {})
        return [
            {**others.get(tokens, {FIRST_PASS: 0.0 - float(cost)}), FEATURE: 0.0 - dependency}
            for tokens, cost, dependency in zip(strings, before, added, strict=True)
        ]

    settings = {
        "command": "rescore",
        "lattices": source.signature,
        "dependency_model": model.signature,
        "weight": weight,
        "strings": nbest,
    }
    return run_batch(
        source.bags(), folder, work, settings=settings, words=source.words(), features=features, nbest=nbest, **options
    )
