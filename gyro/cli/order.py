"""The command order."""

from __future__ import annotations

import argparse

from gyro.cli.constraint_options import add_constraint_arguments, constrained_bag
from gyro.run.system import system_kind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD", help="the bag; one quoted string is split at its blanks")
    parser.add_argument("-n", "--nbest", type=int, default=1, metavar="N", help="orders to print (default 1)")
    parser.add_argument("--lattice", metavar="FILE", help="write the lattice too")
    add_constraint_arguments(parser)
    system_kind("gyro").add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    bag = constrained_bag([word for text in arguments.words for word in text.split()], arguments)
    system = system_kind("gyro").open_system(arguments)
    from gyro.search.generator import Generator

    many = arguments.nbest > 1 and arguments.algorithm == "exact" and not arguments.lattice
    if many and isinstance(system, Generator):
        hypotheses = system.nbest(bag, arguments.nbest).hypotheses  # all n of them, also those beyond β
    else:
        ordering = system.order(bag)
        if arguments.lattice:
            ordering.write(arguments.lattice)
        hypotheses = ordering.nbest(arguments.nbest)
    for hypothesis in hypotheses:
        cost = f"{hypothesis.cost:.4f}\t" if arguments.nbest > 1 else ""
        print(cost + " ".join(hypothesis.tokens))
    return 0
