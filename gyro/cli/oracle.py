"""The command oracle."""

from __future__ import annotations

import argparse

from gyro.cli.lattice_options import LATTICES, add_lattice_arguments, open_source
from gyro.errors import InputError
from gyro.lattice.file_format import LatticeFormat


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lattices", metavar="LATTICES", help=LATTICES)
    parser.add_argument(
        "references", nargs="?", metavar="REF", help="references, one a line (default: those of the run's bags)"
    )
    parser.add_argument("-n", "--nbest", type=int, default=100, metavar="N", help="length of the lists (default 100)")
    parser.add_argument("--jobs", "-j", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the strings of the lattice oracle, one a line")
    add_lattice_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from gyro.files import write_text
    from gyro.text.corpus import read_lines
    from rescoring.oracle import oracle_report

    source = open_source([arguments.lattices], format=LatticeFormat.from_arguments(arguments))
    if arguments.references is not None:
        references = [tuple(line.split()) for line in read_lines(arguments.references)]
    else:
        references = [item.reference for item in source if item.reference is not None]
        if len(references) < len(source):
            raise InputError("no references: give a file, or a run whose bags have them", path=arguments.lattices)
    report = oracle_report(source, references, nbest=arguments.nbest, jobs=arguments.jobs)
    if arguments.output:
        write_text(arguments.output, "".join(" ".join(string) + "\n" for string in report.lattice.strings))
    print(report.text())
    return 0
