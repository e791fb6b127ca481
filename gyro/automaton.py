"""Deterministic weighted automata over the words of one bag, as dense arrays.

WordAutomaton  states × words tables of next states and costs; the form of G_Ω, of P* and of their intersection
intersect      the automaton of the strings that both accept, with the costs added
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntTable = NDArray[np.int32]
CostTable = NDArray[np.float64]


@dataclass(frozen=True)
class WordAutomaton:
    """A deterministic acceptor without epsilons over the distinct words of a bag.

    Word w of `words` leads from state s to `next_state[s, w]` (-1: not accepted) at `cost[s, w]`; the string may end
    in s at `end_cost[s]` (infinity: it may not). Costs are natural-log costs, lower is better.
    """

    words: tuple[str, ...]
    start: int
    next_state: IntTable
    cost: CostTable
    end_cost: CostTable

    @property
    def num_states(self) -> int:
        return int(self.next_state.shape[0])

    def score(self, tokens: tuple[str, ...] | list[str]) -> float:
        """The cost of a string; infinity when it is not accepted."""
        number = {word: w for w, word in enumerate(self.words)}
        state, total = self.start, 0.0
        for token in tokens:
            w = number.get(token, -1)
            if w < 0 or self.next_state[state, w] < 0:
                return float("inf")
            total += float(self.cost[state, w])
            state = int(self.next_state[state, w])
        return total + float(self.end_cost[state])
