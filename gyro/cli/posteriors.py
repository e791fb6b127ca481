"""The command posteriors: the n-gram posteriors of lattices, written to a file."""

from __future__ import annotations

import argparse
import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from gyro.cli.hypothesis_options import add_hypotheses_arguments, open_chosen
from gyro.cli.lattice_options import LATTICES, add_lattice_arguments, limits_of
from gyro.cli.output import open_output
from gyro.errors import InputError
from gyro.files import write_atomically

# Those of gyro mbr, so that a file gives what the lattices themselves give there.
SCALE, PRUNE = 0.4, 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lattices", nargs="+", metavar="LATTICES", help=LATTICES)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="gzipped for .gz (default: stdout)")
    help_line = "words of the shortest n-grams (default 1)"
    parser.add_argument("--min-order", type=int, default=1, metavar="N", help=help_line)
    help_line = "words of the longest n-grams (default 4)"
    parser.add_argument("--max-order", type=int, default=4, metavar="N", help=help_line)
    help_line = f"of the costs (default {SCALE:g})"
    parser.add_argument("--scale", type=float, default=SCALE, metavar="X", help=help_line)
    help_line = f"only paths within so many nats of the cheapest count; inf: all (default {PRUNE:g})"
    parser.add_argument("--prune", type=float, default=PRUNE, metavar="X", help=help_line)
    help_line = "leave out n-grams with a smaller posterior (default: none)"
    parser.add_argument("--least", type=float, default=0.0, metavar="P", help=help_line)
    parser.add_argument("--jobs", "-j", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--range", metavar="A:B", help="only these lattices, counted from 1, like 1:100")
    parser.add_argument("--time-limit", type=float, metavar="S", help="seconds a lattice (default: no limit)")
    parser.add_argument("--memory-limit", metavar="SIZE", help="memory a process, like 4G (default: no limit)")
    add_hypotheses_arguments(parser)
    add_lattice_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from gyro.lattice.lattice import Lattice
    from gyro.run.progress import Progress
    from rescoring.in_order import each_in_order
    from rescoring.lattice_posterior import ngram_posteriors
    from rescoring.posterior import check_orders
    from rescoring.posterior_file import posterior_lines

    check_orders(arguments.min_order, arguments.max_order)
    if not 0.0 <= arguments.least <= 1.0:
        raise InputError(f"found --least {arguments.least}; 0 to 1 is allowed")
    if not 0.0 <= arguments.scale < float("inf") or not arguments.prune >= 0.0:
        raise InputError(f"found --scale {arguments.scale} and --prune {arguments.prune}; numbers from 0 are allowed")
    source = open_chosen(arguments)

    def lines(number: int, lattice: Lattice | None) -> str:
        options = {"order": arguments.max_order, "scale": arguments.scale, "prune": arguments.prune}
        posteriors = {} if lattice is None else ngram_posteriors(lattice, **options)
        return posterior_lines(source[number].id, posteriors, min_order=arguments.min_order, least=arguments.least)

    made = each_in_order(source, lines, arguments.jobs, **limits_of(arguments))
    with _open_packed(arguments.output) as file:
        for text in Progress(0, 0, sys.stderr).over(made, "posteriors", len(source)):
            file.write(text)
    return 0


@contextmanager
def _open_packed(path: str) -> Iterator[IO[str]]:
    """As `open_output`, and gzipped when the name says so; equal contents give equal bytes."""
    if not path.endswith(".gz"):
        with open_output(path) as file:
            yield file
        return
    with (
        write_atomically(path) as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as file,
    ):
        yield file
