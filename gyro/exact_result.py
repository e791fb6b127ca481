"""What the exact search hands out.

SearchResult  the lattice, its best cost, the lower bound, whether the optimum is proved, and the work done
NBest         the cheapest orders, and whether it is proved that there are none cheaper
Paths         the arcs of a lattice as arrays
take_paths    the arcs of a search's graph that are marked, as a lattice of its own
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.exact_bound import Space
from gyro.exact_kernel import Graph
from gyro.lattice import Hypothesis, Lattice


class Paths(NamedTuple):
    """The arcs and ends of a lattice whose start is state 0 and whose arcs lead to higher states."""

    states: int
    source: NDArray[np.int32]
    word: NDArray[np.uint8]
    target: NDArray[np.int32]
    cost: NDArray[np.float64]
    final_states: NDArray[np.int64]
    final_costs: NDArray[np.float64]


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    `proved`: `cost` is the optimum, and every string within `beta` of it is in the lattice. `beta` is what was asked
    for, less if that was too much for the limits, and with a limit on the arcs the largest that fits. `exhausted`:
    it is known that the lattice holds the whole language. No paths and `proved`: the language is empty. `expanded`
    counts the nodes that were made, `nodes` and `arcs` those that the lattice keeps.
    """

    words: tuple[str, ...]
    paths: Paths | None
    proved: bool
    exhausted: bool
    cost: float
    lower_bound: float
    beta: float
    expanded: int
    seconds: float

    @property
    def nodes(self) -> int:
        return 0 if self.paths is None else self.paths.states

    @property
    def arcs(self) -> int:
        return 0 if self.paths is None else len(self.paths.source)

    def lattice(self) -> Lattice | None:
        """The orders found as a lattice; None when there is none."""
        return None if self.paths is None else Lattice.from_arrays(self.words, 0, *self.paths[1:])

    def cheapest(self, n: int) -> list[Hypothesis]:
        """The n cheapest strings of the lattice, in double precision, by cost and then by tokens."""
        return [] if self.paths is None else _cheapest(self.words, self.paths, n)


class NBest(NamedTuple):
    """Hypotheses, the cheapest first; `proved`: no other order is cheaper than the last of them."""

    hypotheses: list[Hypothesis]
    proved: bool


def take_paths(graph: Graph, keep: NDArray[np.bool_], space: Space) -> Paths:
    """The marked arcs at their full costs; their nodes are numbered anew, in the same order."""
    used = np.zeros(len(graph.state), dtype=np.bool_)
    used[0] = True
    source, target = graph.arcs.source[keep], graph.arcs.target[keep]
    used[source] = used[target] = True
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    word = graph.arcs.word[keep]
    cost = space.cost[graph.state[source], word]
    last = graph.last_row + np.flatnonzero(used[graph.last_row :])
    end_cost = space.end_cost[graph.state[last]]
    ends = np.isfinite(end_cost)
    final_states = number[last[ends]].astype(np.int64)
    return Paths(int(used.sum()), number[source], word, number[target], cost, final_states, end_cost[ends])


def _cheapest(words: tuple[str, ...], paths: Paths, n: int) -> list[Hypothesis]:
    """A* with exact completions; the lattice is deterministic, so each prefix is one entry of the queue.

    Totals are compared to nine decimals, for equal sums differ in their last bits; then the words decide.
    """
    arcs: list[list[tuple[int, int, float]]] = [[] for _ in range(paths.states)]
    columns = (paths.source.tolist(), paths.word.tolist(), paths.target.tolist(), paths.cost.tolist())
    for source, word, target, cost in zip(*columns, strict=True):
        arcs[source].append((word, target, cost))
    end = [float("inf")] * paths.states
    for state, cost in zip(paths.final_states.tolist(), paths.final_costs.tolist(), strict=True):
        end[state] = cost
    rest = list(end)
    for state in reversed(range(paths.states)):
        for _, target, cost in arcs[state]:
            rest[state] = min(rest[state], cost + rest[target])
    found: list[Hypothesis] = []
    queue: list[tuple[float, tuple[int, ...], int, float]] = [(0.0, (), 0, 0.0)]
    while queue and len(found) < n:
        _, prefix, state, so_far = heapq.heappop(queue)
        if end[state] < float("inf"):
            # All orders of a bag are equally long: an end has no arcs.
            found.append(Hypothesis(tuple(words[word] for word in prefix), so_far + end[state]))
        for word, target, cost in arcs[state]:
            total = so_far + cost
            heapq.heappush(queue, (round(total + rest[target], 9), (*prefix, word), target, total))
    return found
