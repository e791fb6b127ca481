"""An experiment of the kind "comparison" as its TOML file tells it: all systems on the same bags.

ComparisonExperiment  all that it is, and what its lists multiply out to
Training              one model to train: an entry of [[models]] under one condition
Decode                one run: an entry of [[runs]] on one set under one condition, with one choice of what varies
Rescoring             the same of [[stages]]: what is done with the lattices of a run
load_comparison       read a file; every mistake is one clear line

    kind = "comparison"
    title, data, seed
    [treebank]            train, dev, test: CoNLL-U. The first, third … sentence of dev is for trainings, the others are
                          the set dev
    [text]                of language models and of GYRO's index; sentences held out of its first file are a set
    [sets.NAME]           more sets of bags, of text (comparison_entry.SetTable)
    [training]            dev_sample: sentences that each iteration is scored on; options of all models
    [[language_models]] [[treebanks]] [[models]] [[runs]] [[stages]]    what is made (comparison_entry)
    [[details]] [[curves]] [[published]]                                what is told of it

A condition is what bags are given: "words", or some of "pos", "units", "heads", "labels" with + between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from experiments.comparison_entry import (
    ALL,
    CurveTable,
    DetailTable,
    LanguageModelTable,
    ModelTable,
    PublishedTable,
    RunTable,
    SetTable,
    SourceTable,
    StageTable,
    TrainingTable,
    TreebankTable,
)
from experiments.description import read_description
from experiments.experiment import folder_name
from experiments.syntax_description import TreebankTable as FilesTable
from gyro.errors import InputError
from gyro.notation import from_table

KIND = "comparison"
SENTENCES_PER_BAG = 10  # with --sample: training sentences for each bag
HALVES = ("test", "dev")  # the sets that the treebank gives
_KEYS = ("kind", "title", "data", "seed")
_TABLES = ("treebank", "text", "sets", "training")
_LISTS = ("language_models", "treebanks", "models", "runs", "stages", "details", "curves", "published")


@dataclass(frozen=True)
class Training:
    """A model to train; a model that is told no conditions is trained once, and used under all of them."""

    table: ModelTable
    given: str = ""

    @property
    def name(self) -> str:
        return f"{self.table.name}, {self.given}" if self.given else self.table.name


@dataclass(frozen=True)
class Decode:
    """A run. `choice` is what it takes of the lists of its table that vary."""

    table: RunTable
    set: str
    given: str
    choice: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The system in tables.

        >>> Decode(RunTable("n-gram", "ngram-beam"), "test", "words", {"beam": 16}).name
        'n-gram, beam 16'
        """
        return ", ".join([self.table.name, *(f"{key} {value}" for key, value in self.choice.items())])

    @property
    def bags(self) -> int:
        return self.table.bags


@dataclass(frozen=True)
class Rescoring:
    """A stage after a run, or after another stage."""

    table: StageTable
    source: Decode | Rescoring

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def set(self) -> str:
        return self.source.set

    @property
    def given(self) -> str:
        return self.source.given

    @property
    def bags(self) -> int:
        return min(filter(None, (self.table.bags, self.source.bags)), default=0)


@dataclass(frozen=True)
class ComparisonExperiment:
    """All that an experiment of this kind is."""

    name: str
    source: str
    title: str
    data: str
    seed: int
    treebank: FilesTable
    text: SourceTable
    sets: Mapping[str, SetTable]
    training: TrainingTable
    language_models: tuple[LanguageModelTable, ...]
    treebanks: tuple[TreebankTable, ...]
    models: tuple[ModelTable, ...]
    runs: tuple[RunTable, ...]
    stages: tuple[StageTable, ...]
    details: tuple[DetailTable, ...]
    curves: tuple[CurveTable, ...]
    published: tuple[PublishedTable, ...]

    @property
    def set_names(self) -> list[str]:
        """All sets of bags."""
        return [*HALVES, *([self.text.held_out_name] if self.text.held_out else []), *self.sets]

    def trainings(self) -> list[Training]:
        return [Training(table, given) for table in self.models for given in table.given or [""]]

    def training_of(self, run: Decode) -> Training | None:
        """The model of a run: that of its condition, or of the one that it names."""
        if not run.table.model:
            return None
        table = next(table for table in self.models if table.name == run.table.model)
        return Training(table, (run.table.trained or run.given) if table.given else "")

    def decodes(self) -> list[Decode]:
        """All runs of systems."""
        return [
            Decode(table, set_name, given, dict(zip(table.vary, choice, strict=True)))
            for table in self.runs
            for set_name, given, choice in product(table.sets, table.given, product(*table.vary.values()))
        ]

    def rescorings(self) -> list[Rescoring]:
        """All runs of stages, each after its source."""
        found: list[Decode | Rescoring] = [*self.decodes()]
        made: list[Rescoring] = []
        for table in self.stages:
            new = [Rescoring(table, source) for source in found if source.name == table.source]
            found += new
            made += new
        return made

    def lm_of(self, run: Decode) -> str:
        """The language model of a run: its own, or that of its model; may be empty."""
        training = self.training_of(run)
        return run.table.lm or (training.table.lm if training else "")

    def with_sample(self, sample: int) -> ComparisonExperiment:
        """The same on at most so many bags a run, and with ten times as many sentences to learn from."""
        most = sample * SENTENCES_PER_BAG
        return replace(
            self,
            training=replace(self.training, dev_sample=min(self.training.dev_sample, sample)),
            treebanks=tuple(replace(t, sentences=min(t.sentences or most, most)) for t in self.treebanks),
            runs=tuple(replace(table, bags=min(table.bags or sample, sample)) for table in self.runs),
        )

    def is_absent(self) -> bool:
        """Whether the data that it needs is not there."""
        return bool(self.data) and not Path(self.data).is_dir()


