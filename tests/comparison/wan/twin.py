"""The methods of Wan et al. in plain Python, with which tests and the benchmark compare the compiled ones.

plain_tree        the cheapest tree, by the textbook's recursion over dictionaries
plain_assignment  the cheapest injection, tried one by one
plain_assign_tree Algorithm 3 with dummy words, by tuples and sets
plain_linearise   Algorithm 2 as a recursion over lists of words
plain_beam        the beam of strings
tree_cost         the sum of a tree's arcs
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

from tests.comparison.wan.hand_model import Context

Arcs = dict[tuple[int, int], float]
Costs = Any  # nested sequences or an array of numbers


def plain_tree(cost: Costs, size: int) -> dict[int, int]:
    """The head of each node but 0."""
    return _contracted({(u, v): float(cost[u][v]) for u in range(size) for v in range(1, size) if u != v}, size)


def _contracted(arcs: Arcs, new: int) -> dict[int, int]:
    nodes = sorted({v for _, v in arcs})
    best = {v: min((u for u, w in arcs if w == v), key=lambda u: (arcs[u, v], u)) for v in nodes}
    circle = _circle(best)
    if not circle:
        return best
    shorter: Arcs = {}
    behind: dict[tuple[int, int], tuple[int, int]] = {}
    for (u, v), cost in sorted(arcs.items()):
        if u in circle and v in circle:
            continue
        key, price = (u, v), cost
        if v in circle:
            key, price = (u, new), cost - arcs[best[v], v]
        elif u in circle:
            key = (new, v)
        if key not in shorter or price < shorter[key]:
            shorter[key], behind[key] = price, (u, v)
    heads = {v: best[v] for v in circle}
    for v, u in _contracted(shorter, new + 1).items():
        head, node = behind[u, v]
        heads[node] = head
    return heads


def _circle(heads: dict[int, int]) -> set[int]:
    for first in heads:
        path: list[int] = []
        node = first
        while node in heads and node not in path:
            path.append(node)
            node = heads[node]
        if node in path:
            return set(path[path.index(node) :])
    return set()


def plain_assignment(cost: Costs) -> dict[int, int]:
    """Each row, or as many as there are columns, with a column of its own."""
    rows, columns = len(cost), len(cost[0])
    if rows > columns:
        turned = plain_assignment([[cost[r][c] for r in range(rows)] for c in range(columns)])
        return {row: column for column, row in turned.items()}
    best = min(permutations(range(columns), rows), key=lambda chosen: sum(cost[r][c] for r, c in enumerate(chosen)))
    return dict(enumerate(best))


def plain_assign_tree(
    arcs: Costs,
    arguments: Costs,
    positions: Sequence[tuple[float, float]],
    assignment: Callable[[Costs], dict[int, int]] = plain_assignment,
) -> tuple[dict[int, int], dict[int, int], float]:
    """Heads, sides and the sum of costs. Dummies cost as much as the dearest arc."""
    words = set(range(1, len(positions) + 1))
    available = [(0, 0, 0)]
    heads: dict[int, int] = {}
    sides: dict[int, int] = {}
    total = 0.0
    while words and available:
        columns = sorted(words)
        costs = [[arcs[u][v][d] + arguments[u][d][min(j, 7)] for v in columns] for u, d, j in available]
        most = max(map(max, costs))
        padded = [row + [most] * max(0, len(available) - len(columns)) for row in costs]
        next_round = []
        for row, place in sorted(assignment(padded).items()):
            u, d, j = available[row]
            if place >= len(columns):
                next_round.append((u, d, j))
                continue
            word = columns[place]
            heads[word], sides[word] = u, d
            total += costs[row][place]
            words.remove(word)
            if u != 0 and j + 1 < positions[u - 1][d]:
                next_round.append((u, d, j + 1))
            next_round += [(word, side, 0) for side in (0, 1) if positions[word - 1][side] > 0]
        available = next_round
    while words:
        cost, u, word, d = min((arcs[u][v][d], u, v, d) for u in heads for v in words for d in (0, 1))
        heads[word], sides[word] = u, d
        total += cost
        words.remove(word)
    return heads, sides, total


def plain_linearise(
    heads: dict[int, int], sides: dict[int, int], words: Sequence[Sequence[str]], cost: Callable[[Context, str], float],
    order: int, *, window: int = 0, start: str = "sentence", outward: bool = False, vertex: int = 0,
) -> list[int]:  # fmt: skip
    """The vertices below and with a vertex, from left to right."""
    window = window or max(order // 2, 1)
    below: dict[int, list[list[int]]] = {0: [], 1: []}
    for child in sorted(heads):
        if heads[child] == vertex:
            below[sides[child]].append(
                plain_linearise(
                    heads, sides, words, cost, order, window=window, start=start, outward=outward, vertex=child
                )
            )

    def text(vertices: list[int]) -> list[str]:
        return [word for number in vertices for word in words[number - 1]]

    def joint(left: list[str], right: list[str]) -> float:
        seen = [*left[max(0, len(left) - window) :], *right[:window]]
        k = min(order - 1, len(seen) - 1)
        ends = [i for i in range(k, len(seen)) if seen[i] != "<s>"]
        return sum(cost(tuple(seen[i - k : i]), seen[i]) for i in ends)

    own = [vertex] if vertex else []
    after, mark = list(own), [] if vertex else ["<s>"]
    while below[0]:
        best = min(below[0], key=lambda child: joint(mark + text(after), text(child)))
        below[0].remove(best)
        after += best
    before: list[int] = list(own) if outward else []
    mark = ["<s>"] if start == "sentence" else []
    while below[1]:
        if outward:
            best = min(below[1], key=lambda child: joint(text(child), text(before)))
            before = best + before
        else:
            best = min(below[1], key=lambda child: joint(mark + text(before), text(child)))
            before += best
        below[1].remove(best)
    return (before[: -len(own)] if outward and own else before) + after


def plain_beam(
    units: Sequence[tuple[str, ...]], cost: Callable[[Context, str], float], order: int, beam: int, end: bool = False
) -> tuple[tuple[str, ...], float]:
    """The best string. Hypotheses: cost, string, units left; of those with equal futures the cheapest is kept."""
    kinds = sorted(set(units))
    rows: list[list[tuple[float, tuple[str, ...], dict[tuple[str, ...], int]]]]
    rows = [[(0.0, (), {kind: list(units).count(kind) for kind in kinds})]]
    for row in range(1, sum(map(len, units)) + 1):
        longer = []
        for length in range(1, row + 1):
            for total, words, left in rows[row - length]:
                for kind in kinds:
                    if len(kind) == length and left[kind]:
                        rest = {**left, kind: left[kind] - 1}
                        price, string = total, words
                        for word in (*kind, "</s>") if end and not any(rest.values()) else kind:
                            context = ("<s>", *string)
                            price += cost(context[max(0, len(context) - order + 1) :], word)
                            string = (*string, word)
                        longer.append((price, words + kind, rest))
        futures: dict[Any, Any] = {}
        for hypothesis in sorted(longer, key=lambda hypothesis: hypothesis[0]):
            known = ("<s>", *hypothesis[1])
            futures.setdefault((str(hypothesis[2]), known[max(0, len(known) - order + 1) :]), hypothesis)
        rows.append(list(futures.values())[:beam])
    return rows[-1][0][1], rows[-1][0][0]


def tree_cost(heads: dict[int, int], cost: Costs) -> float:
    return math.fsum(float(cost[u][v]) for v, u in heads.items())
