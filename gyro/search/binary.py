"""The published grammar, I(A) → I(B) I(C) for any two disjoint cells, parsed, expanded and pruned row by row.

parse_rows    the rows of a bag: each cell is the set of its strings, which pruning makes smaller
BinaryRows    what came out: the cells of all rows
Cells         the cells of one row
expand_whole  the lattice of the whole bag

PRUNE-ROW of the paper takes the union of a row's cells, expands it, applies the model, prunes, and puts into each cell
what is left of its strings. So does this, rule by rule: two cells are tried only when their cheapest string, which the
kernel knows without expanding them, is within β of the row's best; what is left of each rule is joined in its cell.
A string that several rules derive comes once. Rows below the first that is pruned hold all strings.

With overlapping phrases, a cell has a context: words that must stand before its strings. Two cells make a third when
the left one ends with the context of the right one. Where it is shorter than that context, the rest of it has to stand
before both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grammars.phrase.closure import GRAIN
from grammars.phrase.grammar import Context, Coverages, PhraseGrammar
from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.lattice import Lattice
from gyro.lattice.string_set import EMPTY, ENDED, StringSets
from gyro.search.binary_kernel import (
    Lefts,
    Model,
    Rights,
    Scores,
    Scratch,
    expand_set,
    find_cheapest,
    find_ends,
    find_rules,
    join_rules,
    new_scores,
    new_scratch,
)

Ints = NDArray[np.int64]
Costs = NDArray[np.float64]
Spend = Callable[[float], None]
Cell = tuple[int, int]  # coverage and context

ARCS_PER_PAIR = 0.04  # to look at a pair of cells is so much of the work on an arc
CELLS_AT_ONCE = 2000  # between two looks at the work that is left


@dataclass(frozen=True)
class Cells:
    """Cells of one row: what each covers, the number of its context, its set of strings and the offset of its costs."""

    coverage: Coverages
    context: Ints
    strings: Ints
    offset: Ints

    @classmethod
    def none(cls) -> Cells:
        return cls(np.empty(0, np.uint64), *(np.empty(0, np.int64) for _ in range(3)))

    def __len__(self) -> int:
        return len(self.coverage)

    def identities(self) -> list[Cell]:
        """Coverage and context of each."""
        return list(zip(self.coverage.tolist(), self.context.tolist(), strict=True))

    def only(self, chosen: Any) -> Cells:
        return Cells(self.coverage[chosen], self.context[chosen], self.strings[chosen], self.offset[chosen])


@dataclass(frozen=True)
class Rules:
    """Rules of one row: the parts' sets and offsets, a bound of the right part, the result, and the cheapest string."""

    sides: Ints
    bound: Costs
    coverage: Coverages
    context: Ints
    cost: Costs

    def __len__(self) -> int:
        return len(self.cost)

    @classmethod
    def none(cls) -> Rules:
        return cls(np.empty((0, 4), np.int64), np.empty(0), np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0))

    @staticmethod
    def together(parts: list[Rules]) -> Rules:
        columns = ("sides", "bound", "coverage", "context", "cost")
        return Rules(*(np.concatenate([getattr(part, name) for part in [Rules.none(), *parts]]) for name in columns))

    def only(self, chosen: Any) -> Rules:
        return Rules(*(c[chosen] for c in (self.sides, self.bound, self.coverage, self.context, self.cost)))


class _Scale:
    """A model as the kernel weighs strings with it: its tables, the ways on that are known, and a coarser model.

    The coarse model knows the last word alone, and is never dearer: it bounds what a cell costs in any context.
    """

    def __init__(self, automaton: WordAutomaton, *, with_end: bool) -> None:
        states, words = automaton.next_state.shape
        self.automaton = automaton
        self.model = Model(automaton.next_state, automaton.cost, GRAIN)
        self.inner = new_scores(np.zeros(states))
        self.last = new_scores(automaton.end_cost) if with_end else self.inner
        cost = np.full((words + 1, words), np.inf)
        accepted = automaton.next_state >= 0
        costs = np.where(accepted, automaton.cost, np.inf)
        cost[0] = costs.min(axis=0, initial=np.inf)
        for word in range(words):
            reached = np.unique(automaton.next_state[accepted[:, word], word])
            cost[word + 1] = costs[reached].min(axis=0, initial=np.inf)
        after = np.where(cost < np.inf, np.arange(1, words + 1, dtype=np.int32), np.int32(-1))
        self.coarse = Model(after.astype(np.int32), cost, GRAIN)
        self.coarse_scores = new_scores(np.zeros(words + 1))
        # What the cells of a row are as parts of others, by row and context that is needed.
        self.lefts: dict[tuple[int, int], tuple[Cells, Lefts]] = {}
        self.rights: dict[tuple[int, int], tuple[Cells, Rights]] = {}

    def grow(self) -> None:
        """More room where there was too little."""
        alike = self.last is self.inner
        self.inner = _larger(self.inner)
        self.last = self.inner if alike else _larger(self.last)
        self.coarse_scores = _larger(self.coarse_scores)

    def start_after(self, context: Context) -> int:
        """The model state of a cell: that after its context; -1 when the model refuses that."""
        state = self.automaton.start
        for word in context:
            if state >= 0:
                state = int(self.automaton.next_state[state, word])
        return state


