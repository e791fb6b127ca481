"""Lattices made ready for counting their strings: one path a string, and no more of them than can be worked on.

merge_paths   the minimal lattice in which each string has one path, at its lowest cost
best_strings  the cheapest strings alone, for lattices of which nothing else fits
widest        the largest width around the best string at which a piece of work fits

How much fits is counted in arcs and steps, never in seconds, so that the result is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from gyro.lattice.determinise import determinise
from gyro.lattice.lattice import Lattice
from rescoring.ngram_paths import lattice_arrays

MOST_MERGE_STEPS = 5_000_000  # arcs of sets of states: a second or two
MOST_STRINGS = 1_000
ROUNDS = 6  # the width is found to 1/64 of the lattice's own

Fit = TypeVar("Fit")


def merge_paths(lattice: Lattice) -> tuple[Lattice, float]:
    """The lattice, and the width around its best string that it was cut to; infinity: it was not."""
    if _is_deterministic(lattice):
        return lattice.minimal(), np.inf
    spread = lattice_arrays(lattice).spread()
    found = widest(spread, lambda beta: _merged(lattice if beta == np.inf else lattice.prune(beta)))
    return found or (best_strings(lattice), 0.0)


def best_strings(lattice: Lattice) -> Lattice:
    """The cheapest strings, MOST_STRINGS of them."""
    return Lattice.from_strings(lattice.words, lattice.nbest(MOST_STRINGS)).minimal()


def widest(spread: float, attempt: Callable[[float], Fit | None]) -> tuple[Fit, float] | None:
    """What `attempt` gives for the largest width for which it gives something, and that width.

    Infinity is tried first, then widths between 0 and `spread`, halving what is left each time; 0 comes last.

    >>> widest(8.0, lambda width: "fits" if width <= 3.0 else None)
    ('fits', 3.0)
    """
    if (whole := attempt(np.inf)) is not None:
        return whole, np.inf
    best, low, high = None, 0.0, spread
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        if (found := attempt(middle)) is None:
            high = middle
        else:
            best, low = (found, middle), middle
    if best is None and (found := attempt(0.0)) is not None:
        best = found, 0.0
    return best


def _is_deterministic(lattice: Lattice) -> bool:
    source, word, *_ = lattice.to_arrays()
    return not ((np.diff(source) == 0) & (np.diff(word) == 0)).any()


def _merged(lattice: Lattice) -> Lattice | None:
    arrays = lattice_arrays(lattice)
    columns = (arrays.source, arrays.word, arrays.target, arrays.cost, arrays.final)
    found = determinise(*columns, MOST_MERGE_STEPS)
    if found is None:
        return None
    source, word, target, cost, final = found
    ends = np.flatnonzero(final != np.inf)
    arcs = (source, word, target, cost)
    return Lattice.from_arrays(lattice.words, 0 if len(final) else -1, *arcs, ends, final[ends]).minimal()
