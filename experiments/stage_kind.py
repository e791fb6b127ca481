"""What comes after the lattices, each stage with parameters that are tuned on the development set.

Stage            what all kinds have: name, source, `tune` and `run`
Place            where a stage works: the lattices it starts from, the models, the MT outputs
NgramStage       n-gram models over the lattices: weights by line search over n-best lists
DependencyStage  the dependency model on n-best lists: λ by an exact line search
MbrStage         lattice MBR, alone or with MT posteriors: a grid
KINDS            the kinds by name
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from gyro.corpus import Normalisation
from gyro.errors import InputError
from gyro.evaluation import evaluate
from gyro.nbest import read_moses
from gyro.run_folder import open_run
from gyro.settings import parse_span
from gyro.stage import fingerprint
from lm.dependency_lm import load_dependency_model
from lm.loading import load_language_model
from rescoring.batch import Scale, name_scales, rescore_run
from rescoring.dependency import FEATURE as DEPENDENCY
from rescoring.dependency_run import dependency_run
from rescoring.evidence import read_evidence
from rescoring.mbr import MbrParameters
from rescoring.mbr_run import MbrTask, mbr_run
from rescoring.mbr_tuning import mbr_grid, try_grid
from rescoring.source import FIRST_PASS, open_lattices
from rescoring.tuning import line_search, tune_weights, tuning_set

LEAST_LAMBDA = 1e-6  # a run needs a weight: this one stands for "it does not help"

Values = dict[str, Any]
Lists = list[dict[tuple[str, ...], dict[str, float]]]


@dataclass(frozen=True)
class Place:
    """The lattices of one set, and the models and files that belong to it."""

    lattices: Path
    index: Path
    models: Mapping[int, Path]
    dependency_model: Path
    normalisation: Normalisation
    mt: str
    jobs: int
    nbest: int = 100

    def batch(self) -> dict[str, Any]:
        return {"jobs": self.jobs, "nbest": self.nbest, "overwrite": True}

    def references(self) -> list[tuple[str, ...]]:
        return [bag.reference or () for bag in open_run(self.lattices).bags]


class Stage(Protocol):
    """A stage of an experiment."""

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def oracles(self) -> bool: ...
    @property
    def kind(self) -> str: ...
    @property
    def needs_mt(self) -> bool: ...

    def tune(self, place: Place, folder: Path) -> Values:
        """The parameters that are best on the development set; runs that are needed for it go below the folder."""
        ...

    def run(self, place: Place, folder: Path, values: Values) -> None:
        """Make a run folder with these parameters."""
        ...


@dataclass(frozen=True)
class NgramStage:
    """The cost of a lattice and of each model, weighted; models are kenlm:ORDER and stupid-backoff:ORDER."""

    name: str
    source: str
    models: list[str]
    oracles: bool = False
    rounds: int = 3

    kind: ClassVar[str] = "ngram"
    needs_mt: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.models:
            raise InputError(f"found no models of {self.name!r}; kenlm:ORDER and stupid-backoff:ORDER are allowed")
        for model in self.models:
            kind, _, order = model.partition(":")
            if kind not in ("kenlm", "stupid-backoff") or not order.isdecimal():
                raise InputError(f"found the model {model!r}; kenlm:ORDER and stupid-backoff:ORDER are allowed")

    def kenlm_orders(self) -> list[int]:
        return [parse_span(m.partition(":")[2])[0] for m in self.models if m.startswith("kenlm:")]

    def tune(self, place: Place, folder: Path) -> Values:
        """Rescore, collect n-best lists, tune on all lists so far, and again; the best weights of all rounds.

        What counts is BLEU of the rescored lattices, not of the lists. The first round has equal weights. None is
        below 0: in lattices, as opposed to lists, a model taken the wrong way round finds its worst strings.
        """
        scales, references = self._scales(place), place.references()
        names = [FIRST_PASS, *(scale.name for scale in scales)]
        weights = dict.fromkeys(names, round(1 / len(names), 6))
        lists: Lists = [{} for _ in references]
        best: tuple[float, dict[str, float]] | None = None
        for number in range(self.rounds):
            target = folder / f"round-{number + 1}"
            self.run(place, target, {"weights": weights})
            bleu = evaluate([line.split() for line in open_run(target).best()], references).bleu
            if best is not None and bleu <= best[0]:
                break
            best = (bleu, weights)
            _add_lists(lists, target)
            data = tuning_set([list(each.items()) for each in lists], references)
            weights = _not_negative(tune_weights(data, weights).weights)
        assert best is not None
        return {"weights": best[1], "bleu": round(best[0], 2)}

    def run(self, place: Place, folder: Path, values: Values) -> None:
        weights = dict(values["weights"])
        keep = weights.pop(FIRST_PASS)
        scales = [scale._replace(weight=weights[scale.name]) for scale in self._scales(place)]
        rescore_run(open_lattices(place.lattices), folder, scales, keep=keep, **place.batch())

    def _scales(self, place: Place) -> list[Scale]:
        names = []
        for model in self.models:
            kind, _, order = model.partition(":")
            names.append(str(place.models[int(order)]) if kind == "kenlm" else f"{kind}:{place.index}:{order}")
        return name_scales([load_language_model(name) for name in names])


@dataclass(frozen=True)
class DependencyStage:
    """The cost of a string and λ times that of its parse."""

    name: str
    source: str
    oracles: bool = False
    start: float = 0.3

    kind: ClassVar[str] = "dependency"
    needs_mt: ClassVar[bool] = False

    def tune(self, place: Place, folder: Path) -> Values:
        """The λ with the best BLEU of all; one that does not help is LEAST_LAMBDA."""
        self.run(place, folder / "start", {"lambda": self.start})
        lists: Lists = [{} for _ in place.references()]
        _add_lists(lists, folder / "start")
        data = tuning_set([list(each.items()) for each in lists], place.references())
        origin = np.array([float(name == FIRST_PASS) for name in data.names])
        direction = np.array([float(name == DEPENDENCY) for name in data.names])
        weight = max(LEAST_LAMBDA, round(line_search(data, origin, direction), 6))
        return {"lambda": weight, "bleu": round(data.bleu(origin + weight * direction), 2)}

    def run(self, place: Place, folder: Path, values: Values) -> None:
        model = load_dependency_model(place.dependency_model)
        dependency_run(open_lattices(place.lattices), folder, model, weight=values["lambda"], **place.batch())


@dataclass(frozen=True)
class MbrStage:
    """Minimum Bayes risk over the lattices; with `mt`, also by the posteriors of MT systems. Lists are the grid."""

    name: str
    source: str
    oracles: bool = False
    mt: bool = False
    scale: list[float] = field(default_factory=lambda: [0.1, 0.2, 0.4, 0.7, 1.0])
    precision: list[float] = field(default_factory=lambda: [0.74])
    ratio: list[float] = field(default_factory=lambda: [0.5, 0.62, 0.75])
    prune: list[float] = field(default_factory=lambda: [5.0, 10.0])
    alpha: list[float] = field(default_factory=lambda: [0.0, 0.1, 0.25, 0.5, 0.75])

    kind: ClassVar[str] = "mbr"

    def __post_init__(self) -> None:
        for name in ("scale", "precision", "ratio", "prune", "alpha"):
            if not getattr(self, name):
                raise InputError(f"found no values for {name} of {self.name!r}; at least one is needed")
        self._grid()  # the parameters tell what is allowed

    @property
    def needs_mt(self) -> bool:
        return self.mt

    def tune(self, place: Place, folder: Path) -> Values:
        grid = self._grid()
        trials = try_grid(self._task(place, grid[0]), place.references(), grid, jobs=place.jobs)
        best = trials[0]
        names = ("scale", "precision", "ratio", "prune", *(["alpha"] if self.mt else []))
        return {**{name: getattr(best.parameters, name) for name in names}, "bleu": round(best.bleu, 2)}

    def run(self, place: Place, folder: Path, values: Values) -> None:
        chosen = {name: value for name, value in values.items() if name != "bleu"}
        mbr_run(self._task(place, replace(self._grid()[0], **chosen)), folder, **place.batch())

    def _grid(self) -> list[MbrParameters]:
        values = {name: getattr(self, name) for name in ("scale", "precision", "ratio", "prune")}
        values["alpha"] = self.alpha if self.mt else [1.0]
        start = MbrParameters(**{name: numbers[0] for name, numbers in values.items()})
        return mbr_grid(start, values)

    def _task(self, place: Place, parameters: MbrParameters) -> MbrTask:
        source = open_lattices(place.lattices)
        if not self.mt:
            return MbrTask(source, parameters)
        evidence = read_evidence([place.mt], "outputs", place.normalisation)
        return MbrTask(source, parameters, evidence, "id", fingerprint(Path(place.mt)))


def _not_negative(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights below 0 as 0, and the sum 1 again; equal ones where none is above.

    >>> _not_negative({"LM5": 0.6, "SB5": 0.2, "LATTICE": -0.2})
    {'LM5': 0.75, 'SB5': 0.25, 'LATTICE': 0.0}
    """
    whole = sum(max(0.0, weight) for weight in weights.values())
    if not whole:
        return dict.fromkeys(weights, round(1 / len(weights), 6))
    return {name: round(max(0.0, weight) / whole, 6) for name, weight in weights.items()}


def _add_lists(lists: Lists, folder: Path) -> None:
    """Put the n-best lists of a run to those there are; a string is there once."""
    moses = open_run(folder).folder.nbest_moses
    for sentence, entries in groupby(read_moses(moses), key=lambda entry: entry.sentence):
        for entry in entries:
            lists[sentence][entry.tokens] = {name: values[0] for name, values in entry.features.items()}


KINDS: dict[str, type[NgramStage] | type[DependencyStage] | type[MbrStage]] = {
    stage.kind: stage for stage in (NgramStage, DependencyStage, MbrStage)
}
