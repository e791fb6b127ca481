"""The binary grammar against brute force: all derivations of small bags, pruned by listing their paths.

A row is made here as the paper says, with sets of strings in place of acceptors. Each rule joins all strings of two
cells; a string is a path through states, which are what may still follow in its part and the model's state; an arc of a
rule stays when a path through it is within β of the row's cheapest; a string stays when all of its arcs do.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grammars.phrase.closure import GRAIN
from gyro.lattice.automaton import WordAutomaton
from gyro.search.binary import parse_rows
from gyro.search.binary_cells import BinaryRows
from gyro.search.binary_rtn import ALGORITHMS
from gyro.text.bag import Bag
from tests.gyro.search.phrase_problems import Case, random_automaton, soft_cases

Words = tuple[int, ...]
Strings = dict[Words, float]  # with phrase costs
Cell = tuple[Words, Words]  # sorted words and context
Row = dict[Cell, Strings]
NEAR = 1e-4


class Rule(NamedTuple):
    left: Strings
    right: Strings
    result: Cell


def add(strings: Strings, string: Words, cost: float) -> None:
    strings[string] = min(cost, strings.get(string, np.inf))


def phrase_cells(case: Case) -> list[Row]:
    """The phrase rules of the grammar, by what they cover and the context that they need."""
    rows: list[Row] = [{} for _ in range(len(case.bag) + 1)]
    for rules in case.grammar.phrases:
        for words, context, grains in zip(rules.words.tolist(), rules.context, rules.grains, strict=True):
            cell = (tuple(sorted(words)), case.grammar.contexts[context])
            add(rows[len(words)].setdefault(cell, {}), tuple(words), float(grains) * GRAIN)
    return rows


def join(case: Case, left: Cell, strings: Strings, right: Cell) -> tuple[Cell, Strings] | None:
    """The result of a pair of cells, and the left strings that end with the context that the right one needs."""
    covered = Counter(left[0]) + Counter(right[0])
    have = Counter(case.bag.words.index(token) for token in case.bag.tokens)
    if covered - have:
        return None
    needed, length = right[1], len(left[0])
    met, open_part = needed[-length:] if needed else (), needed[:-length]
    kept = {s: cost for s, cost in strings.items() if s[length - len(met) :] == met}
    context = max(left[1], open_part, key=len)
    for part in (left[1], open_part):
        if context[len(context) - len(part) :] != part:
            return None
    return ((tuple(sorted(covered.elements())), context), kept) if kept else None


def all_rules(case: Case, phrases: list[Row], rows: list[Row], row: int) -> list[Rule]:
    rules = [Rule(strings, {(): 0.0}, cell) for cell, strings in phrases[row].items()]
    for length in range(1, row):
        for (left, strings), (right, after) in itertools.product(rows[length].items(), rows[row - length].items()):
            joined = join(case, left, strings, right)
            if joined is not None:
                rules.append(Rule(joined[1], after, joined[0]))
    return rules


def following(strings: Strings, begin: Words) -> frozenset[tuple[Words, float]]:
    """What may follow a beginning, each at its cost beyond the cheapest: the state of the minimal acceptor."""
    rest = {s[len(begin) :]: cost for s, cost in strings.items() if s[: len(begin)] == begin}
    least = min(rest.values())
    return frozenset((s, round(cost - least, 6)) for s, cost in rest.items())


def arcs_of(rule: Rule, string: Words, model: WordAutomaton, start: int) -> list[tuple[object, ...]]:
    length = len(next(iter(rule.left)))
    arcs, state = [], start
    for at, word in enumerate(string):
        part, begin = (rule.left, string[:at]) if at < length else (rule.right, string[length:at])
        arcs.append((at < length, following(part, begin), state, word))
        state = int(model.next_state[state, word])
    return arcs


def model_cost(model: WordAutomaton, start: int, string: Words, *, is_whole: bool) -> float:
    total, state = 0.0, start
    for word in string:
        total += float(model.cost[state, word])
        state = int(model.next_state[state, word])
    return total + (float(model.end_cost[state]) if is_whole else 0.0)


def prune_row(rules: list[Rule], model: WordAutomaton, beta: float, *, is_whole: bool) -> Row:
    """Line by line as printed: union, expansion, model, pruning, and what is left in each cell."""

    def start(rule: Rule) -> int:
        state = model.start
        for word in rule.result[1]:
            state = int(model.next_state[state, word])
        return state

    listed = []
    for rule in rules:
        strings: Strings = {}
        for (left, a), (right, b) in itertools.product(rule.left.items(), rule.right.items()):
            add(strings, left + right, a + b)
        costs = {s: cost + model_cost(model, start(rule), s, is_whole=is_whole) for s, cost in strings.items()}
        listed.append((rule, strings, costs))
    every = [cost for _, _, costs in listed for cost in costs.values()]
    best = min(every, default=np.inf)
    assume(all(abs(cost - best - beta) > NEAR for cost in every))  # at the limit, rounding decides
    row: Row = {}
    for rule, strings, costs in listed:
        paths = {s: arcs_of(rule, s, model, start(rule)) for s in strings}
        kept = {arc for s, arcs in paths.items() if costs[s] <= best + beta for arc in arcs}
        for string, arcs in paths.items():
            if all(arc in kept for arc in arcs):
                add(row.setdefault(rule.result, {}), string, strings[string])
    return row


def rows_by_listing(case: Case, inner: WordAutomaton, first_row: int, beta: float) -> list[Row]:
    phrases, rows, size = phrase_cells(case), [{}], len(case.bag)
    for row in range(1, size + 1):
        rules = all_rules(case, phrases, rows, row)
        if row == size:
            rows.append(prune_row([r for r in rules if not r.result[1]], case.automaton, beta, is_whole=True))
        else:
            rows.append(prune_row(rules, inner, beta if row >= first_row else np.inf, is_whole=False))
    return rows


def parse(case: Case, inner: WordAutomaton, first_row: int, beta: float) -> BinaryRows:
    return parse_rows(
        case.grammar, case.automaton, inner, allowed=None, first_row=first_row, beta=beta, last_beta=beta,
        spend=lambda arcs: None,
    )  # fmt: skip


def listed_rows(parsed: BinaryRows) -> list[Row]:
    rows: list[Row] = []
    for cells in parsed.rows:
        row: Row = {}
        for (coverage, context), strings, offset in zip(
            cells.identities(), cells.strings.tolist(), cells.offset.tolist(), strict=True
        ):
            counts = parsed.grammar.code.counts(coverage)
            covered = tuple(word for word, count in enumerate(counts) for _ in range(count))
            found = {s: grains * GRAIN for s, grains in parsed.sets.strings(strings, offset)}
            row[covered, parsed.grammar.contexts[context]] = found
        rows.append(row)
    return rows


@settings(max_examples=120, deadline=None)
@given(
    soft_cases(total=True, tokens=5),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.5, 2.0, 5.0]),
    st.booleans(),
    st.integers(0, 99),
)
def test_rows_are_those_of_all_derivations(
    case: Case, first_row: int, beta: float, with_own_start: bool, seed: int
) -> None:
    """Every cell of every row has the strings, at the costs, that listing all derivations leaves in it."""
    assume(len(case.bag) > 0)
    inner = random_automaton(case.bag.words, 3, seed, total=True) if with_own_start else case.automaton
    expected = rows_by_listing(case, inner, first_row, beta)
    found = listed_rows(parse(case, inner, first_row, beta))
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.keys() == theirs.keys()
        for cell, strings in ours.items():
            assert strings == pytest.approx(theirs[cell], abs=NEAR)


@settings(max_examples=60, deadline=None)
@given(soft_cases(total=True, tokens=6), st.sampled_from([0.0, 1.0, 4.0]))
def test_the_whole_lattice_has_what_is_within_beta(case: Case, beta: float) -> None:
    """With nothing pruned below, the last lattice is all strings within β, and others only on their arcs."""
    lattice = ALGORITHMS["pruned-parsing"](case.grammar, case.automaton, first_row=len(case.bag) + 1, beta=beta).lattice
    found = {} if lattice is None else {h.tokens: h.cost for h in lattice.strings()}
    expected = case.strings()
    limit = min(expected.values(), default=0.0) + beta
    assert found.keys() <= expected.keys()
    assert found.keys() >= {tokens for tokens, cost in expected.items() if cost <= limit - NEAR}
    assert all(found[tokens] == pytest.approx(expected[tokens], abs=NEAR) for tokens in found)


def test_equal_strings_of_several_derivations_are_one() -> None:
    """`a b c` is a (b c), (a b) c, and a phrase itself."""
    phrases = frozenset({("a",), ("b",), ("c",), ("a", "b", "c")})
    bag = Bag(("a", "b", "c"))
    case = Case(bag, phrases, random_automaton(bag.words, 2, 0, total=True))
    parsed = parse(case, case.automaton, 1, 1e6)
    strings = [string for string, _ in parsed.sets.strings(*parsed.whole())]
    assert sorted(strings) == sorted(itertools.permutations(range(3)))
    assert list(parsed.pairs(3))
    assert sum(result[0] == parsed.grammar.code.full for _, _, result in parsed.pairs(3)) == 6
