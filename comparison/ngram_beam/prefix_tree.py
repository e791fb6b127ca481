"""Strings of one length as a deterministic automaton that branches where they part.

strings_to_lattice  the lattice of strings of word numbers, with the automaton's costs on their words
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.lattice import Lattice


class _Arcs(NamedTuple):
    source: NDArray[np.int32]
    word: NDArray[np.int32]
    target: NDArray[np.int32]
    cost: NDArray[np.float64]


def strings_to_lattice(strings: NDArray[np.int64], automaton: WordAutomaton) -> Lattice:
    """The lattice of the rows, each a string that the automaton accepts; equal rows are one string.

    A deterministic automaton knows nothing but the words before: strings that begin alike cost the same so far.
    """
    count, length = strings.shape
    if length == 0:  # no string, or the empty one
        ends = [0] if count else []
        costs = [float(automaton.end_cost[automaton.start])] if count else []
        return Lattice.from_arrays(automaton.words, 0 if count else -1, [], [], [], [], ends, costs)
    ordered = strings[np.lexsort(strings.T[::-1])]
    tables = (automaton.start, automaton.next_state, automaton.cost, automaton.end_cost)
    source, word, target, cost, leaves, end_costs = _tree(ordered, *tables)
    start = 0 if count else -1
    return Lattice.from_arrays(automaton.words, start, source, word, target, cost, leaves, end_costs)


@compiled
def _tree(strings: Any, start: Any, next_state: Any, cost: Any, end_cost: Any) -> Any:
    """The arcs of the tree of sorted strings, its leaves, and what the end costs there."""
    count, length = strings.shape
    arcs = _Arcs(
        np.empty(count * length, np.int32),
        np.empty(count * length, np.int32),
        np.empty(count * length, np.int32),
        np.empty(count * length, np.float64),
    )
    leaves, ends = np.empty(count, np.int32), np.empty(count, np.float64)
    node, state = np.zeros(length + 1, np.int32), np.empty(length + 1, np.int64)  # after each word of the last string
    state[0] = start
    made, found = 0, 0
    for i in range(count):
        place = 0
        while i > 0 and place < length and strings[i, place] == strings[i - 1, place]:
            place += 1
        if place == length:
            continue
        for at in range(place, length):
            word = strings[i, at]
            arcs.source[made], arcs.word[made], arcs.target[made] = node[at], word, made + 1
            arcs.cost[made] = cost[state[at], word]
            state[at + 1] = next_state[state[at], word]
            made += 1
            node[at + 1] = made
        leaves[found], ends[found] = made, end_cost[state[length]]
        found += 1
    return arcs.source[:made], arcs.word[:made], arcs.target[:made], arcs.cost[:made], leaves[:found], ends[:found]
