"""The network of the binary grammar: its names, rules and cells."""

from __future__ import annotations

from grammars.phrase.closure import PhraseCosts
from gyro.search.binary_rtn import ALGORITHMS
from gyro.text.bag import Bag
from tests.gyro.search.phrase_problems import Case, random_automaton


def one_word_rules(tokens: str) -> Case:
    bag = Bag(tuple(tokens))
    return Case(bag, frozenset((word,) for word in bag.words), random_automaton(bag.words, 2, 1, total=True))


def test_any_two_cells_make_one() -> None:
    case = one_word_rules("abc")
    rules = ALGORITHMS["full"](case.grammar, case.automaton).rtn.rules()
    pairs = ["100 011", "010 101", "001 110", "011 100", "101 010", "110 001"]
    assert sorted(rule for rule in rules if rule.startswith("111")) == sorted(f"111→{pair}" for pair in pairs)


def test_a_pruned_cell_is_made_of_the_strings_that_are_left() -> None:
    case = one_word_rules("abc")
    result = ALGORITHMS["pruned-parsing"](case.grammar, case.automaton, first_row=2, beta=0.0)
    strings = [rule for rule in result.rtn.rules() if rule.split("→")[0].count("1") == 2]
    # At β = 0 one string of two words is the best of its row.
    assert len(strings) == 1
    name, words = strings[0].split("→")
    assert [h.tokens for h in result.rtn.cell(name).strings()] == [tuple(words.split())]


def test_cells_of_overlapping_phrases_are_named_by_what_they_need() -> None:
    bag = Bag(("the", "cat", "sat"))
    automaton = random_automaton(bag.words, 2, 1, total=True)
    case = Case(bag, frozenset({("the", "cat"), ("cat", "sat")}), automaton, PhraseCosts(), overlap=1)
    result = ALGORITHMS["pruned-parsing"](case.grammar, automaton, beta=1e6)
    assert result.rtn.cells() == ["[the]100", "[cat]010", "110", "[the]110", "101", "111"]
    assert "111→101 [cat]010" in result.rtn.rules()
    assert "[the]110→[the]100 [cat]010" in result.rtn.rules()
    assert result.lattice is not None
    assert [h.tokens for h in result.lattice.strings()] == [("the", "cat", "sat")]
