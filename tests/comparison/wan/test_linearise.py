"""Orders of trees: by hand, and against the published recursion in plain Python."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison.wan.arborescence import Tree
from comparison.wan.count import AFTER, BEFORE
from comparison.wan.linearise import LinearSettings, linearise
from gyro.errors import InputError
from tests.comparison.wan.hand_model import Context, HandModel, random_cost
from tests.comparison.wan.twin import plain_linearise

BIGRAMS = {
    ("<s>", "the"): 1.0,
    ("<s>", "in"): 2.0,
    ("barks", "loudly"): 1.0,
    ("barks", "in"): 2.0,
    ("dog", "in"): 1.0,
    ("loudly", "in"): 1.0,
    ("in", "loudly"): 9.0,
    ("today", "the"): 1.0,
    ("<s>", "today"): 3.0,
    ("dog", "today"): 8.0,
    ("dog", "barks"): 1.0,
    ("today", "barks"): 4.0,
}


def bigram_cost(context: Context, word: str) -> float:
    return BIGRAMS.get((*context, word), 5.0)


def tree(*arcs: tuple[int, int]) -> Tree:
    """Heads and sides of vertices 1, 2 and so on."""
    return Tree(np.array([0, *(head for head, _ in arcs)]), np.array([0, *(side for _, side in arcs)]), 0.0)


WORDS = [("barks",), ("the", "dog"), ("in",), ("the", "park"), ("loudly",), ("today",)]
TREE = tree((0, AFTER), (1, BEFORE), (1, AFTER), (3, AFTER), (1, AFTER), (1, BEFORE))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        # <s> the dog: 1, <s> today: 3; then barks loudly: 1, barks in: 2; loudly in: 1.
        (LinearSettings(), "the dog today barks loudly in the park"),
        # dog barks: 1, today barks: 4; then today the: 1.
        (LinearSettings(outward=True), "today the dog barks loudly in the park"),
        # Nothing before: the and today cost the same, and the dog is the lower vertex.
        (LinearSettings(start="empty"), "the dog today barks loudly in the park"),
    ],
)
def test_an_order_by_hand(settings: LinearSettings, words: str) -> None:
    found = linearise(TREE, WORDS, HandModel(2, bigram_cost), settings)
    assert " ".join(word for number in found.order for word in WORDS[number - 1]) == words


def test_words_alone_follow_the_start_and_each_other() -> None:
    star = tree(*[(0, AFTER)] * 4)
    found = linearise(star, [("in",), ("the", "dog"), ("loudly",), ("barks",)], HandModel(2, bigram_cost))
    assert (found.order, found.cost) == ((2, 1, 4, 3), 1.0 + 1.0 + 5.0 + 1.0)


@given(st.integers(0, 9), st.integers(0, 10**6), st.data())
def test_orders_are_those_of_the_recursion(size: int, seed: int, data: st.DataObject) -> None:
    dice = random.Random(seed)
    numbers = list(range(1, size + 1))
    dice.shuffle(numbers)
    heads, sides = {}, {}
    for place, number in enumerate(numbers):
        heads[number] = dice.choice([0, *numbers[:place]]) if place else 0
        sides[number] = AFTER if heads[number] == 0 else dice.choice((AFTER, BEFORE))
    words = [tuple(dice.choice("abcdef") for _ in range(dice.choice((1, 1, 2, 4)))) for _ in range(size)]
    cost, order = random_cost(seed % 5), data.draw(st.integers(1, 5))
    settings = LinearSettings(
        data.draw(st.integers(0, 4)), data.draw(st.sampled_from(["sentence", "empty"])), dice.random() < 0.5
    )
    found = linearise(
        tree(*((heads[v], sides[v]) for v in range(1, size + 1))), words, HandModel(order, cost), settings
    )
    expected = plain_linearise(
        heads, sides, words, cost, order, window=settings.window, start=settings.start, outward=settings.outward
    )
    assert list(found.order) == expected


@pytest.mark.parametrize("wrong", [{"window": -1}, {"start": "middle"}])
def test_settings_are_checked(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match="allowed"):
        LinearSettings(**wrong)  # type: ignore[arg-type]
