"""The beam against a plain Python one and against all sequences of actions; what is given holds."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from comparison.transition.decoder import Decoder
from comparison.transition.grammar import Features, TransitionGrammar
from comparison.transition.output import heads_of
from comparison.transition.problem import Given
from tests.comparison.transition.bank import (
    plain,
    random_heads,
    random_weights,
    searched,
    trees,
    twin_actions,
    twin_begin,
)
from tests.comparison.transition.twin import beam, model_score, sequences

UNLIMITED = 200_000
BAGS = {
    "one word": plain("dog"),
    "one word, two tags": plain("saw"),
    "two": plain("dog the"),
    "a word twice": plain("the the dog"),
    "ambiguous": plain("saw saw they"),
    "four": plain("old dogs see cats"),
    "four with a word twice": plain("the dog the cat"),
    "four with tags": plain("they saw a saw", "PRP VBD DT NN"),
    "half of the tags": plain("saw a saw", "_ DT NN"),
    "unknown words": plain("grimbles frobbed", "_ XYZ"),
    "a unit": Given(("the", "dog", "barks", "loudly"), (None,) * 4, (None,) * 4, ((0, 1),)),
    "equal units": Given(("the", "dog", "barks", "the", "dog"), (None,) * 5, (None,) * 5, ((0, 1), (3, 4))),
}


@pytest.mark.parametrize("name", BAGS)
def test_an_unlimited_beam_finds_the_best_of_all_sequences(name: str) -> None:
    for seed in range(3):
        weights = random_weights(seed)
        decoded = searched(BAGS[name], weights, UNLIMITED)
        everything = sorted(sequences(twin_begin(decoded.prepared), model_score(weights)), key=lambda item: -item[0])
        assert len(decoded.scores) == len(everything)
        assert np.allclose(decoded.scores, [score for score, _, _ in everything], atol=1e-3)
        best = [actions for score, _, actions in everything if score == everything[0][0]]
        assert twin_actions(decoded.prepared, decoded.actions[0]) in best
        assert [word for word, _ in everything[0][1].words] == list(decoded.words()) or len(best) > 1


@pytest.mark.parametrize("name", BAGS)
@pytest.mark.parametrize("size", [1, 2, 5, 16])
def test_a_beam_holds_what_a_plain_one_holds(name: str, size: int) -> None:
    weights = random_weights(size)
    decoded = searched(BAGS[name], weights, size)
    expected = beam(twin_begin(decoded.prepared), model_score(weights), size)
    found = [twin_actions(decoded.prepared, actions) for actions in decoded.actions]
    assert found == [actions for _, actions in expected]
    assert np.allclose(decoded.scores, [score for score, _ in expected], atol=1e-3)


@pytest.mark.parametrize("shift_tags", [False, True])
@pytest.mark.parametrize("templates", ["standard", "zgen"])
def test_more_features_are_those_of_plain_python(templates: str, shift_tags: bool) -> None:
    grammar = TransitionGrammar.from_trees(trees(), Features(templates, shift_tags))
    weights = random_weights(7)
    score = model_score(weights, grammar.tag_bit if templates == "zgen" else None, shift_tags)
    for given in (*BAGS.values(), plain("she sees the old cat . dogs sleep loudly")):
        decoded = Decoder(grammar, weights, 4).decode(given)
        expected = beam(twin_begin(decoded.prepared), score, 4)
        assert [twin_actions(decoded.prepared, a) for a in decoded.actions] == [actions for _, actions in expected]
        assert np.allclose(decoded.scores, [total for total, _ in expected], atol=1e-3)


def test_without_weights_the_order_of_making_decides() -> None:
    weights = np.zeros(1 << 10, dtype=np.float32)
    for given in BAGS.values():
        decoded = searched(given, weights, 7)
        expected = beam(twin_begin(decoded.prepared), lambda _state, _action: 0.0, 7)
        assert [twin_actions(decoded.prepared, a) for a in decoded.actions] == [actions for _, actions in expected]


def test_three_words_have_42_orders_and_trees() -> None:
    """3! orders, and 7 projective trees of each."""
    decoded = searched(plain("dog cat park", "NN NN NN"), random_weights(0), UNLIMITED)
    found = {(decoded.words(i), tuple(heads_of(actions))) for i, actions in enumerate(decoded.actions)}
    assert len(found) == 42


def test_features_remembered_in_little_room_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from comparison.transition import decoder

    given, weights = plain("she sees the old cat in the park ."), random_weights(3)
    expected = searched(given, weights, 32)
    monkeypatch.setattr(decoder, "_MOST_SCORES", 40)
    found = searched(given, weights, 32)
    assert np.array_equal(found.actions, expected.actions)
    assert np.array_equal(found.scores, expected.scores)


def random_given(random: Random) -> tuple[Given, list[int]]:
    """A bag with some tags, some heads of a random projective tree, and perhaps a unit; and the heads of all."""
    size = random.randint(1, 8)
    heads = random_heads(random, size)
    words = [random.choice(["the", "dog", "saw", "old", "cats", "in", "."]) for _ in range(size)]
    share = random.choice([0.0, 0.3, 0.7, 1.0])
    given_heads = [head if random.random() < share else None for head in heads]
    units: tuple[tuple[int, ...], ...] = ()
    leaves = [i for i in range(size - 1) if heads[i] == i + 1 and i not in heads]  # below the next word
    if leaves and random.random() < 0.5:
        at = random.choice(leaves)
        units = ((at, at + 1),)
    pos = [random.choice([None, "NN", "VBD", "XX"]) for _ in range(size)]
    return Given(tuple(words), tuple(pos), tuple(given_heads), units), heads


def check_given(given: Given, order: list[tuple[int, ...]], tags: list[str], heads: list[int]) -> None:
    """Tags, heads and units of an output are those given; `order` has the places of each unit in it."""
    assert sorted(place for group in order for place in group) == list(range(len(given.tokens)))
    assert {group for group in order if len(group) > 1} == set(given.units)
    group_of = {place: number for number, group in enumerate(order) for place in group}
    for number, group in enumerate(order):
        for place in group:
            if len(group) == 1:
                assert given.pos[place] in (None, tags[number])
            head = given.heads[place]
            if head is not None and head not in group:
                assert heads[number] == (head if head < 0 else group_of[head])


def test_what_is_given_holds_in_1000_random_bags() -> None:
    random = Random(1)
    grammar = TransitionGrammar.from_trees(trees(), Features(shift_tags=True))
    decoder = Decoder(grammar, random_weights(1), 8)
    for _ in range(1000):
        given, _ = random_given(random)
        decoded = decoder.decode(given)
        readings, slots = decoded.prepared.readings, decoded.prepared.slots
        for hypothesis, actions in enumerate(decoded.actions):
            used: Counter[int] = Counter()
            order, tags = [], []
            for number in decoded.readings[hypothesis]:
                slot = readings[number].slot
                order.append(slots[slot].groups[used[slot]])
                tags.append(readings[number].tag)
                used[slot] += 1
            check_given(given, order, tags, heads_of(actions))
