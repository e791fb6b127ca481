"""An experiment as its TOML file tells it.

Experiment       text, sets of bags, settings of generation, and the stages after it
SetTable         one set of bags: [sets.NAME], with the file of MT outputs for the same sentences where there is one
SettingTable     one way to make lattices: [[settings]]
load_experiment  read a file; every mistake is one clear line
read_description the same for any kind of experiment
find_experiments the experiments of a folder by name

    title = "…"            of the report
    baseline = "…"         the setting that the others are tested against (default: the first)
    data = "…"             a folder without which the experiment is skipped
    development = "dev"    the set that parameters are tuned on; the last set is the test set
    sample = 300           bags of each set, drawn with the set's seed
    [text] [index]         as in the configuration of run_pipeline.py
    [lm]                   memory for estimating the models
    [dependency]           order of the dependency model, and about how many sentences it is estimated on (0: all)
    [generate]             what all settings have in common
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from experiments.stage import TunedStage, to_stage
from gyro.errors import InputError
from gyro.notation import from_table, parse_size
from gyro.pipeline.config import BagsTable, ModelTable, TextTable
from gyro.search.settings import Settings
from rescoring.stage import Stage, stage_kinds

Described = TypeVar("Described")

_KEYS = ("title", "baseline", "data", "development", "sample")
_TABLES = ("text", "index", "lm", "generate", "sets", "settings", "stages")


@dataclass(frozen=True)
class SetTable(BagsTable):
    """The bags of one set; `mt` has what MT systems say of the same sentences."""

    mt: str = ""


@dataclass(frozen=True)
class MemoryTable:
    """Memory for estimating a language model."""

    memory: str = "2G"

    def __post_init__(self) -> None:
        parse_size(self.memory)


@dataclass(frozen=True)
class SettingTable:
    """A first-pass model of the order `lm`, the sets it is run on (default: all), and the largest bags it gets."""

    name: str
    lm: int = 4
    sets: list[str] = field(default_factory=list)
    longest: int = 0
    oracles: bool = False


@dataclass(frozen=True)
class Setting:
    """A setting with the values of generation in force."""

    table: SettingTable
    generate: Settings

    @property
    def name(self) -> str:
        return self.table.name


@dataclass(frozen=True)
class Experiment:
    """All that an experiment is."""

    name: str
    source: str
    title: str
    baseline: str
    data: str
    development: str
    sample: int
    text: TextTable
    index: ModelTable
    lm: MemoryTable
    sets: Mapping[str, SetTable]
    settings: tuple[Setting, ...]
    stages: tuple[TunedStage, ...]
    estimated: tuple[Stage, ...]  # the stages whose models are estimated on the text

    def with_sample(self, sample: int) -> Experiment:
        return replace(self, sample=sample)

    @property
    def parts(self) -> list[Setting | TunedStage]:
        """All that makes runs, in the order of the file."""
        return [*self.settings, *self.stages]

    def setting_sets(self, setting: Setting) -> list[str]:
        """The sets that a setting is run on, in the order of the file."""
        return [name for name in self.sets if name in (setting.table.sets or self.sets)]

    def stage_sets(self, stage: TunedStage) -> list[str]:
        """Those of what it is made from; with MT evidence, only where there is some."""
        before = next(part for part in self.parts if part.name == stage.source)
        sets = self.setting_sets(before) if isinstance(before, Setting) else self.stage_sets(before)
        return [name for name in sets if not stage.tuning.needs_mt or self.sets[name].mt]

    def model_orders(self) -> list[int]:
        """The orders of all KenLM models that are needed."""
        orders = {setting.table.lm for setting in self.settings}
        orders |= {order for stage in self.stages for order in stage.tuning.kenlm_orders}
        return sorted(orders)

    def is_absent(self) -> bool:
        """Whether the data that it needs is not there."""
        return bool(self.data) and not Path(self.data).is_dir()


def folder_name(name: str) -> str:
    """A name for a folder.

    >>> folder_name("+ depLM, λ tuned"), folder_name("Algorithm 1 (full)")
    ('deplm-λ-tuned', 'algorithm-1-full')
    """
    return re.sub(r"[^\w.]+", "-", name.lower()).strip("-")


def find_experiments(folder: Path, kind: str = "") -> dict[str, Path]:
    """The TOML files of a folder by name that have this kind: without a key `kind`, those that are described here.

    Configurations of run_pipeline.py, which have a table [run], are no experiments.
    """
    return {path.stem: path for path in sorted(folder.glob("*.toml")) if _kind(path) == kind}


def _kind(path: Path) -> str | None:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""  # `load_experiment` tells what is wrong with it
    return None if "run" in values else str(values.get("kind", ""))


def load_experiment(path: Path) -> Experiment:
    """Read an experiment; files in it are seen from the working folder."""
    return read_description(path, _to_experiment, _check)


def read_description(
    path: Path, make: Callable[[str, str, Mapping[str, Any]], Described], check: Callable[[Described], None]
) -> Described:
    """What `make` makes of a TOML file (its name, text and values), checked; each error names the file."""
    try:
        source = path.read_text(encoding="utf-8")
        values = tomllib.loads(source)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read: {getattr(error, 'strerror', None) or error}", path=path) from error
    try:
        experiment = make(path.stem, source, values)
        check(experiment)
    except InputError as error:
        raise InputError(str(error), path=path) from error
    return experiment


def _to_experiment(name: str, source: str, values: Mapping[str, Any]) -> Experiment:
    known = (*_KEYS, *_TABLES, *(kind.table for kind in stage_kinds().values() if kind.model_file))
    for key in values:
        if key not in known:
            raise InputError(f"found {key!r}; allowed are {', '.join(known)}")
    for key in ("text", "sets", "settings"):
        if key not in values:
            raise InputError(f"{key!r} is missing")
    common = _table(values, "generate")
    settings = tuple(_to_setting(each, common, n) for n, each in enumerate(_list(values, "settings"), 1))
    sets = {
        key: from_table(SetTable, _as_table(each, f"[sets.{key}]"), f"[sets.{key}]")
        for key, each in _table(values, "sets").items()
    }
    stages = tuple(
        to_stage(_as_table(each, f"[[stages]] {n}"), f"[[stages]] {n}")
        for n, each in enumerate(_list(values, "stages"), 1)
    )
    if not settings or not sets:
        raise InputError(f"found no {'sets' if settings else 'settings'}; at least one is needed")
    return Experiment(
        name=name,
        source=source,
        title=_value(values, "title", name),
        baseline=_value(values, "baseline", settings[0].name),
        data=_value(values, "data", ""),
        development=_value(values, "development", next(iter(sets))),
        sample=_value(values, "sample", 300),
        text=from_table(TextTable, _table(values, "text"), "[text]"),
        index=from_table(ModelTable, {"order": 5, **_table(values, "index")}, "[index]"),
        lm=from_table(MemoryTable, _table(values, "lm"), "[lm]"),
        sets=sets,
        settings=settings,
        stages=stages,
        estimated=tuple(
            from_table(kind, _table(values, kind.table), f"[{kind.table}]")
            for name, kind in stage_kinds().items()
            if kind.model_file and name in {stage.kind for stage in stages}
        ),
    )


def _to_setting(table: Any, common: Mapping[str, Any], number: int) -> Setting:
    place = f"[[settings]] {number}"
    own = dict(_as_table(table, place))
    generate = _as_table(own.pop("generate", {}), f"{place}, generate")
    setting = from_table(SettingTable, own, place)
    try:
        return Setting(setting, from_table(Settings, {**common, **generate}, "generate"))
    except InputError as error:
        raise InputError(f"{place} ({setting.name}): {error}") from error


def _check(experiment: Experiment) -> None:
    """That names are known where they are used, and told apart where they are given."""
    if experiment.sample < 1:
        raise InputError(f"found sample = {experiment.sample}; at least 1 is allowed")
    if experiment.development not in experiment.sets:
        raise InputError(f"found the development set {experiment.development!r}; {_allowed(experiment.sets)}")
    known: list[str] = []
    for each in experiment.parts:
        if not folder_name(each.name) or folder_name(each.name) in map(folder_name, known):
            raise InputError(f"found the name {each.name!r} twice or without a letter; each needs one of its own")
        if isinstance(each, Setting):
            for name in each.table.sets:
                if name not in experiment.sets:
                    raise InputError(f"found the set {name!r} of {each.name!r}; {_allowed(experiment.sets)}")
            if not 1 <= each.table.lm <= 6:
                raise InputError(f"found lm = {each.table.lm} of {each.name!r}; orders from 1 to 6 are allowed")
            if each.generate.rule_lengths[1] > experiment.index.order:
                raise InputError(f"the rules of {each.name!r} need an index of order {each.generate.rule_lengths[1]}")
        elif each.source not in known:
            raise InputError(f"found the source {each.source!r} of {each.name!r}; {_allowed(known)} before it")
        elif experiment.development not in experiment.stage_sets(each):
            raise InputError(f"{each.name!r} cannot be tuned: {experiment.development!r} is not among its sets")
        known.append(each.name)
    if experiment.baseline not in known:
        raise InputError(f"found the baseline {experiment.baseline!r}; {_allowed(known)}")


def _allowed(names: Any) -> str:
    return f"allowed are {', '.join(map(repr, names))}"


def _as_table(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"found {value!r} for {place}; a table is allowed")
    return value


def _table(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    return _as_table(values.get(key, {}), f"[{key}]")


def _list(values: Mapping[str, Any], key: str) -> list[Any]:
    found = values.get(key, [])
    if not isinstance(found, list):
        raise InputError(f"found {key!r} as one table; a list of tables, [[{key}]], is allowed")
    return found


T = TypeVar("T", str, int)


def _value(values: Mapping[str, Any], key: str, default: T) -> T:
    found = values.get(key, default)
    if not isinstance(found, type(default)) or isinstance(found, bool):
        raise InputError(f"found {key} = {found!r}; {type(default).__name__} is allowed")
    return found
