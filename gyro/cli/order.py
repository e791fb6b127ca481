"""The command order."""

from __future__ import annotations

import argparse

from gyro.search import options
from gyro.text.bag import Bag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD", help="the bag; one quoted string is split at its blanks")
    parser.add_argument("-n", "--nbest", type=int, default=1, metavar="N", help="orders to print (default 1)")
    parser.add_argument("--lattice", metavar="FILE", help="write the lattice too")
    options.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    bag = Bag(tuple(word for text in arguments.words for word in text.split()))
    generator = options.open_system(arguments)
    if arguments.nbest > 1 and arguments.algorithm == "exact" and not arguments.lattice:
        hypotheses = generator.nbest(bag, arguments.nbest).hypotheses  # all n of them, also those beyond β
    else:
        ordering = generator.order(bag)
        if arguments.lattice:
            ordering.write(arguments.lattice)
        hypotheses = ordering.nbest(arguments.nbest)
    for hypothesis in hypotheses:
        cost = f"{hypothesis.cost:.4f}\t" if arguments.nbest > 1 else ""
        print(cost + " ".join(hypothesis.tokens))
    return 0
