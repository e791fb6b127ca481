"""The published searches: a bag is parsed into a recursive transition network (RTN), which is expanded under a model.

ALGORITHMS        name → function for the three algorithms of sections 2.3 and 2.4
full_expansion    Algorithm 1: parse, expand, apply the model; nothing is pruned
pruned_expansion  Algorithm 2: parse everything, then prune row by row while expanding
pruned_parsing    Algorithm 3: prune each row before it is extended
has_parse         whether the grammar, unpruned, can cover the bag at all
Rtn               the cells and the rules in them
RtnResult         the lattice, the RTN and the number of arcs that each row needed

A cell is extended on the right by one phrase, so every cell holds beginnings of sentences: the model's costs from the
sentence start are exact in all rows. Therefore a row need not be expanded from the first word on. Pruning it asks only
how cheaply each (cell, model state) below is reached, and the chart (rtn_chart) knows that: the row's machine
enters at those nodes, calls one phrase cell, and ends in the cells of the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from grammars.phrase.grammar import Coverages, PhraseGrammar, RowRules
from gyro.errors import GyroError, InputError
from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.lattice import Lattice, Transducer
from gyro.lattice.openfst_format import FstArrays
from gyro.search.rtn_chart import SLACK, RtnChart
from gyro.search.work import MILLION, Work

Ints = NDArray[np.int64]
Labels = NDArray[np.int32]

STEPS_PER_ARC = 500  # what OpenFst takes for an arc, or the chart for a rule, is about a millionth of a second


@dataclass(frozen=True)
class Rtn:
    """The network: `rows[x]` are the rules that make the cells of row x, which cover x tokens."""

    grammar: PhraseGrammar
    rows: tuple[RowRules, ...]

    def cells(self) -> list[str]:
        """The bit strings of all cells, row by row."""
        name = self.grammar.bit_string
        return [name(cell) for rules in self.rows for cell in np.unique(rules.result)]

    def rules(self) -> list[str]:
        """All rules in the published form, row by row."""
        return [f"{name}→{' '.join(right)}" for name, right in self._rules()]

    def cell(self, bits: str) -> Lattice:
        """The acceptor of one cell: a path of words for a phrase rule, a path of two calls for a concatenation."""
        paths = [right for name, right in self._rules() if name == bits]
        symbols = tuple(sorted({symbol for path in paths for symbol in path}))
        source, word, target, state = [], [], [], 1
        for path in paths:
            places = [0, *range(state + 1, state + len(path)), 1]
            state += len(path) - 1
            source += places[:-1]
            target += places[1:]
            word += [symbols.index(symbol) for symbol in path]
        return Lattice.from_arrays(symbols, 0, source, word, target, np.zeros(len(word)), [1], [0.0])

    def _rules(self) -> list[tuple[str, tuple[str, ...]]]:
        grammar = self.grammar
        found: list[tuple[str, tuple[str, ...]]] = []
        for rules in self.rows:
            for left, phrase, result in zip(rules.left, rules.phrase, rules.result, strict=True):
                name = grammar.bit_string(result)
                if left:
                    found.append((name, (grammar.bit_string(left), grammar.bit_string(grammar.coverages[phrase]))))
                else:
                    words = (tuple(grammar.bag.words[w] for w in gram) for gram in grammar.phrases[phrase])
                    found += [(name, spelled) for spelled in words]
        return found


@dataclass(frozen=True)
class RtnResult:
    """What an algorithm found; `lattice` is None when there is no parse.

    `arcs[x]` is the number of arcs of row x when it was expanded under the model; the last is the whole bag's.
    """

    lattice: Lattice | None
    rtn: Rtn
    arcs: tuple[int, ...]

    @property
    def cells(self) -> int:
        return sum(len(np.unique(rules.result)) for rules in self.rtn.rows)

    @property
    def rules(self) -> int:
        return sum(len(rules) for rules in self.rtn.rows)


class Algorithm(Protocol):
    """One of the three, by name in ALGORITHMS."""

    def __call__(
        self,
        grammar: PhraseGrammar,
        automaton: WordAutomaton,
        *,
        first_row: int = 6,
        beta: float = 10.0,
        work: Work | None = None,
    ) -> RtnResult: ...


def full_expansion(
    grammar: PhraseGrammar,
    automaton: WordAutomaton,
    *,
    first_row: int = 6,
    beta: float = 10.0,
    work: Work | None = None,
) -> RtnResult:
    """Algorithm 1: every string of the grammar, with its cost; `first_row` and `beta` mean nothing here."""
    work = work or Work()
    cells = grammar.cells()
    rows = []
    for row in range(len(cells)):
        rows.append(grammar.row_rules(cells, row, cells[row]))
        _take(work, len(rows[-1]))
    whole = _Expansion(grammar, automaton).whole(rows)
    _take(work, whole.num_arcs)
    return _result(whole, np.inf, Rtn(grammar, tuple(rows)), [0] * len(grammar.bag))


def pruned_expansion(
    grammar: PhraseGrammar,
    automaton: WordAutomaton,
    *,
    first_row: int = 6,
    beta: float = 10.0,
    work: Work | None = None,
) -> RtnResult:
    """Algorithm 2: parse everything, then prune from `first_row` upward at `beta`; a parse is never lost."""
    return _prune_rows(grammar, automaton, grammar.cells(), first_row, beta, work or Work())


def pruned_parsing(
    grammar: PhraseGrammar,
    automaton: WordAutomaton,
    *,
    first_row: int = 6,
    beta: float = 10.0,
    work: Work | None = None,
) -> RtnResult:
    """Algorithm 3: parse row by row, each pruned at `beta` from `first_row` upward before it is extended."""
    return _prune_rows(grammar, automaton, None, first_row, beta, work or Work())


ALGORITHMS: dict[str, Algorithm] = {
    "full": full_expansion,
    "pruned-expansion": pruned_expansion,
    "pruned-parsing": pruned_parsing,
}


def has_parse(grammar: PhraseGrammar) -> bool:
    """Whether the grammar can cover the bag, whatever the pruning."""
    return grammar.has_parse()


def _prune_rows(
    grammar: PhraseGrammar,
    automaton: WordAutomaton,
    parsed: list[Coverages] | None,
    first_row: int,
    beta: float,
    work: Work,
) -> RtnResult:
    """Make the rows upward, of all cells that the rows below reach or of `parsed` alone; prune from `first_row` on."""
    if not beta >= 0:
        raise InputError(f"found beta {beta}; a number that is not negative is allowed")
    expansion, chart = _Expansion(grammar, automaton), RtnChart(grammar, automaton)
    size = len(grammar.bag)
    arcs = [0] * size
    for row in range(1, size + 1):
        rules = grammar.row_rules(chart.cells, row, None if parsed is None else parsed[row])
        _take(work, len(rules))
        if first_row <= row < size:
            rules, arcs[row] = expansion.prune_row(chart, rules, beta)
            _take(work, arcs[row])
        chart.add_row(rules)
    whole = expansion.whole(chart.rules_within(beta))
    _take(work, whole.num_arcs)
    return _result(whole, beta, Rtn(grammar, tuple(chart.rows)), arcs)


def _take(work: Work, arcs: int) -> None:
    """Count the work on rules or arcs; a search over the RTN that has none left has no order to give."""
    work.take(arcs * STEPS_PER_ARC)
    if not work.left:
        raise GyroError(f"more than {work.steps / MILLION:.0f} million steps (--steps)")
    if work.is_late():
        raise GyroError("no order within the time limit")


def _result(whole: Transducer, beta: float, rtn: Rtn, arcs: list[int]) -> RtnResult:
    lattice = Lattice(rtn.grammar.bag.words, whole.prune(beta)).determinised()
    return RtnResult(None if lattice.empty() else lattice, rtn, (*arcs, whole.num_arcs))


class _Expansion:
    """Expands calls and applies the model, for one grammar and one automaton.

    Output labels of the machines: 1 … W the words, then an "enter" label for each model state, then a call label for
    each phrase coverage. Calls come out on the input side, and above them the numbers of cells.
    """

    def __init__(self, grammar: PhraseGrammar, automaton: WordAutomaton) -> None:
        if automaton.words != grammar.bag.words:
            raise InputError(f"the model's automaton is over other words than those of bag {grammar.bag.id!r}")
        self.grammar = grammar
        self.automaton = automaton
        self.first_enter = len(grammar.bag.words) + 1
        self.first_call = self.first_enter + automaton.num_states
        self.first_cell = self.first_call + len(grammar.coverages)
        self.phrase_cells = {
            self.first_call + number: _phrase_cell(phrases)
            for number, phrases in enumerate(grammar.phrases)
            if phrases.shape[1] > 1
        }
        # A phrase of one word needs no call: its arc carries pointer and word at once.
        one_word = np.array([p[0, 0] + 1 if p.shape[1] == 1 else 0 for p in grammar.phrases], np.int32)
        calls = self.first_call + np.arange(len(one_word), dtype=np.int32)
        self.output_of_phrase = np.where(one_word > 0, one_word, calls)
        self.model = self._model()
        self.model_with_doors = self._model_with_doors()

    def prune_row(self, chart: RtnChart, rules: RowRules, beta: float) -> tuple[RowRules, int]:
        """The rules of the next row that are left when it is expanded under the model and pruned; the arcs of that.

        Rules that the chart knows to be dearer are not expanded.
        """
        costs = chart.rule_costs(rules)
        limit = float(costs.min(initial=np.inf)) + beta + SLACK
        rules = rules.only((costs <= limit) & (costs < np.inf))
        if not len(rules):
            return rules, 0
        lefts = np.unique(chart.left_cells(rules))
        machine = self._row_machine(chart, rules, lefts, chart.entries(rules, limit))
        expanded = machine.replace(self.phrase_cells).compose(self.model_with_doors)
        survivors = self._rules_in(expanded.prune(beta).to_arrays())
        own = np.searchsorted(lefts, chart.left_cells(rules)) * len(self.grammar.coverages) + rules.phrase
        return rules.only(np.isin(own, survivors)), expanded.num_arcs

    def whole(self, rows: list[RowRules]) -> Transducer:
        """The expansion of the bag's cell with the model applied, the sentence end included."""
        rules = _useful(rows, self.grammar.code.full)
        cells = np.unique(np.append(np.concatenate([rules.left, rules.result]), np.uint64(0)))
        if cells[-1] != self.grammar.code.full:
            return Transducer.from_arrays(0, -1, [], [], [], [], [], [], [])
        arcs = self._calls(rules, np.searchsorted(cells, rules.left), np.searchsorted(cells, rules.result))
        network = Transducer.from_arrays(len(cells), 0, *arcs, np.zeros(len(rules)), [len(cells) - 1], [0.0])
        return network.replace(self.phrase_cells).outputs().compose(self.model)

    def _calls(self, rules: RowRules, source: Ints, target: Ints) -> tuple[Ints, Labels, Labels, Ints]:
        """Source, input, output and target of the call arcs."""
        return source, rules.phrase + np.int32(self.first_call), self.output_of_phrase[rules.phrase], target

    def _row_machine(self, chart: RtnChart, rules: RowRules, lefts: Ints, entries: Ints) -> Transducer:
        """Start → left cells (enter, at the chart's costs) → cells of the row (calls)."""
        results = np.unique(rules.result)
        cell = np.searchsorted(lefts, chart.cell_of_node(entries))
        ends = 1 + len(lefts) + np.arange(len(results))
        caller = 1 + np.searchsorted(lefts, chart.left_cells(rules))
        source, call, output, target = self._calls(rules, caller, ends[np.searchsorted(results, rules.result)])
        return Transducer.from_arrays(
            1 + len(lefts) + len(results),
            0,
            np.append(np.zeros(len(cell)), source),
            np.append(self.first_cell + cell, call),
            np.append(self.first_enter + chart.state[entries], output),
            np.append(1 + cell, target),
            np.append(chart.cost[entries], np.zeros(len(rules))),
            ends,
            np.zeros(len(ends)),
        )

    def _rules_in(self, arrays: FstArrays) -> Ints:
        """The rules of an expanded row: number of the left cell × phrase coverages + number of the called one.

        One pass over the pointers: the state that a call leaves is entered from the start alone, by an arc that names
        its cell.
        """
        entering = np.flatnonzero(arrays.input >= self.first_cell)
        cell_of_state = np.full(arrays.num_states, -1, np.int64)
        cell_of_state[arrays.target[entering]] = arrays.input[entering] - self.first_cell
        calls = np.flatnonzero((arrays.input >= self.first_call) & (arrays.input < self.first_cell))
        called = arrays.input[calls] - self.first_call
        return np.unique(cell_of_state[arrays.source[calls]] * len(self.grammar.coverages) + called)

    def _model_with_doors(self) -> Transducer:
        """The model with a start from which each state is entered by its label, and an end in all states, free."""
        model = self.automaton
        door, states = model.num_states, np.arange(model.num_states)
        source, word = np.nonzero(model.next_state >= 0)
        return Transducer.from_arrays(
            door + 1,
            door,
            np.append(source, np.full(door, door)),
            np.append(word + 1, self.first_enter + states),
            np.append(word + 1, np.zeros(door)),
            np.append(model.next_state[source, word], states),
            np.append(model.cost[source, word], np.zeros(door)),
            states,
            np.zeros(door),
        )

    def _model(self) -> Transducer:
        model = self.automaton
        state, word = np.nonzero(model.next_state >= 0)
        arcs = (state, word + 1, word + 1, model.next_state[state, word], model.cost[state, word])
        return Transducer.from_arrays(model.num_states, model.start, *arcs, np.arange(model.num_states), model.end_cost)


