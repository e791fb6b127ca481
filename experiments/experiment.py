"""An experiment: text, sets of bags, ways to make lattices of them, and the stages after that.

Experiment    all that an experiment is
SetTable      one set of bags, with the file of MT outputs for the same sentences where there is one
SettingTable  one way to make lattices
Setting       the same with the values of generation in force
folder_name   a name for the folder of a part of it

experiments.description reads it from a TOML file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from experiments.stage import TunedStage
from gyro.notation import parse_size
from gyro.pipeline.config import BagsTable, ModelTable, TextTable
from gyro.search.settings import Settings
from rescoring.stage import Stage


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
    gains: tuple[tuple[str, str], ...] = ()  # parts without and with something, whose difference is told

    def with_sample(self, sample: int) -> Experiment:
        return replace(self, sample=sample)

    @property
    def parts(self) -> list[Setting | TunedStage]:
        """All that makes runs, in the order of the file."""
        return [*self.settings, *self.stages]

    def setting_sets(self, setting: Setting) -> list[str]:
        """The sets that a setting is run on, in the order of the file."""
        return [name for name in self.sets if name in (setting.table.sets or self.sets)]

    def source_sets(self, stage: TunedStage) -> list[str]:
        """The sets that what a stage is made from is run on; with MT evidence, only those where there is some."""
        before = next(part for part in self.parts if part.name == stage.source)
        sets = self.setting_sets(before) if isinstance(before, Setting) else self.stage_sets(before)
        return [name for name in sets if not stage.tuning.needs_mt or self.sets[name].mt]

    def stage_sets(self, stage: TunedStage) -> list[str]:
        """The sets that a stage is run on: all of its source's, or those of them that it names."""
        return [name for name in self.source_sets(stage) if not stage.table.sets or name in stage.table.sets]

    def first_setting(self, stage: TunedStage) -> Setting:
        """The setting that a stage goes back to."""
        before = next(part for part in self.parts if part.name == stage.source)
        return before if isinstance(before, Setting) else self.first_setting(before)

    def development_of(self, stage: TunedStage) -> str:
        """The set that a stage is tuned on."""
        return stage.table.development or self.development

    def values_of(self, stage: TunedStage) -> TunedStage:
        """The stage whose values it has: itself, as a rule."""
        if not stage.table.values_of:
            return stage
        return self.values_of(next(each for each in self.stages if each.name == stage.table.values_of))

    def is_tuned(self, stage: TunedStage) -> bool:
        """Whether values are looked for on a development set, and not given or taken from another stage."""
        return not stage.table.values_of and stage.tuning.known() is None

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
