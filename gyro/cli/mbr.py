"""The command mbr: the stage of that name over lattices."""

from __future__ import annotations

import argparse
from dataclasses import fields, replace
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
from gyro.cli.tuned_options import add_tuned_argument, is_default, mark_defaults, tuned_keys
from gyro.errors import InputError
from gyro.run.batch import Summary
from gyro.text.bag import Bag
from rescoring.mbr import MbrParameters
from rescoring.mbr_stage import MbrStage, ReadyMbr, mbr_best
from rescoring.source import LatticeSource
from rescoring.stage import Place, run_ready

PARAMETERS = tuple(field.name for field in fields(MbrParameters))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lattices", nargs="+", metavar="LATTICES", help=LATTICES)
    parser.add_argument("-o", "--output", metavar="DIR", help="the folder of the new run (default: strings on stdout)")
    add_batch_arguments(parser, "with -o: length of n-best lists")
    MbrStage.add_arguments(parser)
    mark_defaults(parser, PARAMETERS)
    add_tuned_argument(parser, "the parameters of its [mbr]; options go before them")
    add_hypotheses_arguments(parser)
    add_lattice_arguments(parser)
    add_lattice_arguments(parser, "mt-", " (evidence; default: the same as above)")
    add_spark_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.output is None:
        if arguments.spark:
            raise InputError("found --spark, which goes with -o DIR")
        source, ready = _open(arguments)
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
    source, ready = _open(arguments)
    return run_ready(ready, source, arguments.output, **batch_options(arguments), **place)


def _open(arguments: argparse.Namespace) -> tuple[LatticeSource, ReadyMbr]:
    """The lattices, and the stage with them; what gyro tune found holds where no option says otherwise."""
    stage = MbrStage.from_arguments(arguments)
    if arguments.tuned is not None:
        tuned = tuned_keys(arguments.tuned, MbrStage)
        given = {name for name, value in vars(arguments).items() if not is_default(value)}
        stage = replace(stage, **{name: value for name, value in tuned.items() if name not in given})
    source = open_chosen(arguments)
    return source, stage.ready(source, Place())
