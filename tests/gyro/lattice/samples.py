"""What the tests of lattices and of their files share.

small_lattice  a lattice of four strings over WORDS
run            what a program prints
"""

from __future__ import annotations

import subprocess

from gyro.lattice.lattice import Lattice

WORDS = ("a", "b", "c")


def small_lattice() -> Lattice:
    """Two words in a row, the second of them ambiguous: "c", or "a" on two arcs."""
    return Lattice.from_arrays(
        WORDS, 0, [0, 0, 1, 1, 1], [0, 1, 2, 0, 0], [1, 1, 2, 2, 2], [0.5, 0.25, 0.125, 0.25, 0.1875], [2], [0.0625]
    )


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
