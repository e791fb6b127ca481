"""A lattice spread out so that every arc ends one known n-gram: the ground of posteriors, MBR decoding and oracles.

ArcArrays       the arcs of a lattice in double precision, sorted by source and by target
lattice_arrays  made of a Lattice
NgramGraph      the paths of a lattice over nodes (state, last n - 1 words); each arc is the end of one n-gram
expand          made of ArcArrays
pack, unpack    n-grams as whole numbers, and back
best_path       the path with the highest sum of gains

An n-gram of word numbers w₁ … wₙ (from 0) is the number with the digits wᵢ + 1 in base V + 1 for V words: the shorter
n-grams at the start of a path have zeros in front, and the last m words of an n-gram are the remainder by (V + 1)^m.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.errors import InputError, ResourceError
from gyro.lattice.lattice import Lattice
from gyro.row_table import slot_of

Indices = NDArray[np.int32]
Keys = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_ARCS = 2_000_000  # as a lattice of OpenFst in a file they take three seconds


@dataclass(frozen=True)
class ArcArrays:
    """The arcs of a lattice, sorted by source; `by_target` sorts them by target; no end: `final` is infinity."""

    words: tuple[str, ...]
    num_states: int
    source: Indices
    word: Indices
    target: Indices
    cost: Floats
    final: Floats
    by_target: NDArray[np.int64]

    def pruned_costs(self, beta: float | None) -> tuple[Floats, Floats]:
        """The costs of arcs and ends, infinity where no path within beta of the cheapest one passes."""
        if beta is not None and not beta >= 0.0:
            raise InputError(f"found a lattice to be pruned at {beta}; a number from 0 is allowed")
        if beta is None or beta == np.inf or not self.num_states:
            return self.cost, self.final
        return _prune(self.source, self.target, self.cost, self.final, self.by_target, beta)  # type: ignore[no-any-return]

    def spread(self) -> float:
        """How far the dearest of the cheapest paths through each arc and end is from the cheapest of all."""
        if not self.num_states:
            return 0.0
        return float(_spread(self.source, self.target, self.cost, self.final, self.by_target))

    def pruned(self, beta: float | None) -> ArcArrays:
        """Without the arcs that are on no path within beta of the cheapest one; the states keep their numbers."""
        cost, final = self.pruned_costs(beta)
        kept = np.flatnonzero(cost != np.inf)
        by_target = np.argsort(self.target[kept], kind="stable")
        columns = {name: getattr(self, name)[kept] for name in ("source", "word", "target", "cost")}
        return replace(self, **columns, final=final, by_target=by_target)


def lattice_arrays(lattice: Lattice) -> ArcArrays:
    """The arcs of a lattice."""
    source, word, target, cost, final_states, final_costs = lattice.to_arrays()
    final = np.full(lattice.num_states, np.inf)
    final[final_states] = final_costs
    by_target = np.argsort(target, kind="stable")
    return ArcArrays(lattice.words, lattice.num_states, source, word, target, cost.astype(float), final, by_target)


def check_vocabulary(words: tuple[str, ...], order: int) -> int:
    """The base in which n-grams of these words are packed."""
    if order < 1:
        raise InputError(f"found n-grams of order {order}; 1 or more is allowed")
    base = len(words) + 1
    if base**order >= 2**63:
        largest = int(2 ** (63 / order))
        largest -= largest**order >= 2**63
        raise InputError(f"found {len(words)} distinct words; n-grams of order {order} allow {largest - 1}")
    return base


def pack(digits: NDArray[Any], base: int) -> Keys:
    """The keys of n-grams given as rows of word numbers + 1."""
    keys = np.zeros(len(digits), np.int64)
    for column in np.asarray(digits, np.int64).T:
        keys = keys * base + column
    return keys


def unpack(keys: Keys, base: int, order: int) -> NDArray[np.int64]:
    """The rows of word numbers + 1 of n-grams given as keys."""
    digits = np.empty((len(keys), order), np.int64)
    rest = keys
    for column in range(order - 1, -1, -1):
        rest, digits[:, column] = np.divmod(rest, base)
    return digits


@dataclass(frozen=True)
class NgramGraph:
    """The paths of a lattice, one to one, over nodes that know the last `order` - 1 words.

    Node 0 is the start; the nodes of state s go from `first[s]` to `first[s + 1]`. Arcs are sorted by the states of
    their targets. `arc` is the arc of the lattice, `kind` the place of the n-gram that ends here in `keys`, which are
    sorted; `keys[short:]` are the n-grams of full length.
    """

    order: int
    first: NDArray[np.int64]
    source: Indices
    target: Indices
    arc: Indices
    kind: Indices
    keys: Keys
    short: int

    @property
    def num_nodes(self) -> int:
        return int(self.first[-1])

    @cached_property
    def by_source(self) -> NDArray[np.int64]:
        """The arcs sorted by source."""
        return np.argsort(self.source, kind="stable")

    @cached_property
    def first_out(self) -> NDArray[np.int64]:
        """The arcs that leave node v are `by_source[first_out[v] : first_out[v + 1]]`."""
        return np.searchsorted(self.source[self.by_source], np.arange(self.num_nodes + 1))


def expand(arrays: ArcArrays, order: int) -> NgramGraph:
    """Split the states of a lattice by the last `order` - 1 words; only what can be reached is made."""
    base = check_vocabulary(arrays.words, order)
    ordered = (arrays.source[arrays.by_target], arrays.word[arrays.by_target], arrays.target[arrays.by_target])
    first, source, target, place, key = _expand(arrays.num_states, *ordered, base, base ** (order - 1), MOST_ARCS)
    if len(first) == 0:
        raise ResourceError(
            f"the lattice has more than {MOST_ARCS:,} arcs when its states are split by {order - 1} words; prune it"
        )
    keys, kind = np.unique(key, return_inverse=True)
    short = int(np.searchsorted(keys, base ** (order - 1)))
    arc = arrays.by_target[place].astype(np.int32)
    return NgramGraph(order, first, source, target, arc, kind.astype(np.int32), keys, short)


def best_path(graph: NgramGraph, gain: Floats, final_gain: Floats, rank: Indices) -> tuple[list[int], float]:
    """The arcs of the graph on the path with the highest sum of gains, and that sum.

    Of equal sums the string that comes first wins, where `rank` is the place of each arc's word in the order of words.
    """
    rest = _highest_rests(graph.source, graph.target, gain, final_gain)
    most = float(rest[0])
    enough = most - 1e-10 * (1.0 + abs(most))  # sums of the same gains in another order differ in their last bits
    # The nodes that the words so far lead to: the highest sum there, the arc that it came by, and the entry before.
    reached: dict[int, tuple[float, int, Any]] = {0: (0.0, -1, None)}
    while all(so_far + final_gain[node] < enough for node, (so_far, _, _) in reached.items()):
        following: list[tuple[int, int, float, Any]] = []
        for node, entry in reached.items():
            arcs = graph.by_source[graph.first_out[node] : graph.first_out[node + 1]]
            good = arcs[entry[0] + gain[arcs] + rest[graph.target[arcs]] >= enough]
            following += [(int(rank[arc]), int(arc), entry[0] + float(gain[arc]), entry) for arc in good]
        first = min(word for word, *_ in following)
        reached = {}
        for word, arc, so_far, entry in following:
            target = int(graph.target[arc])
            if word == first and (target not in reached or so_far > reached[target][0]):
                reached[target] = (so_far, arc, entry)
    _, arc, entry = max(
        ((so_far + final_gain[node], arc, entry) for node, (so_far, arc, entry) in reached.items()),
        key=lambda end: end[0],
    )
    path = []
    while arc >= 0:
        path.append(arc)
        _, arc, entry = entry
    return path[::-1], most


@compiled
def _highest_rests(source: Any, target: Any, gain: Any, final_gain: Any) -> Any:
    """The highest sum of gains from each node to an end."""
    rest = final_gain.copy()
    for arc in range(len(source) - 1, -1, -1):
        rest[source[arc]] = max(rest[source[arc]], gain[arc] + rest[target[arc]])
    return rest


@compiled
def _distances(source: Any, target: Any, cost: Any, final: Any, by_target: Any) -> Any:
    """The cheapest ways from the start to each state, and from each state to an end."""
    ahead = np.full(len(final), np.inf)
    ahead[0] = 0.0
    for arc in by_target:
        ahead[target[arc]] = min(ahead[target[arc]], ahead[source[arc]] + cost[arc])
    behind = final.copy()
    for arc in range(len(source) - 1, -1, -1):
        behind[source[arc]] = min(behind[source[arc]], cost[arc] + behind[target[arc]])
    return ahead, behind


@compiled
def _spread(source: Any, target: Any, cost: Any, final: Any, by_target: Any) -> Any:
    ahead, behind = _distances(source, target, cost, final, by_target)
    most = 0.0
    for arc in range(len(source)):
        through = ahead[source[arc]] + cost[arc] + behind[target[arc]] - behind[0]
        if through != np.inf:
            most = max(most, through)
    for state in range(len(final)):
        if ahead[state] + final[state] != np.inf:
            most = max(most, ahead[state] + final[state] - behind[0])
    return most


@compiled
def _prune(source: Any, target: Any, cost: Any, final: Any, by_target: Any, beta: float) -> Any:
    states = len(final)
    ahead, behind = _distances(source, target, cost, final, by_target)
    # A little more, for sums of the same costs in another order differ in their last bits.
    most = behind[0] + beta + 1e-9 * (1.0 + abs(behind[0]))
    kept_cost, kept_final = cost.copy(), final.copy()
    for arc in range(len(source)):
        if ahead[source[arc]] + cost[arc] + behind[target[arc]] > most:
            kept_cost[arc] = np.inf
    for state in range(states):
        if ahead[state] + final[state] > most:
            kept_final[state] = np.inf
    return kept_cost, kept_final


@compiled
def _grown(array: Any, used: int, needed: int) -> Any:
    if needed <= len(array):
        return array
    more = np.empty(max(needed, 2 * len(array)), array.dtype)
    more[:used] = array[:used]
    return more


@compiled
def _expand(num_states: int, source: Any, word: Any, target: Any, base: int, histories: int, most: int) -> Any:
    """Nodes and arcs state by state: each arc, sorted by target, meets every node of its source."""
    room = 2 * len(source) + 2
    first = np.zeros(num_states + 1, np.int64)
    history = np.zeros(room, np.int64)
    from_node, to_node, place = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    key = np.empty(room, np.int64)
    table = np.empty(64, np.int32)
    nodes, arcs, at = min(1, num_states), 0, 0
    if num_states > 0:
        first[1] = 1
    for state in range(1, num_states):
        begin, needed = at, 0
        while at < len(target) and target[at] == state:
            needed += first[source[at] + 1] - first[source[at]]
            at += 1
        if arcs + needed > most:
            return first[:0], from_node, to_node, place, key
        size = 2
        while size < 2 * needed:
            size *= 2
        table = _grown(table, 0, size)
        slots = table[:size]
        slots[:] = -1
        history = _grown(history, nodes, nodes + needed)
        from_node, to_node = _grown(from_node, arcs, arcs + needed), _grown(to_node, arcs, arcs + needed)
        place, key = _grown(place, arcs, arcs + needed), _grown(key, arcs, arcs + needed)
        histories_of_state = history[nodes:].reshape((-1, 1))
        since = nodes
        for k in range(begin, at):
            for node in range(first[source[k]], first[source[k] + 1]):
                whole = history[node] * base + word[k] + 1
                kept = whole % histories
                slot = slot_of(slots, histories_of_state, (kept,))
                if slots[slot] < 0:
                    slots[slot] = nodes - since
                    history[nodes] = kept
                    nodes += 1
                from_node[arcs], to_node[arcs], place[arcs], key[arcs] = node, since + slots[slot], k, whole
                arcs += 1
        first[state + 1] = nodes
    return first, from_node[:arcs].copy(), to_node[:arcs].copy(), place[:arcs].copy(), key[:arcs].copy()
