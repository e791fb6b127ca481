"""Moves from one order to others: every swap of two segments, ranked by what a guide says of its junctions.

Guide           a pooled table of next words and an n-gram automaton: a cheap judge of orders
make_guide      made of the two
guided_costs    what the guide says of whole strings
ngram_costs     what the automaton alone says of them
best_swaps      the orders that the most promising swaps make of one

A swap is four places i < j ≤ k < l: A X M Y B → A Y M X B with X from i to j, M to k, Y to l; M may be empty. It makes
four new junctions (three without M). The change at a junction is counted for at most three words after it, and with
the words that stood before the segment in the old order: an estimate, by which the best are chosen. Swaps whose
segments begin or end with the same word are left out: shorter ones make the same order.

Adjacent segments are all looked at. Of distant ones, about N⁴ / 24, those are skipped that cannot be among the best, by
lower bounds on what is left of their junctions; and MOST_DISTANT are looked at, the most promising by these bounds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton
from rescoring.word_table import NOWHERE, TableArrays, estimate, shift

DEPTH = 3  # words after a junction at which its change is counted
MOST_DISTANT = 2_000_000

Strings = NDArray[np.int64]
Costs = NDArray[np.float64]


class Guide(NamedTuple):
    """The cost of a word is the table's + `share` times the automaton's; the end is the last column of `cost`."""

    table: TableArrays
    next_state: NDArray[np.int32]
    cost: Costs
    start: int
    share: float


def make_guide(table: TableArrays, automaton: WordAutomaton, share: float) -> Guide:
    """A guide; the automaton is deterministic and accepts every string over its words, as that of a model does."""
    cost = np.column_stack([automaton.cost, automaton.end_cost])
    if not (automaton.is_deterministic and np.isfinite(cost).all() and (automaton.next_state >= 0).all()):
        raise InputError("found an automaton that does not accept every order; that of a language model is allowed")
    return Guide(table, automaton.next_state, cost, automaton.start, share)


def best_swaps(guide: Guide, words: NDArray[np.int64], most: int) -> Strings:
    """At most `most` orders that swaps make of this one, different from it, the most promising first."""
    moves, _ = rank_swaps(junction_changes(guide, words), words, most, MOST_DISTANT)
    return np.asarray(apply_swaps(words, moves))


@compiled
def guided_costs(guide: Any, strings: Any) -> Any:
    """The cost of each string under the guide."""
    totals = np.zeros(len(strings))
    end = guide.cost.shape[1] - 1
    for number in range(len(strings)):
        context, state, total = (NOWHERE, NOWHERE, NOWHERE), guide.start, 0.0
        for word in strings[number]:
            total += _step_cost(guide, context, state, word)
            context, state = shift(context, word), guide.next_state[state, word]
        totals[number] = total + _step_cost(guide, context, state, end)
    return totals


@compiled
def ngram_costs(guide: Any, strings: Any) -> Any:
    """The cost of each string under the automaton."""
    totals = np.zeros(len(strings))
    for number in range(len(strings)):
        state = guide.start
        for word in strings[number]:
            totals[number] += guide.cost[state, word]
            state = guide.next_state[state, word]
        totals[number] += guide.cost[state, -1]
    return totals


@compiled
def _step_cost(guide: Any, context: Any, state: Any, column: Any) -> Any:
    return estimate(guide.table, context[0], context[1], context[2], column) + guide.share * guide.cost[state, column]


@compiled
def junction_changes(guide: Any, words: Any) -> Any:
    """[a, b, m]: the change of cost of the m words from place b on when they follow the first a words of the order.

    Place N is the end; m counts it, and goes to DEPTH at most. What is beyond the end changes nothing.
    """
    size, end = len(words), guide.cost.shape[1] - 1
    columns = np.empty(size + 1, np.int64)
    columns[:size], columns[size] = words, end
    contexts, states = np.empty((size + 1, 3), np.int64), np.empty(size + 1, np.int64)
    old = np.empty(size + 1)
    context, state = (NOWHERE, NOWHERE, NOWHERE), np.int64(guide.start)
    for place in range(size + 1):
        contexts[place, 0], contexts[place, 1], contexts[place, 2] = context
        states[place] = state
        old[place] = _step_cost(guide, context, state, columns[place])
        if place < size:
            context = shift(context, words[place])
            state = np.int64(guide.next_state[state, words[place]])
    change = np.zeros((size + 1, size + 1, DEPTH + 1))
    for before in range(size + 1):
        for after in range(size + 1):
            if after == before:
                continue
            context, state = (contexts[before, 0], contexts[before, 1], contexts[before, 2]), states[before]
            total = 0.0
            for depth in range(DEPTH):
                place = after + depth
                if place <= size:
                    total += _step_cost(guide, context, state, columns[place]) - old[place]
                    if place < size:
                        context = shift(context, columns[place])
                        state = np.int64(guide.next_state[state, columns[place]])
                change[before, after, depth + 1] = total
    return change


@compiled
def rank_swaps(change: Any, words: Any, most: Any, most_distant: Any) -> Any:
    """The best swaps by the sum of their changes, lowest first: rows of four places, and the sums."""
    heap, moves = np.full(max(1, most), np.inf), np.zeros((max(1, most), 4), np.int64)
    _rank_adjacent(change, words, heap, moves)
    _rank_distant(change, words, heap, moves, most_distant)
    order = np.argsort(heap, kind="mergesort")
    order = order[: min(most, (heap < np.inf).sum())]
    return moves[order], heap[order]


@compiled
def _rank_adjacent(change: Any, words: Any, heap: Any, moves: Any) -> None:
    size = len(words)
    for i in range(size):
        for j in range(i + 1, size):
            if words[i] == words[j]:
                continue
            back = min(DEPTH, j - i)
            for k in range(j + 1, size + 1):
                if words[j - 1] == words[k - 1]:
                    continue
                total = change[i, j, min(DEPTH, k - j)] + change[k, i, back] + change[j, k, min(DEPTH, size + 1 - k)]
                if total < heap[0]:
                    _replace_worst(heap, moves, total, i, j, j, k)


@compiled
def _rank_distant(change: Any, words: Any, heap: Any, moves: Any, most: Any) -> None:
    """Two junctions know i and k, the other two j and l: pairs of i and k in the order of their bounds."""
    size = len(words)
    lowest, rest = _bound_junctions(change)
    pairs, bounds = _bound_pairs(lowest, rest)
    looked_at = 0
    for pair in np.argsort(bounds, kind="mergesort"):
        if bounds[pair] >= heap[0] or looked_at >= most:
            return
        i, k = pairs[pair, 0], pairs[pair, 1]
        if words[i] == words[k]:
            continue
        for j in range(i + 1, k):
            if lowest[i, k] + lowest[k, i] + rest[j, k] >= heap[0]:
                continue
            first, middle = change[k, i, min(DEPTH, j - i)], min(DEPTH, k - j)
            looked_at += size - k
            for l in range(k + 1, size + 1):  # noqa: E741 (the places are i, j, k, l)
                total = (
                    first
                    + change[i, k, min(DEPTH, l - k)]
                    + change[l, j, middle]
                    + change[j, l, min(DEPTH, size + 1 - l)]
                )
                if total < heap[0] and words[j - 1] != words[l - 1]:
                    _replace_worst(heap, moves, total, i, j, k, l)


@compiled
def _bound_junctions(change: Any) -> Any:
    """The lowest change of a junction at any depth; and [j, k]: of the two that know j, with any l after k."""
    size = change.shape[0] - 1
    lowest, rest = np.empty((size + 1, size + 1)), np.full((size + 1, size + 1), np.inf)
    for before in range(size + 1):
        for after in range(size + 1):
            lowest[before, after] = min(change[before, after, 1], change[before, after, 2], change[before, after, 3])
    for j in range(1, size):
        for k in range(size - 1, j, -1):
            following = k + 1
            both = lowest[following, j] + change[j, following, min(DEPTH, size + 1 - following)]
            rest[j, k] = min(rest[j, k + 1], both)
    return lowest, rest


@compiled
def _bound_pairs(lowest: Any, rest: Any) -> Any:
    """All pairs of i and k that leave room for j and l, and a lower bound on the change of their swaps."""
    size = len(lowest) - 1
    pairs = np.empty((max(0, (size - 1) * (size - 2) // 2), 2), np.int64)
    bounds = np.empty(len(pairs))
    count = 0
    for k in range(2, size):
        low = np.inf
        for i in range(k - 2, -1, -1):
            low = min(low, rest[i + 1, k])
            pairs[count, 0], pairs[count, 1] = i, k
            bounds[count] = lowest[i, k] + lowest[k, i] + low
            count += 1
    return pairs, bounds


@compiled
def _replace_worst(heap: Any, moves: Any, total: Any, i: Any, j: Any, k: Any, l: Any) -> None:  # noqa: E741
    """Put a swap in the place of the worst, which is on top of the heap."""
    place = 0
    while True:
        child = 2 * place + 1
        if child + 1 < len(heap) and heap[child + 1] > heap[child]:
            child += 1
        if child >= len(heap) or heap[child] <= total:
            break
        heap[place], moves[place] = heap[child], moves[child]
        place = child
    heap[place] = total
    moves[place, 0], moves[place, 1], moves[place, 2], moves[place, 3] = i, j, k, l


@compiled
def apply_swaps(words: Any, moves: Any) -> Any:
    """The order that each swap makes."""
    strings = np.empty((len(moves), len(words)), np.int64)
    for number in range(len(moves)):
        i, j, k, l = moves[number]  # noqa: E741
        first, second = i + l - k, l - j + i
        strings[number, :i], strings[number, l:] = words[:i], words[l:]
        strings[number, i:first] = words[k:l]
        strings[number, first:second] = words[j:k]
        strings[number, second:l] = words[i:j]
    return strings
