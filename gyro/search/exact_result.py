"""What the exact search hands out.

SearchResult  the lattice, its best cost, the lower bound, whether the optimum is proved, and the work done
NBest         the cheapest orders, and whether it is proved that there are none cheaper
Paths         the arcs of a lattice as arrays
take_paths    the arcs of a search's graph that are marked, as a lattice of its own
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.lattice.determinise import determinise
from gyro.lattice.lattice import Lattice
from gyro.lattice.minimal import minimise
from gyro.lattice.strings import Hypothesis, StringOrder
from gyro.search.exact_bound import Space
from gyro.search.exact_kernel import Graph

Column = NDArray[Any]

MOST_DETERMINISE_STEPS = 20_000_000  # some seconds


class Paths(NamedTuple):
    """The arcs and ends of a lattice whose start is state 0 and whose arcs lead to higher states."""

    states: int
    source: NDArray[np.int32]
    word: NDArray[np.int64]
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
    counts the nodes that were made, `nodes` and `arcs` those that were kept; the lattice, which is minimal, has fewer.
    `timed_out`: a deadline ended it, and on a faster machine there might be more. Where the automaton was not
    `is_deterministic`, strings have several paths.
    """

    words: tuple[str, ...]
    paths: Paths | None
    proved: bool
    exhausted: bool
    cost: float
    lower_bound: float
    beta: float
    expanded: int
    timed_out: bool = False
    is_deterministic: bool = True

    @property
    def nodes(self) -> int:
        return 0 if self.paths is None else self.paths.states

    @property
    def arcs(self) -> int:
        return 0 if self.paths is None else len(self.paths.source)

    def lattice(self) -> Lattice | None:
        """The orders found as a minimal lattice in which each has one path; None when there is none."""
        if self.paths is None:
            return None
        final = np.full(self.paths.states, np.inf)
        final[self.paths.final_states] = self.paths.final_costs
        columns = (*self.paths[1:5], final)
        if self.is_deterministic:
            return self._lattice(*minimise(*columns))
        # There may be too many to tell apart; then strings keep several paths. An arc may be there for dear ones alone.
        merged = determinise(*columns, MOST_DETERMINISE_STEPS) or columns
        return self._lattice(*merged).prune(self.beta).minimal()

    def _lattice(self, source: Column, word: Column, target: Column, cost: Column, final: Column) -> Lattice:
        """The lattice of these arcs, and of ends by state."""
        ends = np.flatnonzero(final != np.inf)
        return Lattice.from_arrays(self.words, 0, source, word, target, cost, ends, final[ends])

    def cheapest(self, n: int) -> list[Hypothesis]:
        """The n cheapest strings of the lattice, in double precision, by cost and then by tokens."""
        if self.paths is None:
            return []
        final = np.full(self.paths.states, np.inf)
        final[self.paths.final_states] = self.paths.final_costs
        return StringOrder(self.words, *self.paths[1:5], final, in_billionths=True).cheapest(n)


class NBest(NamedTuple):
    """Hypotheses, the cheapest first; `proved`: no other order is cheaper than the last of them."""

    hypotheses: list[Hypothesis]
    proved: bool


def take_paths(graph: Graph, keep: NDArray[np.bool_], space: Space) -> Paths:
    """The marked arcs at their full costs; their nodes are numbered anew, in the same order.

    Where an order ends before the bag is used up, the first skip has its end cost, and no skip is an arc.
    """
    is_skip = space.label[graph.arcs.column] < 0
    skips, keep = keep & is_skip, keep & ~is_skip
    used = np.zeros(len(graph.state), dtype=np.bool_)
    used[0] = True
    source, target = graph.arcs.source[keep], graph.arcs.target[keep]
    used[source] = used[target] = True
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    column = graph.arcs.column[keep]
    cost = space.cost[graph.state[source], column]
    last = graph.last_row + np.flatnonzero(used[graph.last_row :])
    end_cost = space.end_cost[graph.state[last]]
    ends = np.isfinite(end_cost)
    final_states, final_costs = number[last[ends]].astype(np.int64), end_cost[ends]
    if skips.any():
        ended = graph.arcs.source[skips]
        first = used[ended]
        skipped_cost = space.cost[graph.state[ended], graph.arcs.column[skips]]
        final_states = np.concatenate([number[ended[first]].astype(np.int64), final_states])
        final_costs = np.concatenate([skipped_cost[first], final_costs])
    return Paths(int(used.sum()), number[source], space.label[column], number[target], cost, final_states, final_costs)
