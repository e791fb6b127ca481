"""Searched  a search over a small bag, whose edges a test looks at one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.decoder import Decoder, Derivation, Limits
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.problem import Input
from comparison.best_first.state import NUM_FREE, NUM_ITEMS, State
from lm.model import LanguageModel
from tests.comparison.best_first.enumeration import has_all_words, no_limits
from tests.comparison.best_first.twin import Tree, canonical


class Searched:
    """The options are those of `no_limits`; `edges` is how many may be scored, 0 for any number."""

    def __init__(
        self,
        grammar: DependencyGrammar | CcgInventory,
        given: Input,
        weights: NDArray[np.float32],
        *,
        language_model: LanguageModel | None = None,
        edges: int = 0,
        **options: float,
    ) -> None:
        self.grammar, self.given, self.weights = grammar, given, weights
        limits = Limits(1e6, edges)
        self.decoder = Decoder(grammar, weights, no_limits(**options), limits=limits, language_model=language_model)
        self.decoded = self.decoder.decode(given)
        self.prepared = self.decoded.prepared
        self.workspace = self.decoder.workspace

    @property
    def state(self) -> State:
        return self.decoder._state(self.prepared)

    @property
    def edges(self) -> range:
        return range(self.workspace.num_edges)

    def tree(self, edge: int) -> Tree:
        return canonical(self.decoder._derivation(edge, self.prepared.leaves), self.grammar, self.prepared)

    def words(self, edge: int) -> tuple[str, ...]:
        return self.decoder._derivation(edge, self.prepared.leaves).words

    def is_complete(self, edge: int) -> bool:
        return has_all_words(self.tree(edge), self.given, self.grammar)

    def empty(self) -> State:
        """The state of another search for the same bag, with nothing done yet."""
        self.workspace.begin(self.prepared.problem.bias.size, len(self.prepared.leaves))
        return self.state

    def item_tree(self, item: int) -> Tree:
        """What an item of the agenda would be as an edge."""
        waiting, leaves = self.workspace.agenda.items[item], self.prepared.leaves
        rule, parts = int(waiting["rule"]), (int(waiting["left"]), int(waiting["right"]))
        below = tuple(self.decoder._derivation(part, leaves) for part in parts if part >= 0)
        whole = Derivation(rule, below, None if below else leaves[rule])
        return canonical(whole, self.grammar, self.prepared)

    @property
    def items(self) -> list[int]:
        """The items that wait on the agenda."""
        counters = self.workspace.scratch.counters
        free = set(self.workspace.agenda.free[: counters[NUM_FREE]].tolist())
        return [item for item in range(counters[NUM_ITEMS]) if item not in free]
