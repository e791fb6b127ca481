"""Commands that order bags: generate, order."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import fields
from itertools import islice
from typing import TYPE_CHECKING, Any

from gyro.bag import Bag
from gyro.bag_file import read_bags
from gyro.errors import InputError
from gyro.settings import ALGORITHMS, Settings, parse_slice

if TYPE_CHECKING:
    from gyro.generation import Generator

_DEFAULT = Settings()


def add_model_arguments(parser: argparse.ArgumentParser, default_time: float | None = _DEFAULT.time_limit) -> None:
    """The options that every ordering command shares: index, model, and all of Settings."""
    group = parser.add_argument_group("index and model (or the variables GYRO_INDEX and GYRO_LM)")
    group.add_argument("--index", default=os.environ.get("GYRO_INDEX"), metavar="DIR", help="an index of gyro index")
    group.add_argument("--lm", default=os.environ.get("GYRO_LM"), metavar="MODEL", help="a KenLM binary or ARPA file")
    group = parser.add_argument_group("search")
    group.add_argument("--algorithm", choices=ALGORITHMS, default=_DEFAULT.algorithm, help="default: %(default)s")
    group.add_argument(
        "--rules", default="", metavar="SPAN", help="lengths of phrase rules (default 1-5 for exact and beam, else 3-5)"
    )
    group.add_argument(
        "--phrase-cost",
        default="",
        metavar="COSTS",
        help="exact and beam: soft costs of rules, like phrase=1.5,length1=0.5,count=0.1 (default none)",
    )
    group.add_argument("--beta", type=float, default=_DEFAULT.beta, metavar="β", help="beam in nats (default 10)")
    group.add_argument(
        "--first-row", type=int, default=_DEFAULT.first_row, metavar="r", help="first row that is pruned (default 6)"
    )
    group.add_argument("--beam", type=int, default=_DEFAULT.beam, metavar="N", help="nodes a row (default 64)")
    group.add_argument("--max-arcs", type=int, default=0, metavar="N", help="exact: the largest β with this many arcs")
    group.add_argument(
        "--max-tokens",
        type=int,
        default=20,
        metavar="N",
        help="longer references are cut (default 20; 0: never)",
    )
    group.add_argument(
        "--time-limit", type=float, default=default_time, metavar="S", help="seconds a bag (default 60; best-first 5)"
    )
    group.add_argument("--memory-limit", default="4G", metavar="SIZE", help="memory a process (default 4G)")


def settings_of(arguments: argparse.Namespace) -> Settings:
    return Settings(**{f.name: getattr(arguments, f.name) for f in fields(Settings)})


def open_generator(arguments: argparse.Namespace) -> Generator:
    """The generator that the options ask for; the heavy modules are loaded here, after all checks on the options."""
    from gyro.generation import Generator
    from gyro.index import open_index
    from lm.kenlm_model import load_model

    if not arguments.index or not arguments.lm:
        raise InputError("--index DIR and --lm MODEL are needed")
    return Generator(open_index(arguments.index), load_model(arguments.lm), settings_of(arguments))


def generate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bags", metavar="BAGS", help="bags, one a line, or JSON Lines with id and tokens; - for stdin")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder of the run")
    parser.add_argument("--jobs", "-j", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--range", metavar="A:B", help="only these lines, counted from 1, like 1:100")
    parser.add_argument(
        "-n", "--nbest", type=int, default=100, metavar="N", help="length of n-best lists (default 100)"
    )
    parser.add_argument("--overwrite", action="store_true", help="start anew in a folder that holds another run")
    parser.add_argument("--retry-failed", action="store_true", help="try bags again that failed in an earlier start")
    parser.add_argument("--system", choices=tuple(SYSTEMS), default="gyro", help="default: %(default)s")
    group = parser.add_argument_group("the system best-first (with --beam, --time-limit and --lm of those below)")
    group.add_argument("--model", metavar="MODEL", help="a model of gyro train")
    group.add_argument("--goals", type=int, default=1, metavar="N", help="whole sentences to look for (default 1)")
    group.add_argument(
        "--edge-limit", type=int, default=0, metavar="N", help="edges scored a bag (default: any number)"
    )
    group.add_argument("--complete", action="store_true", help="add the words that an output lacks, in LM order")
    add_model_arguments(parser, None)
    parser.set_defaults(beam=None)


def generate_command(arguments: argparse.Namespace) -> int:
    first, last = parse_slice(arguments.range) if arguments.range else (1, None)
    bags = list(islice(read_bags(arguments.bags), first - 1, last))
    if not bags:
        raise InputError("no bags in that range" if arguments.range else "no bags", path=arguments.bags)
    return SYSTEMS[arguments.system](arguments, bags)


def _batch_options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in ("jobs", "nbest", "overwrite", "retry_failed")}


def _generate_with_gyro(arguments: argparse.Namespace, bags: Sequence[Bag]) -> int:
    for name in ("beam", "time_limit"):
        if getattr(arguments, name) is None:
            setattr(arguments, name, getattr(_DEFAULT, name))
    summary = open_generator(arguments).run(bags, arguments.output, **_batch_options(arguments))
    print(summary.text())
    return int(summary.exit_code)


def _generate_best_first(arguments: argparse.Namespace, bags: Sequence[Bag]) -> int:
    from comparison.best_first_model import load_model
    from comparison.best_first_system import BestFirstSystem, GenerationSettings, SyntaxTotals
    from lm.loading import load_language_model

    if not arguments.model:
        raise InputError("--model MODEL is needed: a folder that gyro train wrote")
    model = load_model(arguments.model)
    settings = GenerationSettings(
        time_limit=5.0 if arguments.time_limit is None else arguments.time_limit,
        edge_limit=arguments.edge_limit,
        goals=arguments.goals,
        beam=arguments.beam or 0,
        complete=arguments.complete,
    )
    language_model = load_language_model(arguments.lm) if arguments.lm else None
    system = BestFirstSystem(model, settings, language_model)
    summary = system.run(bags, arguments.output, **_batch_options(arguments))
    print(f"{summary.text()}\n{SyntaxTotals(arguments.output).text()}")
    return int(summary.exit_code)


SYSTEMS: dict[str, Callable[[argparse.Namespace, Sequence[Bag]], int]] = {
    "gyro": _generate_with_gyro,
    "best-first": _generate_best_first,
}


def order_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD", help="the bag; one quoted string is split at its blanks")
    parser.add_argument("-n", "--nbest", type=int, default=1, metavar="N", help="orders to print (default 1)")
    parser.add_argument("--lattice", metavar="FILE", help="write the lattice too")
    add_model_arguments(parser)


def order_command(arguments: argparse.Namespace) -> int:
    bag = Bag(tuple(word for text in arguments.words for word in text.split()))
    generator = open_generator(arguments)
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
