"""The command show."""

from __future__ import annotations

import argparse
from pathlib import Path

from gyro.cli.lattice_options import add_lattice_arguments
from gyro.errors import InputError
from gyro.files import write_atomically
from gyro.lattice.file_format import LatticeFormat


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lattice", metavar="LATTICE", help="an OpenFst binary, gzipped or not")
    parser.add_argument(
        "-o", "--output", nargs="+", metavar="FILE", help=".svg or .png files (default: both, beside the lattice)"
    )
    parser.add_argument("--paths", type=int, metavar="N", help="draw the n best paths (default: all, if not too many)")
    add_lattice_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from gyro.lattice.lattice import Lattice

    name = arguments.lattice.removesuffix(".gz").removesuffix(".fst")
    outputs = [Path(o) for o in arguments.output or (f"{name}.svg", f"{name}.png")]
    for output in outputs:
        if output.suffix not in (".svg", ".png"):
            raise InputError(f"found {str(output)!r}; a drawing ends in .svg or .png")
    if arguments.paths is not None and arguments.paths < 1:
        raise InputError(f"found --paths {arguments.paths}; at least 1 is allowed")
    lattice = Lattice.read(arguments.lattice, LatticeFormat.from_arguments(arguments))
    shown = lattice.best_paths(arguments.paths) if arguments.paths else lattice
    for output in outputs:
        with write_atomically(output) as file:
            file.write(shown.draw(output.suffix.removeprefix(".")))
        print(output)
    return 0
