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

from comparison.best_first.given_tree import GivenTree, TreeBeams, given_tree
from comparison.best_first.problem import Grammar, Prepared
from comparison.best_first.state import (
    DONE,
    EDGES_FULL,
    EXHAUSTED,
    EXPANDED,
    OUT_OF_BUDGET,
    SCORED,
    UPDATES,
    Model,
    Options,
    State,
)
from comparison.best_first.tree_kernel import most_edges
from comparison.best_first.tree_update import learn_tree
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
        trees: TreeBeams | None = None,
    ) -> None:
        """`step` is that of the perceptron and the largest of the large margin, where 0 stands for any.

        Without `trees` sentences with all their heads are learned by agenda like others.
        """
        self.grammar = grammar
        self.trees = trees
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
        workspace, prepared = self._workspace, example.prepared
        workspace.begin(prepared.problem.bias.size, len(prepared.leaves), example.gold)
        tree = None if self.trees is None else given_tree(prepared)
        if self.trees is not None and tree is not None:
            found = self._learn_tree(example, tree, self.trees)
        else:
            found = self._learn_by_agenda(example)
        self.clock += 1
        counters = workspace.scratch.counters
        return Learned(found, *(int(counters[i]) for i in (SCORED, EXPANDED, UPDATES)))

    def _learn_by_agenda(self, example: Example) -> bool:
        """Whether the right derivation came up within the budget."""
        workspace, goal, budget = self._workspace, np.uint64(example.gold[-1]), self.budget_of(example)
        status = -1
        while status not in (DONE, EXHAUSTED, OUT_OF_BUDGET):
            left = budget - int(workspace.scratch.counters[SCORED])
            state = self._state(example.prepared, self.options)
            status = int(learn(self.grammar.tables, state, self._learning(), goal, left))
            if status not in (DONE, EXHAUSTED, OUT_OF_BUDGET):
                workspace.make_room(status)
        return status == DONE

    def _learn_tree(self, example: Example, tree: GivenTree, beams: TreeBeams) -> bool:
        """Whether nothing was to be mended. Beside a full beam there are the right trees that fell off it."""
        workspace, room = self._workspace, beams.size + int(tree.copies.max())
        while workspace.edges.columns.shape[0] < most_edges(tree, room):
            workspace.make_room(EDGES_FULL)
        state = self._state(example.prepared, self.options._replace(scaled=0))
        budget = self.budget_of(example)
        return bool(learn_tree(self.grammar.tables, state, self._learning(), tree, beams.size, beams.best, budget))

    def _learning(self) -> Learning:
        return Learning(
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

    def budget_of(self, example: Example) -> int:
        """The edges that may be scored for a sentence: its subtrees and their rivals are more than its words."""
        units = sum(len(groups) for groups in example.prepared.slots)
        return int(self.budget * max(1.0, (units / LONG) ** 2))

    def averaged(self) -> NDArray[np.float32]:
        """The mean of the weights over all sentences so far; without averaging, those of now."""
        if not self.average:
            return self.weights.copy()
        return (self.weights - self.totals / self.clock).astype(np.float32)

    def _state(self, prepared: Prepared, options: Options) -> State:
        w = self._workspace
        return State(prepared.problem, w.edges, w.agenda, w.chart, Model(self.weights), options, w.scratch)
