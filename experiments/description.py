"""An experiment as its TOML file tells it.

load_experiment  read a file; every mistake is one clear line
read_description the same for any kind of experiment
find_experiments the experiments of a folder by name

    title = "…"            of the report
    baseline = "…"         the setting that the others are tested against (default: the first)
    data = "…"             a folder without which the experiment is skipped
    development = "dev"    the set that parameters are tuned on, unless a stage names another; the last is the test set
    sample = 300           bags of each set, drawn with the set's seed
    gains = [["a", "b"]]   settings and stages without and with something: a table tells what that brings
    [text] [index]         as in the configuration of run_pipeline.py
    [lm]                   memory for estimating the models
    [dependency]           order of the dependency model, and about how many sentences it is estimated on (0: all)
    [generate]             what all settings have in common
    [sets.NAME]            a set of bags (experiments.experiment)
    [[settings]]           a way to make lattices (experiments.experiment)
    [[stages]]             a stage after them (experiments.stage)
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from experiments.experiment import Experiment, MemoryTable, SetTable, Setting, SettingTable, folder_name
from experiments.stage import TunedStage, to_stage
from gyro.errors import InputError
from gyro.notation import from_table
from gyro.pipeline.config import ModelTable, TextTable
from gyro.search.settings import Settings
from rescoring.stage import stage_kinds

Described = TypeVar("Described")

_KEYS = ("title", "baseline", "data", "development", "sample", "gains")
_TABLES = ("text", "index", "lm", "generate", "sets", "settings", "stages")


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
        gains=_to_gains(values.get("gains", [])),
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


def _to_gains(value: Any) -> tuple[tuple[str, str], ...]:
    pairs = []
    for each in value if isinstance(value, list) else [value]:
        match each:
            case [str() as without, str() as with_it]:
                pairs.append((without, with_it))
            case _:
                raise InputError(f"found {each!r:.60} in gains; pairs of names, without and with, are allowed")
    return tuple(pairs)


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
            _check_setting(experiment, each)
        else:
            _check_stage(experiment, each, known)
        known.append(each.name)
    if experiment.baseline not in known:
        raise InputError(f"found the baseline {experiment.baseline!r}; {_allowed(known)}")
    for name in (name for pair in experiment.gains for name in pair):
        if name not in known:
            raise InputError(f"found {name!r} in gains; {_allowed(known)}")


def _check_setting(experiment: Experiment, setting: Setting) -> None:
    for name in setting.table.sets:
        if name not in experiment.sets:
            raise InputError(f"found the set {name!r} of {setting.name!r}; {_allowed(experiment.sets)}")
    if not 1 <= setting.table.lm <= 6:
        raise InputError(f"found lm = {setting.table.lm} of {setting.name!r}; orders from 1 to 6 are allowed")
    if setting.generate.rule_lengths[1] > experiment.index.order:
        raise InputError(f"the rules of {setting.name!r} need an index of order {setting.generate.rule_lengths[1]}")


def _check_stage(experiment: Experiment, stage: TunedStage, known: list[str]) -> None:
    """`known` are the names of the parts before it."""
    if stage.source not in known:
        raise InputError(f"found the source {stage.source!r} of {stage.name!r}; {_allowed(known)} before it")
    sets, development = experiment.source_sets(stage), experiment.development_of(stage)
    for name in stage.table.sets:
        if name not in sets:
            raise InputError(f"found the set {name!r} of {stage.name!r}; {_allowed(sets)}, those of its source")
    if stage.table.values_of:
        alike = [each.name for each in experiment.stages if each.kind == stage.kind and each.name in known]
        if stage.table.values_of not in alike:
            found = f"found values_of = {stage.table.values_of!r} of {stage.name!r}"
            raise InputError(f"{found}; {_allowed(alike)}, the stages of its kind before it")
    elif development not in experiment.sets:
        raise InputError(f"found the development set {development!r} of {stage.name!r}; {_allowed(experiment.sets)}")
    elif experiment.is_tuned(stage) and development not in sets:
        raise InputError(f"{stage.name!r} cannot be tuned: {development!r} is not among its sets")


def _allowed(names: Any) -> str:
    return f"allowed are {', '.join(map(repr, names)) or 'none'}"


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