def _larger(scores: Scores) -> Scores:
    """Empty, with four times the room, where it was full; what was known is found again."""
    return new_scores(scores.end, 4 * len(scores.key)) if scores.is_full[0] else scores


def _unscored(words: int) -> WordAutomaton:
    """Accepts all strings at no cost."""
    tables = (np.zeros((1, words), np.int32), np.zeros((1, words)))
    return WordAutomaton(tuple(map(str, range(words))), 0, *tables, np.zeros(1))


@dataclass
class BinaryRows:
    """The cells of each row (row 0 is empty), and the pairs of cells of which rows were made."""

    grammar: PhraseGrammar
    sets: StringSets
    rows: list[Cells] = field(default_factory=list)
    rules: int = 0
    arcs: list[int] = field(default_factory=list)  # of the expansions, by row; 0 where nothing is pruned

    def whole(self) -> tuple[int, int]:
        """The strings of the whole bag: their set and its offset."""
        row = self.rows[len(self.grammar.bag)]
        return (int(row.strings[0]), int(row.offset[0])) if len(row) else (EMPTY, 0)

    def ending_with(self, cells: Cells, length: int, needed: Context) -> Cells:
        """What is left of cells when their strings must end with a context, or be its end: then the rest is theirs."""
        if not needed or not len(cells):
            return cells
        ending, before = needed[-length:], needed[:-length]
        pairs = zip(cells.strings.tolist(), cells.offset.tolist(), strict=True)
        strings, offset = np.array([self.sets.ending_with(pair, length, ending) for pair in pairs], np.int64).T
        context = np.array([self._stronger(number, before) for number in range(len(self.grammar.contexts))], np.int64)
        found = Cells(cells.coverage, context[cells.context], strings, offset)
        return found.only((strings != EMPTY) & (found.context >= 0))

    def _stronger(self, number: int, other: Context) -> int:
        """Of two contexts the one that implies the other; -1 when they exclude each other."""
        one = self.grammar.contexts[number]
        longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
        if longer[len(longer) - len(shorter) :] != shorter:
            return -1
        # A part of a context is one as well: the beginning of the same phrase.
        return self.grammar.contexts.index(longer)

    def pairs(self, row: int) -> Iterator[tuple[Cell, Cell, Cell]]:
        """All pairs of cells that make one of a row, and that cell; for small bags."""
        made = set(self.rows[row].identities())
        for length in range(1, row):
            for right in self.rows[row - length].identities():
                for left in self.ending_with(self.rows[length], length, self.grammar.contexts[right[1]]).identities():
                    result = (left[0] + right[0], left[1])
                    fits, _ = self.grammar.code.add(np.array([left[0]], np.uint64), np.uint64(right[0]))
                    if fits[0] and result in made:
                        yield left, right, result


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


