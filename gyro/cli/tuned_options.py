"""The option --tuned: what `gyro tune` wrote, read by the commands that it is for.

add_tuned_argument  the option
mark_defaults       make it known which options the user has not given
is_default          whether a value is one of these
tuned_keys          the keys of a stage in the file
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from gyro.errors import InputError
from gyro.notation import read_keys
from gyro.pipeline.config import read_tables
from rescoring.stage import Stage


class _Float(float):
    """A default, which is told from the same number given by the user."""


class _Int(int):
    """The same of a whole number."""


def add_tuned_argument(parser: argparse.ArgumentParser, what: str) -> None:
    help_line = f"TOML of gyro tune, or the configuration of a run: {what}"
    parser.add_argument("--tuned", metavar="FILE", help=help_line)


def mark_defaults(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    """Those of numbers that have been added under these names."""
    known = {name: value for name in names if (value := parser.get_default(name)) is not None}
    parser.set_defaults(**{n: _Int(v) if isinstance(v, int) else _Float(v) for n, v in known.items()})


def is_default(value: object) -> bool:
    return isinstance(value, _Float | _Int)


def tuned_keys(path: str, kind: type[Stage]) -> dict[str, Any]:
    """The keys of the table of a stage, with their types checked; other tables are for other stages."""
    tables = read_tables(path)
    if kind.table not in tables:
        found = ", ".join(f"[{name}]" for name in tables) or "no tables"
        raise InputError(f"found {found}; the table [{kind.table}] is needed here", path=path)
    try:
        return read_keys(kind, tables[kind.table], f"[{kind.table}]")
    except InputError as error:
        raise InputError(str(error), path=path) from error
