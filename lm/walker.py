"""Walking over the contexts of a language model in bulk, as far as somebody asks and no further.

Walker           the protocol: from contexts by words to further contexts, with costs
AutomatonWalker  the walker of an acceptor that is there as a whole
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gyro.lattice.automaton import WordAutomaton

Integers = NDArray[np.int64]
Costs = NDArray[np.float64]


class Walker(Protocol):
    """Contexts of a model, numbered as they are reached; words are indices into the words that the walker is for."""

    @property
    def start(self) -> int:
        """The context at the start of a sentence."""

    def step(self, contexts: Integers, words: Integers) -> tuple[Integers, Costs]:
        """For each context and word the context after it, and the cost of the word."""

    def end(self, contexts: Integers) -> Costs:
        """The cost of the end of the sentence in each context."""


class AutomatonWalker:
    """The states of an automaton that accepts every string of its words."""

    def __init__(self, automaton: WordAutomaton) -> None:
        self._automaton = automaton
        self.start = automaton.start

    def step(self, contexts: Integers, words: Integers) -> tuple[Integers, Costs]:
        after = self._automaton.next_state[contexts, words].astype(np.int64)
        return after, self._automaton.cost[contexts, words]

    def end(self, contexts: Integers) -> Costs:
        return self._automaton.end_cost[contexts]
