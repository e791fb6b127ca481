"""Best-first decoding of one bag: the search in slices of time, its goals, and an output when there is none in time.

Limits      when a search ends without a goal
Decoded     what came of a bag
Decoder     a grammar, weights and options, used for many bags
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.best_first.default_output import chosen_edges
from comparison.best_first.derivation import Derivation
from comparison.best_first.edge import LEFT, RIGHT, RULE
from comparison.best_first.given_tree import GivenTree, TreeBeams, given_tree
from comparison.best_first.joined_tree import joined_tree
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
    EDGES_FULL,
    EXHAUSTED,
    EXPANDED,
    NUM_CHART,
    NUM_GOALS,
    OUT_OF_BUDGET,
    SCORED,
    Model,
    Options,
    State,
)
from comparison.best_first.tree_kernel import build_trees, most_edges
from comparison.best_first.workspace import Workspace
from lm.model import LanguageModel

_SLICE = 10_000  # edges between two looks at the clock: some hundredths of a second


class Limits(NamedTuple):
    """When a search ends without a goal: seconds; scored edges (0: any number), the same on every machine."""

    seconds: float = 60.0
    edges: int = 0


@dataclass(frozen=True)
class Decoded:
    """What came of a bag: goals, best first; without any, edges that make up the default output together.

    `how` is "goal"; without any "joined" (a whole sentence all the same), "two edges" or "greedy".
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
        trees: TreeBeams | None = None,
        default_output: str = "pair",
        language_model: LanguageModel | None = None,
    ) -> None:
        """Without `trees` bags with all their heads are searched by agenda like others."""
        self.grammar = grammar
        self.model = Model(weights)
        self.options = options
        self.limits = limits or Limits()
        self.trees = trees
        self.default_output = default_output
        self.language_model = language_model
        self.workspace = Workspace(grammar.most_rules, most_goals=options.goals)

    def decode(self, given: Input) -> Decoded:
        """Search until there are enough goals or a limit is reached; order a given tree from its leaves up."""
        began = time.monotonic()
        found = self._decode(given, began)
        if found.how != "goal" and self.default_output == "joined" and self.trees is not None:
            found = self._join(given, found, began, self.trees)
        return found

    def _decode(self, given: Input, began: float) -> Decoded:
        prepared = prepare(given, self.grammar, self.language_model)
        tree = None if self.trees is None else given_tree(prepared)
        self.workspace.begin(prepared.problem.bias.size, len(prepared.leaves))
        if self.trees is not None and tree is not None:
            status = self._build(prepared, tree, self.trees)
        else:
            status = self._search(prepared, began + self.limits.seconds)
        how = "goal"
        outputs: list[tuple[int, ...]] = [(int(edge),) for edge in self.workspace.goals]
        if not outputs:
            how, chosen = chosen_edges(self._state(prepared), self._reached(), self.default_output)
            outputs.append(chosen)
        return self._decoded(how, outputs, prepared, status == OUT_OF_BUDGET and how != "goal", began)

    def _join(self, given: Input, found: Decoded, began: float, beams: TreeBeams) -> Decoded:
        """A whole sentence out of the parts that were found, if they and what is given make a tree."""
        whole = joined_tree(given, found.prepared, found.hypotheses[0][1]) if self.grammar.obeys_heads else None
        prepared = None if whole is None else prepare(whole, self.grammar, self.language_model)
        tree = None if prepared is None else given_tree(prepared)
        if prepared is None or tree is None:
            return found
        self.workspace.begin(prepared.problem.bias.size, len(prepared.leaves))
        self._build(prepared, tree, beams)
        outputs = [(int(edge),) for edge in self.workspace.goals]
        joined = self._decoded("joined", outputs, prepared, found.timed_out, began)
        scored, expanded = found.scored + joined.scored, found.expanded + joined.expanded
        return replace(joined, scored=scored, expanded=expanded)

    def _decoded(
        self, how: str, outputs: Sequence[tuple[int, ...]], prepared: Prepared, timed_out: bool, began: float
    ) -> Decoded:
        """The outputs, each of one or more edges, best first."""
        state, counters = self._state(prepared), self.workspace.scratch.counters
        hypotheses = [
            (
                float(sum(edge_key(state, edge) for edge in edges) / max(len(edges), 1)),
                tuple(self._derivation(edge, prepared.leaves) for edge in edges),
            )
            for edges in outputs
        ]
        hypotheses.sort(key=lambda hypothesis: -hypothesis[0])
        scored, expanded = int(counters[SCORED]), int(counters[EXPANDED])
        return Decoded(how, tuple(hypotheses), prepared, timed_out, scored, expanded, time.monotonic() - began)

    def _search(self, prepared: Prepared, deadline: float) -> int:
        """The search by agenda."""
        workspace = self.workspace
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

    def _build(self, prepared: Prepared, tree: GivenTree, beams: TreeBeams) -> int:
        """The search of a given tree; without a single root its trees are what there is for the default output."""
        workspace, size = self.workspace, max(beams.size, self.options.goals)
        while workspace.edges.columns.shape[0] < most_edges(tree, size):
            workspace.make_room(EDGES_FULL)
        state = self._state(prepared)
        subtrees, found = build_trees(self.grammar.tables, state, tree, size, beams.best, self.limits.edges)
        counters, goals = workspace.scratch.counters, workspace.chart.goals
        if tree.copies[tree.roots].sum() == 1:
            root = tree.roots[0]
            counters[NUM_GOALS] = count = min(found[root], self.options.goals)
            goals[:count] = subtrees[root, :count]
            return DONE
        members = np.concatenate([subtrees[root, : found[root]] for root in tree.roots])
        counters[NUM_CHART] = members.size
        workspace.chart.members[: members.size] = members
        return EXHAUSTED

    def _state(self, prepared: Prepared) -> State:
        w = self.workspace
        return State(prepared.problem, w.edges, w.agenda, w.chart, self.model, self.options, w.scratch)

    def _reached(self) -> NDArray[np.int64]:
        """The edges of the chart; of a search that ended before it had any, the first that was made."""
        members = self.workspace.members
        return members if members.size else np.arange(min(1, self.workspace.num_edges), dtype=np.int64)

    def _derivation(self, edge: int, leaves: Sequence[Leaf]) -> Derivation:
        columns = self.workspace.edges.columns
        below, made = [edge], dict[int, Derivation]()
        for top in below:  # it grows; not by recursion, for a tree may be deep
            below += [int(part) for part in columns[top, [LEFT, RIGHT]] if part >= 0]
        for top in sorted(set(below)):  # parts are made before what they are parts of
            rule = int(columns[top, RULE])
            parts = tuple(made[int(part)] for part in columns[top, [LEFT, RIGHT]] if part >= 0)
            made[top] = Derivation(rule, parts, None if parts else leaves[rule])
        return made[edge]