def _phrase_cell(phrases: NDArray[np.int32]) -> Transducer:
    """The acceptor of the phrases over one coverage, with nothing on the input side."""
    count, length = phrases.shape
    # One path for each phrase from state 0 to state 1; OpenFst shares what can be shared.
    inner = 2 + np.arange(count * (length - 1)).reshape(count, length - 1)
    source = np.hstack([np.zeros((count, 1), np.int64), inner]).ravel()
    target = np.hstack([inner, np.ones((count, 1), np.int64)]).ravel()
    label = phrases.ravel() + 1
    zeros = np.zeros(count * length)
    paths = Transducer.from_arrays(2 + inner.size, 0, source, label, label, target, zeros, [1], [0.0])
    return paths.outputs().without_inputs()


def _useful(rows: list[RowRules], full: np.uint64) -> RowRules:
    """The rules of all rows that the whole bag's cell leads down to."""
    needed = np.array([full])
    chosen = []
    for rules in reversed(rows):
        kept = rules.only(np.isin(rules.result, needed))
        chosen.append(kept)
        needed = np.union1d(needed, kept.left)
    return RowRules(
        np.concatenate([rules.left for rules in chosen]),
        np.concatenate([rules.phrase for rules in chosen]),
        np.concatenate([rules.result for rules in chosen]),
    )
