"""The command order: bags given at the prompt, or read from files and pipes as `gyro generate` reads them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gyro.cli.constraint_options import add_constraint_arguments, constrained_bag, refuse_constraints
from gyro.cli.output import write_line
from gyro.errors import InputError
from gyro.run.system import System, system_kind
from gyro.search.settings import MAX_TOKENS
from gyro.text.bag import Bag
from gyro.text.bag_file import read_bag_files

if TYPE_CHECKING:
    from gyro.lattice.lattice import Hypothesis
    from gyro.run.outcome import Outcome


def add_arguments(parser: argparse.ArgumentParser) -> None:
    help_line = (
        f"the bag, of up to {MAX_TOKENS} tokens; a quoted string is split at its blanks; - reads bags from stdin"
    )
    parser.add_argument("words", nargs="*", metavar="WORD", help=help_line)
    help_line = "read bags from these files, one a line or JSON Lines; - for stdin"
    parser.add_argument("--bags", nargs="+", default=[], metavar="FILE", help=help_line)
    parser.add_argument("-n", "--nbest", type=int, default=1, metavar="N", help="orders to print (default 1)")
    parser.add_argument("--json", action="store_true", help="print a JSON object a bag: its orders, costs and outcome")
    parser.add_argument("--lattice", metavar="FILE", help="write the lattice too; of one bag")
    add_constraint_arguments(parser)
    system_kind("gyro").add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.nbest < 1:
        raise InputError(f"found -n {arguments.nbest}; at least 1 is allowed")
    bags = _bags(arguments)
    system = system_kind("gyro").open_system(arguments)
    for number, bag in enumerate(bags):
        if arguments.lattice and number:
            raise InputError("found --lattice and several bags; gyro generate writes the lattices of many")
        hypotheses, outcome = _order(system, bag, arguments)
        if arguments.json:
            write_line(sys.stdout, _record(hypotheses, outcome))
        else:
            _print(hypotheses, with_costs=arguments.nbest > 1, is_one=not _reads_files(arguments))
        sys.stdout.flush()  # who is at the other end of a pipe waits for it
    return 0


def _reads_files(arguments: argparse.Namespace) -> bool:
    return bool(arguments.bags) or arguments.words == ["-"]


def _bags(arguments: argparse.Namespace) -> Iterable[Bag]:
    """One bag, which has words; of files all, and an empty line there is an empty bag with an empty order."""
    if arguments.words and arguments.bags:
        raise InputError("found words and --bags; one or the other is allowed")
    if _reads_files(arguments):
        refuse_constraints(arguments, "bags of files have their own (docs/formats.md)")
        return _known(read_bag_files(arguments.bags or ["-"]))
    words = [word for text in arguments.words for word in text.split()]
    if not words:
        raise InputError("found an empty bag; words are needed, or - to read bags from stdin")
    return [replace(constrained_bag(words, arguments), id="1")]


def _known(bags: Iterator[Bag]) -> Iterator[Bag]:
    """The same bags, of which there must be one."""
    found = False
    for bag in bags:
        found = True
        yield bag
    if not found:
        raise InputError("found no bags in what was read; one a line is needed")


def _order(system: System, bag: Bag, arguments: argparse.Namespace) -> tuple[Sequence[Hypothesis], Outcome]:
    from gyro.search.generator import Generator

    ordering = system.order(bag)
    if arguments.lattice:
        ordering.write(arguments.lattice)
    hypotheses: Sequence[Hypothesis] = ordering.nbest(arguments.nbest)
    searched = arguments.algorithm == "exact" and not ordering.outcome.pieces
    if (
        searched
        and isinstance(system, Generator)
        and not arguments.lattice
        and not _has_all(hypotheses, ordering.outcome, arguments.nbest)
    ):
        hypotheses = system.nbest(bag, arguments.nbest).hypotheses  # all n of them, also those beyond β
    return hypotheses, ordering.outcome


def _has_all(hypotheses: Sequence[Hypothesis], outcome: Outcome, n: int) -> bool:
    """Whether no other order is among the n best: all within β are known, or one is asked for."""
    if n == 1 or len(hypotheses) < n:
        return n == 1
    return bool(outcome.proved) and hypotheses[-1].cost - hypotheses[0].cost <= (outcome.beta or 0.0)


def _print(hypotheses: Sequence[Hypothesis], *, with_costs: bool, is_one: bool) -> None:
    """The orders, as `gyro best` and `gyro nbest` print those of many bags."""
    for hypothesis in hypotheses:
        cost = f"{hypothesis.cost:.4f}\t" if with_costs else ""
        print(cost + " ".join(hypothesis.tokens))
    if with_costs and not is_one:
        print()


def _record(hypotheses: Sequence[Hypothesis], outcome: Outcome) -> dict[str, Any]:
    orders = [{"text": " ".join(h.tokens), "tokens": h.tokens, "cost": round(h.cost, 4)} for h in hypotheses]
    return {"id": outcome.id, "orders": orders, "outcome": outcome.to_json()}
