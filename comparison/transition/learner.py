"""Learning the weights of the transition system, sentence by sentence: averaged perceptron with early update.

Learner  weights on their way, with their averages
"""

from __future__ import annotations

import numpy as np

from comparison.learning.training import Learned
from comparison.transition.decoder import Workspace
from comparison.transition.grammar import TransitionGrammar
from comparison.transition.oracle import Example
from comparison.transition.state import Singles
from comparison.transition.update import learn


class Learner:
    """Weights that change with every sentence."""

    def __init__(self, grammar: TransitionGrammar, beam: int, bits: int) -> None:
        self.grammar = grammar
        self.beam = beam
        self.clock = 1
        self.weights = np.zeros(1 << bits, dtype=np.float32)
        self.totals = np.zeros(1 << bits)
        self._workspace = Workspace()

    def learn(self, example: Example) -> Learned:
        """Search for the right actions of a sentence, and mend the weights where the search goes wrong."""
        problem, workspace = example.prepared.problem, self._workspace
        states = workspace.states(problem, self.beam)
        rows, room = workspace.rows(problem), workspace.room(problem, self.beam)
        table, clock = self.grammar.features.table, float(self.clock)
        learnt = learn(problem, table, self.weights, self.totals, clock, states, rows, room, self.beam, example.right)
        self.clock += 1
        return Learned(bool(learnt.is_right), int(learnt.scored), int(learnt.made), int(not learnt.is_right))

    def averaged(self) -> Singles:
        """The mean of the weights over all sentences so far."""
        return (self.weights - self.totals / self.clock).astype(np.float32)