def expand_whole(parsed: BinaryRows, automaton: WordAutomaton, beta: float) -> Lattice:
    """The lattice of the whole bag's strings under a model: the arcs on paths within beta of the cheapest."""
    words, (strings, offset) = automaton.words, parsed.whole()
    if strings <= ENDED:  # no string at all, or only the empty one
        start, end = (0, [0]) if strings == ENDED else (-1, [])
        return Lattice.from_arrays(words, start, [], [], [], [], end, automaton.end_cost[[automaton.start]][end])
    scale, scratch = _Scale(automaton, with_end=True), new_scratch()
    while True:
        states, arcs = expand_set(
            parsed.sets.store, scale.model, scale.last, automaton.start, strings, offset, beta, scratch
        )
        if not scratch.is_full[0] and not scale.last.is_full[0]:
            break
        scale.grow()
        scratch = new_scratch(2 * len(scratch.states)) if scratch.is_full[0] else scratch
    source, word, _, target, after = scratch.arcs[:arcs].T
    cost = scratch.arc_cost[:arcs] + np.where(source == 0, GRAIN * offset, 0.0)
    ends = np.unique(after[target < 0])
    target = np.where(target < 0, states + np.searchsorted(ends, after), target)
    return Lattice.from_arrays(
        words, 0, source, word, target, cost, states + np.arange(len(ends)), automaton.end_cost[ends]
    )


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
        unscored = _Scale(_unscored(len(self.grammar.bag.words)), with_end=False)
        scale = _Scale(inner, with_end=False)
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
            self._add_row(_Scale(whole, with_end=True), lefts[size], size, last_beta)
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

    def _add_row(self, scale: _Scale, lefts: list[Cells], row: int, beta: float) -> None:
        """Make a row of phrase rules, and of pairs of a left part and a cell of a lower row."""
        parts, best = self._phrase_rules(scale, row)
        contexts = (0,) if row == len(self.grammar.bag) else range(len(self.grammar.contexts))
        allowed = np.empty(0, np.uint64) if self.allowed is None else self.allowed[row]
        if self.allowed is None or len(allowed):
            for length in range(1, row):
                for needed in np.unique(self.made.rows[row - length].context).tolist():
                    rules, best = self._pairs(scale, lefts[length], length, row, needed, allowed, best, beta)
                    parts.append(rules)
        rules = Rules.together(parts)
        limit = best + beta + 1e-6
        rules = rules.only((rules.cost <= limit) & (rules.cost < np.inf) & np.isin(rules.context, contexts))
        self.made.rules += len(rules)
        self.made.arcs.append(0)
        self.made.rows.append(self._joined(scale, rules, limit))

    def _starts(self, scale: _Scale, context: Ints) -> Ints:
        """The model state in which cells with these contexts begin."""
        each = np.array([scale.start_after(words) for words in self.grammar.contexts], np.int64)
        return each[context]

    def _phrase_rules(self, scale: _Scale, row: int) -> tuple[list[Rules], float]:
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
        rules = Rules(sides.astype(np.int64), np.zeros(len(cells)), cells.coverage, cells.context, cost)
        return [rules], float(cost.min(initial=np.inf))

    def _settled(self, scale: _Scale, work: Callable[[], Any]) -> Any:
        """Do something until the room for known ways suffices."""
        while True:
            found = work()
            if not any(scores.is_full[0] for scores in (scale.inner, scale.last, scale.coarse_scores)):
                return found
            scale.grow()

    def _pairs(
        self,
        scale: _Scale,
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
        near = cost <= best + beta + 1e-6
        (i, j), cost = pair[near].T, cost[near]
        sides = np.stack([left.strings[i], left.offset[i], rights.strings[j], rights.offset[j]], 1)
        bound = right_parts.bound[j]
        return Rules(sides, bound, left.coverage[i] + rights.coverage[j], left.context[i], cost), best

    def _rights(self, scale: _Scale, row: int, needed: int) -> tuple[Cells, Rights]:
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

    def _lefts(self, scale: _Scale, cells: Cells, length: int, needed: int, *, only_free: bool) -> tuple[Cells, Lefts]:
        """Cells of a length that end with a context as left parts, by their least costs."""
        if (length, needed) not in scale.lefts:
            cells = self.made.ending_with(cells, length, self.grammar.contexts[needed])
            starts = self._starts(scale, cells.context)
            chosen = (starts >= 0) & ((cells.context == 0) | (not only_free))
            scale.lefts[length, needed] = self._with_ends(scale, cells.only(chosen), starts[chosen])
        return scale.lefts[length, needed]

    def _with_ends(self, scale: _Scale, cells: Cells, starts: Ints) -> tuple[Cells, Lefts]:
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

    def _grow(self, scale: _Scale) -> None:
        """Make room wherever it ran out."""
        scale.grow()
        if self.sets.store.is_full[0]:
            self.sets.grow()
        if self.scratch.is_full[0]:
            self.scratch = new_scratch(2 * len(self.scratch.states))

    def _joined(self, scale: _Scale, rules: Rules, limit: float) -> Cells:
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
        for _, until in pairwise(range(0, len(coverage) + CELLS_AT_ONCE, CELLS_AT_ONCE)):
            until = min(until, len(coverage))
            while at < until:
                arguments = (scale.inner, scale.last, starts, first, rules.sides, rules.bound, limit, self.scratch)
                at, looked = join_rules(self.sets.store, scale.model, *arguments, made, at, until)
                self.made.arcs[-1] += looked
                self.spend(looked)
                self._grow(scale)
        cells = Cells(coverage, context, made[:, 0], made[:, 1])
        return cells.only(cells.strings != EMPTY)
