"""Cells that are extended by one phrase: rows against their expansion from the first word on."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grammars.phrase.grammar import RowRules
from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.lattice import Lattice, Transducer
from gyro.search.history import remember_contexts
from gyro.search.right_linear import ALGORITHMS, RightLinearNetwork, _Expansion
from tests.gyro.search.phrase_problems import Case, cases


def rows_of(case: Case, first_row: int, beta: float) -> tuple[RowRules, ...]:
    network = ALGORITHMS["pruned-parsing"](case.grammar, case.automaton, first_row=first_row, beta=beta).rtn
    assert isinstance(network, RightLinearNetwork)
    return network.rows


@settings(max_examples=10, deadline=None)
@given(cases(tokens=7))
def test_each_string_comes_once(case: Case) -> None:
    lattice = ALGORITHMS["full"](case.grammar, case.automaton).lattice
    if lattice is not None:
        source, word, *_ = lattice.to_arrays()
        assert len(set(zip(source.tolist(), word.tolist(), strict=True))) == lattice.num_arcs


@settings(max_examples=60, deadline=None)
@given(cases(total=True), st.integers(1, 4), st.floats(0, 3))
def test_pruning_leaves_no_row_empty_that_was_not(case: Case, first_row: int, beta: float) -> None:
    rows = rows_of(case, first_row, beta)
    cells = [np.zeros(1, np.uint64)]
    for number, rules in enumerate(rows[1:], 1):
        assert bool(len(rules)) == bool(len(case.grammar.row_rules(cells, number)))
        cells.append(np.unique(rules.result))


def rows_by_whole_expansion(case: Case, first_row: int, beta: float) -> list[RowRules]:
    """Algorithm 3 to the letter: each row is expanded from the first word on, composed, pruned, and read off."""
    grammar, rows, cells = case.grammar, [RowRules.none()], [np.zeros(1, np.uint64)]
    automaton = WordAutomaton(
        case.bag.words,
        case.automaton.start,
        case.automaton.next_state,
        case.automaton.cost,
        np.zeros(case.automaton.num_states),
    )
    expansion = _Expansion(grammar, *remember_contexts(automaton, grammar.contexts))
    for row in range(1, len(case.bag) + 1):
        rules = grammar.row_rules(cells, row)
        if first_row <= row < len(case.bag) and len(rules):
            costs = [row_rule_cost(expansion, rows, rules, number) for number in range(len(rules))]
            # Near the limit, rounding decides.
            assume(all(abs(cost - min(costs) - beta) > 0.005 for cost in costs))
            rules = rules.only(np.array(costs) <= min(costs) + beta)
        rows.append(rules)
        cells.append(np.unique(rules.result))
    return rows


def row_rule_cost(expansion: _Expansion, rows: list[RowRules], rules: RowRules, number: int) -> float:
    """The cheapest string that ends with one rule, by expanding everything below it."""
    last = rules.only(np.arange(len(rules)) == number)
    everything = [*rows, last]
    left = np.concatenate([r.left for r in everything])
    result = np.concatenate([r.result for r in everything])
    phrase = np.concatenate([r.phrase for r in everything])
    cells = np.unique(np.concatenate([left, result]))
    # The cell of the last rule is a copy, so that only this rule leads to it.
    target = np.searchsorted(cells, result)
    target[-1] = len(cells)
    calls = phrase + expansion.first_call
    arcs = (np.searchsorted(cells, left), calls, expansion.output_of_phrase[phrase], target, np.zeros(len(left)))
    network = Transducer.from_arrays(len(cells) + 1, 0, *arcs, [len(cells)], [0.0])
    lattice = Lattice(expansion.grammar.bag.words, network.replace(expansion.phrase_cells))
    return lattice.apply(expansion.automaton).best().cost


@settings(max_examples=40, deadline=None)
@given(cases(total=True, tokens=5), st.integers(1, 4), st.floats(0.1, 5))
def test_rows_enter_at_known_costs_as_if_expanded_from_the_first_word(case: Case, first_row: int, beta: float) -> None:
    expected = rows_by_whole_expansion(case, first_row, beta)
    found = rows_of(case, first_row, beta)
    for rules, kept in zip(expected, found, strict=True):
        assert kept.left.tolist() == rules.left.tolist()
        assert kept.phrase.tolist() == rules.phrase.tolist()
