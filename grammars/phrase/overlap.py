"""Phrases that share words with what stands before them: what the automaton P* needs to know of their trie.

OverlapTables        the tables of a trie, made once for a bag
find_overlap_tables  make them
step_with_overlap    for compiled code: one more word, from a state of the deterministic automaton to another

With an overlap of o, a string of N words is accepted when there are ends 0 = b0 < b1 < … < bm = N and for each i a
phrase that is an occurrence in the string from a_i to b_i with b_{i-1} − o ≤ a_i ≤ b_{i-1} (a_i ≥ 0). So a phrase may
begin before the end that it goes on from is known: up to o words later. Until then its place is *waiting*.

A chain in which a phrase contains the one before it is no use: without that one it is a chain too, and not dearer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled

# The cost of a place that waits for an end; above all sums of costs.
WAITING = 2**60
_NEVER = 127


class OverlapTables(NamedTuple):
    """By nodes of the trie and numbers k of last words, fewer than the node has: the node that these words lead to.

    `suffix[n, k]`: that node (-1: none; for as many words as n has, n itself). `gain[n, k]`: the most that a phrase
    through n can save against going on from there, or for k = 0 from an end, with phrases that begin later than it.
    `meet[n, k]`: in how many words a phrase through n can end so that a longer one through `suffix[n, k]` goes on.
    """

    suffix: NDArray[np.int32]
    gain: NDArray[np.float64]
    meet: NDArray[np.int8]


def find_overlap_tables(child: Any, end: Any, depth: int, overlap: int) -> OverlapTables:
    """The tables of a trie whose longest phrase has `depth` words; an overlap of 0 needs none, and has empty ones."""
    if not overlap:
        return OverlapTables(np.empty((0, 0), np.int32), np.empty((0, 0)), np.empty((0, 0), np.int8))
    suffix = _find_suffixes(child, depth)
    return OverlapTables(suffix, _find_gains(child, end, suffix, overlap), _find_meets(child, end, suffix))


@compiled
def _find_suffixes(child: Any, depth: int) -> Any:
    """A child has a higher number than its parent, here and below."""
    suffix = np.full((child.shape[0], depth), -1, np.int32)
    suffix[0, 0] = 0
    for node in range(child.shape[0]):
        for word in range(child.shape[1]):
            if child[node, word] < 0:
                continue
            suffix[child[node, word], 0] = 0
            for length in range(depth - 1):
                if suffix[node, length] >= 0:
                    suffix[child[node, word], length + 1] = child[suffix[node, length], word]
    return suffix


@compiled
def _find_meets(child: Any, end: Any, suffix: Any) -> Any:
    meet = np.full(suffix.shape, _NEVER, np.int8)
    for node in range(child.shape[0] - 1, 0, -1):
        for length in range(suffix.shape[1]):
            later = suffix[node, length]
            if later < 0 or later == node:
                continue
            for word in range(child.shape[1]):
                if child[later, word] < 0:
                    continue
                if end[node, word] < np.inf:
                    meet[node, length] = 1
                elif child[node, word] >= 0:
                    meet[node, length] = min(meet[node, length], 1 + meet[child[node, word], length + 1])
    return meet


@compiled
def _find_gains(child: Any, end: Any, suffix: Any, overlap: int) -> Any:
    """Phrase by phrase, for each place inside of it and each later place that one could be at instead."""
    depth = suffix.shape[1]
    parent, into = np.zeros(child.shape[0], np.int32), np.zeros(child.shape[0], np.int32)
    gain = np.full(suffix.shape, np.inf)
    for node in range(child.shape[0]):
        for word in range(child.shape[1]):
            if child[node, word] >= 0:
                parent[child[node, word]], into[child[node, word]] = node, word
        for length in range(depth):
            if suffix[node, length] >= 0:
                gain[node, length] = -np.inf
    nodes, words = np.zeros(depth, np.int32), np.zeros(depth, np.int32)
    for last in range(1, child.shape[0]):
        size, node = 0, last
        while node:
            size, node = size + 1, parent[node]
        node = last
        for place in range(size, 0, -1):
            nodes[place], words[place - 1], node = node, into[node], parent[node]
        for word in range(child.shape[1]):
            if end[last, word] == np.inf:
                continue
            words[size] = word
            for place in range(1, size + 1):
                for length in range(place):
                    if gain[nodes[place], length] < np.inf:
                        least = _cost_from(end, suffix, overlap, nodes, words[: size + 1], place, length)
                        gain[nodes[place], length] = max(gain[nodes[place], length], least - end[last, word])
    return gain


@compiled
def _cost_from(end: Any, suffix: Any, overlap: int, nodes: Any, words: Any, place: int, length: int) -> Any:
    """The cheapest chain over the words of a phrase after `place` that uses no phrase from its beginning.

    It goes on from an end at `place`, or, with a length, from within a phrase that began so many words before.
    """
    ends = np.full(len(words) + 1, np.inf)
    if length == 0:
        ends[place] = 0.0
    for now in range(place + 1, len(words) + 1):
        for begin in range(1, now):
            node = suffix[nodes[now - 1], now - 1 - begin]
            if node < 0 or end[node, words[now - 1]] == np.inf:
                continue
            before = 0.0 if length and begin == place - length else np.inf
            for at in range(max(place, begin), min(begin + overlap, now - 1) + 1):
                before = min(before, ends[at])
            ends[now] = min(ends[now], before + end[node, words[now - 1]])
    return ends[len(words)]


@compiled
def step_with_overlap(
    child: Any, end: Any, gain: Any, meet: Any, overlap: int, places: Any, word: int, to: Any
) -> Any:  # fmt: skip
    """One more word: the places that it leads to, less their common cost, which is returned (infinity: none).

    Places are as in grammars.phrase.closure, at the cost of the cheapest end that the phrase may go on from so far.
    Those that never beat later ones are left out, and those that wait for an end that cannot come in time.
    """
    depth = len(places) // 2
    nodes, costs = places[:depth], places[depth:]
    to_nodes, to_costs = to[:depth], to[depth:]
    to_nodes[:] = -1
    to_costs[:] = 0
    boundary = np.inf
    for ago in range(depth):
        if nodes[ago] >= 0 and costs[ago] < WAITING:
            boundary = min(boundary, costs[ago] + end[nodes[ago], word])
    to_nodes[0] = 0
    to_costs[0] = np.int64(boundary) if boundary < np.inf else WAITING
    for ago in range(depth - 1):
        if nodes[ago] < 0 or child[nodes[ago], word] < 0:
            continue
        cost = min(costs[ago], to_costs[0]) if ago < overlap else costs[ago]
        if cost < WAITING or ago + 1 < overlap:
            to_nodes[ago + 1] = child[nodes[ago], word]
            to_costs[ago + 1] = cost
    least = np.inf
    for ago in range(depth - 1, -1, -1):
        if to_nodes[ago] >= 0 and _never_best(gain, overlap, to_nodes, to_costs, ago):
            to_nodes[ago] = -1
        elif to_nodes[ago] >= 0 and to_costs[ago] < WAITING:
            least = min(least, to_costs[ago])
    if least < np.inf:
        _leave_out_and_subtract(meet, overlap, to_nodes, to_costs, np.int64(least))
    return least


@compiled
def _never_best(gain: Any, overlap: int, nodes: Any, costs: Any, ago: int) -> Any:
    """Whether all strings are as cheap without a place, for the sake of one that began later.

    Where an end may still come to lower the cost of both, they may be equal then: the phrase must save nothing at all.
    """
    for later in range(ago):
        saves = gain[nodes[ago], later]
        if saves > 0 and ago < overlap:
            continue
        if costs[ago] == WAITING:
            return True
        if nodes[later] >= 0 and costs[later] < WAITING and costs[ago] - costs[later] >= saves:
            return True
    return False


@compiled
def _leave_out_and_subtract(meet: Any, overlap: int, nodes: Any, costs: Any, least: Any) -> None:
    """Leave out the places that wait in vain, and take the least cost off the others that do not wait."""
    for ago in range(len(nodes)):
        if nodes[ago] < 0:
            costs[ago] = 0
        elif costs[ago] < WAITING:
            costs[ago] -= least
        else:
            in_time = False
            for before in range(ago + 1, len(nodes)):
                if nodes[before] >= 0 and costs[before] < WAITING:
                    in_time |= meet[nodes[before], ago] <= overlap - ago
            if not in_time:
                nodes[ago] = -1
                costs[ago] = 0
