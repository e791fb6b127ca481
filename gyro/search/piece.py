"""Long sentences piece by piece: cut by their reference, and their lattices joined.

cut            a sentence in pieces
thin           a lattice with no more arcs than so many
without_model  a piece's lattice without the costs of the model that it was searched under
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.lattice import Lattice

# A piece keeps at most so many arcs: what is far from its best order is not saved by the joints.
MOST_ARCS = 20_000


def cut(reference: tuple[str, ...], most: int) -> list[tuple[str, ...]]:
    """Cut a sentence into pieces of at most `most` tokens.

    >>> cut(("a", "b", "c", "d", "e"), 2)
    [('a', 'b'), ('c', 'd'), ('e',)]
    """
    edges = [*range(0, len(reference), most), len(reference)]
    return [reference[begin:end] for begin, end in pairwise(edges)]


def thin(lattice: Lattice, beta: float, most_arcs: int) -> Lattice:
    """What is within β of the best; a smaller β where that has too many arcs."""
    found = lattice.prune(beta)
    while found.num_arcs > most_arcs and beta > 0.1:
        beta *= 0.7
        found = found.prune(beta)
    return found


def without_model(lattice: Lattice, automaton: WordAutomaton, *, has_other_costs: bool) -> Lattice:
    """What a piece costs besides its model, the phrases, stays; the model of the piece alone is taken off."""
    if not has_other_costs:
        return lattice.unweighted()
    return lattice.apply(replace(automaton, cost=-automaton.cost, end_cost=np.negative(automaton.end_cost)))
