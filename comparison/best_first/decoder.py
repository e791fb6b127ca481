"""Best-first decoding of one bag: the search in slices of time, its goals, and an output when there is none in time.

Limits      when a search ends without a goal
Derivation  a tree over leaves: what an edge was made of
Decoded     what came of a bag
Decoder     a grammar, weights and options, used for many bags
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.best_first.edge import LEFT, RIGHT, RULE, SIZE
from comparison.best_first.kernel import (
    propose_leaves,
    search,
)
from comparison.best_first.problem import Grammar, Input, Leaf, Prepared, prepare
from comparison.best_first.score import (
    edge_key,
)
from comparison.best_first.state import (
    DONE,
    EXHAUSTED,
    EXPANDED,
    OUT_OF_BUDGET,
    SCORED,
    Model,
    Options,
    State,
)
from comparison.best_first.workspace import Workspace
from lm.model import LanguageModel

_SLICE = 10_000  # edges between two looks at the clock: some hundredths of a second


class Limits(NamedTuple):
    """When a search ends without a goal: seconds; scored edges (0: any number), the same on every machine."""

    seconds: float = 5.0
    edges: int = 0


@dataclass(frozen=True)
class Derivation:
    """An edge as a tree: a leaf, or a rule over one or two parts."""

    rule: int
    parts: tuple[Derivation, ...]
    leaf: Leaf | None = None

    def leaves(self) -> Iterator[Leaf]:
        """The leaves from left to right."""
        stack = [self]
        while stack:
            top = stack.pop()
            if top.leaf is not None:
                yield top.leaf
            stack.extend(reversed(top.parts))

    @property
    def words(self) -> tuple[str, ...]:
        """The string."""
        return tuple(word for leaf in self.leaves() for word in leaf.words)


@dataclass(frozen=True)
class Decoded:
    """What came of a bag: goals, best first; without any, edges that make up the default output together.

    `how` is "goal", "two edges" or "greedy".
    """

    how: str
    hypotheses: tuple[tuple[float, tuple[Derivation, ...]], ...]
    prepared: Prepared
    timed_out: bool
    scored: int
    expanded: int
    seconds: float

    @property
    def words(self) -> tuple[str, ...]:
        """The best string; with a default output some words of the bag may be missing."""
        return tuple(word for derivation in self.hypotheses[0][1] for word in derivation.words)


class Decoder:
    """Decodes bags with one grammar and one model."""

    def __init__(
        self,
        grammar: Grammar,
        weights: NDArray[np.float32],
        options: Options,
        *,
        limits: Limits | None = None,
        language_model: LanguageModel | None = None,
    ) -> None:
        self.grammar = grammar
        self.model = Model(weights)
        self.options = options
        self.limits = limits or Limits()
        self.language_model = language_model
        self.workspace = Workspace(grammar.most_rules, most_goals=options.goals)

    def decode(self, given: Input) -> Decoded:
        """Search until there are enough goals or a limit is reached."""
        began = time.monotonic()
        prepared = prepare(given, self.grammar, self.language_model)
        status = self._search(prepared, began + self.limits.seconds)
        workspace = self.workspace
        counters = workspace.scratch.counters
        goals = [int(edge) for edge in workspace.goals]
        state = self._state(prepared)
        if goals:
            goals.sort(key=lambda edge: -edge_key(state, edge))
            how = "goal"
            outputs: list[tuple[int, ...]] = [(edge,) for edge in goals]
        else:
            how, outputs = self._default_output(prepared)
        hypotheses = tuple(
            (
                float(sum(edge_key(state, edge) for edge in edges) / max(len(edges), 1)),
                tuple(self._derivation(edge, prepared.leaves) for edge in edges),
            )
            for edges in outputs
        )
        seconds = time.monotonic() - began
        timed_out = status == OUT_OF_BUDGET and not goals
        return Decoded(how, hypotheses, prepared, timed_out, int(counters[SCORED]), int(counters[EXPANDED]), seconds)

    def _search(self, prepared: Prepared, deadline: float) -> int:
        workspace = self.workspace
        workspace.begin(prepared.problem.bias.size, len(prepared.leaves))
        propose_leaves(self.grammar.tables, self._state(prepared))
        while True:
            spent = int(workspace.scratch.counters[SCORED])
            budget = min(_SLICE, self.limits.edges - spent) if self.limits.edges else _SLICE
            if budget <= 0 or time.monotonic() > deadline:
                return OUT_OF_BUDGET
            status = int(search(self.grammar.tables, self._state(prepared), budget))
            if status in (DONE, EXHAUSTED):
                return status
            if status != OUT_OF_BUDGET:
                workspace.make_room(status)

    def _state(self, prepared: Prepared) -> State:
        w = self.workspace
        return State(prepared.problem, w.edges, w.agenda, w.chart, self.model, self.options, w.scratch)

    def _default_output(self, prepared: Prepared) -> tuple[str, list[tuple[int, ...]]]:
        """Two edges of the chart that cover the bag; else the largest, and in turn all that still fit."""
        edges, problem = self.workspace.edges, prepared.problem
        members = self.workspace.members
        if not members.size:
            members = np.arange(min(1, self.workspace.num_edges), dtype=np.int64)
        state = self._state(prepared)
        keys = np.array([edge_key(state, int(edge)) for edge in members])
        order = members[np.lexsort((members, -keys, -edges.columns[members, SIZE]))]
        coverage = edges.coverage[order]
        best: tuple[float, tuple[int, ...]] | None = None
        for i, edge in enumerate(order):
            together = coverage + coverage[i]
            fits = ~np.any((together + problem.bias) & problem.guard, axis=1)
            whole = np.all((together + problem.goal_bias) & problem.goal_guard == problem.goal_guard, axis=1)
            for j in np.flatnonzero(fits & whole):
                other = int(order[j])
                if not np.any(edges.coverage[other] & edges.before[edge]):
                    value = float(edge_key(state, int(edge)) + edge_key(state, other))
                    if best is None or value > best[0]:
                        best = value, (int(edge), other)
        if best is not None:
            return "two edges", [best[1]]
        return "greedy", [self._greedy(order, prepared)]

    def _greedy(self, order: Sequence[int] | NDArray[np.int64], prepared: Prepared) -> tuple[int, ...]:
        edges, problem = self.workspace.edges, prepared.problem
        chosen: list[int] = []
        total = np.zeros_like(problem.bias)
        before = np.zeros_like(problem.bias)
        for edge in order:
            if np.any((total + edges.coverage[edge] + problem.bias) & problem.guard):
                continue
            if np.any(edges.coverage[edge] & before):
                continue
            chosen.append(int(edge))
            total = total + edges.coverage[edge]
            before = before | edges.before[edge]
        return tuple(chosen)

    def _derivation(self, edge: int, leaves: Sequence[Leaf]) -> Derivation:
        row = self.workspace.edges.columns[edge]
        if row[LEFT] < 0:
            return Derivation(int(row[RULE]), (), leaves[int(row[RULE])])
        parts = [self._derivation(int(part), leaves) for part in (row[LEFT], row[RIGHT]) if part >= 0]
        return Derivation(int(row[RULE]), tuple(parts))
