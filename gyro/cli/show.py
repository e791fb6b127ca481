"""The command show: a lattice, or the network that a bag is parsed into."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gyro.cli.lattice_options import add_lattice_arguments
from gyro.errors import InputError
from gyro.files import write_atomically
from gyro.lattice.file_format import LatticeFormat
from gyro.run.system import system_kind
from gyro.text.bag import Bag

if TYPE_CHECKING:
    from gyro.lattice.lattice import Lattice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lattice", nargs="?", metavar="LATTICE", help="an OpenFst binary, gzipped or not")
    parser.add_argument(
        "-o", "--output", nargs="+", metavar="FILE", help=".svg or .png files (default: both, beside the lattice)"
    )
    parser.add_argument("--paths", type=int, metavar="N", help="draw the n best paths (default: all, if not too many)")
    add_lattice_arguments(parser)
    group = parser.add_argument_group("the network of a bag, in the place of a lattice")
    group.add_argument(
        "--bag", metavar="WORDS", help="the bag, one string; alone: print the rules of its network (RTN)"
    )
    group.add_argument(
        "--cell", metavar="NAME", help="draw this cell of the network, named by its bit string like 11000"
    )
    system_kind("gyro").add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    if (arguments.lattice is None) == (arguments.bag is None):
        raise InputError("a LATTICE or --bag WORDS is needed, and not both")
    if arguments.cell is not None and arguments.bag is None:
        raise InputError("--cell goes with --bag WORDS")
    if arguments.paths is not None and arguments.paths < 1:
        raise InputError(f"found --paths {arguments.paths}; at least 1 is allowed")
    if arguments.bag is not None:
        return _show_network(arguments)
    outputs = _outputs(arguments, arguments.lattice.removesuffix(".gz").removesuffix(".fst"))
    from gyro.lattice.lattice import Lattice

    lattice = Lattice.read(arguments.lattice, LatticeFormat.from_arguments(arguments))
    _draw(lattice.best_paths(arguments.paths) if arguments.paths else lattice, outputs)
    return 0


def _show_network(arguments: argparse.Namespace) -> int:
    outputs = _outputs(arguments, f"cell-{arguments.cell}")
    system = system_kind("gyro").open_system(arguments)
    from gyro.search.generator import Generator

    assert isinstance(system, Generator)
    network = system.network(Bag(tuple(arguments.bag.split())))
    if arguments.cell is None:
        print("\n".join(network.rules()))
        return 0
    if arguments.cell not in network.cells():
        raise InputError(f"found no cell {arguments.cell!r} in the network; without --cell its rules are printed")
    _draw(network.cell(arguments.cell), outputs)
    return 0


def _outputs(arguments: argparse.Namespace, name: str) -> list[Path]:
    outputs = [Path(o) for o in arguments.output or (f"{name}.svg", f"{name}.png")]
    for output in outputs:
        if output.suffix not in (".svg", ".png"):
            raise InputError(f"found {str(output)!r}; a drawing ends in .svg or .png")
    return outputs


def _draw(lattice: Lattice, outputs: Sequence[Path]) -> None:
    for output in outputs:
        with write_atomically(output) as file:
            file.write(lattice.draw(output.suffix.removeprefix(".")))
        print(output)
