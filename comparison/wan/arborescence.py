"""Minimum spanning arborescences by the algorithm of Chu and Liu (1965) and Edmonds (1967).

best_tree          the cheapest tree over a bag's vertices with the side of every arc
find_arborescence  the heads of the cheapest tree of a matrix of costs, for compiled code
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.wan.count import AFTER
from gyro.compilation import compiled


class Tree(NamedTuple):
    """The head and the side of each vertex; 0 is the root, whose own entries mean nothing."""

    heads: NDArray[np.int64]
    sides: NDArray[np.int64]
    cost: float


def best_tree(arcs: NDArray[np.float64], *, single_root: bool = False) -> Tree:
    """The tree of minimum cost for costs[u, v, d]; of two sides that cost the same it is after.

    Nothing comes before the root. With `single_root` the root has one child, the cheapest tree of that kind.
    """
    size = len(arcs)
    sides = arcs.argmin(axis=2)
    sides[0] = AFTER
    cost = np.take_along_axis(arcs, sides[:, :, None], axis=2)[:, :, 0]
    weights = cost.copy()
    if single_root:
        weights[0] += cost.sum(axis=0).max() * size + 1.0  # more than any tree costs: every further child is too dear
    heads = find_arborescence(weights)
    modifiers = np.arange(1, size)
    chosen = np.zeros(size, np.int64)
    chosen[1:] = sides[heads[1:], modifiers]
    return Tree(heads, chosen, float(cost[heads[1:], modifiers].sum()))


@compiled
def find_arborescence(weights: Any) -> Any:
    """The head of each node in the cheapest tree that hangs on node 0; of equal costs the lowest number is taken.

    A walk goes up from a node, each time by the cheapest arc into it. It ends at the root or at a walk that did; a
    circle becomes a new node. What the arcs into that cost is what they cost more than the arcs of the circle.
    """
    size = weights.shape[0]
    room = 2 * size
    cost = np.full((room, room), np.inf)
    cost[:size, :size] = weights
    from_node = np.empty((room, room), np.int64)  # the arc of the given matrix that stands behind an entry
    to_node = np.empty((room, room), np.int64)
    for u in range(size):
        for v in range(size):
            from_node[u, v], to_node[u, v] = u, v
    parent = np.full(room, -1, np.int64)  # the circle that a node is in
    enter_from, enter_to = np.zeros(room, np.int64), np.zeros(room, np.int64)
    entered = np.zeros(room, np.float64)
    state = np.zeros(room, np.int8)  # 1: on the walk, 2: leads to the root
    state[0] = 2
    path = np.empty(room, np.int64)
    nodes = size
    for first in range(1, size):
        if state[_outermost(parent, first)] != 0:
            continue
        path[0], length = first, 1
        state[first] = 1
        while length:
            node = path[length - 1]
            best = _cheapest_into(cost, parent, node, nodes)
            enter_from[node], enter_to[node] = from_node[best, node], to_node[best, node]
            entered[node] = cost[best, node]
            if state[best] == 0:
                path[length] = best
                length += 1
                state[best] = 1
            elif state[best] == 2:
                for place in range(length):
                    state[path[place]] = 2
                length = 0
            else:
                begin = length - 1
                while path[begin] != best:
                    begin -= 1
                _contract(cost, from_node, to_node, parent, entered, path[begin:length], nodes)
                length = begin + 1
                path[begin], state[nodes] = nodes, 1
                nodes += 1
    return _open_circles(parent, enter_from, enter_to, size, nodes)


@compiled
def _outermost(parent: Any, node: Any) -> Any:
    while parent[node] >= 0:
        node = parent[node]
    return node


@compiled
def _cheapest_into(cost: Any, parent: Any, node: Any, nodes: Any) -> Any:
    best = -1
    for other in range(nodes):
        if other != node and parent[other] < 0 and (best < 0 or cost[other, node] < cost[best, node]):
            best = other
    return best


@compiled
def _contract(cost: Any, from_node: Any, to_node: Any, parent: Any, entered: Any, circle: Any, new: Any) -> None:
    """Make the circle one node."""
    for node in circle:
        parent[node] = new
    for other in range(new):
        if parent[other] >= 0:
            continue
        into, out = circle[0], circle[0]
        for node in circle:
            if cost[other, node] - entered[node] < cost[other, into] - entered[into]:
                into = node
            if cost[node, other] < cost[out, other]:
                out = node
        cost[other, new] = cost[other, into] - entered[into]
        from_node[other, new], to_node[other, new] = from_node[other, into], to_node[other, into]
        cost[new, other] = cost[out, other]
        from_node[new, other], to_node[new, other] = from_node[out, other], to_node[out, other]


@compiled
def _open_circles(parent: Any, enter_from: Any, enter_to: Any, size: Any, nodes: Any) -> Any:
    """From the last circle to the first: the arc into a circle takes the place of the circle's arc into that node."""
    heads = np.zeros(size, np.int64)
    for circle in range(nodes - 1, size - 1, -1):
        below = enter_to[circle]
        while parent[below] != circle:
            below = parent[below]
        enter_from[below], enter_to[below] = enter_from[circle], enter_to[circle]
    for node in range(1, size):
        heads[node] = enter_from[node]
    return heads
