"""n-gram posteriors: the probability that a string contains an n-gram at least once.

Posteriors         n-grams of all orders and their probabilities; a mapping from tuples of words
ngram_posteriors   of a lattice, exact, by a forward and a backward pass
string_posteriors  of weighted strings: the share of those that contain the n-gram
LatticeNgrams      a lattice made ready for posteriors at many scales, within limits of arcs and steps

A string of a lattice has probability exp(-scale · cost) / Z (Tromble et al. 2008). Strings count, not paths: where
several paths have the same string, it has the cost of the cheapest of them (rescoring.distinct).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gyro.errors import InputError, ResourceError
from gyro.lattice.lattice import Lattice
from rescoring.distinct import best_strings, merge_paths, widest
from rescoring.ngram_paths import (
    ArcArrays,
    Floats,
    Keys,
    NgramGraph,
    check_vocabulary,
    expand,
    lattice_arrays,
    pack,
    unpack,
)

ORDER = 4
MOST_REPEAT_STEPS = 1_000_000_000  # arcs between the first and the last occurrence, of all n-grams that may repeat

Ngram = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Posteriors(Mapping[Ngram, float]):
    """The n-grams of orders 1, 2, … and their probabilities; those that are not there have probability 0.

    `packed[n - 1]` are the n-grams of n words as sorted numbers (rescoring.ngram_paths); `probabilities` go with them.

    >>> posteriors = string_posteriors([("a", "b"), ("b", "a")], [3, 1])
    >>> posteriors["a", "b"], posteriors["a",], posteriors.probability(("b", "b"))
    (0.75, 1.0, 0.0)
    """

    words: tuple[str, ...]
    packed: tuple[Keys, ...]
    probabilities: tuple[Floats, ...]

    @property
    def order(self) -> int:
        return len(self.packed)

    @classmethod
    def from_mapping(cls, mapping: Mapping[Ngram, float], order: int = ORDER) -> Posteriors:
        """Posteriors of n-grams given one by one."""
        words = tuple(sorted(set(chain.from_iterable(mapping))))
        base = check_vocabulary(words, order)
        number = {word: i + 1 for i, word in enumerate(words)}
        grams: list[list[Ngram]] = [[] for _ in range(order)]
        for gram in mapping:
            if not 1 <= len(gram) <= order:
                raise InputError(f"found the n-gram {' '.join(gram)!r}; 1 to {order} words are allowed")
            grams[len(gram) - 1].append(gram)
        keys, values = [], []
        for n, of_order in enumerate(grams, 1):
            packed = pack(np.array([[number[word] for word in gram] for gram in of_order]).reshape(-1, n), base)
            place = np.argsort(packed)
            keys.append(packed[place])
            values.append(np.array([mapping[gram] for gram in of_order], np.float64)[place])
        return cls(words, tuple(keys), tuple(values))

    def probability(self, gram: Sequence[str]) -> float:
        """The probability of an n-gram, 0 when it is not there."""
        return self.get(tuple(gram), 0.0)

    def __getitem__(self, gram: Ngram) -> float:
        numbers = [self._number.get(word, 0) for word in gram]
        if 1 <= len(numbers) <= self.order and all(numbers):
            keys = self.packed[len(numbers) - 1]
            key = pack(np.array([numbers]), len(self.words) + 1)[0]
            place = int(np.searchsorted(keys, key))
            if place < len(keys) and keys[place] == key:
                return float(self.probabilities[len(numbers) - 1][place])
        raise KeyError(gram)

    def __iter__(self) -> Iterator[Ngram]:
        for n, keys in enumerate(self.packed, 1):
            for row in unpack(keys, len(self.words) + 1, n).tolist():
                yield tuple(self.words[digit - 1] for digit in row)

    def __len__(self) -> int:
        return sum(map(len, self.packed))

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: i + 1 for i, word in enumerate(self.words)}

    def look_up(self, words: Sequence[str], n: int, keys: Keys) -> Floats:
        """The probabilities of n-grams of `n` words packed over other `words`; 0 for those that are not here."""
        if n > self.order or not len(self.packed[n - 1]):
            return np.zeros(len(keys))
        table = np.array([0, *(self._number.get(word, 0) for word in words)], np.int64)
        mine = table[unpack(keys, len(words) + 1, n)]
        packed = pack(mine, len(self.words) + 1)
        known = self.packed[n - 1]
        place = np.minimum(np.searchsorted(known, packed), len(known) - 1)
        found = (known[place] == packed) & (mine > 0).all(axis=1)
        return np.where(found, self.probabilities[n - 1][place], 0.0)

    def mix(self, other: Posteriors, alpha: float) -> Posteriors:
        """α times these plus 1 - α times the others."""
        if not 0.0 <= alpha <= 1.0:
            raise InputError(f"found the share α = {alpha}; 0 to 1 is allowed")
        words = tuple(sorted({*self.words, *other.words}))
        order = max(self.order, other.order)
        base = check_vocabulary(words, order)
        keys, values = [], []
        for n in range(1, order + 1):
            parts = [part._keys_over(words, base, n) for part in (self, other)]
            union = np.unique(np.concatenate(parts))
            keys.append(union)
            values.append(alpha * self.look_up(words, n, union) + (1 - alpha) * other.look_up(words, n, union))
        return Posteriors(words, tuple(keys), tuple(values))

    def _keys_over(self, words: Sequence[str], base: int, n: int) -> Keys:
        if n > self.order:
            return np.empty(0, np.int64)
        number = {word: i + 1 for i, word in enumerate(words)}
        table = np.array([0, *(number[word] for word in self.words)], np.int64)
        return pack(table[unpack(self.packed[n - 1], len(self.words) + 1, n)], base)


def ngram_posteriors(
    lattice: Lattice, *, order: int = ORDER, scale: float = 1.0, prune: float | None = None
) -> Posteriors:
    """The probability of each n-gram of up to `order` words that a string of the lattice contains it at least once.

    Strings are weighted by exp(-scale · cost). With `prune`, only arcs on paths within that many nats of the cheapest
    one count; the costs are not scaled for this.
    """
    ngrams = LatticeNgrams.of_lattice(lattice, order, prune)
    return ngrams.to_posteriors(ngrams.values(scale))


def string_posteriors(
    strings: Sequence[Sequence[str]], weights: Sequence[float] | None = None, order: int = ORDER
) -> Posteriors:
    """The weighted share of the strings that contain each n-gram at least once; weights need not sum to 1."""
    shares = [1.0] * len(strings) if weights is None else [float(weight) for weight in weights]
    if len(shares) != len(strings):
        raise InputError(f"found {len(shares)} weights for {len(strings)} strings")
    total = sum(shares)
    if strings and not (min(shares) >= 0 and 0 < total < np.inf):
        raise InputError(f"found the weights {shares!r:.60}; none below 0 and one above 0 are needed")
    probabilities: dict[Ngram, float] = {}
    for string, share in zip(strings, shares, strict=True):
        tokens = tuple(string)
        grams = {tokens[i : i + n] for n in range(1, order + 1) for i in range(len(tokens) - n + 1)}
        for gram in grams if share else ():
            probabilities[gram] = probabilities.get(gram, 0.0) + share / total
    return Posteriors.from_mapping(probabilities, order)


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


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def _depths(source: Any, target: Any, by_target: Any, num_states: int) -> Any:
    """The fewest and the most words before each state."""
    fewest, most = np.full(num_states, 2**30), np.zeros(num_states, np.int64)
    if num_states > 0:
        fewest[0] = 0
    for arc in by_target:
        fewest[target[arc]] = min(fewest[target[arc]], fewest[source[arc]] + 1)
        most[target[arc]] = max(most[target[arc]], most[source[arc]] + 1)
    return fewest, most


@njit(cache=True)
def _may_repeat(arc: Any, kind: Any, source: Any, target: Any, depths: Any, num_kinds: int) -> Any:
    """Whether some arc of an n-gram starts as deep in the lattice as another ends."""
    fewest, most = depths
    earliest, latest = np.full(num_kinds, 2**30), np.full(num_kinds, -1)
    for k in range(len(arc)):
        earliest[kind[k]] = min(earliest[kind[k]], fewest[target[arc[k]]])
        latest[kind[k]] = max(latest[kind[k]], most[source[arc[k]]])
    return latest >= earliest


@njit(cache=True)
def _spans(arc: Any, kind: Any, probability: Any, num_kinds: int) -> Any:
    """The first arc of each n-gram that is on a path, and the one after its last."""
    begin, end = np.full(num_kinds, len(kind)), np.zeros(num_kinds, np.int64)
    for k in range(len(kind)):
        if probability[arc[k]] > 0.0:
            begin[kind[k]] = min(begin[kind[k]], k)
            end[kind[k]] = k + 1
    return begin, end


@njit(cache=True)
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
