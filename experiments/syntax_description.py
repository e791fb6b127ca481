"""An experiment of the kind "syntax" as its TOML file tells it: models to train, and bags to decode with them.

SyntaxExperiment  treebanks, text, models, runs of the best-first decoder, and runs of GYRO beside them
LearnerTable      one model: [[models]], with what [training] says for all
DecodeTable       runs of one or more models: [[runs]], with what [decoding] says for all
GyroTable         a run of GYRO on the same bags: [[gyro]]
CurveTable        models whose learning is drawn in one picture: [[curves]]
Decode            one run: a model, bags, what they are given, a time limit
load_syntax       read a file; every mistake is one clear line

Lists in [[runs]] are all tried: models × time_limit × pos × heads. `bags` has one number, or one for each time limit.
`best_of` names models of which the one with the best score in its training is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from comparison.best_first.model import ModelSettings
from experiments.description import read_description
from experiments.experiment import folder_name
from gyro.errors import InputError
from gyro.notation import from_table, parse_size
from gyro.search.settings import Settings

KIND = "syntax"
SETS = ("dev", "test")
SENTENCES_PER_BAG = 10  # with --sample: training sentences for each bag
_KEYS = ("kind", "title", "data", "seed")
_TABLES = ("treebank", "text", "training", "decoding", "models", "runs", "gyro", "curves")


@dataclass(frozen=True)
class TreebankTable:
    """CoNLL-U files."""

    train: list[str]
    dev: list[str]
    test: list[str]


@dataclass(frozen=True)
class SourceTable:
    """The text of the n-gram model and of GYRO's index; the training sentences of the treebank are added to it."""

    files: list[str] = field(default_factory=list)
    order: int = 4
    index_order: int = 5
    memory: str = "2G"

    def __post_init__(self) -> None:
        parse_size(self.memory)


@dataclass(frozen=True)
class LearnerTable:
    """A model: its settings, the sentences that it learns from (0: all), and how each iteration is scored."""

    name: str
    sentences: int = 0
    iterations: int = 5
    dev_bags: int = 100
    dev_time_limit: float = 1.0
    grammar: str = "dependency"
    method: str = "scaled-negatives"
    given: list[str] = field(default_factory=lambda: ["pos"])
    tags: str = "xpos"
    labels: bool = False
    beta: float = 0.0
    cutoff: int = 20
    dp: bool = True
    lm_weight: float = 0.0
    beam: int = 64
    by_size: bool = False
    keep_leaves: bool = True
    bits: int = 22
    budget: int = 20_000
    seed: int = 0

    def settings(self, lm: str = "") -> ModelSettings:
        """The model's settings; `lm` is the signature of the language model."""
        known = {each.name for each in fields(ModelSettings)}
        values = {name: value for name, value in vars(self).items() if name in known}
        return ModelSettings(**{**values, "given": tuple(self.given), "lm": lm if self.lm_weight else ""})


@dataclass(frozen=True)
class DecodeTable:
    """Runs on one set of bags."""

    name: str
    models: list[str] = field(default_factory=list)
    best_of: list[str] = field(default_factory=list)
    set: str = "dev"
    bags: list[int] = field(default_factory=lambda: [200])
    time_limit: list[float] = field(default_factory=lambda: [5.0])
    pos: list[float] = field(default_factory=list)
    heads: list[float] = field(default_factory=list)
    edge_limit: int = 0
    beam: int = 0
    complete: bool = False

    def __post_init__(self) -> None:
        if bool(self.models) == bool(self.best_of):
            raise InputError(f"{self.name!r} needs either models or best_of")
        if self.set not in SETS:
            raise InputError(f"found the set {self.set!r} of {self.name!r}; allowed are {', '.join(SETS)}")
        if len(self.bags) not in (1, len(self.time_limit)):
            raise InputError(f"found {len(self.bags)} numbers of bags in {self.name!r}; 1, or one for each time limit")
        if min(self.bags) < 1 or min(self.time_limit) <= 0:
            raise InputError(f"found bags or a time limit of 0 or less in {self.name!r}; more is needed")
        for share in (*self.pos, *self.heads):
            if not 0 <= share <= 1:
                raise InputError(f"found the share {share} in {self.name!r}; 0 to 1 is allowed")

    def decodes(self) -> Iterator[Decode]:
        """All runs that the lists ask for."""
        candidates: list[tuple[str, ...]] = [(name,) for name in self.models] or [tuple(self.best_of)]
        tags: list[float | None] = [*self.pos] or [None]
        trees: list[float | None] = [*self.heads] or [None]
        counts = self.bags * len(self.time_limit) if len(self.bags) == 1 else self.bags
        limits = list(zip(self.time_limit, counts, strict=True))
        for some, (limit, bags), pos, heads in product(candidates, limits, tags, trees):
            yield Decode(self, some, bags, float(limit), pos, heads)


@dataclass(frozen=True)
class Decode:
    """One run. What it gives to the bags is what its model was trained with, unless `pos` or `heads` say otherwise."""

    table: DecodeTable
    candidates: tuple[str, ...]
    bags: int
    time_limit: float
    pos: float | None
    heads: float | None

    @property
    def parts(self) -> list[str]:
        """What tells it from the other runs of its table."""
        table = self.table
        found = list(self.candidates) if len(table.models) > 1 else []
        found += [f"{self.time_limit:g} s"] if len(table.time_limit) > 1 else []
        found += [f"POS {self.pos:.0%}"] if self.pos is not None and len(table.pos) > 1 else []
        found += [f"heads {self.heads:.0%}"] if self.heads is not None and len(table.heads) > 1 else []
        return found

    @property
    def name(self) -> str:
        """The table's name and its own part.

        >>> table = DecodeTable("CCG", ["β = 0.075"], time_limit=[0.5, 5.0])
        >>> [decode.name for decode in table.decodes()]
        ['CCG: 0.5 s', 'CCG: 5 s']
        """
        return f"{self.table.name}: {', '.join(self.parts)}" if self.parts else self.table.name


