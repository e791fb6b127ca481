"""Slots and readings of bags by hand."""

from __future__ import annotations

import pytest

from comparison.transition.grammar import Features, TransitionGrammar
from comparison.transition.oracle import make_example
from comparison.transition.problem import Given, bag_given, prepare
from comparison.transition.state import ANY_HEAD, IS_ROOT
from gyro.errors import InputError
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from tests.comparison.transition.bank import plain, trees

GRAMMAR = TransitionGrammar.from_trees(trees())


def slots(given: Given) -> list[tuple[str, int, int]]:
    """Words, how many units, given head."""
    return [(" ".join(slot.words), len(slot.groups), slot.head) for slot in prepare(given, GRAMMAR).slots]


def readings(given: Given) -> list[tuple[str, str]]:
    return [(" ".join(reading.words), reading.tag) for reading in prepare(given, GRAMMAR).readings]


def test_equal_tokens_are_one_slot() -> None:
    assert slots(plain("the dog the")) == [("dog", 1, ANY_HEAD), ("the", 2, ANY_HEAD)]
    assert slots(plain("saw saw saw", "NN _ NN")) == [("saw", 1, ANY_HEAD), ("saw", 2, ANY_HEAD)]


def test_readings_are_the_given_tag_or_those_of_the_dictionary() -> None:
    assert readings(plain("saw the")) == [("saw", "NN"), ("saw", "VBD"), ("the", "DT")]
    assert readings(plain("saw the", "XX _")) == [("saw", "XX"), ("the", "DT")]


def test_equal_tokens_with_one_head_are_one_slot_and_heads_are_not() -> None:
    """very very old dogs sleep, and old dogs: who is named as a head is himself."""
    tokens = ("old", "very", "very", "old", "very")
    given = Given(tokens, (None,) * 5, (-1, 0, 0, 0, 3))
    assert slots(given) == [("old", 1, IS_ROOT), ("old", 1, 0), ("very", 2, 0), ("very", 1, 1)]


def test_units_have_the_head_of_the_word_whose_head_is_outside() -> None:
    given = Given(("the", "dog", "barks", "the", "dog"), (None,) * 5, (1, 2, -1, 4, 2), ((0, 1), (3, 4)))
    assert slots(given) == [("barks", 1, IS_ROOT), ("the dog", 2, 0)]
    assert readings(given) == [("barks", "VBZ"), ("the dog", "NP")]
    problem = prepare(given, GRAMMAR).problem
    assert (problem.units, problem.has_heads) == (3, 1)
    assert problem.given_dependents.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Given((), (), ()), "without words"),
        (Given(("a", "b"), (None,) * 2, (-1, -1)), "2 roots"),
        (Given(("a", "b", "c"), (None,) * 3, (2, -1, None), ((0, 1),)), "2 heads outside"),
        (Given(("a", "b", "c", "d"), (None,) * 4, (2, None, None, 1), ((0, 1), (2, 3))), "circle"),
    ],
)
def test_what_cannot_be_obeyed_is_refused(given: Given, message: str) -> None:
    with pytest.raises(InputError, match=message):
        prepare(given, GRAMMAR)


def test_bags_with_other_constraints_are_refused() -> None:
    with pytest.raises(InputError, match="found the constraint optional, which the system transition does not know"):
        bag_given(AnnotatedBag(("a", "b"), optional=(0,)))
    with pytest.raises(InputError, match="found the constraint order"):
        bag_given(AnnotatedBag(("a", "b"), order=((0, 1),)))
    assert bag_given(Bag(("b", "a"))).tokens == ("a", "b")


def test_sets_of_tags_have_a_bit_for_each_tag() -> None:
    bits = [GRAMMAR.tag_bit(tag) for tag in GRAMMAR.tags]
    assert len(set(bits)) == len(GRAMMAR.tags)
    assert GRAMMAR.tag_bit("XYZ") not in bits


def test_settings_of_features_are_checked() -> None:
    with pytest.raises(InputError, match="found the templates 'x'; allowed are standard, zgen"):
        Features("x")
    with pytest.raises(InputError, match="found the bins 'x'; allowed are lexical, bare, both"):
        Features(bins="x")


def test_examples_of_trees_and_bags_have_the_same_problem() -> None:
    tree = trees()[1]
    example = make_example(tree, GRAMMAR, ("pos",)).prepared
    bag = AnnotatedBag(tree.forms, pos=tuple(token.xpos for token in tree.tokens))
    assert prepare(bag_given(bag), GRAMMAR).readings == example.readings
