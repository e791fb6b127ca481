"""Where the parts of a lattice stand in a drawing, from left to right; the drawings themselves are made elsewhere.

lay_out  the arcs of a lattice → Layout
Layout   the places of the states, and the lines between them
Line     the arcs from one state to another as one curve, and the place of their words
Sizes    the lengths that a drawing is made with, in a unit of its own

States stand in columns by their distance from the start, and between two columns of states is one of words; within a
column things stand so that few lines cross. A line that jumps over columns has a bend in each of them (Sugiyama et al.
1981). So no word covers another, nor a state, and no line goes through a word that is not its own. Heights count
downwards, as the lines of a page.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]
Piece = tuple[Point, Point, Point, Point]  # a cubic Bézier curve
Floats = NDArray[np.float64]

_SWEEPS = 24
_SLANT = 0.5  # a column is so much wider for each unit that its steepest line climbs beyond half the distance of bends
_BESIDE_LINE = 0.7  # of a label's height: the least distance of its middle from a line that passes by


@dataclass(frozen=True)
class Sizes:
    """The lengths of a drawing; a column is as wide as its longest word and `beside_word`, or `least_column`."""

    radius: float
    state_gap: float  # least distance of two states in a column
    bend_gap: float  # least distance of a bend from its neighbours in a column
    letter_width: float
    label_height: float  # of a word with its cost
    beside_word: float
    least_column: float = 0.0


@dataclass(frozen=True)
class Line:
    """The arcs from `source` to `target` by their numbers: curves that join smoothly, and the middle of their words."""

    source: int
    target: int
    arcs: tuple[int, ...]
    is_best: bool
    pieces: tuple[Piece, ...]
    label: Point


@dataclass(frozen=True)
class Layout:
    """The places of the states, the lines, those of the best path first, and the box around the middles of all."""

    states: Mapping[int, Point]
    lines: tuple[Line, ...]
    left: float
    right: float
    top: float
    bottom: float


@dataclass(frozen=True)
class _Chain:
    """The arcs between two states before they have a place: `nodes` are the two states and what is between them.

    The node of their words is the number `label` among these.
    """

    nodes: tuple[int, ...]
    arcs: list[int]
    label: int


def lay_out(
    source: Sequence[int], words: Sequence[str], target: Sequence[int], sizes: Sizes, best: Collection[int] = ()
) -> Layout:
    """Lay out the lattice whose arc k carries `words[k]`; `best` are the numbers of the arcs of its best path.

    Its start is state 0, and arcs lead to higher states.
    """
    num_states = 1 + max([0, *target])
    layers, chains = _layers(source, target, num_states)
    chains.sort(key=lambda chain: not any(arc in best for arc in chain.arcs))
    widths = [sizes.letter_width * max(len(words[arc]) for arc in chain.arcs) for chain in chains]
    widest = _widest(layers, chains, widths)
    place = _place(layers, chains, widest, sizes)
    lines = []
    for chain in chains:
        pieces = _curve([place[node] for node in chain.nodes], [widest[node] for node in chain.nodes], sizes.radius)
        is_best = any(arc in best for arc in chain.arcs)
        label = place[chain.nodes[chain.label]]
        lines.append(Line(chain.nodes[0], chain.nodes[-1], tuple(chain.arcs), is_best, pieces, label))
    xs, ys = zip(*place.values(), strict=True)
    states = {state: place[state] for state in range(num_states)}
    return Layout(states, tuple(lines), min(xs), max(xs), min(ys), max(ys))


def _layers(source: Sequence[int], target: Sequence[int], num_states: int) -> tuple[list[list[int]], list[_Chain]]:
    """The columns of states and bends, with those of words between them, and the chains through all of them.

    Words and bends are numbered on from the states. The words stand in the middle of a chain, or before it.
    """
    depth = [0] * num_states
    for s, t in sorted(zip(source, target, strict=True)):
        depth[t] = max(depth[t], depth[s] + 1)
    layers: list[list[int]] = [[] for _ in range(2 * max(depth) + 1)]
    for state, column in enumerate(depth):
        layers[2 * column].append(state)
    new = num_states
    chains: dict[tuple[int, int], _Chain] = {}
    for number, (s, t) in enumerate(zip(source, target, strict=True)):
        if (s, t) not in chains:
            between = range(2 * depth[s] + 1, 2 * depth[t])
            nodes = range(new, new + len(between))
            chains[s, t] = _Chain((s, *nodes, t), [], 1 + 2 * ((depth[t] - depth[s] - 1) // 2))
            for node, column in zip(nodes, between, strict=True):
                layers[column].append(node)
            new += len(between)
        chains[s, t].arcs.append(number)
    return layers, list(chains.values())


def _widest(layers: list[list[int]], chains: Sequence[_Chain], widths: Sequence[float]) -> dict[int, float]:
    """For each state, bend and label the width of the longest word in its column."""
    own = {chain.nodes[chain.label]: width for chain, width in zip(chains, widths, strict=True)}
    longest = [max((own.get(node, 0.0) for node in layer), default=0.0) for layer in layers]
    return {node: width for layer, width in zip(layers, longest, strict=True) for node in layer}


def _place(
    layers: list[list[int]], chains: Sequence[_Chain], widest: Mapping[int, float], sizes: Sizes
) -> dict[int, Point]:
    """Where each state, bend and label stands."""
    before, after = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for chain in chains:
        for left, right in itertools.pairwise(chain.nodes):
            before[right].append(left)
            after[left].append(right)
    order = _ordered(layers, before, after)
    labels = {chain.nodes[chain.label]: sizes.label_height * len(chain.arcs) for chain in chains}
    states = {end for chain in chains for end in (chain.nodes[0], chain.nodes[-1])}
    steps = {layer[0]: _steps(layer, states, labels, sizes) for layer in order if layer}
    height = _heights(order, before, after, steps)
    column = {node: x for x, layer in enumerate(order) for node in layer}
    climbs = [0.0] * len(order)
    for left, right in (pair for chain in chains for pair in itertools.pairwise(chain.nodes)):
        climbs[column[left]] = max(climbs[column[left]], abs(height[left] - height[right]))
    across = [0.0]
    for x in range(1, len(order), 2):
        climb = max(climbs[x - 1], climbs[x]) - sizes.bend_gap / 2
        width = max(sizes.least_column, sizes.beside_word + widest[order[x][0]]) + _SLANT * max(climb, 0.0)
        across += [across[-1] + width / 2, across[-1] + width]
    return {node: (across[column[node]], height[node]) for layer in order for node in layer}


def _steps(layer: Sequence[int], states: Collection[int], labels: Mapping[int, float], sizes: Sizes) -> Floats:
    """How far below the first of a column the others must stand at least."""

    def gap(upper: int, lower: int) -> float:
        heights = [labels[node] for node in (upper, lower) if node in labels]
        if len(heights) == 2:
            return sum(heights) / 2
        if heights:
            return heights[0] / 2 + sizes.label_height * (_BESIDE_LINE - 0.5)
        return sizes.state_gap if upper in states and lower in states else sizes.bend_gap

    return np.concatenate([[0.0], np.cumsum([gap(*pair) for pair in itertools.pairwise(layer)])])


def _ordered(layers: list[list[int]], before: dict[int, list[int]], after: dict[int, list[int]]) -> list[list[int]]:
    """Order the columns by the mean places of their neighbours, to and fro; the fewest crossings win."""
    current = [list(layer) for layer in layers]
    best, fewest = current, _crossings(current, after)
    for sweep in range(_SWEEPS):
        if fewest == 0:
            break
        forward = sweep % 2 == 0
        neighbours = before if forward else after
        columns = range(1, len(current)) if forward else range(len(current) - 2, -1, -1)
        current = [list(layer) for layer in current]
        for x in columns:
            beside = current[x - 1] if forward else current[x + 1]
            place = {node: y for y, node in enumerate(beside)}
            own = {node: y for y, node in enumerate(current[x])}
            means = {n: np.mean([place[m] for m in neighbours[n]]) if neighbours[n] else own[n] for n in current[x]}
            current[x].sort(key=means.__getitem__)
        _swap_neighbours(current, before, after)
        crossings = _crossings(current, after)
        if crossings < fewest:
            best, fewest = current, crossings
    return best


def _swap_neighbours(layers: list[list[int]], before: dict[int, list[int]], after: dict[int, list[int]]) -> None:
    """Swap two that stand together in a column wherever that makes fewer crossings, until none is left."""
    place = {node: y for layer in layers for y, node in enumerate(layer)}

    def crossings(upper: int, lower: int) -> int:
        sides = ((before[upper], before[lower]), (after[upper], after[lower]))
        return sum(place[a] > place[b] for above, below in sides for a in above for b in below)

    for layer in layers:
        swapped = True
        while swapped:
            swapped = False
            for y in range(len(layer) - 1):
                upper, lower = layer[y], layer[y + 1]
                if crossings(lower, upper) < crossings(upper, lower):
                    layer[y], layer[y + 1] = lower, upper
                    place[lower], place[upper] = y, y + 1
                    swapped = True


def _crossings(layers: list[list[int]], after: dict[int, list[int]]) -> int:
    """How many pairs of arcs cross between neighbouring columns."""
    total = 0
    for left, right in itertools.pairwise(layers):
        place = {node: y for y, node in enumerate(right)}
        ends = np.array([y for node in left for y in sorted(place[m] for m in after[node])])
        total += int(sum(np.count_nonzero(ends[:i] > end) for i, end in enumerate(ends)))
    return total


def _heights(
    order: list[list[int]], before: dict[int, list[int]], after: dict[int, list[int]], steps: Mapping[int, Floats]
) -> dict[int, float]:
    """Move each column towards its neighbours' heights, keeping its order and the least distances.

    `steps` are those distances, by the first of a column.
    """
    height: dict[int, float] = {}
    for layer in order:
        offsets = steps[layer[0]]
        height |= dict(zip(layer, (offsets - offsets[-1] / 2).tolist(), strict=True))
    for sweep in range(_SWEEPS):
        for layer in order if sweep % 2 == 0 else reversed(order):
            beside = [[height[m] for m in before[n] + after[n]] or [height[n]] for n in layer]
            wish = np.array([np.mean(heights) for heights in beside])
            offsets = steps[layer[0]]
            height |= dict(zip(layer, (_ascending(wish - offsets) + offsets).tolist(), strict=True))
    return height


def _ascending(wish: Floats) -> Floats:
    """The nearest numbers that do not fall (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for value in wish.tolist():
        mean, size = value, 1
        while pools and pools[-1][0] > mean:
            other, count = pools.pop()
            mean, size = (other * count + mean * size) / (count + size), count + size
        pools.append((mean, size))
    return np.concatenate([np.full(size, mean) for mean, size in pools])


def _curve(places: Sequence[Point], widths: Sequence[float], radius: float) -> tuple[Piece, ...]:
    """The pieces of a line, level at every state and bend, so that they join smoothly; it ends beside the states.

    Through a column of words it is straight, as wide as these are.
    """
    points = [(places[0][0] + radius, places[0][1])]
    for (x, y), width in zip(places[1:-1], widths[1:-1], strict=True):
        points += [(x - width / 2, y), (x + width / 2, y)] if width else [(x, y)]
    points.append((places[-1][0] - radius, places[-1][1]))
    pieces = []
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        reach = 0.45 * (x1 - x0)
        pieces.append(((x0, y0), (x0 + reach, y0), (x1 - reach, y1), (x1, y1)))
    return tuple(pieces)
