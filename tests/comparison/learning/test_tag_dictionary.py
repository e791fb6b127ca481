from __future__ import annotations

import doctest
import json
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from comparison.learning import tag_dictionary
from comparison.learning.tag_dictionary import LEAST_SHARE, RARE, TagDictionary, word_look

WORDS = st.text("abAB1-.", min_size=1, max_size=4)
TAGGED = st.lists(st.tuples(WORDS, st.sampled_from("NVJ")), max_size=60)


def test_doctests() -> None:
    assert doctest.testmod(tag_dictionary).failed == 0


@pytest.mark.parametrize(
    ("word", "looks"),
    [
        ("dog", ("a", "a og")),
        ("Dog", ("A", "A og")),
        ("1990s", ("0", "0 0s")),
        ("re-run", ("a-", "a- un")),
        ("-", (".", ". -")),
        ("...", (".", ". ..")),
        ("x", ("a", "a x")),
        ("DOGS", ("A", "A gs")),
    ],
)
def test_looks(word: str, looks: tuple[str, str]) -> None:
    assert word_look(word) == looks


@given(TAGGED, WORDS)
@example([("1", "N"), ("-", "V")], ".-")  # the look of "-" is not the kind of ".-"
def test_tags_are_those_seen_the_most_frequent_first(tagged: list[tuple[str, str]], other: str) -> None:
    tags = TagDictionary.from_words(tagged)
    assert TagDictionary.from_json(json.loads(json.dumps(tags.to_json()))) == tags
    frequency = Counter(word for word, _ in tagged)
    for word in {*frequency, other}:
        same = Counter(tag for w, tag in tagged if w == word)
        if not same:  # rare words with the same look, by ending and kind, by kind, of any look
            rare = [(w, tag) for w, tag in tagged if frequency[w] <= RARE]
            kind, ending = word_look(word)
            for test in (lambda w, e=ending: word_look(w)[1] == e, lambda w, k=kind: word_look(w)[0] == k, bool):
                same = Counter(tag for w, tag in rare if test(w))
                if same:
                    break
            same = Counter({tag: n for tag, n in same.items() if n >= LEAST_SHARE * same.total()})
        found = tags.tags_of(word)
        assert set(found) == set(same)
        assert [-same[tag] for tag in found] == sorted(-n for n in same.values())


def test_a_rare_tag_of_a_look_is_left_out() -> None:
    tagged = [(f"w{i}ing", "VBG") for i in range(100)] + [("a1ing", "NN")]
    assert TagDictionary.from_words(tagged).tags_of("b2ing") == ("VBG",)
