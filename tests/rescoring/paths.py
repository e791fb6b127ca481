"""Small lattices and all their paths.

lattices   a hypothesis strategy
all_paths  the string and the cost of every path
cheapest   the lowest cost of each string
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

from gyro.lattice.lattice import Lattice

WORDS = ("a", "b", "c")
Path = tuple[tuple[str, ...], float]


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    """Small acyclic lattices, also with several paths for one string and with n-grams that come again on a path."""
    states = draw(st.integers(2, 7))
    cost = st.integers(0, 40).map(lambda n: n / 8)
    arc = st.tuples(st.integers(0, states - 2), st.integers(1, 3), st.integers(0, len(WORDS) - 1), cost)
    arcs = draw(st.lists(arc, min_size=1, max_size=14))
    chain = [(s, 1, draw(st.integers(0, len(WORDS) - 1)), draw(cost)) for s in range(states - 1)]
    rows = [(s, min(s + step, states - 1), w, c) for s, step, w, c in arcs + chain]
    source, target, word, costs = zip(*rows, strict=True)
    ends = sorted({states - 1, *draw(st.lists(st.integers(0, states - 1), max_size=1))})
    end_costs = [draw(cost) for _ in ends]
    return Lattice.from_arrays(WORDS, 0, source, word, target, costs, ends, end_costs)


def all_paths(lattice: Lattice) -> list[Path]:
    """Every path, also those that share a string."""
    source, word, target, cost, final_states, final_costs = lattice.to_arrays()
    ends = dict(zip(final_states.tolist(), final_costs.tolist(), strict=True))

    def walk(state: int) -> Iterator[Path]:
        if state in ends:
            yield (), ends[state]
        for arc in np.flatnonzero(source == state):
            for tokens, rest in walk(int(target[arc])):
                yield (lattice.words[word[arc]], *tokens), float(cost[arc]) + rest

    return list(walk(0))


def cheapest(paths: list[Path]) -> list[Path]:
    """Each string once, at the cost of its cheapest path."""
    costs: dict[tuple[str, ...], float] = {}
    for tokens, cost in paths:
        costs[tokens] = min(cost, costs.get(tokens, cost))
    return list(costs.items())