@dataclass(frozen=True)
class GyroTable:
    """A run of GYRO; the bags are those of the runs on the same set, without their annotation."""

    name: str
    set: str = "test"
    bags: int = 200
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True)
class CurveTable:
    """Models in one picture of convergence."""

    title: str
    models: list[str]


@dataclass(frozen=True)
class SyntaxExperiment:
    """All that an experiment of this kind is."""

    name: str
    source: str
    title: str
    data: str
    seed: int
    treebank: TreebankTable
    text: SourceTable
    models: tuple[LearnerTable, ...]
    runs: tuple[DecodeTable, ...]
    gyro: tuple[GyroTable, ...]
    curves: tuple[CurveTable, ...]

    @property
    def needs_text(self) -> bool:
        """Whether there must be a language model."""
        return bool(self.gyro) or any(model.lm_weight for model in self.models)

    def decodes(self, set_name: str = "") -> list[Decode]:
        """The runs of the best-first decoder on one set or on both."""
        return [d for table in self.runs if set_name in ("", table.set) for d in table.decodes()]

    def model(self, name: str) -> LearnerTable:
        return next(model for model in self.models if model.name == name)

    def with_sample(self, sample: int) -> SyntaxExperiment:
        """The same on at most so many bags a run, and with ten times as many sentences to learn from."""
        most = sample * SENTENCES_PER_BAG
        models = (
            replace(m, sentences=min(m.sentences or most, most), dev_bags=min(m.dev_bags, sample)) for m in self.models
        )
        runs = (replace(table, bags=[min(count, sample) for count in table.bags]) for table in self.runs)
        gyro = (replace(table, bags=min(table.bags, sample)) for table in self.gyro)
        return replace(self, models=tuple(models), runs=tuple(runs), gyro=tuple(gyro))

    def is_absent(self) -> bool:
        """Whether the data that it needs is not there."""
        return bool(self.data) and not Path(self.data).is_dir()


def load_syntax(path: Path) -> SyntaxExperiment:
    """Read an experiment; files in it are seen from the working folder."""
    return read_description(path, _to_experiment, _check)


def _to_experiment(name: str, source: str, values: Mapping[str, Any]) -> SyntaxExperiment:
    for key in values:
        if key not in (*_KEYS, *_TABLES):
            raise InputError(f"found {key!r}; allowed are {', '.join((*_KEYS, *_TABLES))}")
    for key in ("treebank", "models"):
        if key not in values:
            raise InputError(f"{key!r} is missing")
    decoding = values.get("decoding", {})
    return SyntaxExperiment(
        name=name,
        source=source,
        title=str(values.get("title", name)),
        data=str(values.get("data", "")),
        seed=int(values.get("seed", 0)),
        treebank=from_table(TreebankTable, values["treebank"], "[treebank]"),
        text=from_table(SourceTable, values.get("text", {}), "[text]"),
        models=_tables(LearnerTable, values, "models", values.get("training", {})),
        runs=_tables(DecodeTable, values, "runs", decoding),
        gyro=tuple(_to_gyro(each, n) for n, each in enumerate(values.get("gyro", []), 1)),
        curves=_tables(CurveTable, values, "curves", {}),
    )


T = TypeVar("T")


def _tables(kind: type[T], values: Mapping[str, Any], key: str, common: Mapping[str, Any]) -> tuple[T, ...]:
    found = values.get(key, [])
    if not isinstance(found, list):
        raise InputError(f"found {key!r} as one table; a list of tables, [[{key}]], is allowed")
    return tuple(from_table(kind, {**common, **each}, f"[[{key}]] {number}") for number, each in enumerate(found, 1))


def _to_gyro(table: Mapping[str, Any], number: int) -> GyroTable:
    place = f"[[gyro]] {number}"
    settings = from_table(Settings, table.get("generate", {}), f"{place}, generate")
    own = {key: value for key, value in table.items() if key != "generate"}
    return replace(from_table(GyroTable, own, place), settings=settings)


def _check(experiment: SyntaxExperiment) -> None:
    """That names are known where they are used, and told apart where they are given."""
    models = [model.name for model in experiment.models]
    runs = [decode.name for decode in experiment.decodes()] + [table.name for table in experiment.gyro]
    for names in (models, runs):
        _check_names(names)
    used = [name for decode in experiment.decodes() for name in decode.candidates]
    for name in (*used, *(name for curve in experiment.curves for name in curve.models)):
        if name not in models:
            raise InputError(f"found the model {name!r}; allowed are {', '.join(map(repr, models))}")
    for model in experiment.models:
        model.settings("?")  # tells what is not allowed
        if model.dev_bags < 1:
            raise InputError(f"found dev_bags = {model.dev_bags} of {model.name!r}; at least 1 is allowed")


def _check_names(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not folder_name(name) or folder_name(name) in seen:
            raise InputError(f"found the name {name!r} twice or without a letter; each needs one of its own")
        seen.add(folder_name(name))
