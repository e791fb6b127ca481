"""The published grammar, I(A) → I(B) I(C) for any two disjoint cells, parsed, expanded and pruned row by row.

parse_rows  the rows of a bag: each cell is the set of its strings, which pruning makes smaller

PRUNE-ROW of the paper takes the union of a row's cells, expands it, applies the model, prunes, and puts into each cell
what is left of its strings. So does this, rule by rule: two cells are tried only when their cheapest string, which the
kernel knows without expanding them, is within β of the row's best; what is left of each rule is joined in its cell.
A string that several rules derive comes once. Rows below the first that is pruned hold all strings.

With overlapping phrases, a cell has a context: words that must stand before its strings. Two cells make a third when
the left one ends with the context of the right one. Where it is shorter than that context, the rest of it has to stand
before both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grammars.phrase.closure import GRAIN
from grammars.phrase.grammar import Coverages, PhraseGrammar
from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.string_set import EMPTY, ENDED, StringSets
from gyro.search.binary_cells import BinaryRows, Cells, Ints, Rules
from gyro.search.binary_kernel import (
    SLACK,
    Lefts,
    Rights,
    Scratch,
    find_ends,
    find_rules,
    join_rules,
    new_scratch,
)
from gyro.search.binary_scores import Scale, find_cheapest

Spend = Callable[[float], None]

ARCS_PER_PAIR = 0.04  # to look at a pair of cells is so much of the work on an arc
CELLS_AT_ONCE = 2000  # between two looks at the work that is left


class _Weights(Scale):
    """A model, and what the cells of a row are as parts of others under it, by row and context that is needed."""

    def __init__(self, automaton: WordAutomaton, *, with_end: bool) -> None:
        super().__init__(automaton, with_end=with_end)
        self.lefts: dict[tuple[int, int], tuple[Cells, Lefts]] = {}
        self.rights: dict[tuple[int, int], tuple[Cells, Rights]] = {}


def _unscored(words: int) -> WordAutomaton:
    """Accepts all strings at no cost."""
    tables = (np.zeros((1, words), np.int32), np.zeros((1, words)))
    return WordAutomaton(tuple(map(str, range(words))), 0, *tables, np.zeros(1))


def parse_rows(
    grammar: PhraseGrammar,
    automaton: WordAutomaton,
    inner: WordAutomaton,
    *,
    allowed: list[Coverages] | None,
    first_row: int,
    beta: float,
    last_beta: float,
    spend: Spend,
) -> BinaryRows:
    """Make all rows; from `first_row` on each is pruned at beta, the last, under the whole model, at `last_beta`.

    `inner` is the model under which the rows below the last are pruned, `allowed` the cells that may be made of each
    row (None: all), `spend` is told of each rule and arc.
    """
    return _Parser(grammar, automaton, inner, allowed, spend).parse(first_row, beta, last_beta)


class _Parser:
    """Makes the rows of one bag upward."""

    def __init__(
        self,
        grammar: PhraseGrammar,
        automaton: WordAutomaton,
        inner: WordAutomaton,
        allowed: list[Coverages] | None,
        spend: Spend,
    ) -> None:
        self.grammar = grammar
        self.allowed = allowed
        self.spend = spend
        self.sets = StringSets()
        self.scratch: Scratch = new_scratch()
        self.made = BinaryRows(grammar, self.sets)
        self._automata = (automaton, inner)
        code = grammar.code
        self._checks = (code.singles, code.slack, code.guards)
        self._phrase_rows = [self._phrase_cells(row) for row in range(len(grammar.bag) + 1)]

    def parse(self, first_row: int, beta: float, last_beta: float) -> BinaryRows:
        size = len(self.grammar.bag)
        whole, inner = self._automata
        unscored = _Weights(_unscored(len(self.grammar.bag.words)), with_end=False)
        scale = _Weights(inner, with_end=False)
        self.made.rows.append(Cells.none())
        self.made.arcs.append(0)
        # Of all strings one derivation is enough: a phrase, and what follows it.
        lefts = [self._phrase_rows if row < first_row else self.made.rows for row in range(size + 1)]
        for row in range(1, size):
            if row < first_row:
                self._add_row(unscored, lefts[row], row, np.inf)
                self.made.arcs[row] = 0
            else:
                self._add_row(scale, lefts[row], row, beta)
        if size:
            self._add_row(_Weights(whole, with_end=True), lefts[size], size, last_beta)
        else:
            self.made.rows[0] = Cells(np.zeros(1, np.uint64), *(np.array([n]) for n in (0, ENDED, 0)))
        return self.made

    def _phrase_cells(self, row: int) -> Cells:
        """The cells of a row's phrase rules alone."""
        grammar, found = self.grammar, []
        for number in np.flatnonzero(grammar.lengths == row):
            rules = grammar.phrases[number]
            for context in np.unique(rules.context).tolist():
                of_it = rules.only(rules.context == context)
                strings = zip(of_it.words.tolist(), of_it.grains.tolist(), strict=True)
                found.append((int(grammar.coverages[number]), context, *self.sets.of_strings(strings)))
        if not found:
            return Cells.none()
        coverage, *others = zip(*found, strict=True)
        cells = Cells(np.array(coverage, np.uint64), *(np.array(column, np.int64) for column in others))
        return cells.only(self._is_allowed(row, cells.coverage))

    def _is_allowed(self, row: int, coverage: Coverages) -> NDArray[np.bool_]:
        if self.allowed is None:
            return np.ones(len(coverage), np.bool_)
        return np.isin(coverage, self.allowed[row])

    def _add_row(self, scale: _Weights, lefts: list[Cells], row: int, beta: float) -> None:
        """Make a row of phrase rules, and of pairs of a left part and a cell of a lower row."""
        parts, best = self._phrase_rules(scale, row)
        allowed = np.empty(0, np.uint64) if self.allowed is None else self.allowed[row]
        if self.allowed is None or len(allowed):
            for length in range(1, row):
                for needed in np.unique(self.made.rows[row - length].context).tolist():
                    rules, best = self._pairs(scale, lefts[length], length, row, needed, allowed, best, beta)
                    parts.append(rules)
        rules = Rules.together(parts)
        limit = best + beta + SLACK
        rules = rules.only((rules.cost <= limit) & (rules.cost < np.inf))
        self.made.rules += len(rules)
        self.made.arcs.append(0)
        self.made.rows.append(self._joined(scale, rules, limit))

    def _starts(self, scale: _Weights, context: Ints) -> Ints:
        """The model state in which cells with these contexts begin."""
        each = np.array([scale.start_after(words) for words in self.grammar.contexts], np.int64)
        return each[context]

    def _phrase_rules(self, scale: _Weights, row: int) -> tuple[list[Rules], float]:
        cells = self._phrase_rows[row]
        if row == len(self.grammar.bag):
            cells = cells.only(cells.context == 0)
        starts = self._starts(scale, cells.context)
        cells = cells.only(starts >= 0)
        starts = starts[starts >= 0]
        cost = self._settled(
            scale, lambda: find_cheapest(self.sets.store, scale.model, scale.last, starts, cells.strings)
        )
        cost = cost + GRAIN * cells.offset
        sides = np.stack([cells.strings, cells.offset, np.full(len(cells), ENDED), np.zeros(len(cells), np.int64)], 1)
        rules = Rules(sides, np.zeros(len(cells)), cells.coverage, cells.context, cost)
        return [rules], float(cost.min(initial=np.inf))

    def _settled(self, scale: _Weights, work: Callable[[], Any]) -> Any:
        """Do something until the room for known ways suffices."""
        while True:
            found = work()
            if not any(scores.is_full[0] for scores in (scale.inner, scale.last, scale.coarse_scores)):
                return found
            scale.grow()

    def _pairs(
        self,
        scale: _Weights,
        left_cells: Cells,
        length: int,
        row: int,
        needed: int,
        allowed: Coverages,
        best: float,
        beta: float,
    ) -> tuple[Rules, float]:
        """The pairs of a left part of a length and a cell with the context `needed`, and the best cost by now."""
        rights, right_parts = self._rights(scale, row - length, needed)
        if not len(rights) or not len(left_cells):
            return Rules.none(), best
        left, lefts = self._lefts(scale, left_cells, length, needed, only_free=row == len(self.grammar.bag))
        found, costs = [np.empty((0, 2), np.int64)], [np.empty(0)]
        at = 0
        while at < len(left):
            part, cost, at, best, looked = find_rules(
                self.sets.store, scale.model, scale.last, lefts, right_parts, self._checks, allowed, at, best, beta
            )
            self.spend(looked * ARCS_PER_PAIR)
            found.append(part)
            costs.append(cost)
            scale.grow()
        pair, cost = np.concatenate(found), np.concatenate(costs)
        near = cost <= best + beta + SLACK
        (i, j), cost = pair[near].T, cost[near]
        sides = np.stack([left.strings[i], left.offset[i], rights.strings[j], rights.offset[j]], 1)
        bound = right_parts.bound[j]
        return Rules(sides, bound, left.coverage[i] + rights.coverage[j], left.context[i], cost), best

    def _rights(self, scale: _Weights, row: int, needed: int) -> tuple[Cells, Rights]:
        """The cells of a row with a context as right parts, by their bounds."""
        if (row, needed) not in scale.rights:
            cells = self.made.rows[row]
            cells = cells.only(cells.context == needed)
            starts = np.zeros(len(cells), np.int64)
            bound = self._settled(
                scale,
                lambda: find_cheapest(self.sets.store, scale.coarse, scale.coarse_scores, starts, cells.strings),
            )
            bound = bound + GRAIN * cells.offset
            order = np.argsort(bound, kind="stable")
            cells, bound = cells.only(order), bound[order]
            scale.rights[row, needed] = cells, Rights(cells.coverage, bound, cells.strings, cells.offset)
        return scale.rights[row, needed]

    def _lefts(
        self, scale: _Weights, cells: Cells, length: int, needed: int, *, only_free: bool
    ) -> tuple[Cells, Lefts]:
        """Cells of a length that end with a context as left parts, by their least costs."""
        if (length, needed) not in scale.lefts:
            cells = self.made.ending_with(cells, length, self.grammar.contexts[needed])
            starts = self._starts(scale, cells.context)
            chosen = (starts >= 0) & ((cells.context == 0) | (not only_free))
            scale.lefts[length, needed] = self._with_ends(scale, cells.only(chosen), starts[chosen])
        return scale.lefts[length, needed]

    def _with_ends(self, scale: _Weights, cells: Cells, starts: Ints) -> tuple[Cells, Lefts]:
        """The cells by their least costs, and their ends."""
        numbers, states, costs = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
        at = 0
        while at < len(cells):
            number, state, cost, looked = find_ends(
                self.sets.store, scale.model, scale.inner, starts, cells.strings, cells.offset, self.scratch, at
            )
            self.spend(looked)
            at += len(number)
            numbers.append(number)
            states.append(state)
            costs.append(cost)
            self._grow(scale)
        number, state, cost = np.concatenate(numbers), np.concatenate(states), np.concatenate(costs)
        first = np.cumsum(number) - number
        has_end = number > 0
        least = np.minimum.reduceat(cost, first[has_end]) if has_end.any() else np.empty(0)
        kept = np.flatnonzero(has_end)
        order = np.argsort(least, kind="stable")
        kept, least = kept[order], least[order]
        taken = np.concatenate([np.arange(first[c], first[c] + number[c]) for c in kept] or [np.empty(0, np.int64)])
        begins = np.append(0, np.cumsum(number[kept]))
        cells = cells.only(kept)
        return cells, Lefts(cells.coverage, least, begins, state[taken], cost[taken])

    def _grow(self, scale: _Weights) -> None:
        """Make room wherever it ran out."""
        scale.grow()
        if self.sets.store.is_full[0]:
            self.sets.grow()
        if self.scratch.is_full[0]:
            self.scratch = new_scratch(2 * len(self.scratch.states))

    def _joined(self, scale: _Weights, rules: Rules, limit: float) -> Cells:
        """The cells that rules make, each of what is left of its rules within the limit."""
        order = np.lexsort((rules.cost, rules.context, rules.coverage))
        rules = rules.only(order)
        new = np.ones(len(rules), np.bool_)
        new[1:] = (rules.coverage[1:] != rules.coverage[:-1]) | (rules.context[1:] != rules.context[:-1])
        first = np.append(np.flatnonzero(new), len(rules))
        coverage, context = rules.coverage[first[:-1]], rules.context[first[:-1]]
        starts = self._starts(scale, context)
        made = np.zeros((len(coverage), 2), np.int64)
        at = 0
        while at < len(coverage):
            arguments = (scale.inner, scale.last, starts, first, rules.sides, rules.bound, limit, self.scratch)
            until = min(at + CELLS_AT_ONCE, len(coverage))
            at, looked = join_rules(self.sets.store, scale.model, *arguments, made, at, until)
            self.made.arcs[-1] += looked
            self.spend(looked)
            self._grow(scale)
        cells = Cells(coverage, context, made[:, 0], made[:, 1])
        return cells.only(cells.strings != EMPTY)
