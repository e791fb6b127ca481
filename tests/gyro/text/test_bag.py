from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.text.bag import Bag

TOKENS = st.lists(st.text('abc{}"é', min_size=1, max_size=3), max_size=12)


@given(TOKENS, st.randoms())
def test_the_order_of_the_tokens_means_nothing(tokens: list[str], random: Random) -> None:
    shuffled = list(tokens)
    random.shuffle(shuffled)
    bag = Bag(tuple(shuffled))
    assert bag == Bag(tuple(tokens))
    assert hash(bag) == hash(Bag(tuple(tokens)))
    assert bag.words == tuple(sorted(set(tokens)))
    assert dict(zip(bag.words, bag.counts, strict=True)) == Counter(tokens)
    assert len(bag) == len(tokens)


@pytest.mark.parametrize(
    "token", ["", "a b", " a", "a\n", "<s>", "</s>", "<unk>", "<eps>", "a\u00a0b", "\ud800", "a\0"]
)
def test_what_is_not_a_token_is_refused(token: str) -> None:
    with pytest.raises(InputError, match="a token is Unicode text without white space"):
        Bag(("good", token))


def test_a_reference_must_have_the_words_of_the_bag() -> None:
    assert Bag(("b", "a", "b"), reference=("b", "a", "b")).reference == ("b", "a", "b")
    with pytest.raises(InputError, match="the reference of bag '7'"):
        Bag(("a", "b"), id="7", reference=("a", "b", "b"))
