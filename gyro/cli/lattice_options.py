"""The options of commands that read lattices, and those of runs made of them.

LATTICES               what may stand for lattices, for help lines; most commands take several
add_lattice_arguments  how lattice files of other tools are read; `LatticeFormat.from_arguments` has what they say
open_source            the lattices, or a range of them, of which there must be some
add_batch_arguments    processes, length of n-best lists, limits, overwriting, retrying
limits_of              the limits of time and memory that they set
batch_options          all that they say, for `gyro.run.batch.run_batch`
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gyro.errors import InputError
from gyro.lattice.file_format import OWN_FORMAT, SIDES, LatticeFormat
from gyro.notation import parse_size, parse_slice

if TYPE_CHECKING:
    from rescoring.source import LatticeSource

LATTICES = (
    "the folder of a run, a folder of .fst files, one such file, or an n-best list (.txt, .nbest, .jsonl, .tsv; - for "
    "stdin, of Moses or JSON Lines)"
)


class _Numbers(argparse.Action):
    """Numbers with blanks or commas between them."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        parts = [part for value in values or () for part in value.split(",") if part]
        try:
            setattr(namespace, self.dest, [float(part) for part in parts])
        except ValueError as error:
            raise argparse.ArgumentError(self, f"found {' '.join(parts)!r:.60}; numbers are allowed") from error


def add_lattice_arguments(parser: argparse.ArgumentParser, prefix: str = "", of: str = "") -> None:
    """Add the options with a prefix before their names; `of` tells in the help lines what they are for."""
    group = parser.add_argument_group(f"lattice files of other tools{of}")
    names = ("START", "END")
    help_line = "labels of sentence marks in lattices without symbols, like 1 2: they are left out"
    group.add_argument(f"--{prefix}marks", type=int, nargs=2, metavar=names, help=help_line)
    help_line = "more labels without symbols to leave out, like 999999999 of deletions"
    group.add_argument(f"--{prefix}epsilon", type=int, nargs="+", metavar="LABEL", help=help_line)
    help_line = "what the costs in weights of several are multiplied with, before they are added"
    group.add_argument(f"--{prefix}scales", action=_Numbers, nargs="+", metavar="X", help=help_line)
    help_line = "the side of transducers that counts"
    group.add_argument(f"--{prefix}project", choices=SIDES, help=help_line)
    help_line = "a word and its label a line, for lattices without symbols"
    group.add_argument(f"--{prefix}wordmap", metavar="FILE", help=help_line)
    help_line = "the word for labels that are not in that file (default: refuse them)"
    group.add_argument(f"--{prefix}unknown", metavar="WORD", help=help_line)


def open_source(paths: Sequence[str], range: str | None = None, format: LatticeFormat = OWN_FORMAT) -> LatticeSource:
    """The sentences of all that is named, which have ids of their own."""
    from rescoring.source import join_sources, open_lattices

    source = join_sources([open_lattices(path, format=format) for path in paths])
    if range:
        source = source.part(*parse_slice(range))
    if not len(source):
        raise InputError("no lattices in that range" if range else "no lattices", path=paths[0])
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
