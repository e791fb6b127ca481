"""The command mbr: the stage of that name over lattices."""

from __future__ import annotations

import argparse
from typing import Any

from gyro.cli.hypothesis_options import add_hypotheses_arguments, open_chosen
from gyro.cli.lattice_options import (
    LATTICES,
    add_batch_arguments,
    add_lattice_arguments,
    batch_options,
    limits_of,
)
from gyro.cli.spark_options import add_spark_arguments, executors_of
from gyro.errors import InputError
from gyro.run.batch import Summary
from gyro.text.bag import Bag
from rescoring.mbr_stage import MbrStage, mbr_best
from rescoring.stage import Place, run_ready


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lattices", metavar="LATTICES", help=LATTICES)
    parser.add_argument("-o", "--output", metavar="DIR", help="the folder of the new run (default: strings on stdout)")
    add_batch_arguments(parser, "with -o: length of n-best lists")
    MbrStage.add_arguments(parser)
    add_hypotheses_arguments(parser)
    add_lattice_arguments(parser)
    add_lattice_arguments(parser, "mt-", " (evidence; default: the same as above)")
    add_spark_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.output is None:
        if arguments.spark:
            raise InputError("found --spark, which goes with -o DIR")
        source = open_chosen(arguments)
        ready = MbrStage.from_arguments(arguments).ready(source, Place())
        for hypothesis in mbr_best(ready, source, arguments.jobs, **limits_of(arguments)):
            print(" ".join(hypothesis.tokens if hypothesis else ()))
        return 0
    with executors_of(arguments) as place:
        summary = _run(arguments, **place)
    print(summary.text())
    return summary.exit_code


def hand_over(arguments: argparse.Namespace, _bag: Bag) -> None:
    """In an executor: open lattices and evidence; the batch ends as a HandOver."""
    _run(arguments, hand_over=True)


def _run(arguments: argparse.Namespace, **place: Any) -> Summary:
    source = open_chosen(arguments)
    ready = MbrStage.from_arguments(arguments).ready(source, Place())
    return run_ready(ready, source, arguments.output, **batch_options(arguments), **place)
