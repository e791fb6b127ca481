"""The options of commands that read lattices, and those of runs made of them.

LATTICES             what may stand for lattices, for help lines
add_marks_argument   labels of lattices without symbols that are no words
open_source          the lattices, or a range of them, of which there must be some
add_batch_arguments  processes, length of n-best lists, limits, overwriting, retrying
limits_of            the limits of time and memory that they set
batch_options        all that they say, for `gyro.run.batch.run_batch`
"""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from gyro.errors import InputError
from gyro.notation import parse_size, parse_slice

if TYPE_CHECKING:
    from rescoring.source import LatticeSource

LATTICES = "the folder of a run, a folder of .fst files, one such file, or an n-best list (.txt, .nbest, .jsonl)"


def add_marks_argument(parser: argparse.ArgumentParser) -> None:
    help_line = "labels of sentence marks in lattices without symbols, like 1 2: they are left out"
    parser.add_argument("--marks", type=int, nargs=2, default=[], metavar=("START", "END"), help=help_line)


def open_source(path: str, range: str | None = None, marks: Collection[int] = ()) -> LatticeSource:
    from rescoring.source import open_lattices

    source = open_lattices(path, marks=marks)
    if range:
        source = source.part(*parse_slice(range))
    if not len(source):
        raise InputError("no lattices in that range" if range else "no lattices", path=path)
    return source


def add_batch_arguments(parser: argparse.ArgumentParser, nbest_help: str = "length of n-best lists") -> None:
    parser.add_argument("--jobs", "-j", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--range", metavar="A:B", help="only these lattices, counted from 1, like 1:100")
    parser.add_argument("-n", "--nbest", type=int, default=100, metavar="N", help=f"{nbest_help} (default 100)")
    parser.add_argument("--time-limit", type=float, metavar="S", help="seconds a lattice (default: no limit)")
    parser.add_argument("--memory-limit", metavar="SIZE", help="memory a process, like 4G (default: no limit)")
    parser.add_argument("--overwrite", action="store_true", help="start anew in a folder that holds another run")
    parser.add_argument("--retry-failed", action="store_true", help="try again what failed in an earlier start")
    parser.add_argument("--gzip", action="store_true", help="gzip the lattices: N.fst.gz")


def limits_of(arguments: argparse.Namespace) -> dict[str, Any]:
    size = arguments.memory_limit
    return {"time_limit": arguments.time_limit, "memory_limit": None if size is None else parse_size(size)}


def batch_options(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("jobs", "nbest", "overwrite", "retry_failed", "gzip")
    return {name: getattr(arguments, name) for name in names} | limits_of(arguments)
