"""The options of commands that read lattices, and those of runs made of them.

LATTICES             what may stand for lattices, for help lines
open_source          the lattices, of which there must be some
add_batch_arguments  processes, length of n-best lists, overwriting
batch_options        what they say, for `gyro.run.batch.run_batch`
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gyro.errors import InputError

if TYPE_CHECKING:
    from rescoring.source import LatticeSource

LATTICES = "the folder of a run, a folder of .fst files, one such file, or an n-best list (.txt, .nbest, .jsonl)"


def open_source(path: str) -> LatticeSource:
    from rescoring.source import open_lattices

    source = open_lattices(path)
    if not len(source):
        raise InputError("no lattices", path=path)
    return source


def add_batch_arguments(parser: argparse.ArgumentParser, nbest_help: str = "length of n-best lists") -> None:
    parser.add_argument("--jobs", "-j", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("-n", "--nbest", type=int, default=100, metavar="N", help=f"{nbest_help} (default 100)")
    parser.add_argument("--overwrite", action="store_true", help="start anew in a folder that holds another run")


def batch_options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in ("jobs", "nbest", "overwrite")}
