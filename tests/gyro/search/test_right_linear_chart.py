"""The chart of an RTN against all sequences of phrases, one by one."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grammars.phrase.grammar import RowRules
from gyro.search.right_linear_chart import SLACK, RtnChart
from tests.gyro.search.phrase_problems import Case, cases, is_segmentable

Counts = tuple[int, ...]


class Step(NamedTuple):
    """A phrase put on what was there: counts and model state before, the phrase's counts, cost and state after."""

    left: Counts
    state: int
    phrase: Counts
    cost: float
    after: int


def walks(case: Case) -> list[tuple[Step, ...]]:
    """Every sequence of phrases that the bag can make and the model accepts, the whole bag or a part of it."""
    bag, model = case.bag, case.automaton

    def extend(walk: tuple[Step, ...], left: Counts, state: int, cost: float) -> list[tuple[Step, ...]]:
        found = [walk]
        for phrase in case.phrases:
            counts = tuple(phrase.count(word) for word in bag.words)
            result = tuple(a + b for a, b in zip(left, counts, strict=True))
            if any(n > most for n, most in zip(result, bag.counts, strict=True)):
                continue
            after, total = state, cost
            for word in map(bag.words.index, phrase):
                after, total = int(model.next_state[after, word]), total + float(model.cost[after, word])
                if after < 0:
                    break
            else:
                found += extend((*walk, Step(left, state, counts, total, after)), result, after, total)
        return found

    return extend((), (0,) * len(bag.words), model.start, 0.0)


def size(step: Step) -> int:
    """The row that a step leads to."""
    return sum(step.left) + sum(step.phrase)


def named(case: Case, rules: RowRules) -> list[tuple[Counts, Counts]]:
    """Rules as the counts of the left cell and of the phrase."""
    code, coverages = case.grammar.code, case.grammar.coverages
    pairs = zip(rules.left, coverages[rules.phrase], strict=True)
    return [(tuple(code.counts(int(left))), tuple(code.counts(int(phrase)))) for left, phrase in pairs]


def whole_chart(case: Case) -> RtnChart:
    chart = RtnChart(case.grammar, case.automaton, np.ones((case.automaton.num_states, 1), np.bool_))
    for row in range(1, len(case.bag) + 1):
        chart.add_row(case.grammar.row_rules(chart.cells, row))
    return chart


@settings(max_examples=40, deadline=None)
@given(cases(total=True, tokens=5))
def test_the_chart_has_the_cheapest_cost_of_every_node(case: Case) -> None:
    chart = whole_chart(case)
    expected: dict[tuple[str, int], float] = {}
    for row in range(len(case.bag) + 1):
        for tokens in set(itertools.permutations(case.bag.tokens, row)):
            if is_segmentable(tokens, case.phrases):
                counts = [tokens.count(word) for word in case.bag.words]
                bits = "".join("1" * n + "0" * (k - n) for n, k in zip(counts, case.bag.counts, strict=True))
                state, cost = case.automaton.start, 0.0
                for token in tokens:
                    word = case.bag.words.index(token)
                    state, cost = int(case.automaton.next_state[state, word]), cost + case.automaton.cost[state, word]
                expected[bits, state] = min(expected.get((bits, state), np.inf), cost)
    cells = np.concatenate(chart.cells)[chart.cell_of_node(np.arange(len(chart.state)))]
    names = [case.grammar.bit_string(cell) for cell in cells]
    found = dict(zip(zip(names, chart.state.tolist(), strict=True), chart.cost.tolist(), strict=True))
    assert found == pytest.approx(expected)


@settings(max_examples=40, deadline=None)
@given(cases(tokens=5), st.floats(0, 12))
def test_a_rule_costs_what_its_cheapest_sequence_of_phrases_costs(case: Case, limit: float) -> None:
    steps = [walk[-1] for walk in walks(case) if walk]
    assume(all(abs(step.cost - limit) > 1e-6 for step in steps))  # the last bit of a sum must not decide
    chart = RtnChart(case.grammar, case.automaton, np.ones((case.automaton.num_states, 1), np.bool_))
    for row in range(1, len(case.bag) + 1):
        rules = case.grammar.row_rules(chart.cells, row)
        names = named(case, rules)
        expected = dict.fromkeys(names, np.inf)
        for step in steps:
            if size(step) == row:
                expected[step.left, step.phrase] = min(expected[step.left, step.phrase], step.cost)
        assert dict(zip(names, chart.rule_costs(rules).tolist(), strict=True)) == pytest.approx(expected)
        entries = chart.entries(rules, limit)
        cells = np.concatenate(chart.cells)[chart.cell_of_node(entries)]
        lefts = [tuple(case.grammar.code.counts(int(cell))) for cell in cells]
        within = {(step.left, step.state) for step in steps if size(step) == row and step.cost <= limit}
        assert set(zip(lefts, chart.state[entries].tolist(), strict=True)) == within
        chart.add_row(rules)


@settings(max_examples=40, deadline=None)
@given(cases(tokens=5), st.sampled_from([0.0, 0.5, 2.0, 8.0]))
def test_rules_within_beta_are_those_on_a_string_within_beta(case: Case, beta: float) -> None:
    chart = whole_chart(case)
    whole = [walk for walk in walks(case) if walk and size(walk[-1]) == len(case.bag)]
    scored = [(walk[-1].cost + float(case.automaton.end_cost[walk[-1].after]), walk) for walk in whole]
    complete = [(cost, walk) for cost, walk in scored if cost < np.inf]
    limit = min((cost for cost, _ in complete), default=0.0) + beta
    # A rule in the slack above the limit may stay: OpenFst decides on it.
    assume(all(not limit < cost <= limit + 2 * SLACK for cost, _ in complete))
    expected = {(size(s), s.left, s.phrase) for cost, walk in complete if cost <= limit + 1e-9 for s in walk}
    kept = chart.rules_within(beta)
    found = [(row, *pair) for row, rules in enumerate(kept) for pair in named(case, rules)]
    assert len(kept) == len(case.bag) + 1
    assert len(found) == len(set(found))
    assert set(found) == expected