def load_comparison(path: Path) -> ComparisonExperiment:
    """Read an experiment; files in it are seen from the working folder."""
    return read_description(path, _to_experiment, _check)


def _to_experiment(name: str, source: str, values: Mapping[str, Any]) -> ComparisonExperiment:
    for key in values:
        if key not in (*_KEYS, *_TABLES, *_LISTS):
            raise InputError(f"found {key!r}; allowed are {', '.join((*_KEYS, *_TABLES, *_LISTS))}")
    for key in ("treebank", "runs"):
        if key not in values:
            raise InputError(f"{key!r} is missing")
    sets = values.get("sets", {})
    return ComparisonExperiment(
        name=name,
        source=source,
        title=str(values.get("title", name)),
        data=str(values.get("data", "")),
        seed=int(values.get("seed", 0)),
        treebank=from_table(FilesTable, values["treebank"], "[treebank]"),
        text=from_table(SourceTable, values.get("text", {}), "[text]"),
        sets={key: from_table(SetTable, table, f"[sets.{key}]") for key, table in sets.items()},
        training=from_table(TrainingTable, values.get("training", {}), "[training]"),
        language_models=_tables(LanguageModelTable, values, "language_models"),
        treebanks=_tables(TreebankTable, values, "treebanks"),
        models=_tables(ModelTable, values, "models"),
        runs=_tables(RunTable, values, "runs"),
        stages=_tables(StageTable, values, "stages"),
        details=_tables(DetailTable, values, "details"),
        curves=_tables(CurveTable, values, "curves"),
        published=_tables(PublishedTable, values, "published"),
    )


T = TypeVar("T")


def _tables(kind: type[T], values: Mapping[str, Any], key: str) -> tuple[T, ...]:
    found = values.get(key, [])
    if not isinstance(found, list):
        raise InputError(f"found {key!r} as one table; a list of tables, [[{key}]], is allowed")
    return tuple(from_table(kind, each, f"[[{key}]] {number}") for number, each in enumerate(found, 1))


def _check(experiment: ComparisonExperiment) -> None:
    """That names are known where they are used, and told apart where they are given."""
    models = [table.name for table in experiment.models]
    banks, lms = ([t.name for t in some] for some in (experiment.treebanks, experiment.language_models))
    runs = list(dict.fromkeys(run.name for run in experiment.decodes()))
    stages = [table.name for table in experiment.stages]
    for what, names in (("models", models), ("treebanks", banks), ("language models", lms), ("stages", stages)):
        _check_apart(what, names)
    _check_apart("sets", experiment.set_names)
    _check_apart("trainings", [training.name for training in experiment.trainings()])
    places = [(*(folder_name(part) for part in (run.name, run.set, run.given)),) for run in experiment.decodes()]
    for place in places:
        if places.count(place) > 1:
            raise InputError(f"found the run {place[0]!r} on {place[1]!r} with {place[2]!r} twice")
    for lm in experiment.language_models:
        _known("treebank", [lm.treebank], [ALL, *banks])
    for model in experiment.models:
        _known("treebank", [model.treebank], banks)
        _known("language model", [model.lm], lms)
    for run in experiment.runs:
        _known("model", [run.model], models)
        _known("language model", [run.lm], lms)
        _known("set", run.sets, experiment.set_names)
    for decode in experiment.decodes():
        training = experiment.training_of(decode)
        if training and training.given not in (training.table.given or [""]):
            found = f"found {training.given!r} of {decode.table.name!r}; {training.table.name!r} is trained for"
            raise InputError(f"{found} {', '.join(training.table.given)}")
    for number, stage in enumerate(experiment.stages):
        _known("source", [stage.source], [*runs, *stages[:number]])
        _known("language model", [stage.lm], lms)
    told = [name for details in experiment.details for name in details.runs]
    told += [name for curve in experiment.curves for name in curve.runs]
    _known("run", [*told, *(row[2] for published in experiment.published for row in published.rows)], [*runs, *stages])
    sets = [details.set for details in experiment.details] + [published.set for published in experiment.published]
    sets += [name for curve in experiment.curves for name in curve.sets]
    _known("set", sets, experiment.set_names)


def _known(what: str, names: Iterable[str], allowed: Sequence[str]) -> None:
    for name in filter(None, names):
        if name not in allowed:
            raise InputError(f"found the {what} {name!r}; allowed are {', '.join(map(repr, allowed)) or 'none'}")


def _check_apart(what: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not folder_name(name) or folder_name(name) in seen:
            raise InputError(f"found the name {name!r} of {what} twice or without a letter; each needs one of its own")
        seen.add(folder_name(name))
