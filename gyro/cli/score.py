"""The command score: one or many systems against the references."""

from __future__ import annotations

import argparse
import json

from gyro.score.evaluation import SIZES, parse_sizes
from gyro.score.significance import SAMPLES, SEED

_EPILOG = """\
a system is a file of orders, one a line, or the folder of a run; write PATH:NAME to name it in the table.
Without --ref the last argument is the file of references, unless it is a run: then the references of the runs' bags
are used.

  gyro score run                      a run, by the references of its bags
  gyro score output.txt references.txt
  gyro score a.txt b.txt --ref references.txt
  gyro score exact beam:beam64        two runs; the second is tested against the first
"""


def add_metric_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say how systems are compared: the same for scores and reports."""
    parser.add_argument("--baseline", metavar="NAME", help="what the others are tested against (default: the first)")
    parser.add_argument(
        "--sizes",
        default=",".join(map(str, SIZES)),
        metavar="N,N,…",
        help="the last sizes of the classes of bag sizes (default %(default)s)",
    )
    parser.add_argument("--tokenize", default="none", metavar="NAME", help="sacreBLEU's tokeniser (default none)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog, parser.formatter_class = _EPILOG, argparse.RawDescriptionHelpFormatter
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", help="orders, one a line, or the folder of a run")
    parser.add_argument("--ref", metavar="REF", help="references, one a line")
    add_metric_arguments(parser)
    parser.add_argument("--samples", type=int, default=SAMPLES, metavar="N", help="bootstrap samples (default 1000)")
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help="of the bootstrap (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    from gyro.score.outputs import parse_system, read_systems
    from gyro.score.significance import compare

    named = [parse_system(text) for text in arguments.systems]
    reference = arguments.ref
    if reference is None and len(named) > 1 and not named[-1][0].is_dir():
        reference = named.pop()[0]
    systems = read_systems(named, reference)
    comparison = compare(
        systems.outputs,
        systems.references,
        baseline=arguments.baseline,
        ids=systems.ids,
        tokenize=arguments.tokenize,
        sizes=parse_sizes(arguments.sizes),
        samples=arguments.samples,
        seed=arguments.seed,
    )
    print(json.dumps(comparison.to_json(), ensure_ascii=False, indent=2) if arguments.json else comparison.text())
    return 0
