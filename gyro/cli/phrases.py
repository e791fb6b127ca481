"""The command phrases."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from gyro.cli.output import open_output
from gyro.errors import InputError
from gyro.index.phrase import find_phrases
from gyro.index.reader import open_index
from gyro.text.bag_file import read_bag_files


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bags", nargs="+", metavar="BAGS", help="bags, one a line, or JSON Lines; - for stdin")
    help_line = "an index of gyro index (or the variable GYRO_INDEX)"
    parser.add_argument("--index", default=os.environ.get("GYRO_INDEX"), metavar="DIR", help=help_line)
    parser.add_argument("--order", type=int, default=5, metavar="N", help="longest phrases (default 5)")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: stdout")


def run(arguments: argparse.Namespace) -> int:
    if Path(arguments.bags[0]).is_dir():
        raise InputError("found a folder; files of bags are allowed, and --index DIR", path=arguments.bags[0])
    if not arguments.index:
        raise InputError("--index DIR is needed")
    if arguments.order < 1:
        raise InputError(f"found --order {arguments.order}; at least 1 is allowed")
    index = open_index(arguments.index)
    with open_output(arguments.output) as file:
        for bag in read_bag_files(arguments.bags):
            for phrase in find_phrases(index, bag, min(arguments.order, index.order)):
                file.write(f"{bag.id}\t{phrase.count}\t{' '.join(phrase.words)}\n")
    return 0
