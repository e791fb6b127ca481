"""The command judge: a page on which people compare orders, and the count of what they said."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from gyro.errors import InputError

if TYPE_CHECKING:
    from gyro.judge.pair import Trial

_EPILOG = """\
a RUN is the folder of a run, or a file of orders with a line for each bag of the first run; RUN:NAME names it.

  gyro judge exact beam -o judge.html                 all pairs of different orders
  gyro judge exact beam ccg.txt:CCG -o judge.html --bags 75 --longest 20
  gyro judge --tally judgements-ann.jsonl judgements-bob.jsonl
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog, parser.formatter_class = _EPILOG, argparse.RawDescriptionHelpFormatter
    parser.add_argument("runs", nargs="*", metavar="RUN", help="the orders that are compared; two or more")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page, like judge.html")
    parser.add_argument("--bags", type=int, metavar="N", help="a sample of N of the bags whose orders differ")
    parser.add_argument("--longest", type=int, metavar="N", help="only bags of at most N tokens")
    parser.add_argument("--no-reference", action="store_true", help="show the orders without the reference")
    parser.add_argument("--natural", action="store_true", help="write orders as text is: Don't!, and not Do n't !")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="of the sample, the order of pairs, and what stands first (default 1)"
    )
    parser.add_argument("--title", metavar="TEXT", help="what stands on top of the page (default: Word ordering)")
    parser.add_argument("--tally", nargs="+", metavar="FILE", help="count the files that the page saved")
    parser.add_argument("--json", action="store_true", help="with --tally: print JSON")


def run(arguments: argparse.Namespace) -> int:
    if arguments.tally is None:
        return _make_page(arguments)
    for option in ("runs", "output", "bags", "longest", "no_reference", "natural", "seed", "title"):
        if (value := getattr(arguments, option)) is not None and value is not False and value != []:
            raise InputError(f"found {_shown(option)} beside --tally, which takes files and --json alone")
    from gyro.judge.judgement import read_judgements
    from gyro.judge.tally import tally

    found = tally(read_judgements([Path(name) for name in arguments.tally]))
    print(json.dumps(found.to_json(), ensure_ascii=False, indent=2) if arguments.json else found.text())
    return 0


def _make_page(arguments: argparse.Namespace) -> int:
    from gyro.judge.page import write_page
    from gyro.judge.pair import SEED, read_trial
    from gyro.score.outputs import parse_system

    if arguments.json:
        raise InputError("--json goes with --tally")
    if arguments.output is None:
        raise InputError("-o FILE is needed for a page, or --tally FILE … for a count")
    for option in ("bags", "longest"):
        value = getattr(arguments, option)
        if value is not None and value < 1:
            raise InputError(f"found --{option} {value}; at least 1 is allowed")
    trial = read_trial(
        [parse_system(text) for text in arguments.runs],
        seed=SEED if arguments.seed is None else arguments.seed,
        bags=arguments.bags,
        longest=arguments.longest,
        with_reference=not arguments.no_reference,
        natural=arguments.natural,
    )
    write_page(trial, arguments.output, title=arguments.title or "Word ordering")
    print(_summary(trial, arguments.output))
    return 0


def _summary(trial: Trial, output: str) -> str:
    made = f"{output}: {len(trial.pairs)} pairs of {trial.bags} bags, seed {trial.seed}"
    return f"{made}; left out: {trial.equal} pairs of equal orders, {trial.missing} with an order missing"


def _shown(option: str) -> str:
    return "a RUN" if option == "runs" else f"--{option.replace('_', '-')}"
