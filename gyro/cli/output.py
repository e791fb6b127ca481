"""Commands on what was generated: nbest, best, show."""

from __future__ import annotations

import argparse
from pathlib import Path

from gyro.cli.text import open_output
from gyro.errors import InputError
from gyro.files import write_atomically


def nbest_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="DIR", help="the folder of a run")
    parser.add_argument("-n", type=int, default=100, metavar="N", help="orders a bag (default 100)")
    parser.add_argument("--format", choices=["moses", "jsonl"], default="moses", help="default: moses")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: stdout")


def nbest_command(arguments: argparse.Namespace) -> int:
    from gyro.batch import open_run, write_nbest

    if arguments.n < 1:
        raise InputError(f"found -n {arguments.n}; at least 1 is allowed")
    with open_output(arguments.output) as file:
        write_nbest(open_run(arguments.run), arguments.n, arguments.format, file)
    return 0


def best_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="DIR", help="the folder of a run")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: stdout")


def best_command(arguments: argparse.Namespace) -> int:
    from gyro.batch import open_run

    with open_output(arguments.output) as file:
        file.writelines(line + "\n" for line in open_run(arguments.run).best())
    return 0


def show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lattice", metavar="LATTICE", help="an OpenFst binary, gzipped or not")
    parser.add_argument(
        "-o", "--output", nargs="+", metavar="FILE", help=".svg or .png files (default: both, beside the lattice)"
    )
    parser.add_argument("--paths", type=int, metavar="N", help="draw the n best paths (default: all, if not too many)")


def show_command(arguments: argparse.Namespace) -> int:
    from gyro.lattice import Lattice

    name = arguments.lattice.removesuffix(".gz").removesuffix(".fst")
    outputs = [Path(o) for o in arguments.output or (f"{name}.svg", f"{name}.png")]
    for output in outputs:
        if output.suffix not in (".svg", ".png"):
            raise InputError(f"found {str(output)!r}; a drawing ends in .svg or .png")
    if arguments.paths is not None and arguments.paths < 1:
        raise InputError(f"found --paths {arguments.paths}; at least 1 is allowed")
    lattice = Lattice.read(arguments.lattice)
    shown = lattice.best_paths(arguments.paths) if arguments.paths else lattice
    for output in outputs:
        with write_atomically(output) as file:
            file.write(shown.draw(output.suffix.removeprefix(".")))
        print(output)
    return 0
