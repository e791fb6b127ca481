from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammars.ccg.derivation import Leaf
from grammars.ccg.lexicon import Lexicon, read_counts
from gyro.errors import InputError

LEAVES = st.builds(Leaf.plain, st.sampled_from("ABC"), st.sampled_from("vwxyz"), st.sampled_from("PQR"))


@given(st.lists(LEAVES, max_size=30), st.integers(0, 4))
def test_words_have_the_categories_that_the_definition_gives(seen: list[Leaf], cutoff: int) -> None:
    lexicon = Lexicon.from_leaves(seen, cutoff)
    frequency = Counter(leaf.word for leaf in seen)
    assert set(lexicon.words) == {word for word, count in frequency.items() if count > cutoff}
    assert lexicon.categories == tuple(sorted({leaf.category for leaf in seen}))
    for word in "vwxyz?":
        for pos in "PQR?":
            if frequency[word] > cutoff:
                counts = Counter(leaf.category for leaf in seen if leaf.word == word)
            elif any(leaf.pos == pos for leaf in seen):
                counts = Counter(leaf.category for leaf in seen if leaf.pos == pos)
            else:
                counts = Counter(leaf.category for leaf in seen if frequency[leaf.word] <= cutoff)
            ranked = tuple(sorted(counts, key=lambda category: (-counts[category], category)))
            assert lexicon.categories_of(word, pos) == (ranked or lexicon.categories)


def test_the_cutoff_is_exceeded_by_frequent_words_and_the_most_frequent_category_comes_first() -> None:
    seen = [Leaf.plain("A", "w", "P")] * 8 + [Leaf.plain("B", "w", "P")] * 12 + [Leaf.plain("C", "x", "P")] * 30
    assert Lexicon.from_leaves(seen).categories_of("w", "P") == ("C", "B", "A")
    assert Lexicon.from_leaves([*seen, Leaf.plain("A", "w", "P")]).categories_of("w", "P") == ("B", "A")


@given(st.lists(LEAVES, max_size=30), st.integers(0, 4))
def test_json_round_trip(seen: list[Leaf], cutoff: int) -> None:
    lexicon = Lexicon.from_leaves(seen, cutoff)
    assert Lexicon.from_json(json.loads(json.dumps(lexicon.to_json()))) == lexicon


GOOD: dict[str, Any] = {"cutoff": 1, "words": {}, "tags": {}, "rare": {}}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "found a lexicon without a cut-off"),
        ({**GOOD, "cutoff": "1"}, "found a lexicon without a cut-off"),
        ({**GOOD, "words": []}, "without words and tags"),
        ({"cutoff": 1, "words": {}}, "without words and tags"),
        ({**GOOD, "words": {"w": ["N"]}}, "as the counts of 'w'"),
        ({**GOOD, "tags": {"NN": {"N": 0}}}, "as the counts of 'NN'; an object of numbers above 0 is allowed"),
        ({**GOOD, "rare": {"N": True}}, "as the counts of 'rare'"),
        ({"cutoff": 1, "words": {}, "tags": {}}, "found None as the counts of 'rare'"),
    ],
)
def test_what_is_no_lexicon_is_refused(value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Lexicon.from_json(value)


def test_counts() -> None:
    assert read_counts({}, "w") == {}
    with pytest.raises(InputError, match=r"found 3 as the counts of 'w'"):
        read_counts(3, "w")
