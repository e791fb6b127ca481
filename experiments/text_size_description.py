"""An experiment of the kind "text-size" as its TOML file tells it: the same bags with more and more text.

TextSizeExperiment  text and the sizes of its parts, sets of bags, and ways to order them
WayTable            one way: [[settings]], with what [generate] says for all
Way                 the same with the values of generation in force
PublishedTable      [published]: the size and parse rate of a publication, that the curve is held against
load_text_size      read a file; every mistake is one clear line

    kind = "text-size"
    title, data, sample    as in experiments.description
    seed = 1               of the parts of the text
    sizes = [250000]       tokens of the parts; the whole text comes after them
    rules = ["3-5"]        whose parse rate is measured
    [text] [index] [lm] [sets.NAME] [generate]
    [[settings]]           name, models = ["own", "whole"], generate = { … }
    [published]            words, parse_rate and rules

A way is run with the index of each part, and with the model of the same part (`own`) or of the whole text (`whole`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from experiments.description import read_description
from experiments.experiment import folder_name
from gyro.errors import InputError
from gyro.notation import from_table, parse_span
from gyro.pipeline.config import BagsTable, ModelTable, TextTable
from gyro.search.settings import Settings

KIND = "text-size"
MODELS = ("own", "whole")
_KEYS = ("kind", "title", "data", "sample", "seed", "sizes", "rules")
_TABLES = ("text", "index", "lm", "generate", "sets", "settings", "published")


@dataclass(frozen=True)
class WayTable:
    """A way to order bags, and which models it gets."""

    name: str
    models: list[str] = field(default_factory=lambda: list(MODELS))

    def __post_init__(self) -> None:
        if not self.models or not set(self.models) <= set(MODELS):
            raise InputError(f"found the models {self.models} of {self.name!r}; allowed are {', '.join(MODELS)}")


@dataclass(frozen=True)
class Way:
    """A way with the values of generation in force."""

    name: str
    models: tuple[str, ...]
    generate: Settings


@dataclass(frozen=True)
class PublishedTable:
    """The words of a text and the share of bags, between 0 and 1, that rules made of it can parse."""

    words: int
    parse_rate: float
    rules: str

    def __post_init__(self) -> None:
        if self.words < 1 or not 0 < self.parse_rate < 1:
            raise InputError("found no words, or a parse rate that is not between 0 and 1, in [published]")


@dataclass(frozen=True)
class TopTable:
    """The keys that stand before all tables."""

    title: str = ""
    data: str = ""
    sample: int = 300
    seed: int = 0
    sizes: list[int] = field(default_factory=list)
    rules: list[str] = field(default_factory=lambda: ["3-5"])


@dataclass(frozen=True)
class TextSizeExperiment:
    """All that an experiment of this kind is."""

    name: str
    source: str
    title: str
    data: str
    sample: int
    seed: int
    sizes: tuple[int, ...]
    rules: tuple[str, ...]
    text: TextTable
    index: ModelTable
    lm: ModelTable
    sets: Mapping[str, BagsTable]
    ways: tuple[Way, ...]
    max_tokens: int
    published: PublishedTable | None

    def with_sample(self, sample: int) -> TextSizeExperiment:
        return replace(self, sample=sample)

    def is_absent(self) -> bool:
        """Whether the data that it needs is not there."""
        return bool(self.data) and not Path(self.data).is_dir()


def load_text_size(path: Path) -> TextSizeExperiment:
    """Read an experiment; files in it are seen from the working folder."""
    return read_description(path, _to_experiment, _check)


def _to_experiment(name: str, source: str, values: Mapping[str, Any]) -> TextSizeExperiment:
    for key in values:
        if key not in (*_KEYS, *_TABLES):
            raise InputError(f"found {key!r}; allowed are {', '.join((*_KEYS, *_TABLES))}")
    for key in ("text", "sets", "settings"):
        if not values.get(key):
            raise InputError(f"{key!r} is missing")
    top = from_table(TopTable, {key: values[key] for key in _KEYS[1:] if key in values}, "the file")
    common = _table(values, "generate")
    sets = _table(values, "sets")
    ways = values["settings"]
    if not isinstance(ways, list):
        raise InputError("found 'settings' as one table; a list of tables, [[settings]], is allowed")
    published = _table(values, "published")
    return TextSizeExperiment(
        name=name,
        source=source,
        title=top.title or name,
        data=top.data,
        sample=top.sample,
        seed=top.seed,
        sizes=tuple(top.sizes),
        rules=tuple(top.rules),
        text=from_table(TextTable, _table(values, "text"), "[text]"),
        index=from_table(ModelTable, {"order": 5, **_table(values, "index")}, "[index]"),
        lm=from_table(ModelTable, {"order": 4, **_table(values, "lm")}, "[lm]"),
        sets={key: from_table(BagsTable, _table(sets, key), f"[sets.{key}]") for key in sets},
        ways=tuple(_to_way(each, common, number) for number, each in enumerate(ways, 1)),
        max_tokens=from_table(Settings, common, "[generate]").max_tokens,
        published=from_table(PublishedTable, published, "[published]") if published else None,
    )


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = values.get(key, {})
    if not isinstance(found, dict):
        raise InputError(f"found {key} = {found!r:.40}; a table is allowed")
    return found


def _to_way(table: Any, common: Mapping[str, Any], number: int) -> Way:
    place = f"[[settings]] {number}"
    if not isinstance(table, dict):
        raise InputError(f"found {table!r:.40} as {place}; a table is allowed")
    own = {key: value for key, value in table.items() if key != "generate"}
    way = from_table(WayTable, own, place)
    settings = from_table(Settings, {**common, **_table(table, "generate")}, f"{place}, generate")
    return Way(way.name, tuple(way.models), settings)


def _check(experiment: TextSizeExperiment) -> None:
    """That sizes rise, names are told apart, and the index is as long as the longest rule."""
    if experiment.sample < 1:
        raise InputError(f"found sample = {experiment.sample}; at least 1 is allowed")
    sizes = (0, *experiment.sizes)
    if any(one >= other for one, other in pairwise(sizes)):
        raise InputError(f"found the sizes {list(experiment.sizes)}; rising numbers of tokens over 0 are allowed")
    names = [folder_name(way.name) for way in experiment.ways]
    if len(set(names)) < len(names) or not all(names):
        raise InputError("found a name of [[settings]] twice or without a letter; each needs one of its own")
    spans = [parse_span(rules) for rules in experiment.rules] + [way.generate.rule_lengths for way in experiment.ways]
    for low, high in spans:
        if not 1 <= low <= high <= experiment.index.order:
            raise InputError(
                f"found the rules {low}-{high}; lengths from 1 to the index's {experiment.index.order} are allowed"
            )
    if experiment.published and experiment.published.rules not in experiment.rules:
        raise InputError(f"found the rules {experiment.published.rules!r} in [published]; they must be measured")
    if not experiment.max_tokens:
        raise InputError("found max_tokens = 0 in [generate]; bags must be cut, for a parse is sought in each piece")
