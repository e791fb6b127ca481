"""n-gram posteriors of lattices, exact, by a forward and a backward pass.

ngram_posteriors  of a lattice
LatticeNgrams     a lattice made ready for posteriors at many scales, within limits of arcs and steps

A string of a lattice has probability exp(-scale · cost) / Z (Tromble et al. 2008). Strings count, not paths: where
several paths have the same string, it has the cost of the cheapest of them (rescoring.distinct).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.errors import InputError, ResourceError
from gyro.lattice.lattice import Lattice
from rescoring.distinct import best_strings, merge_paths, widest
from rescoring.ngram_paths import ArcArrays, Floats, Keys, NgramGraph, check_vocabulary, expand, lattice_arrays
from rescoring.posterior import ORDER, Posteriors

MOST_REPEAT_STEPS = 1_000_000_000  # arcs between the first and the last occurrence, of all n-grams that may repeat


def ngram_posteriors(
    lattice: Lattice, *, order: int = ORDER, scale: float = 1.0, prune: float | None = None
) -> Posteriors:
    """The probability of each n-gram of up to `order` words that a string of the lattice contains it at least once.

    Strings are weighted by exp(-scale · cost). With `prune`, only arcs on paths within that many nats of the cheapest
    one count; the costs are not scaled for this.
    """
    ngrams = LatticeNgrams.of_lattice(lattice, order, prune)
    return ngrams.to_posteriors(ngrams.values(scale))


class LatticeNgrams:
    """The graphs of a lattice for orders 1 to `order`, made once; posteriors at any scale come from them.

    `width` is how far from the best string the lattice goes, and `evidence_width` the narrowest of the posteriors so
    far, where limits were in the way of more; infinity where they were not.
    """

    def __init__(
        self, arrays: ArcArrays, order: int = ORDER, *, highest: NgramGraph | None = None, width: float = np.inf
    ) -> None:
        """`highest` is the graph of that order, if it is there already."""
        check_vocabulary(arrays.words, order)
        self.arrays, self.width, self.evidence_width = arrays, width, np.inf
        highest = expand(arrays, order) if highest is None else highest
        self.graphs = (*(expand(arrays, n) for n in range(1, order)), highest)
        self._depths = _depths(arrays.source, arrays.target, arrays.by_target, arrays.num_states)

    @classmethod
    def of_lattice(cls, lattice: Lattice, order: int = ORDER, prune: float | None = None) -> LatticeNgrams:
        """One path a string, then what is within `prune` of the best, and of this as much as fits."""
        merged, width = merge_paths(lattice)
        arrays = lattice_arrays(merged).pruned(prune)

        def attempt(beta: float) -> tuple[ArcArrays, NgramGraph] | None:
            part = arrays if beta == np.inf else arrays.pruned(beta)
            try:
                return part, expand(part, order)
            except ResourceError:
                return None

        found = widest(arrays.spread(), attempt)
        if found is None:
            return cls(lattice_arrays(best_strings(merged)), order, width=0.0)
        (part, highest), beta = found
        return cls(part, order, highest=highest, width=min(width, beta))

    def values(self, scale: float, prune: float | None = None) -> tuple[Floats, ...]:
        """The posteriors of the `keys` of each graph; those of shorter n-grams are 0.

        Where repeated n-grams take too many steps, those of the strings nearer to the best.
        """
        if not 0.0 <= scale < np.inf:
            raise InputError(f"found the scale {scale}; a number from 0 is allowed")
        most = np.inf if prune is None else prune
        found = widest(min(most, self.arrays.spread()), lambda beta: self._values(scale, min(most, beta)))
        if found is None:
            raise ResourceError(
                f"the n-grams that repeat take more than {MOST_REPEAT_STEPS:,} steps; prune the lattice"
            )
        self.evidence_width = min(self.evidence_width, found[1])
        return found[0]

    def _values(self, scale: float, prune: float) -> tuple[Floats, ...] | None:
        cost, final = self.arrays.pruned_costs(prune)
        probability = _arc_probabilities(self.arrays.source, self.arrays.target, cost, final, scale)
        found: list[Floats] = []
        repeated = np.empty(0, np.int64)
        steps_left = MOST_REPEAT_STEPS
        for graph in self.graphs:
            columns = (graph.source, graph.target, graph.arc, graph.kind)
            visited, expected = _visits(*columns, probability, graph.num_nodes, len(graph.keys))
            chosen = np.flatnonzero(self._may_repeat(graph, repeated) & (expected > 0))
            spans = _spans(graph.arc, graph.kind, probability, len(graph.keys))
            steps_left -= int((spans[1] - spans[0])[chosen].sum())
            if steps_left < 0:
                return None
            expected[chosen], repeats = _first_occurrences(*columns, probability, visited, chosen, *spans)
            expected[: graph.short] = 0.0
            repeated = graph.keys[chosen[repeats]]
            found.append(np.minimum(expected, 1.0))
        return tuple(found)

    def _may_repeat(self, graph: NgramGraph, shorter: Keys) -> NDArray[np.bool_]:
        """The n-grams for which expected counts are not enough, for they may come again on a path.

        An n-gram can only come again when its first and its last n - 1 words do, so `shorter`, the repeated n-grams of
        one word less, leave few to be looked at.
        """
        columns = (graph.arc, graph.kind, self.arrays.source, self.arrays.target)
        again: NDArray[np.bool_] = _may_repeat(*columns, self._depths, len(graph.keys))
        again[: graph.short] = False
        if graph.order > 1:
            base = len(self.arrays.words) + 1
            head, tail = graph.keys // base, graph.keys % base ** (graph.order - 1)
            again &= np.isin(head, shorter) & np.isin(tail, shorter)
        return again

    def to_posteriors(self, values: Sequence[Floats]) -> Posteriors:
        """The posteriors above 0 under their n-grams."""
        kept = [value > 0 for value in values]
        keys = tuple(graph.keys[mask] for graph, mask in zip(self.graphs, kept, strict=True))
        return Posteriors(self.arrays.words, keys, tuple(v[mask] for v, mask in zip(values, kept, strict=True)))


@compiled
def _arc_probabilities(source: Any, target: Any, cost: Any, final: Any, scale: float) -> Any:
    """The probability of each arc given its source; sums over what follows are logarithms, so that none overflows."""
    rest = np.full(len(final), -np.inf)
    end = len(source)
    for state in range(len(final) - 1, -1, -1):
        begin = end
        while begin > 0 and source[begin - 1] == state:
            begin -= 1
        highest = -scale * final[state] if final[state] != np.inf else -np.inf
        for arc in range(begin, end):
            if cost[arc] != np.inf:
                highest = max(highest, rest[target[arc]] - scale * cost[arc])
        if highest != -np.inf:
            total = np.exp(-scale * final[state] - highest) if final[state] != np.inf else 0.0
            for arc in range(begin, end):
                if cost[arc] != np.inf:
                    total += np.exp(rest[target[arc]] - scale * cost[arc] - highest)
            rest[state] = highest + np.log(total)
        end = begin
    probability = np.zeros(len(source))
    for arc in range(len(source)):
        if cost[arc] != np.inf and rest[target[arc]] != -np.inf:
            probability[arc] = np.exp(rest[target[arc]] - scale * cost[arc] - rest[source[arc]])
    return probability


@compiled
def _visits(source: Any, target: Any, arc: Any, kind: Any, probability: Any, num_nodes: int, num_kinds: int) -> Any:
    """The probability that a path visits each node, and the expected count of each n-gram."""
    visited = np.zeros(num_nodes)
    if num_nodes > 0:
        visited[0] = 1.0
    expected = np.zeros(num_kinds)
    for k in range(len(source)):
        through = visited[source[k]] * probability[arc[k]]
        visited[target[k]] += through
        expected[kind[k]] += through
    return visited, expected


@compiled
def _depths(source: Any, target: Any, by_target: Any, num_states: int) -> Any:
    """The fewest and the most words before each state."""
    fewest, most = np.full(num_states, 2**30), np.zeros(num_states, np.int64)
    if num_states > 0:
        fewest[0] = 0
    for arc in by_target:
        fewest[target[arc]] = min(fewest[target[arc]], fewest[source[arc]] + 1)
        most[target[arc]] = max(most[target[arc]], most[source[arc]] + 1)
    return fewest, most


@compiled
def _may_repeat(arc: Any, kind: Any, source: Any, target: Any, depths: Any, num_kinds: int) -> Any:
    """Whether some arc of an n-gram starts as deep in the lattice as another ends."""
    fewest, most = depths
    earliest, latest = np.full(num_kinds, 2**30), np.full(num_kinds, -1)
    for k in range(len(arc)):
        earliest[kind[k]] = min(earliest[kind[k]], fewest[target[arc[k]]])
        latest[kind[k]] = max(latest[kind[k]], most[source[arc[k]]])
    return latest >= earliest


@compiled
def _spans(arc: Any, kind: Any, probability: Any, num_kinds: int) -> Any:
    """The first arc of each n-gram that is on a path, and the one after its last."""
    begin, end = np.full(num_kinds, len(kind)), np.zeros(num_kinds, np.int64)
    for k in range(len(kind)):
        if probability[arc[k]] > 0.0:
            begin[kind[k]] = min(begin[kind[k]], k)
            end[kind[k]] = k + 1
    return begin, end


@compiled
def _first_occurrences(
    source: Any, target: Any, arc: Any, kind: Any, probability: Any, visited: Any, chosen: Any, begin: Any, end: Any
) -> Any:
    """For each chosen n-gram the probability of its first occurrences, and whether it came again on any path.

    `seen` is the probability to be at a node with the n-gram behind; it flows on only as far as the n-gram's last arc.
    """
    once, repeats = np.zeros(len(chosen)), np.zeros(len(chosen), np.bool_)
    seen = np.zeros(len(visited))
    for place in range(len(chosen)):
        wanted = chosen[place]
        lowest, highest = len(visited), -1
        for k in range(begin[wanted], end[wanted]):
            before = seen[source[k]]
            if kind[k] == wanted:
                through = visited[source[k]] * probability[arc[k]]
                once[place] += max(0.0, visited[source[k]] - before) * probability[arc[k]]
                repeats[place] |= before * probability[arc[k]] > 0.0
            elif before > 0.0:
                through = before * probability[arc[k]]
            else:
                continue
            seen[target[k]] += through
            lowest, highest = min(lowest, target[k]), max(highest, target[k])
        seen[lowest : highest + 1] = 0.0
    return once, repeats
