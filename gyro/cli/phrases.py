"""The command phrases."""

from __future__ import annotations

import argparse

from gyro.cli.output import open_output
from gyro.index.phrase import find_phrases
from gyro.index.reader import open_index
from gyro.text.bag_file import read_bags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("index", metavar="INDEX", help="the folder of an index")
    parser.add_argument("bags", metavar="BAGS", help="bags, one a line, or JSON Lines; - for stdin")
    parser.add_argument("--order", type=int, default=5, metavar="N", help="longest phrases (default 5)")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: stdout")


def run(arguments: argparse.Namespace) -> int:
    index = open_index(arguments.index)
    with open_output(arguments.output) as file:
        for bag in read_bags(arguments.bags):
            for phrase in find_phrases(index, bag, min(arguments.order, index.order)):
                file.write(f"{bag.id}\t{phrase.count}\t{' '.join(phrase.words)}\n")
    return 0
