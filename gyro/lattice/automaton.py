"""Weighted automata over the words of one bag, as dense arrays.

WordAutomaton  states × words tables of next states and costs; the form of G_Ω, of P* and of their intersection
intersect      the automaton of the strings that both accept, with the costs added
product        the pairs of states that one string reaches in two tables of next states
trim           only the states that lie on the way from the start to an end
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.errors import InputError
from gyro.row_table import fill_slots, slot_of

IntTable = NDArray[np.int32]
CostTable = NDArray[np.float64]


@dataclass(frozen=True)
class WordAutomaton:
    """An acceptor without epsilons over the distinct words of a bag.

    Word w of `words` leads from state s to `next_state[s, w]` (-1: not accepted) at `cost[s, w]`; the string may end
    in s at `end_cost[s]` (infinity: it may not). Costs are natural-log costs, lower is better.

    With each word once in `words` it is deterministic. Words that come twice have two columns, and so two ways from a
    state, or more; a string has the cost of its cheapest way. All words come first, in the order of the bag, then those
    that have further columns, in any order.
    """

    words: tuple[str, ...]
    start: int
    next_state: IntTable
    cost: CostTable
    end_cost: CostTable

    def __repr__(self) -> str:
        return f"WordAutomaton({len(self.words)} words, {self.num_states} states)"

    @property
    def num_states(self) -> int:
        return int(self.next_state.shape[0])

    @property
    def distinct_words(self) -> tuple[str, ...]:
        """Each word once."""
        return tuple(dict.fromkeys(self.words))

    @property
    def is_deterministic(self) -> bool:
        """Whether a string has one way only."""
        return len(self.distinct_words) == len(self.words)

    def word_of_column(self) -> NDArray[np.int64]:
        """The place of each column's word among the distinct words."""
        number = {word: w for w, word in enumerate(self.distinct_words)}
        return np.array([number[word] for word in self.words], dtype=np.int64)

    def score(self, tokens: tuple[str, ...] | list[str]) -> float:
        """The cost of a string; infinity when it is not accepted."""
        columns: dict[str, list[int]] = {}
        for column, word in enumerate(self.words):
            columns.setdefault(word, []).append(column)
        ways = {self.start: 0.0}
        for token in tokens:
            longer: dict[int, float] = {}
            for state, total in ways.items():
                for column in columns.get(token, ()):
                    after = int(self.next_state[state, column])
                    if after >= 0:
                        longer[after] = min(longer.get(after, np.inf), total + float(self.cost[state, column]))
            ways = longer
        return min((total + float(self.end_cost[state]) for state, total in ways.items()), default=float("inf"))


def intersect(a: WordAutomaton, b: WordAutomaton) -> WordAutomaton:
    """The strings that both accept, at the sum of their costs; the states are pairs that lie on such a string.

    States are numbered in the order in which a breadth-first walk by word number reaches them. `b` is deterministic.
    """
    if a.distinct_words != b.words:
        raise InputError("found automata over different words; two over the words of one bag are allowed")
    b_next, b_cost = b.next_state, b.cost
    if not a.is_deterministic:
        columns = a.word_of_column()
        b_next, b_cost = b_next[:, columns], b_cost[:, columns]
    left = np.where(np.isfinite(a.cost), a.next_state, np.int32(-1))
    right = np.where(np.isfinite(b_cost), b_next, np.int32(-1))
    pairs, next_state = product(left, a.start, right, b.start)
    first, second = pairs[:, 0], pairs[:, 1]
    cost = np.where(next_state >= 0, a.cost[first] + b_cost[second], np.inf)
    return trim(WordAutomaton(a.words, 0, next_state, cost, a.end_cost[first] + b.end_cost[second]))


def trim(automaton: WordAutomaton) -> WordAutomaton:
    """Leave out the states from which no end can be reached, and the arcs to them; all must be reachable.

    The others keep their order; an empty language is one state without arcs or end.
    """
    alive = _reach_end(automaton.next_state, automaton.end_cost)
    if alive.all():
        return automaton
    if not alive[automaton.start]:
        none = np.full((1, len(automaton.words)), -1, dtype=np.int32)
        return WordAutomaton(automaton.words, 0, none, np.full(none.shape, np.inf), np.array([np.inf]))
    kept = np.flatnonzero(alive)
    number = np.full(automaton.num_states + 1, -1, dtype=np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    next_state = number[automaton.next_state[kept]]
    cost = np.where(next_state >= 0, automaton.cost[kept], np.inf)
    return WordAutomaton(automaton.words, int(number[automaton.start]), next_state, cost, automaton.end_cost[kept])


@compiled
def product(left: Any, left_start: int, right: Any, right_start: int) -> Any:
    """All pairs of states that one string reaches, breadth first, and the table of next pairs."""
    words = left.shape[1]
    room = 2 * (left.shape[0] + right.shape[0] + words)
    pairs = np.empty((room, 2), dtype=np.int32)
    next_state = np.full((room, words), -1, dtype=np.int32)
    size = 2
    while size < 2 * room:
        size *= 2
    slots = np.full(size, -1, dtype=np.int32)
    pairs[0, 0], pairs[0, 1] = left_start, right_start
    fill_slots(pairs, 1, slots)
    states, at = 1, 0
    while at < states:
        if states + words > room:
            more_pairs, more_next = np.empty((2 * room, 2), np.int32), np.full((2 * room, words), -1, np.int32)
            more_pairs[:states], more_next[:states] = pairs[:states], next_state[:states]
            pairs, next_state, room = more_pairs, more_next, 2 * room
            slots = np.full(2 * slots.shape[0], -1, dtype=np.int32)
            fill_slots(pairs, states, slots)
        for word in range(words):
            first, second = left[pairs[at, 0], word], right[pairs[at, 1], word]
            if first < 0 or second < 0:
                continue
            slot = slot_of(slots, pairs, (first, second))
            if slots[slot] < 0:
                slots[slot] = states
                pairs[states, 0], pairs[states, 1] = first, second
                states += 1
            next_state[at, word] = slots[slot]
        at += 1
    return pairs[:states].copy(), next_state[:states].copy()


@compiled
def _reach_end(next_state: Any, end_cost: Any) -> Any:
    """Which states an end can be reached from: backward, over the arcs sorted by their target."""
    states, words = next_state.shape
    begin = np.zeros(states + 2, dtype=np.int64)
    for state in range(states):
        for word in range(words):
            if next_state[state, word] >= 0:
                begin[next_state[state, word] + 2] += 1
    for state in range(states):
        begin[state + 2] += begin[state + 1]
    sources = np.empty(begin[states + 1], dtype=np.int32)
    for state in range(states):
        for word in range(words):
            target = next_state[state, word]
            if target >= 0:
                sources[begin[target + 1]] = state
                begin[target + 1] += 1
    alive = end_cost < np.inf
    queue = np.empty(states, dtype=np.int32)
    tail = 0
    for state in range(states):
        if alive[state]:
            queue[tail] = state
            tail += 1
    head = 0
    while head < tail:
        target = queue[head]
        head += 1
        for arc in range(begin[target], begin[target + 1]):
            if not alive[sources[arc]]:
                alive[sources[arc]] = True
                queue[tail] = sources[arc]
                tail += 1
    return alive
