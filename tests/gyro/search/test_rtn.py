"""The three published algorithms with both grammars against brute force over all permutations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grammars.phrase.closure import PhraseCosts
from grammars.phrase.grammar import PhraseGrammar
from gyro.errors import GyroError, InputError
from gyro.index.phrase import PhraseSet
from gyro.lattice.automaton import WordAutomaton
from gyro.search.network import Algorithm, RtnResult
from gyro.search.rtn import ALGORITHMS
from gyro.search.work import Work
from gyro.text.bag import Bag
from tests.gyro.search.phrase_problems import Case, cases, random_automaton, soft_cases

WIDE_OPEN = 1e6
EACH = [(grammar, name) for grammar, algorithms in ALGORITHMS.items() for name in algorithms]
each_algorithm = pytest.mark.parametrize(("grammar", "name"), EACH)
each_pruned_one = pytest.mark.parametrize(("grammar", "name"), [each for each in EACH if each[1] != "full"])


def algorithm_of(grammar: str, name: str) -> Algorithm:
    return ALGORITHMS[grammar][name]


def strings_of(result: RtnResult) -> dict[tuple[str, ...], float]:
    return {} if result.lattice is None else {h.tokens: h.cost for h in result.lattice.strings()}


def published_example() -> Case:
    bag = Bag(tuple("abcde"))
    phrases = frozenset({("a", "b"), ("b", "a"), ("d", "e", "c")})
    return Case(bag, phrases, random_automaton(bag.words, 3, 0, total=True))


@each_algorithm
def test_the_published_example_yields_its_four_strings(grammar: str, name: str) -> None:
    case = published_example()
    result = algorithm_of(grammar, name)(case.grammar, case.automaton, first_row=5, beta=WIDE_OPEN)
    assert {" ".join(tokens) for tokens in strings_of(result)} == {"a b d e c", "b a d e c", "d e c a b", "d e c b a"}
    assert result.rtn.cells() == ["11000", "00111", "11111"]
    assert sorted(result.rtn.rules()) == sorted(case.grammar.rules()[:-1])
    assert result.cells == 3


@each_algorithm
def test_the_cells_of_the_example_are_those_of_the_published_figure(grammar: str, name: str) -> None:
    case = published_example()
    network = algorithm_of(grammar, name)(case.grammar, case.automaton, first_row=5).rtn
    assert [h.tokens for h in network.cell("11000").strings()] == [("a", "b"), ("b", "a")]
    assert [h.tokens for h in network.cell("00111").strings()] == [("d", "e", "c")]
    assert [h.tokens for h in network.cell("11111").strings()] == [("00111", "11000"), ("11000", "00111")]


@each_algorithm
@settings(max_examples=50, deadline=None)
@given(st.data(), st.integers(1, 7))
def test_wide_open_each_gives_what_brute_force_gives(
    grammar: str, name: str, data: st.DataObject, first_row: int
) -> None:
    # Inner cells of the binary grammar are scored from the start: a model that refuses them there takes them out.
    total = grammar == "binary"
    case = data.draw(st.one_of(cases(total=total), soft_cases(total=total)))
    expected = case.strings()
    found = strings_of(algorithm_of(grammar, name)(case.grammar, case.automaton, first_row=first_row, beta=WIDE_OPEN))
    assert found.keys() == expected.keys()
    assert all(found[tokens] == pytest.approx(expected[tokens], abs=1e-4) for tokens in found)


@each_pruned_one
@settings(max_examples=40, deadline=None)
@given(soft_cases(total=True), st.integers(1, 4), st.floats(0, 8))
def test_pruning_gives_a_part_at_costs_that_are_not_lower(
    grammar: str, name: str, case: Case, first_row: int, beta: float
) -> None:
    """A cheaper derivation may be lost and a dearer one be left, where phrases cost something."""
    expected = case.strings()
    found = strings_of(algorithm_of(grammar, name)(case.grammar, case.automaton, first_row=first_row, beta=beta))
    assert found.keys() <= expected.keys()
    assert all(found[tokens] >= expected[tokens] - 1e-4 for tokens in found)
    if case.costs.is_zero:
        assert all(found[tokens] == pytest.approx(expected[tokens], abs=1e-4) for tokens in found)


@pytest.mark.parametrize("grammar", ALGORITHMS)
@settings(max_examples=60, deadline=None)
@given(cases(total=True), st.integers(5, 7), st.floats(0, 3))
def test_pruned_expansion_never_loses_the_parse(grammar: str, case: Case, first_row: int, beta: float) -> None:
    """Phrases have up to four words here, so that no row of phrases is pruned."""
    result = algorithm_of(grammar, "pruned-expansion")(case.grammar, case.automaton, first_row=first_row, beta=beta)
    assert (result.lattice is not None) == case.grammar.has_parse() == bool(case.strings())


@pytest.mark.parametrize("grammar", ALGORITHMS)
def test_the_last_lattice_is_pruned_by_algorithm_3_alone(grammar: str) -> None:
    """With nothing pruned below, Algorithm 2 keeps all strings, Algorithm 3 those near the best."""
    case = published_example()
    costs = sorted(case.strings().values())
    beta = (costs[1] - costs[0]) / 2
    found = {
        name: strings_of(algorithm_of(grammar, name)(case.grammar, case.automaton, first_row=5, beta=beta))
        for name in ("pruned-expansion", "pruned-parsing")
    }
    assert sorted(found["pruned-expansion"].values()) == pytest.approx(costs, abs=1e-4)
    assert list(found["pruned-parsing"].values()) == pytest.approx(costs[:1], abs=1e-4)


@each_algorithm
def test_the_empty_bag_has_the_end_cost(grammar: str, name: str) -> None:
    automaton = WordAutomaton((), 0, np.empty((1, 0), np.int32), np.empty((1, 0)), np.array([2.5]))
    result = algorithm_of(grammar, name)(PhraseGrammar(Bag(()), PhraseSet.from_phrases((), {})), automaton)
    assert strings_of(result) == {(): 2.5}


@each_algorithm
def test_no_parse_gives_no_lattice(grammar: str, name: str) -> None:
    bag = Bag(("a", "b"))
    rules = PhraseGrammar(bag, PhraseSet.from_phrases(bag.words, {("a",): 1}))
    assert algorithm_of(grammar, name)(rules, random_automaton(bag.words, 2, 0, total=True)).lattice is None
    assert not rules.has_parse()


@each_algorithm
def test_an_automaton_of_other_words_is_refused(grammar: str, name: str) -> None:
    bag = Bag(("a", "b"))
    rules = PhraseGrammar(bag, PhraseSet.from_phrases(bag.words, {("a",): 1}))
    with pytest.raises(InputError, match="other words"):
        algorithm_of(grammar, name)(rules, random_automaton(("a", "c"), 2, 0, total=True))


@each_pruned_one
@pytest.mark.parametrize("beta", [-1.0, float("nan")])
def test_a_negative_beta_is_refused(grammar: str, name: str, beta: float) -> None:
    case = published_example()
    with pytest.raises(InputError, match="not negative"):
        algorithm_of(grammar, name)(case.grammar, case.automaton, beta=beta)


@each_algorithm
def test_no_steps_left_is_no_order(grammar: str, name: str) -> None:
    case = published_example()
    with pytest.raises(GyroError, match="million steps"):
        algorithm_of(grammar, name)(case.grammar, case.automaton, work=Work(1))


@each_algorithm
def test_phrases_that_overlap_by_hand(grammar: str, name: str) -> None:
    """`the cat sat`, `sat on the` and `the mat` make one sentence where a word may be shared.

    the cat sat        1 phrase, 0.5
            sat on the            sat is shared, 0.5
                   the mat        the is shared, 0.5
    """
    bag = Bag(("the", "cat", "sat", "on", "the", "mat"))
    phrases = frozenset({("the", "cat", "sat"), ("sat", "on", "the"), ("the", "mat")})
    words = bag.words
    free = WordAutomaton(words, 0, np.zeros((1, 5), np.int32), np.zeros((1, 5)), np.zeros(1))
    case = Case(bag, phrases, free, PhraseCosts(per_phrase=0.5), overlap=1)
    # At the start, `mat` would need `the` before it, and `on the` would need `sat`.
    expected = {("the", "cat", "sat", "on", "the", "mat"): 1.5}
    for first_row in (1, 3, 6):
        found = strings_of(algorithm_of(grammar, name)(case.grammar, free, first_row=first_row, beta=WIDE_OPEN))
        assert found == expected
    apart = replace(case, overlap=0)
    assert algorithm_of(grammar, name)(apart.grammar, free).lattice is None


@pytest.mark.parametrize("grammar", ALGORITHMS)
def test_twenty_words_as_unigrams_are_searched(grammar: str) -> None:
    """The last resort: each of twenty words by itself, with some 21,000 cells below row 6."""
    words = tuple(f"w{i:02}" for i in range(20))
    bag = Bag(words)
    rules = PhraseGrammar(bag, PhraseSet.from_phrases(words, {(word,): 1 for word in words}))
    # A bigram model that likes the order of the words.
    rng = np.random.default_rng(0)
    cost = 4 + rng.random((21, 20))
    cost[np.arange(20), np.arange(20)] = 1.0
    next_state = np.tile(np.arange(1, 21, dtype=np.int32), (21, 1))
    automaton = WordAutomaton(words, 0, next_state, cost, np.zeros(21))
    result = algorithm_of(grammar, "pruned-parsing")(rules, automaton, first_row=6, beta=4.0)
    assert result.lattice is not None
    assert result.lattice.best().tokens == words
    assert result.lattice.best().cost == pytest.approx(20.0)
