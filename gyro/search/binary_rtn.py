"""The published algorithms with the published grammar: a cell is made of any two disjoint cells.

ALGORITHMS      Algorithms 1, 2 and 3 by their names
search_network  what they have in common
BinaryNetwork   the cells of all rows, and what makes them

What is pruned are paths: from the first pruned row on, a cell is the acceptor of the strings that are left of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from grammars.phrase.closure import GRAIN
from grammars.phrase.grammar import PhraseGrammar
from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.lattice import Lattice
from gyro.lattice.string_set import ENDED
from gyro.search.binary import parse_rows
from gyro.search.binary_cells import BinaryRows, Cell
from gyro.search.binary_kernel import expand_set, new_scratch
from gyro.search.binary_scores import Scale
from gyro.search.network import RtnResult, RtnWork, cell_lattice, check_problem, three_algorithms
from gyro.search.work import Work


@dataclass(frozen=True)
class BinaryNetwork:
    """The network: cells of rows below `first_row`, and the whole bag's, call others; those between are strings."""

    parsed: BinaryRows
    first_row: int

    def cells(self) -> list[str]:
        """The bit strings of all cells, row by row; before them, in brackets, the words that they need."""
        return [self._name(cell) for row in self.parsed.rows[1:] for cell in row.identities()]

    def rules(self) -> list[str]:
        """All rules, row by row: phrases, pairs of cells, or the strings of pruned cells."""
        return [f"{name}→{' '.join(right)}" for name, right in self._rules()]

    def cell(self, name: str) -> Lattice:
        """The acceptor of one cell: a path for each of its rules."""
        return cell_lattice([right for left, right in self._rules() if left == name])

    def _name(self, cell: Cell) -> str:
        grammar = self.parsed.grammar
        needed = " ".join(grammar.bag.words[w] for w in grammar.contexts[cell[1]])
        return (f"[{needed}]" if needed else "") + grammar.bit_string(cell[0])

    def _rules(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        size = len(self.parsed.grammar.bag)
        for row in range(1, size + 1):
            if self.first_row <= row < size:
                yield from self._strings(row)
            else:
                yield from self._phrases(row)
                for left, right, result in self.parsed.pairs(row):
                    yield self._name(result), (self._name(left), self._name(right))

    def _strings(self, row: int) -> Iterator[tuple[str, tuple[str, ...]]]:
        cells, words = self.parsed.rows[row], self.parsed.grammar.bag.words
        for cell, strings, offset in zip(
            cells.identities(), cells.strings.tolist(), cells.offset.tolist(), strict=True
        ):
            for string, _ in self.parsed.sets.strings(strings, offset):
                yield self._name(cell), tuple(words[w] for w in string)

    def _phrases(self, row: int) -> Iterator[tuple[str, tuple[str, ...]]]:
        grammar, made = self.parsed.grammar, set(self.parsed.rows[row].identities())
        for number in np.flatnonzero(grammar.lengths == row):
            rules = grammar.phrases[number]
            for words, context in zip(rules.words.tolist(), rules.context.tolist(), strict=True):
                cell = (int(grammar.coverages[number]), context)
                if cell in made:
                    yield self._name(cell), tuple(grammar.bag.words[w] for w in words)


def search_network(
    grammar: PhraseGrammar,
    automaton: WordAutomaton,
    *,
    inner: WordAutomaton | None = None,
    first_row: int = 6,
    beta: float = 10.0,
    work: Work | None = None,
    parses_first: bool,
    prunes: bool = True,
) -> RtnResult:
    """Make the rows upward, of all cells or of those of a parse, and prune them under `inner` from `first_row` on.

    Algorithm 2 never loses a parse when no phrase is as long as `first_row`, and none overlap.
    """
    check_problem(grammar, automaton, beta)
    counter = RtnWork(work)
    first_pruned = first_row if prunes else len(grammar.bag) + 1
    last_beta = np.inf if parses_first else beta
    parsed = parse_rows(
        grammar,
        automaton,
        inner or automaton,
        allowed=grammar.cells() if parses_first else None,
        first_row=first_pruned,
        beta=beta,
        last_beta=last_beta,
        spend=counter.take,
    )
    lattice = _expand_whole(parsed, automaton, last_beta)
    counter.take(lattice.num_arcs)
    lattice = lattice.minimal()
    return RtnResult(
        None if lattice.empty() else lattice,
        BinaryNetwork(parsed, first_pruned),
        tuple(parsed.arcs),
        sum(map(len, parsed.rows[1:])),
        parsed.rules,
    )


ALGORITHMS = three_algorithms(search_network)


def _expand_whole(parsed: BinaryRows, automaton: WordAutomaton, beta: float) -> Lattice:
    """The lattice of the whole bag's strings under a model: the arcs on paths within beta of the cheapest."""
    words, (strings, offset) = automaton.words, parsed.whole()
    if strings <= ENDED:  # no string at all, or only the empty one
        start, end = (0, [0]) if strings == ENDED else (-1, [])
        return Lattice.from_arrays(words, start, [], [], [], [], end, automaton.end_cost[[automaton.start]][end])
    scale, scratch = Scale(automaton, with_end=True), new_scratch()
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
