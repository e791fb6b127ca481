"""The three published algorithms against brute force over all permutations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grammars.phrase.grammar import PhraseGrammar, RowRules
from gyro.errors import InputError
from gyro.index.phrase import PhraseSet
from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.lattice import Lattice, Transducer
from gyro.search.rtn import (
    ALGORITHMS,
    RtnResult,
    _Expansion,
    full_expansion,
    has_parse,
    pruned_expansion,
    pruned_parsing,
)
from gyro.text.bag import Bag
from tests.gyro.search.phrase_problems import Case, cases, random_automaton

WIDE_OPEN = 1e6
PRUNED = [name for name in ALGORITHMS if name != "full"]


def strings_of(result: RtnResult) -> dict[tuple[str, ...], float]:
    return {} if result.lattice is None else {h.tokens: h.cost for h in result.lattice.strings()}


def published_example() -> Case:
    bag = Bag(tuple("abcde"))
    phrases = frozenset({("a", "b"), ("b", "a"), ("d", "e", "c")})
    return Case(bag, phrases, random_automaton(bag.words, 3, 0, total=True))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_published_example_yields_its_four_strings(name: str) -> None:
    case = published_example()
    result = ALGORITHMS[name](case.grammar, case.automaton, first_row=1, beta=WIDE_OPEN)
    assert {" ".join(tokens) for tokens in strings_of(result)} == {"a b d e c", "b a d e c", "d e c a b", "d e c b a"}
    assert result.rtn.cells() == ["11000", "00111", "11111"]
    assert sorted(result.rtn.rules()) == sorted(case.grammar.rules()[:-1])
    assert (result.cells, result.rules) == (3, 4)


def test_the_cells_of_the_example_are_those_of_the_published_figure() -> None:
    rtn = full_expansion((case := published_example()).grammar, case.automaton).rtn
    assert [h.tokens for h in rtn.cell("11000").strings()] == [("a", "b"), ("b", "a")]
    assert [h.tokens for h in rtn.cell("00111").strings()] == [("d", "e", "c")]
    assert [h.tokens for h in rtn.cell("11111").strings()] == [("00111", "11000"), ("11000", "00111")]


@settings(max_examples=150, deadline=None)
@given(cases(), st.integers(1, 7))
def test_all_algorithms_wide_open_give_what_brute_force_gives(case: Case, first_row: int) -> None:
    expected = case.strings()
    for algorithm in ALGORITHMS.values():
        found = strings_of(algorithm(case.grammar, case.automaton, first_row=first_row, beta=WIDE_OPEN))
        assert found.keys() == expected.keys()
        assert all(found[tokens] == pytest.approx(expected[tokens], abs=1e-4) for tokens in found)


@settings(max_examples=10, deadline=None)
@given(cases(tokens=7))
def test_each_string_comes_once(case: Case) -> None:
    lattice = full_expansion(case.grammar, case.automaton).lattice
    if lattice is not None:
        source, word, *_ = lattice.to_arrays()
        assert len(set(zip(source.tolist(), word.tolist(), strict=True))) == lattice.num_arcs


@settings(max_examples=100, deadline=None)
@given(cases(total=True), st.integers(1, 4), st.floats(0, 8))
def test_pruning_gives_a_part_at_the_same_costs_within_beta(case: Case, first_row: int, beta: float) -> None:
    expected = case.strings()
    for name in PRUNED:
        result = ALGORITHMS[name](case.grammar, case.automaton, first_row=first_row, beta=beta)
        found = strings_of(result)
        assert found.keys() <= expected.keys()
        assert all(found[tokens] == pytest.approx(expected[tokens], abs=1e-4) for tokens in found)
        if found:
            # An arc stays when one of its strings is within beta, and may carry others.
            assert min(found.values()) >= min(expected.values()) - 1e-4
    assert bool(expected) == has_parse(case.grammar)


@settings(max_examples=60, deadline=None)
@given(cases(total=True), st.integers(1, 4), st.floats(0, 3))
def test_pruned_expansion_never_loses_the_parse(case: Case, first_row: int, beta: float) -> None:
    result = pruned_expansion(case.grammar, case.automaton, first_row=first_row, beta=beta)
    assert (result.lattice is not None) == has_parse(case.grammar)


@settings(max_examples=60, deadline=None)
@given(cases(total=True), st.integers(1, 4), st.floats(0, 3))
def test_pruning_leaves_no_row_empty_that_was_not(case: Case, first_row: int, beta: float) -> None:
    rows = pruned_parsing(case.grammar, case.automaton, first_row=first_row, beta=beta).rtn.rows
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
    expansion = _Expansion(grammar, automaton)
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
    found = pruned_parsing(case.grammar, case.automaton, first_row=first_row, beta=beta).rtn.rows
    for rules, kept in zip(expected, found, strict=True):
        assert kept.left.tolist() == rules.left.tolist()
        assert kept.phrase.tolist() == rules.phrase.tolist()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_empty_bag_has_the_end_cost(name: str) -> None:
    automaton = WordAutomaton((), 0, np.empty((1, 0), np.int32), np.empty((1, 0)), np.array([2.5]))
    result = ALGORITHMS[name](PhraseGrammar(Bag(()), PhraseSet.from_phrases((), {})), automaton)
    assert strings_of(result) == {(): 2.5}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_no_parse_gives_no_lattice(name: str) -> None:
    bag = Bag(("a", "b"))
    grammar = PhraseGrammar(bag, PhraseSet.from_phrases(bag.words, {("a",): 1}))
    result = ALGORITHMS[name](grammar, random_automaton(bag.words, 2, 0, total=True))
    assert result.lattice is None
    assert not has_parse(grammar)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_automaton_of_other_words_is_refused(name: str) -> None:
    bag = Bag(("a", "b"))
    grammar = PhraseGrammar(bag, PhraseSet.from_phrases(bag.words, {("a",): 1}))
    with pytest.raises(InputError, match="other words"):
        ALGORITHMS[name](grammar, random_automaton(("a", "c"), 2, 0, total=True))


@pytest.mark.parametrize("beta", [-1.0, float("nan")])
def test_a_negative_beta_is_refused(beta: float) -> None:
    case = published_example()
    with pytest.raises(InputError, match="not negative"):
        pruned_parsing(case.grammar, case.automaton, beta=beta)


def test_twenty_words_as_unigrams_are_searched() -> None:
    """The last resort: each of twenty words by itself, with some 21,000 cells below row 6."""
    words = tuple(f"w{i:02}" for i in range(20))
    bag = Bag(words)
    grammar = PhraseGrammar(bag, PhraseSet.from_phrases(words, {(word,): 1 for word in words}))
    # A bigram model that likes the order of the words.
    rng = np.random.default_rng(0)
    cost = 4 + rng.random((21, 20))
    cost[np.arange(20), np.arange(20)] = 1.0
    next_state = np.tile(np.arange(1, 21, dtype=np.int32), (21, 1))
    automaton = WordAutomaton(words, 0, next_state, cost, np.zeros(21))
    result = pruned_parsing(grammar, automaton, first_row=6, beta=4.0)
    assert result.lattice is not None
    assert result.lattice.best().tokens == words
    assert result.lattice.best().cost == pytest.approx(20.0)
