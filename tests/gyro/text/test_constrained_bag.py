"""Constraints told by words."""

from __future__ import annotations

from typing import Any

import pytest

from gyro.errors import InputError
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from gyro.text.constrained_bag import constrain

WORDS = ("the", "cat", "sat", "on", "the", "mat", ".")


def said(bag: Bag) -> dict[str, Any]:
    """What a bag says, by words."""
    assert isinstance(bag, AnnotatedBag)
    word = bag.tokens.__getitem__
    return {
        "units": [[*map(word, unit)] for unit in bag.units],
        "order": [[*map(word, chain)] for chain in bag.order],
        "positions": sorted((number, word(place)) for place, number in bag.positions),
        "choices": [(count, *map(word, group)) for group, count in bag.choices],
        "optional": [*map(word, bag.optional)],
    }


def test_every_option() -> None:
    bag = constrain(
        ("the", "cat", "sat", "sits", "on", "a", "big", "red", "mat", "there", "."),
        first="the",
        last=".",
        at=[(2, "cat"), (-3, "red")],
        keep=["red mat"],
        before=[("on", "big"), ("on", "mat")],
        optional="there a",
        one_of=["sat sits"],
    )
    assert said(bag) == {
        "units": [["red", "mat"]],
        "order": [["on", "big"], ["on", "mat"]],
        "positions": [(-3, "red"), (-1, "."), (1, "the"), (2, "cat")],
        "choices": [(1, "sat", "sits")],
        "optional": ["a", "there"],
    }


def test_prefix_suffix_and_numbers() -> None:
    bag = constrain("abcdef", prefix="f a", suffix="c", some=[(1, "d e")], times=[(3, "b")])
    assert said(bag)["positions"] == [(-1, "c"), (1, "f"), (2, "a")]
    assert said(bag)["choices"] == [(1, "d", "e")]
    assert isinstance(bag, AnnotatedBag)
    assert bag.count_limits == (1, 3, 1, 1, 1, 1)


def test_nothing_asked_for_is_a_plain_bag() -> None:
    assert type(constrain(WORDS)) is Bag


def test_a_word_that_is_there_twice_may_be_named_twice() -> None:
    both = constrain(WORDS, keep=["the cat", "the mat"])
    assert isinstance(both, AnnotatedBag)
    assert len({unit[0] for unit in both.units}) == 2
    ends = constrain(WORDS, first="the", at=[(5, "the")])
    assert isinstance(ends, AnnotatedBag)
    assert sorted(number for _, number in ends.positions) == [1, 5]
    assert len({place for place, _ in ends.positions}) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"first": "dog"}, "found 'dog' in --first; a word of the bag is allowed: the cat sat on mat ."),
        ({"keep": ["the dog"]}, "found 'dog' in --keep; a word of the bag"),
        ({"keep": ["the cat", "the mat", "the sat"]}, "found 'the' more often in --keep than the 2 times it"),
        ({"before": [("the", "cat")]}, "found 'the' in --before and 2 times in the bag; a word that is there once"),
        ({"times": [(2, "the")]}, "found 'the' in --times and 2 times in the bag"),
        ({"keep": ["the cat"], "first": "the"}, "found 'the' in --first and in --keep, and 2 times in"),
        ({"one_of": ["cat dog"]}, "found 'dog' in --one-of"),
        ({"keep": ["cat cat"]}, "found 'cat' 2 times in --keep 'cat cat', and 1 times in the bag"),
        ({"keep": ["the cat", "cat sat"]}, "found token 1 twice in units"),
        ({"at": [(9, "cat")]}, "found 9 in --at; 1 to 7 are allowed, or -1 to -7 counted from the last word"),
        ({"some": [(3, "cat mat")]}, "found a choice of 3 of 2 tokens"),
    ],
)  # fmt: skip
def test_mistakes(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        constrain(WORDS, **options, name="--{}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
