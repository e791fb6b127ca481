"""The published algorithms with cells that are extended on the right by one phrase.

ALGORITHMS          Algorithms 1, 2 and 3 by their names
search_network      what they have in common
RightLinearNetwork  the cells and the rules in them

Every cell holds beginnings of sentences: the model's costs from the sentence start are exact in all rows. Therefore a
row need not be expanded from the first word on. Pruning it asks only how cheaply each (cell, model state) below is
reached, and the chart (right_linear_chart) knows that: the row's machine enters at those nodes, calls one phrase cell,
and ends in the cells of the row. What is pruned are rules.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grammars.phrase.closure import GRAIN
from grammars.phrase.grammar import PhraseGrammar, PhraseRules, RowRules
from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.determinise import determinise
from gyro.lattice.lattice import Lattice, Transducer
from gyro.lattice.openfst_format import FstArrays
from gyro.search.exact_result import MOST_DETERMINISE_STEPS
from gyro.search.history import remember_contexts
from gyro.search.network import RtnResult, RtnWork, cell_lattice, check_problem, three_algorithms
from gyro.search.right_linear_chart import SLACK, RtnChart
from gyro.search.work import Work

Ints = NDArray[np.int64]
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class RightLinearNetwork:
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

    def cell(self, name: str) -> Lattice:
        """The acceptor of one cell: a path of words for a phrase rule, a path of two calls for a concatenation."""
        return cell_lattice([right for left, right in self._rules() if left == name])

    def _rules(self) -> list[tuple[str, tuple[str, ...]]]:
        grammar = self.grammar
        found: list[tuple[str, tuple[str, ...]]] = []
        for rules in self.rows:
            for left, phrase, result in zip(rules.left, rules.phrase, rules.result, strict=True):
                name = grammar.bit_string(result)
                if left:
                    found.append((name, (grammar.bit_string(left), grammar.bit_string(grammar.coverages[phrase]))))
                else:
                    found += [(name, spelled) for spelled in grammar.spell(grammar.phrases[phrase])]
        return found


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
    """Make the rows upward, of all cells that the rows below reach or of those of a parse; prune from `first_row` on.

    There are no inner cells here, so `inner` means nothing. Algorithm 2 never loses a parse, but where phrases overlap:
    parsing does not know which words stand before a cell.
    """
    check_problem(grammar, automaton, beta)
    counter = RtnWork(work)
    parsed = grammar.cells() if parses_first else None
    model, matches = remember_contexts(automaton, grammar.contexts)
    expansion, chart = _Expansion(grammar, model, matches), RtnChart(grammar, model, matches)
    size = len(grammar.bag)
    arcs = [0] * size
    for row in range(1, size + 1):
        rules = grammar.row_rules(chart.cells, row, None if parsed is None else parsed[row])
        counter.take(len(rules))
        if prunes and first_row <= row < size:
            rules, arcs[row] = expansion.prune_row(chart, rules, beta)
            counter.take(arcs[row])
        chart.add_row(rules)
    last_beta = np.inf if parses_first else beta
    whole = expansion.whole(chart.rules_within(last_beta))
    counter.take(whole.num_arcs)
    return _result(whole, last_beta, grammar, chart.rows, arcs)


ALGORITHMS = three_algorithms(search_network)


def _result(whole: Transducer, beta: float, grammar: PhraseGrammar, rows: list[RowRules], arcs: list[int]) -> RtnResult:
    lattice = Lattice(grammar.bag.words, whole.prune(beta))
    lattice = _one_path_a_string(lattice).prune(beta).minimal() if grammar.has_costs else lattice.determinised()
    cells = sum(len(np.unique(rules.result)) for rules in rows)
    return RtnResult(
        None if lattice.empty() else lattice,
        RightLinearNetwork(grammar, tuple(rows)),
        (*arcs, whole.num_arcs),
        cells,
        sum(map(len, rows)),
    )


def _one_path_a_string(lattice: Lattice) -> Lattice:
    """Each string at its cheapest cutting, where that does not take too long."""
    source, word, target, cost, final_states, final_costs = lattice.to_arrays()
    final = np.full(lattice.num_states, np.inf)
    final[final_states] = final_costs
    found = determinise(source, word, target, cost, final, MOST_DETERMINISE_STEPS)
    if found is None or lattice.empty():
        return lattice
    *_, final = found
    ends = np.flatnonzero(final != np.inf)
    return Lattice.from_arrays(lattice.words, 0, *found[:4], ends, final[ends])


class _Expansion:
    """Expands calls and applies the model, for one grammar and one automaton, whose states match contexts.

    Output labels of the machines: 1 … W the words, then one for each context, an "enter" label for each model state,
    and a call label for each phrase coverage. Calls come out on the input side, and above them the numbers of cells.
    """

    def __init__(self, grammar: PhraseGrammar, automaton: WordAutomaton, matches: NDArray[np.bool_]) -> None:
        self.grammar = grammar
        self.automaton = automaton
        self.first_context = len(grammar.bag.words) + 1
        self.first_enter = self.first_context + len(grammar.contexts)
        self.first_call = self.first_enter + automaton.num_states
        self.first_cell = self.first_call + len(grammar.coverages)
        # A phrase of one word needs no call: its arc carries pointer and word at once.
        one_word = np.array([self._only_word(rules) + 1 for rules in grammar.phrases], np.int32)
        self.phrase_cells = {
            self.first_call + number: _phrase_cell(grammar.phrases[number], self.first_context)
            for number in np.flatnonzero(one_word == 0).tolist()
        }
        calls = self.first_call + np.arange(len(one_word), dtype=np.int32)
        self.output_of_phrase = np.where(one_word > 0, one_word, calls)
        self._matches = matches
        self.model = self._model()
        self.model_with_doors = self._model_with_doors()

    @staticmethod
    def _only_word(rules: PhraseRules) -> int:
        """The word of a coverage that one word makes, always and at no cost; -1 for others."""
        is_plain = rules.words.size == 1 and not rules.context[0] and not rules.grains[0]
        return int(rules.words[0, 0]) if is_plain else -1

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
        expanded = network.replace(self.phrase_cells)
        if self.grammar.has_costs:
            return expanded.compose(self.model)
        return expanded.outputs().compose(self.model)

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
        door, states = self.automaton.num_states, np.arange(self.automaton.num_states)
        doors = (np.full(door, door), self.first_enter + states, np.zeros(door), states, np.zeros(door))
        source, label, output, target, cost = map(np.append, self._arcs(), doors)
        arcs = (source, label, output, target, cost)
        return Transducer.from_arrays(door + 1, door, *arcs, states, np.zeros(door))

    def _model(self) -> Transducer:
        model = self.automaton
        states = np.arange(model.num_states)
        return Transducer.from_arrays(model.num_states, model.start, *self._arcs(), states, model.end_cost)

    def _arcs(self) -> tuple[Ints, Ints, Ints, Ints, NDArray[np.float64]]:
        """The model's arcs: words, and contexts, which a state that matches them takes for nothing.

        Within a state they are sorted by label, for the contexts' labels are above those of the words.
        """
        model = self.automaton
        state, word = np.nonzero(model.next_state >= 0)
        matching, context = np.nonzero(self._matches[:, 1:])
        return (
            np.append(state, matching),
            np.append(word + 1, self.first_context + 1 + context),
            np.append(word + 1, np.zeros_like(context)),
            np.append(model.next_state[state, word], matching),
            np.append(model.cost[state, word], np.zeros(len(matching))),
        )


def _phrase_cell(rules: PhraseRules, first_context: int) -> Transducer:
    """The acceptor of the phrase rules over one coverage, with nothing on the input side."""
    labels = rules.words + 1
    if rules.context.any():
        contexts = np.where(rules.context > 0, first_context + rules.context, 0)
        labels = np.hstack([contexts[:, None], labels])
    count, length = labels.shape
    # One path for each rule from state 0 to state 1; OpenFst shares what can be shared.
    inner = 2 + np.arange(count * (length - 1)).reshape(count, length - 1)
    source = np.hstack([np.zeros((count, 1), np.int64), inner]).ravel()
    target = np.hstack([inner, np.ones((count, 1), np.int64)]).ravel()
    label = labels.ravel()
    costs = np.zeros(labels.shape)
    costs[:, 0] = rules.grains * GRAIN
    paths = Transducer.from_arrays(2 + inner.size, 0, source, label, label, target, costs.ravel(), [1], [0.0])
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
