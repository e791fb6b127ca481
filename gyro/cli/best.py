"""The command best."""

from __future__ import annotations

import argparse

from gyro.cli.output import open_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="DIR", help="the folder of a run; of several, one after the other")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: stdout")


def run(arguments: argparse.Namespace) -> int:
    from gyro.run.folder import open_run

    with open_output(arguments.output) as file:
        for folder in arguments.runs:
            file.writelines(line + "\n" for line in open_run(folder).best())
    return 0
