"""Where the parts of a lattice stand in a drawing, from left to right; the drawings themselves are made elsewhere.

lay_out  the arcs of a lattice → Layout
Layout   the places of the states, and the lines between them
Line     the arcs from one state to another as one curve, and the place of their words
Sizes    the lengths that a drawing is made with, in a unit of its own

States stand in columns by their distance from the start, and within a column so that few arcs cross; a line that jumps
over columns has a bend in each of them (Sugiyama et al. 1981). Heights count downwards, as the lines of a page.
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
_LABEL_PLACES = (0.5, 0.4, 0.6, 0.32, 0.68, 0.25, 0.75)  # along the curve, the best ones first


@dataclass(frozen=True)
class Sizes:
    """The lengths of a drawing; a column is as wide as its longest word and `beside_word`, or `least_column`."""

    radius: float
    state_gap: float  # least distance of two states in a column
    bend_gap: float  # least distance of a bend from its neighbours in a column
    letter_width: float
    label_height: float
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
    """The places of the states, the lines, those of the best path first, and the box around states and bends."""

    states: Mapping[int, Point]
    lines: tuple[Line, ...]
    left: float
    right: float
    top: float
    bottom: float


@dataclass(frozen=True)
class _Chain:
    """The arcs between two states before they have a place: `nodes` are the two states and the bends between them."""

    nodes: tuple[int, ...]
    arcs: list[int]


def lay_out(
    source: Sequence[int], words: Sequence[str], target: Sequence[int], sizes: Sizes, best: Collection[int] = ()
) -> Layout:
    """Lay out the lattice whose arc k carries `words[k]`; `best` are the numbers of the arcs of its best path.

    Its start is state 0, and arcs lead to higher states.
    """
    num_states = 1 + max([0, *target])
    layers, chains = _layers(source, target, num_states)
    # The words of the best path choose their places first.
    chains.sort(key=lambda chain: not any(arc in best for arc in chain.arcs))
    widths = [sizes.letter_width * max(len(words[arc]) for arc in chain.arcs) for chain in chains]
    place = _place(layers, chains, widths, sizes)
    lines: list[Line] = []
    taken: list[tuple[Point, float, float]] = []
    for chain, width in zip(chains, widths, strict=True):
        pieces = _curve([place[node] for node in chain.nodes], sizes.radius)
        label = _label_place(pieces[(len(pieces) - 1) // 2], width, sizes.label_height * len(chain.arcs), taken)
        is_best = any(arc in best for arc in chain.arcs)
        lines.append(Line(chain.nodes[0], chain.nodes[-1], tuple(chain.arcs), is_best, pieces, label))
    xs, ys = zip(*place.values(), strict=True)
    states = {state: place[state] for state in range(num_states)}
    return Layout(states, tuple(lines), min(xs), max(xs), min(ys), max(ys))


def _layers(source: Sequence[int], target: Sequence[int], num_states: int) -> tuple[list[list[int]], list[_Chain]]:
    """The columns of states and bends, and the chains through them; bends are numbered on from the states."""
    depth = [0] * num_states
    for s, t in sorted(zip(source, target, strict=True)):
        depth[t] = max(depth[t], depth[s] + 1)
    layers: list[list[int]] = [[] for _ in range(max(depth) + 1)]
    for state, column in enumerate(depth):
        layers[column].append(state)
    bends = num_states
    chains: dict[tuple[int, int], _Chain] = {}
    for number, (s, t) in enumerate(zip(source, target, strict=True)):
        if (s, t) not in chains:
            between = range(depth[s] + 1, depth[t])
            chains[s, t] = _Chain((s, *range(bends, bends + len(between)), t), [])
            for bend, column in enumerate(between, bends):
                layers[column].append(bend)
            bends += len(between)
        chains[s, t].arcs.append(number)
    return layers, list(chains.values())


def _place(
    layers: list[list[int]], chains: Sequence[_Chain], widths: Sequence[float], sizes: Sizes
) -> dict[int, Point]:
    """Where each state and bend stands."""
    before, after = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for chain in chains:
        for left, right in itertools.pairwise(chain.nodes):
            before[right].append(left)
            after[left].append(right)
    order = _ordered(layers, before, after)
    bends = {bend for chain in chains for bend in chain.nodes[1:-1]}
    more = sizes.label_height * (max((len(chain.arcs) for chain in chains), default=1) - 1)
    height = _heights(order, before, after, bends, (sizes.state_gap + more, sizes.bend_gap + more))
    widest = [sizes.least_column] * len(layers)
    column = {node: x for x, layer in enumerate(layers) for node in layer}
    for chain, width in zip(chains, widths, strict=True):
        # The words stand in the middle piece of the line.
        x = column[chain.nodes[(len(chain.nodes) - 2) // 2]]
        widest[x] = max(widest[x], sizes.beside_word + width)
    left_edge = np.concatenate([[0.0], np.cumsum(widest)]).tolist()
    return {node: (left_edge[column[node]], height[node]) for layer in order for node in layer}


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
    order: list[list[int]],
    before: dict[int, list[int]],
    after: dict[int, list[int]],
    bends: set[int],
    gaps: tuple[float, float],
) -> dict[int, float]:
    """Move each column towards its neighbours' heights, keeping its order and the least distances.

    `gaps` are the least distances between two states, and of a bend from what is beside it.
    """
    steps = {}
    height: dict[int, float] = {}
    for layer in order:
        pairs = itertools.pairwise(layer)
        between = [gaps[a in bends or b in bends] for a, b in pairs]
        steps[layer[0]] = offsets = np.concatenate([[0.0], np.cumsum(between)])
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


def _curve(points: list[Point], radius: float) -> tuple[Piece, ...]:
    """The pieces of a line, level at every state and bend, so that they join smoothly; it ends beside the states."""
    (x, y), (last_x, last_y) = points[0], points[-1]
    pieces = []
    for (x0, y0), (x1, y1) in itertools.pairwise([(x + radius, y), *points[1:-1], (last_x - radius, last_y)]):
        reach = 0.45 * (x1 - x0)
        pieces.append(((x0, y0), (x0 + reach, y0), (x1 - reach, y1), (x1, y1)))
    return tuple(pieces)


def _label_place(piece: Piece, width: float, height: float, taken: list[tuple[Point, float, float]]) -> Point:
    """The place along the curve where a label covers least of others; it is taken from now on."""

    def covered(at: Point) -> float:
        total = 0.0
        for (x, y), other_width, other_height in taken:
            across = (width + other_width) / 2 - abs(at[0] - x)
            down = (height + other_height) / 2 - abs(at[1] - y)
            total += max(across, 0.0) * max(down, 0.0)
        return total

    # The first of equals: places nearer to the middle come before the others.
    chosen = min((_point_on(piece, t) for t in _LABEL_PLACES), key=covered)
    taken.append((chosen, width, height))
    return chosen


def _point_on(piece: Piece, t: float) -> Point:
    """The point of a cubic Bézier curve at t."""
    weights = np.array([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    x, y = (weights @ np.array(piece)).tolist()
    return x, y
