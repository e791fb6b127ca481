"""Sets of strings under a random model, for tests of the binary grammar's inner loops.

Problem         a model, a store of sets, and the costs of strings
strings_of_two  small sets of strings of two words with phrase costs in grains, for hypothesis
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from gyro.lattice.string_set import StringSets
from gyro.search.binary_scores import Model
from tests.gyro.search.phrase_problems import random_automaton

GRAIN = 0.5
WORDS = ("a", "b", "c")
Strings = dict[tuple[int, ...], int]
strings_of_two = st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 2)), st.integers(0, 6), min_size=1)


class Problem:
    """A model, and the costs of strings from a state on."""

    def __init__(self, seed: int) -> None:
        self.automaton = random_automaton(WORDS, 4, seed, total=True)
        self.model = Model(self.automaton.next_state, self.automaton.cost, GRAIN)
        self.sets = StringSets()

    def walk(self, string: tuple[int, ...], state: int) -> tuple[float, int]:
        total = 0.0
        for word in string:
            total += float(self.automaton.cost[state, word])
            state = int(self.automaton.next_state[state, word])
        return total, state

    def cost(self, string: tuple[int, ...], grains: int, state: int, end: np.ndarray) -> float:
        total, after = self.walk(string, state)
        return total + GRAIN * grains + float(end[after])
