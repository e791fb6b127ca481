"""The command rescore: one stage of rescoring.stage over lattices."""

from __future__ import annotations

import argparse
from typing import Any

from gyro.cli.lattice_options import LATTICES, add_batch_arguments, add_lattice_arguments, batch_options, open_source
from gyro.cli.spark_options import add_spark_arguments, executors_of
from gyro.errors import InputError
from gyro.lattice.file_format import LatticeFormat
from gyro.run.batch import Summary
from gyro.text.bag import Bag
from rescoring.stage import Stage, run_stage, stage_kinds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lattices", metavar="LATTICES", help=LATTICES)
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder of the new run")
    for kind in _kinds():
        kind.add_arguments(parser)
    parser.add_argument(
        "--weight", type=float, action="append", default=[], metavar="λ", help="of each model in turn (default 1)"
    )
    parser.add_argument("--add", action="store_true", help="add to the costs of the lattices instead of replacing them")
    parser.add_argument(
        "--beta", type=float, metavar="β", help="drop what is not within β nats of the new best (default: keep all)"
    )
    add_batch_arguments(
        parser, "length of n-best lists; with --dependency-lm and --neural the strings that these models see"
    )
    add_lattice_arguments(parser)
    add_spark_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    with executors_of(arguments) as place:
        summary = _run(arguments, **place)
    print(summary.text())
    return summary.exit_code


def hand_over(arguments: argparse.Namespace, _bag: Bag) -> None:
    """In an executor: open lattices and models; the batch ends as a HandOver."""
    _run(arguments, hand_over=True)


def _run(arguments: argparse.Namespace, **place: Any) -> Summary:
    kinds = _kinds()
    chosen = [stage for kind in kinds if (stage := kind.from_arguments(arguments)) is not None]
    if len(chosen) != 1:
        found = "found " + " and ".join(stage.usage for stage in chosen) + "; " if chosen else ""
        raise InputError(f"{found}gyro rescore takes {', or '.join(kind.usage for kind in kinds)}")
    source = open_source(arguments.lattices, arguments.range, LatticeFormat.from_arguments(arguments))
    return run_stage(chosen[0], source, arguments.output, **batch_options(arguments), **place)


def _kinds() -> list[type[Stage]]:
    return [kind for kind in stage_kinds().values() if kind.command == "rescore"]
