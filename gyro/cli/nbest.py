"""The command nbest."""

from __future__ import annotations

import argparse

from gyro.cli.output import open_output
from gyro.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    help_line = "the folder of a run; of several, one after the other, and numbers of sentences go on"
    parser.add_argument("runs", nargs="+", metavar="DIR", help=help_line)
    parser.add_argument("-n", type=int, default=100, metavar="N", help="orders a bag (default 100)")
    help_line = "default: moses; tsv: text, a tab and the cost, with an empty line after each bag"
    parser.add_argument("--format", choices=["moses", "jsonl", "tsv"], default="moses", help=help_line)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: stdout")


def run(arguments: argparse.Namespace) -> int:
    from gyro.run.batch import write_nbest
    from gyro.run.folder import open_run

    if arguments.n < 1:
        raise InputError(f"found -n {arguments.n}; at least 1 is allowed")
    with open_output(arguments.output) as file:
        before = 0
        for folder in arguments.runs:
            run = open_run(folder)
            write_nbest(run, arguments.n, arguments.format, file, before=before)
            before += len(run)
    return 0
