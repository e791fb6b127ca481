"""The command generate: many bags, by GYRO or by a system that it is compared with."""

from __future__ import annotations

import argparse
from itertools import chain, islice
from typing import Any

from gyro.cli.parser import CommandParser
from gyro.cli.spark_options import add_spark_arguments, executors_of
from gyro.errors import InputError
from gyro.notation import parse_slice
from gyro.run.system import SYSTEMS, system_kind
from gyro.text.bag import Bag
from gyro.text.bag_file import read_bag_files


def add_arguments(parser: CommandParser) -> None:
    help_line = "files of bags, one a line, or JSON Lines with id and tokens; - for stdin"
    parser.add_argument("bags", nargs="+", metavar="BAGS", help=help_line)
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder of the run")
    parser.add_argument("--jobs", "-j", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--range", metavar="A:B", help="only these lines of all files, counted from 1, like 1:100")
    parser.add_argument(
        "-n", "--nbest", type=int, default=100, metavar="N", help="length of n-best lists (default 100)"
    )
    parser.add_argument("--overwrite", action="store_true", help="start anew in a folder that holds another run")
    parser.add_argument("--retry-failed", action="store_true", help="try bags again that failed in an earlier start")
    parser.add_argument("--gzip", action="store_true", help="gzip the lattices: N.fst.gz")
    parser.add_argument(
        "--system",
        choices=tuple(SYSTEMS),
        default="gyro",
        help="default: %(default)s; the options below are those of the system: ask with --system NAME --help",
    )
    add_spark_arguments(parser)
    chosen = parser.value_of("--system", "gyro")
    if chosen in SYSTEMS:  # else the parser tells what is allowed
        system_kind(chosen).add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    first, last = parse_slice(arguments.range) if arguments.range else (1, None)
    bags = islice(read_bag_files(arguments.bags), first - 1, last)
    start = list(islice(bags, 1))
    if not start:
        raise InputError("no bags in that range" if arguments.range else "no bags", path=arguments.bags[-1])
    system = system_kind(arguments.system).open_system(arguments)
    with executors_of(arguments) as place:
        summary = system.run(chain(start, bags), arguments.output, **_options(arguments), **place)
    print("\n".join(filter(None, (summary.text(), system.run_text(arguments.output)))))
    return summary.exit_code


def hand_over(arguments: argparse.Namespace, bag: Bag) -> None:
    """In an executor: open the system, whose batch ends as a HandOver."""
    system = system_kind(arguments.system).open_system(arguments)
    system.run([bag], arguments.output, hand_over=True, **_options(arguments))


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in ("jobs", "nbest", "overwrite", "retry_failed", "gzip")}
