"""The command report: one HTML page on runs."""

from __future__ import annotations

import argparse

from gyro.cli.score import add_metric_arguments
from gyro.errors import InputError
from gyro.score.evaluation import parse_sizes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN",
        help="the folder of a run, or a file of orders with a line for each of the runs' bags; RUN:NAME names it",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the page, like report.html")
    parser.add_argument(
        "--name", action="append", default=[], metavar="NAME=RUN", help="another run with its name; may be given again"
    )
    parser.add_argument("--title", default="Word ordering", metavar="TEXT", help="default: %(default)s")
    parser.add_argument("--examples", type=int, default=100, metavar="N", help="bags shown (default 100)")
    parser.add_argument("--figures", metavar="DIR", help="write each chart as an SVG file into this folder too")
    add_metric_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from gyro.report.page import write_report
    from gyro.score.outputs import parse_system
    from rescoring.source import open_lattices

    if arguments.examples < 0:
        raise InputError(f"found --examples {arguments.examples}; 0 or more are allowed")
    for text in arguments.name:
        if "=" not in text:
            raise InputError(f"found --name {text!r}; NAME=RUN is allowed")
    write_report(
        [parse_system(text) for text in (*arguments.runs, *arguments.name)],
        arguments.output,
        title=arguments.title,
        baseline=arguments.baseline,
        most_examples=arguments.examples,
        sizes=parse_sizes(arguments.sizes),
        tokenize=arguments.tokenize,
        signature=lambda folder: open_lattices(folder).signature,
        figures=arguments.figures,
    )
    print(arguments.output)
    return 0
