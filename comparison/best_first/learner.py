"""Learning the weights of the best-first decoder, sentence by sentence.

METHODS  the published learners by name
Example  a sentence to learn from: the bag, and the structures of its right derivation
Learner  weights on their way, with their averages
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.best_first.problem import Grammar, Prepared
from comparison.best_first.state import (
    DONE,
    EXHAUSTED,
    EXPANDED,
    OUT_OF_BUDGET,
    SCORED,
    UPDATES,
    Model,
    Options,
    State,
)
from comparison.best_first.update import Learning, learn
from comparison.best_first.workspace import Workspace
from comparison.learning.training import Learned

LONG = 20  # units: sentences with more have a larger budget
_MOST_TOUCHED = 1 << 17


class Method(NamedTuple):
    """A published way to learn."""

    scaled: bool
    margin: bool
    whole: bool
    expand_wrong: bool


METHODS = {
    "perceptron": Method(scaled=False, margin=False, whole=False, expand_wrong=False),  # Zhang and Clark 2011
    "large-margin": Method(scaled=False, margin=True, whole=True, expand_wrong=False),  # Zhang, Blackwood, Clark 2012
    "scaled": Method(scaled=True, margin=True, whole=True, expand_wrong=False),
    "scaled-negatives": Method(scaled=True, margin=True, whole=True, expand_wrong=True),  # Zhang and Clark 2015
}


@dataclass(frozen=True)
class Example:
    """A sentence to learn from; `gold` are the structures of the right derivation's edges, the whole one last."""

    prepared: Prepared
    gold: tuple[int, ...]


class Learner:
    """Weights that change with every sentence."""

    def __init__(
        self,
        grammar: Grammar,
        options: Options,
        method: Method,
        *,
        bits: int = 22,
        budget: int = 20_000,
        step: float = 1.0,
        average: bool = True,
    ) -> None:
        """`step` is that of the perceptron and the largest of the large margin, where 0 stands for any."""
        self.grammar = grammar
        self.options = options._replace(scaled=int(method.scaled))
        self.method = method
        self.budget = budget
        self.step = step or math.inf
        self.average = average
        self.clock = 1
        self.weights = np.zeros(1 << bits, dtype=np.float32)
        self.totals = np.zeros(1 << bits)
        self._change = np.zeros(1 << bits, dtype=np.float32)
        self._touched = np.zeros(_MOST_TOUCHED, dtype=np.int64)
        self._values = np.zeros(_MOST_TOUCHED)
        self._workspace = Workspace(grammar.most_rules)

    def learn(self, example: Example) -> Learned:
        """Search for the right derivation of a sentence, and mend the weights where the search goes wrong."""
        workspace, problem = self._workspace, example.prepared.problem
        workspace.begin(problem.bias.size, len(example.prepared.leaves), example.gold)
        learning = Learning(
            margin=int(self.method.margin),
            whole=int(self.method.whole),
            expand_wrong=int(self.method.expand_wrong),
            step=self.step,
            clock=float(self.clock),
            totals=self.totals,
            change=self._change,
            touched=self._touched,
            values=self._values,
        )
        goal, budget = np.uint64(example.gold[-1]), self.budget_of(example)
        status = -1
        while status not in (DONE, EXHAUSTED, OUT_OF_BUDGET):
            left = budget - int(workspace.scratch.counters[SCORED])
            status = int(learn(self.grammar.tables, self._state(example.prepared), learning, goal, left))
            if status not in (DONE, EXHAUSTED, OUT_OF_BUDGET):
                workspace.make_room(status)
        self.clock += 1
        counters = workspace.scratch.counters
        return Learned(status == DONE, *(int(counters[i]) for i in (SCORED, EXPANDED, UPDATES)))

    def budget_of(self, example: Example) -> int:
        """The edges that may be scored for a sentence: its subtrees and their rivals are more than its words."""
        units = sum(len(groups) for groups in example.prepared.slots)
        return int(self.budget * max(1.0, (units / LONG) ** 2))

    def averaged(self) -> NDArray[np.float32]:
        """The mean of the weights over all sentences so far; without averaging, those of now."""
        if not self.average:
            return self.weights.copy()
        return (self.weights - self.totals / self.clock).astype(np.float32)

    def _state(self, prepared: Prepared) -> State:
        w = self._workspace
        return State(prepared.problem, w.edges, w.agenda, w.chart, Model(self.weights), self.options, w.scratch)
