"""The command convert: lattices of any source as files for other tools."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gyro.cli.lattice_options import LATTICES, add_lattice_arguments, open_source
from gyro.errors import InputError
from gyro.lattice.file_format import LatticeFormat

ARC_TYPES = ("standard", "tropical_LT_tropical")
SHOWN = 10  # numbers of lattices that were left out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lattices", nargs="+", metavar="LATTICES", help=LATTICES)
    help_line = "names of the files, with %%d for the number from 1, like lats/%%d.fst.gz"
    parser.add_argument("-o", "--output", required=True, metavar="PATTERN", help=help_line)
    parser.add_argument("--range", metavar="A:B", help="only these lattices, counted from 1, like 1:100")
    parser.add_argument("--arc-type", choices=ARC_TYPES, default=ARC_TYPES[0], help="default: standard")
    parser.add_argument("--no-symbols", action="store_true", help="labels alone, of --wordmap or of words like 17")
    help_line = "the label of words that are not in --wordmap (default: refuse them)"
    parser.add_argument("--oov", type=int, metavar="LABEL", help=help_line)
    add_lattice_arguments(parser, of=", to be read; --marks and --wordmap are for what is written too")


def run(arguments: argparse.Namespace) -> int:
    from gyro.lattice.labelling import Labelling, numbered_name
    from gyro.run.progress import Progress

    format = LatticeFormat.from_arguments(arguments)
    labelling = Labelling(
        format.wordmap, format.marks, arguments.oov, symbols=not arguments.no_symbols, arc_type=arguments.arc_type
    )
    numbered_name(arguments.output, 1)
    source = open_source(arguments.lattices, arguments.range, format)
    for read in source.joined:
        _check_place(read.path, Path(arguments.output).parent)
    missing = []
    items = Progress(0, 0, sys.stderr).over(source, "lattices", len(source))
    for number, item in enumerate(items, source.first + 1):
        lattice = item.lattice()
        if lattice is None:
            missing.append(number)
            continue
        path = Path(numbered_name(arguments.output, number))
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            labelling.write(lattice, path)
        except InputError as error:
            raise InputError(f"lattice {item.id}: {error}") from error
    print(f"{len(source) - len(missing)} lattices: {arguments.output}")
    if missing:
        numbers = " ".join(map(str, missing[:SHOWN])) + (" …" if len(missing) > SHOWN else "")
        print(
            f"gyro: {len(missing)} bags failed and have no lattice, so these are left out: {numbers}", file=sys.stderr
        )
    return 1 if missing else 0


def _check_place(source: Path, folder: Path) -> None:
    """Refuse to write among the lattices that are read: a file could be gone before its turn."""
    read = source if source.is_dir() else source.parent
    if folder.resolve().is_relative_to(read.resolve()) and (source.is_dir() or folder.resolve() == read.resolve()):
        raise InputError(
            "found the folder of the lattices that are read; another is needed for the new ones", path=folder
        )
