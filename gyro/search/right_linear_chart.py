"""What it costs to reach the cells of an RTN: the numbers behind row pruning, as arrays.

RtnChart  the nodes (cell, model state) of all rows, with the cheapest cost of reaching each of them

A cell is only ever extended by a whole phrase, so a phrase costs the same wherever it is put on in the same model
state. These costs are looked up once, in a table of phrases × model states; after that, extending the nodes of a row is
a walk over arrays. The chart says which rules cannot come within β of the best, so that OpenFst need not expand them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grammars.phrase.closure import GRAIN
from grammars.phrase.grammar import Coverages, PhraseGrammar, RowRules
from gyro.compilation import compiled
from gyro.lattice.automaton import WordAutomaton

Ints = NDArray[np.int64]
States = NDArray[np.int32]
Costs = NDArray[np.float64]
Marks = NDArray[np.bool_]

# OpenFst adds in single precision and prunes with an allowance for it: what is this near to the limit is left to it.
SLACK = 2e-3


class Nodes(NamedTuple):
    """The nodes of cell c are `first[c]` to `first[c + 1]`."""

    first: Ints
    state: States
    cost: Costs


class Phrases(NamedTuple):
    """The rules of phrase coverage p are `first[p]` to `first[p + 1]`: state after them and cost, by model state."""

    first: Ints
    end: States
    cost: Costs


class RtnChart:
    """Rows are added upward; row 0 holds the empty coverage in the model's start state.

    `matches` tells for each model state and context whether the words before end with it.

    Cells are numbered through all rows; the nodes of cell c are `first_node[c]` to `first_node[c + 1]`, by state.
    """

    def __init__(self, grammar: PhraseGrammar, automaton: WordAutomaton, matches: Marks) -> None:
        self.grammar = grammar
        self.automaton = automaton
        self.rows: list[RowRules] = [RowRules.none()]
        self.cells: list[Coverages] = [np.zeros(1, np.uint64)]
        self.first_cell = [0, 1]
        self.first_node: Ints = np.array([0, 1], np.int64)
        self.state: States = np.array([automaton.start], np.int32)
        self.cost: Costs = np.zeros(1)
        sizes = [len(rules.grains) for rules in grammar.phrases]
        first: Ints = np.cumsum([0, *sizes], dtype=np.int64)
        self._phrases = Phrases(first, *_phrase_costs(grammar, automaton, matches))

    def rule_costs(self, rules: RowRules) -> Costs:
        """The cheapest cost of a string that a rule of the next row ends; infinite when the model accepts none."""
        return self._extend(rules, np.inf)[0]

    def entries(self, rules: RowRules, limit: float) -> Ints:
        """The nodes from which some rule of the next row stays within a cost."""
        return np.flatnonzero(self._extend(rules, limit)[1])

    def _extend(self, rules: RowRules, limit: float) -> tuple[Costs, Marks]:
        return _extend(limit, self.left_cells(rules), rules.phrase, self._nodes, self._phrases)

    def add_row(self, rules: RowRules) -> None:
        """Make the next row of these rules."""
        order = np.argsort(rules.result, kind="stable")
        cells, place = np.unique(rules.result[order], return_inverse=True)
        arcs = (self.left_cells(rules)[order], rules.phrase[order], place.astype(np.int64))
        states = self.automaton.num_states
        first, state, cost = _reach(len(cells), states, *arcs, self._nodes, self._phrases)
        self.rows.append(rules)
        self.cells.append(cells)
        self.first_cell.append(self.first_cell[-1] + len(cells))
        self.first_node = np.concatenate([self.first_node, first[1:] + self.first_node[-1]])
        self.state = np.concatenate([self.state, state])
        self.cost = np.concatenate([self.cost, cost])

    def rules_within(self, beta: float) -> list[RowRules]:
        """The rules of each row that are on a path to the end of the whole bag within beta of the cheapest one."""
        last = slice(self.first_node[self.first_cell[-2]], None)
        rest = np.full(len(self.state), np.inf)
        rest[last] = self.automaton.end_cost[self.state[last]]
        limit = float(np.min(self.cost[last] + rest[last], initial=np.inf)) + beta + SLACK
        kept = []
        for row in reversed(range(len(self.rows))):
            rules = self.rows[row]
            result = self.first_cell[row] + np.searchsorted(self.cells[row], rules.result)
            arcs = (self.left_cells(rules), rules.phrase, result)
            through = _complete(rest, *arcs, self._nodes, self._phrases)
            kept.append(rules.only((through <= limit) & (through < np.inf)))
        return kept[::-1]

    def left_cells(self, rules: RowRules) -> Ints:
        """The numbers of the left cells of rules."""
        cells = np.concatenate(self.cells)
        order = np.argsort(cells)
        found: Ints = order[np.searchsorted(cells[order], rules.left)]
        return found

    def cell_of_node(self, nodes: Ints) -> Ints:
        """The numbers of the cells that nodes belong to."""
        return np.searchsorted(self.first_node, nodes, side="right") - 1

    @property
    def _nodes(self) -> Nodes:
        return Nodes(self.first_node, self.state, self.cost)


def _phrase_costs(grammar: PhraseGrammar, automaton: WordAutomaton, matches: Marks) -> tuple[States, Costs]:
    """For each phrase rule and model state: the state after its words (-1: not accepted) and its cost."""
    states = automaton.num_states
    ends, costs = [np.empty((0, states), np.int32)], [np.empty((0, states))]
    for rules in grammar.phrases:
        everywhere = np.broadcast_to(np.arange(states, dtype=np.int32), (len(rules.grains), states))
        state = np.where(matches.T[rules.context], everywhere, np.int32(-1))
        cost = np.zeros(state.shape) + GRAIN * rules.grains[:, None]
        for word in rules.words.T[:, :, None]:
            # Row -1 is read where the phrase was refused before; the mark -1 is put back at once.
            cost = cost + automaton.cost[state, word]
            state = np.where(state < 0, np.int32(-1), automaton.next_state[state, word])
        ends.append(state)
        costs.append(np.where(state < 0, np.inf, cost))
    return np.concatenate(ends), np.concatenate(costs)


@compiled
def _extend(
    limit: float,
    left: Ints,
    phrase: States,
    nodes: Nodes,
    phrases: Phrases,
) -> tuple[Costs, Marks]:
    """Extend the nodes of each rule's left cell by each phrase of its coverage.

    Gives the cheapest cost that each rule comes to, and marks the nodes from which some rule stays within the limit.
    """
    best, marks = np.full(len(left), np.inf), np.zeros(len(nodes.state), np.bool_)
    for rule in range(len(left)):
        for node in range(nodes.first[left[rule]], nodes.first[left[rule] + 1]):
            for u in range(phrases.first[phrase[rule]], phrases.first[phrase[rule] + 1]):
                total = nodes.cost[node] + phrases.cost[u, nodes.state[node]]
                best[rule] = min(best[rule], total)
                marks[node] |= total <= limit
    return best, marks


@compiled
def _reach(
    num_cells: int,
    num_states: int,
    left: Ints,
    phrase: States,
    result: Ints,
    nodes: Nodes,
    phrases: Phrases,
) -> tuple[Ints, States, Costs]:
    """The nodes of new cells: for each cell the first of them, their model states and costs. Rules come by result."""
    first = np.zeros(num_cells + 1, np.int64)
    new_state, new_cost = np.empty(1024, np.int32), np.empty(1024)
    count, rule = 0, 0
    cheapest = np.empty(num_states)
    for cell in range(num_cells):
        cheapest[:] = np.inf
        while rule < len(left) and result[rule] == cell:
            for node in range(nodes.first[left[rule]], nodes.first[left[rule] + 1]):
                for u in range(phrases.first[phrase[rule]], phrases.first[phrase[rule] + 1]):
                    after = phrases.end[u, nodes.state[node]]
                    if after >= 0:
                        cheapest[after] = min(cheapest[after], nodes.cost[node] + phrases.cost[u, nodes.state[node]])
            rule += 1
        if count + num_states > len(new_state):
            new_state = np.concatenate((new_state, np.empty(count + num_states, np.int32)))
            new_cost = np.concatenate((new_cost, np.empty(count + num_states)))
        for after in range(num_states):
            if cheapest[after] < np.inf:
                new_state[count] = after
                new_cost[count] = cheapest[after]
                count += 1
        first[cell + 1] = count
    return first, new_state[:count].copy(), new_cost[:count].copy()


@compiled
def _complete(
    rest: Costs,
    left: Ints,
    phrase: States,
    result: Ints,
    nodes: Nodes,
    phrases: Phrases,
) -> Costs:
    """Lower the left nodes' `rest`, the cheapest cost to the end; give the cheapest complete cost through each rule."""
    through = np.full(len(left), np.inf)
    for rule in range(len(left)):
        after_first, after_last = nodes.first[result[rule]], nodes.first[result[rule] + 1]
        for node in range(nodes.first[left[rule]], nodes.first[left[rule] + 1]):
            for u in range(phrases.first[phrase[rule]], phrases.first[phrase[rule] + 1]):
                if phrases.end[u, nodes.state[node]] < 0:
                    continue
                after = after_first + np.searchsorted(
                    nodes.state[after_first:after_last], phrases.end[u, nodes.state[node]]
                )
                to_end = phrases.cost[u, nodes.state[node]] + rest[after]
                rest[node] = min(rest[node], to_end)
                through[rule] = min(through[rule], nodes.cost[node] + to_end)
    return through
