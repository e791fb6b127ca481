"""The cheapest ways through sets of strings under a model, remembered.

Model          a model's tables
Scores         the cheapest ways on from a set of strings and a model state, as far as they were asked for
new_scores     an empty table of them
cheapest       the cheapest way on, which is then remembered
find_cheapest  the same for many sets
Scale          a model as the binary grammar weighs cells with it, and a coarser one that bounds it

The sets are those of gyro.lattice.string_set, with phrase costs in grains. Tables have fixed room: a full one gives
right answers still, but remembers no more of them, and says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grammars.phrase.closure import GRAIN
from grammars.phrase.grammar import Context
from gyro.compilation import compiled
from gyro.lattice.automaton import WordAutomaton

Ints = NDArray[np.int64]
Costs = NDArray[np.float64]

MOST_TOKENS = 64  # of a bag whose coverage is one number


class Model(NamedTuple):
    """Next states (-1: refused) and costs by state and word, and what a grain of a phrase's cost is worth."""

    next_state: NDArray[np.int32]
    cost: Costs
    grain: float


class Scores(NamedTuple):
    """`value[i]` is the cheapest way on from `key[i]`, set × states + state; `end` is what the end costs in a state."""

    key: Ints
    value: Costs
    size: Ints
    is_full: NDArray[np.bool_]
    end: Costs


def new_scores(end: Costs, room: int = 1 << 14) -> Scores:
    """An empty table; the room is a power of two."""
    return Scores(np.full(room, -1, np.int64), np.empty(room), np.zeros(1, np.int64), np.zeros(1, np.bool_), end)


@compiled
def _place(scores: Any, key: Any) -> Any:
    last = np.uint64(len(scores.key) - 1)
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    place = (mixed ^ (mixed >> np.uint64(32))) & last
    while scores.key[place] >= 0 and scores.key[place] != key:
        place = (place + np.uint64(1)) & last
    return place


@compiled
def cheapest(store: Any, model: Any, scores: Any, strings: Any, state: Any) -> Any:
    """What the cheapest string of a set costs from a model state on, with its end; infinite when there is none.

    The way down is kept in arrays: the set and the state, the place in the set's list, the least cost and the offset.
    """
    if strings <= 1:
        return scores.end[state] if strings == 1 else np.inf
    states = np.int64(model.next_state.shape[0])
    place = _place(scores, strings * states + state)
    if scores.key[place] >= 0:
        return scores.value[place]
    way, cost = np.empty((MOST_TOKENS, 3), np.int64), np.empty((MOST_TOKENS, 2))
    way[0, 0], way[0, 1], way[0, 2] = strings, state, strings
    cost[0, 0], cost[0, 1] = np.inf, 0.0
    depth, rest, is_back = 0, 0.0, False
    while True:
        at = way[depth, 2]
        if at <= 1:
            rest, is_back = cost[depth, 0], True
            _remember(scores, way[depth, 0] * states + way[depth, 1], rest)
            depth -= 1
            if depth < 0:
                return rest
            continue
        word, following = store.sets[at, 0], store.sets[at, 2]
        after = np.int64(model.next_state[way[depth, 1], word])
        if after >= 0:
            if is_back:
                is_back = False
            elif following == 1:
                rest = scores.end[after]
            else:
                place = _place(scores, following * states + after)
                if scores.key[place] < 0:
                    depth += 1
                    way[depth, 0], way[depth, 1], way[depth, 2] = following, after, following
                    cost[depth, 0], cost[depth, 1] = np.inf, 0.0
                    continue
                rest = scores.value[place]
            total = cost[depth, 1] + model.grain * store.sets[at, 1] + model.cost[way[depth, 1], word] + rest
            cost[depth, 0] = min(cost[depth, 0], total)
        cost[depth, 1] += model.grain * store.sets[at, 3]
        way[depth, 2] = store.sets[at, 4]


@compiled
def _remember(scores: Any, key: Any, value: Any) -> None:
    if 2 * scores.size[0] >= len(scores.key):
        scores.is_full[0] = True
        return
    place = _place(scores, key)
    scores.key[place] = key
    scores.value[place] = value
    scores.size[0] += 1


@compiled
def find_cheapest(store: Any, model: Any, scores: Any, starts: Any, strings: Any) -> Any:
    """The cheapest way through each set from its start state."""
    found = np.empty(len(strings))
    for i in range(len(strings)):
        found[i] = cheapest(store, model, scores, strings[i], starts[i])
    return found


class Scale:
    """A model as the kernel weighs strings with it: its tables, the ways on that are known, and a coarser model.

    The coarse model knows the last word alone, and is never dearer: it bounds what a cell costs in any context.
    """

    def __init__(self, automaton: WordAutomaton, *, with_end: bool) -> None:
        states, words = automaton.next_state.shape
        self.automaton = automaton
        self.model = Model(automaton.next_state, automaton.cost, GRAIN)
        self.inner = new_scores(np.zeros(states))
        self.last = new_scores(automaton.end_cost) if with_end else self.inner
        cost = np.full((words + 1, words), np.inf)
        accepted = automaton.next_state >= 0
        costs = np.where(accepted, automaton.cost, np.inf)
        cost[0] = costs.min(axis=0, initial=np.inf)
        for word in range(words):
            reached = np.unique(automaton.next_state[accepted[:, word], word])
            cost[word + 1] = costs[reached].min(axis=0, initial=np.inf)
        after = np.where(cost < np.inf, np.arange(1, words + 1, dtype=np.int32), np.int32(-1))
        self.coarse = Model(after.astype(np.int32), cost, GRAIN)
        self.coarse_scores = new_scores(np.zeros(words + 1))

    def grow(self) -> None:
        """More room where there was too little."""
        alike = self.last is self.inner
        self.inner = _larger(self.inner)
        self.last = self.inner if alike else _larger(self.last)
        self.coarse_scores = _larger(self.coarse_scores)

    def start_after(self, context: Context) -> int:
        """The model state of a cell: that after its context; -1 when the model refuses that."""
        state = self.automaton.start
        for word in context:
            if state >= 0:
                state = int(self.automaton.next_state[state, word])
        return state


def _larger(scores: Scores) -> Scores:
    """Empty, with four times the room, where it was full; what was known is found again."""
    return new_scores(scores.end, 4 * len(scores.key)) if scores.is_full[0] else scores
