"""What a search without a goal gives: edges of its chart that go together.

DEFAULT_OUTPUTS  the ways by name
chosen_edges     edges for the output, and by which way they were found
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from comparison.best_first.edge import SIZE, Integers
from comparison.best_first.score import edge_key
from comparison.best_first.state import State

DEFAULT_OUTPUTS = {
    "joined": "the edges of pair in one tree, which is ordered anew; where that cannot be, as pair",
    "pair": "two edges that have all words, else as greedy (2011)",
    "greedy": "the largest edge, and in turn the largest that still fits (2015)",
}


def chosen_edges(state: State, members: Integers, way: str) -> tuple[str, tuple[int, ...]]:
    """Choose among the edges of a chart. The name is "two edges" or "greedy"."""
    keys = np.array([edge_key(state, int(edge)) for edge in members])
    order = members[np.lexsort((members, -keys, -state.edges.columns[members, SIZE]))]
    pair = () if way == "greedy" else _best_pair(state, order)
    return ("two edges", pair) if pair else ("greedy", _greedy(state, order))


def _best_pair(state: State, order: NDArray[np.int64]) -> tuple[int, ...]:
    """The two edges with the best sum that have all words together; () without any."""
    edges, problem = state.edges, state.problem
    coverage = edges.coverage[order]
    best = -np.inf
    found: tuple[int, ...] = ()
    for i, edge in enumerate(order):
        together = coverage + coverage[i]
        fits = ~np.any((together + problem.bias) & problem.guard, axis=1)
        whole = np.all((together + problem.goal_bias) & problem.goal_guard == problem.goal_guard, axis=1)
        for j in np.flatnonzero(fits & whole):
            other = int(order[j])
            if not np.any(edges.coverage[other] & edges.before[edge]):
                value = float(edge_key(state, int(edge)) + edge_key(state, other))
                if value > best:
                    best, found = value, (int(edge), other)
    return found


def _greedy(state: State, order: NDArray[np.int64]) -> tuple[int, ...]:
    """Each edge as often as it fits what was chosen before."""
    edges, problem = state.edges, state.problem
    chosen: list[int] = []
    total, before = np.zeros_like(problem.bias), np.zeros_like(problem.bias)
    for edge in order:
        while not np.any((total + edges.coverage[edge] + problem.bias) & problem.guard):
            if np.any(edges.coverage[edge] & before):
                break
            chosen.append(int(edge))
            total, before = total + edges.coverage[edge], before | edges.before[edge]
    return tuple(chosen)
