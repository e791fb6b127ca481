"""The command rescore: one stage of rescoring.stage over lattices."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any, cast

from gyro.cli.lattice_options import LATTICES, add_batch_arguments, add_lattice_arguments, batch_options, open_source
from gyro.cli.spark_options import add_spark_arguments, executors_of
from gyro.cli.tuned_options import add_tuned_argument, tuned_keys
from gyro.errors import InputError
from gyro.lattice.file_format import LatticeFormat
from gyro.run.batch import Summary
from gyro.text.bag import Bag
from rescoring.stage import Stage, run_stage, stage_kinds

WEIGHTS = ("keep", "weight", "weights")  # the keys of stages that gyro tune writes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lattices", nargs="+", metavar="LATTICES", help=LATTICES)
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
    add_tuned_argument(parser, "the weights that it has for the models, and for the costs of the lattices")
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
    if arguments.tuned is not None:
        for option in ("weight", "add"):
            if getattr(arguments, option):
                raise InputError(f"found --{option} and --tuned, which has the weights; one or the other is allowed")
        arguments.weight = [1.0]  # until the table of the stage is known
    chosen = [stage for kind in kinds if (stage := kind.from_arguments(arguments)) is not None]
    if len(chosen) != 1:
        found = "found " + " and ".join(stage.usage for stage in chosen) + "; " if chosen else ""
        raise InputError(f"{found}gyro rescore takes {', or '.join(kind.usage for kind in kinds)}")
    stage = chosen[0] if arguments.tuned is None else _with_weights(chosen[0], arguments.tuned)
    source = open_source(arguments.lattices, arguments.range, LatticeFormat.from_arguments(arguments))
    return run_stage(stage, source, arguments.output, **batch_options(arguments), **place)


def _with_weights(stage: Stage, path: str) -> Stage:
    keys = {name: value for name, value in tuned_keys(path, type(stage)).items() if name in WEIGHTS}
    if not keys:
        raise InputError(f"found no weights in the table [{stage.table}]; gyro tune writes some", path=path)
    kind: Any = stage  # all kinds are dataclasses
    return cast(Stage, replace(kind, **keys))


def _kinds() -> list[type[Stage]]:
    return [kind for kind in stage_kinds().values() if kind.command == "rescore"]
