"""The command ccg."""

from __future__ import annotations

import argparse
from itertools import chain

from gyro.bar import Bar
from gyro.errors import InputError
from gyro.files import write_atomically


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trees", nargs="+", metavar="TREES", help="CoNLL-U files (.gz .xz .bz2 .zst too), - for stdin")
    parser.add_argument("-o", "--output", required=True, metavar="DERIVATIONS", help="the AUTO file to write")
    parser.add_argument(
        "--scheme", choices=("ud", "spacy"), default="", help="the labels: UD 2 or spaCy's (default: found by sentence)"
    )


def run(arguments: argparse.Namespace) -> int:
    from grammars.ccg.derivation import write_auto
    from grammars.ccg.report import ConversionReport, convert_all
    from grammars.conllu import read_conllu

    report = ConversionReport()
    sentences = chain.from_iterable(map(read_conllu, arguments.trees))
    with (
        Bar(sentences, unit=" trees", desc="converting") as bar,
        write_atomically(arguments.output, "w") as file,
    ):
        write_auto(file, convert_all(bar, report, arguments.scheme))
        if not report.converted:
            raise InputError(f"no tree of {' '.join(arguments.trees)} could be converted")
    print(report.text())
    return 0
