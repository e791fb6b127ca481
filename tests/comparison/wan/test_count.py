"""Counts of three sentences by hand, and of many random ones against dictionaries."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np

from comparison.wan.count import AFTER, BEFORE, count_events
from comparison.wan.vertex import Reduced, Vertex, bag_vertices, tree_vertices
from grammars.conllu import ConlluSentence, ConlluToken
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.corpus import ROOT


def reduced(words: str, heads: tuple[int, ...]) -> Reduced:
    """A tree of "word/tag word/tag"."""
    pairs = [text.split("/") for text in words.split()]
    return Reduced(tuple(Vertex((i,), word, tag) for i, (word, tag) in enumerate(pairs)), heads)


BANK = (
    reduced("dogs/NNS bark/VBP loudly/RB", (1, ROOT, 1)),
    reduced("dogs/NNS sleep/VBP", (1, ROOT)),
    reduced("cats/NNS bark/VBP dogs/NNS", (1, ROOT, 1)),
)


def test_pairs_and_arcs_by_hand() -> None:
    symbols, counts = count_events(BANK)
    size, tag, word = symbols.size, symbols.tag_numbers, symbols.word_numbers
    pairs = dict(zip(counts.pair_keys.tolist(), counts.pair_counts.tolist(), strict=True))
    arcs = dict(zip(counts.arc_keys.tolist(), counts.arc_counts.tolist(), strict=True))
    bark, dogs = word["bark", "VBP"], word["dogs", "NNS"]
    assert pairs[bark * size + dogs] == 2
    assert pairs[tag["NNS"] * size + bark] == 3
    assert pairs[tag["VBP"] * size + dogs] == 3
    assert pairs[tag["NNS"] * size + tag["VBP"]] == 4
    assert pairs[tag["NNS"] * size + tag["NNS"]] == 2  # cats with dogs, dogs with cats
    assert (pairs[dogs], pairs[tag["NNS"]]) == (3, 4)  # with the root
    assert arcs[(bark * size + dogs) * 2 + BEFORE] == arcs[(bark * size + dogs) * 2 + AFTER] == 1
    assert arcs[(tag["VBP"] * size + tag["NNS"]) * 2 + BEFORE] == 3
    assert arcs[bark * 2 + AFTER] == 2
    assert bark * 2 + BEFORE not in arcs


def test_arguments_by_hand() -> None:
    symbols, counts = count_events([*BANK, reduced("go/VB " + "on/RP " * 9, (ROOT, *(0,) * 9))])
    tag, word = symbols.tag_numbers, symbols.word_numbers
    assert counts.arguments[tag["VBP"], AFTER].tolist() == [1, 2, 0, 0, 0, 0, 0, 0, 0]
    assert counts.arguments[tag["VBP"], BEFORE].tolist() == [0, 3, 0, 0, 0, 0, 0, 0, 0]
    assert counts.arguments[word["dogs", "NNS"], AFTER].tolist() == [3, 0, 0, 0, 0, 0, 0, 0, 0]
    assert counts.arguments[word["go", "VB"], AFTER].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 1]  # nine: more than seven
    assert counts.arguments[0, AFTER].tolist() == [0, 4, 0, 0, 0, 0, 0, 0, 0]


def test_counts_are_those_of_dictionaries() -> None:
    dice = random.Random(3)
    bank = []
    for _ in range(60):
        size = dice.randint(1, 9)
        words = " ".join(f"{dice.choice('abcde')}/{dice.choice('XYZ')}" for _ in range(size))
        bank.append(reduced(words, (ROOT, *(dice.randrange(place) for place in range(1, size)))))
    symbols, counts = count_events(bank)
    pairs: Counter[int] = Counter()
    arcs: Counter[int] = Counter()
    for tree in bank:
        levels = list(zip(*(found.tolist() for found in symbols.numbers(tree.vertices)), strict=True))
        for i, first in enumerate(levels):
            for j, second in enumerate(levels):
                pairs.update(a * symbols.size + b for a in first for b in second if i != j and a <= b)
            above = (0,) if tree.heads[i] == ROOT else levels[tree.heads[i]]
            side = AFTER if i > tree.heads[i] else BEFORE
            arcs.update((a * symbols.size + b) * 2 + side for a in above for b in first)
            pairs.update(first)
    for keys, numbers, expected in (
        (counts.pair_keys, counts.pair_counts, pairs),
        (counts.arc_keys, counts.arc_counts, arcs),
    ):
        assert dict(zip(keys.tolist(), numbers.tolist(), strict=True)) == dict(expected)
        assert np.all(np.diff(keys) > 0)


def test_a_base_phrase_is_known_by_its_last_word() -> None:
    columns = [
        ("the", "DET", "DT", 2, "det"),
        ("old", "ADJ", "JJ", 2, "amod"),
        ("man", "NOUN", "NN", 3, "nsubj"),
        ("saw", "VERB", "VBD", ROOT, "root"),
        ("her", "PRON", "PRP", 3, "obj"),
    ]
    tree = ConlluSentence(tuple(ConlluToken(f, upos=u, xpos=x, head=h, deprel=r) for f, u, x, h, r in columns))
    found = tree_vertices(tree)
    assert [(v.places, v.word, v.tag) for v in found.vertices] == [
        ((0, 1, 2), "man", "NN"),
        ((3,), "saw", "VBD"),
        ((4,), "her", "PRP"),
    ]
    assert found.heads == (1, ROOT, 1)
    assert tree_vertices(tree, tags="upos", units=False).heads == (2, 2, 3, ROOT, 3)


def test_a_bag_without_tags_has_the_likeliest() -> None:
    from comparison.learning.tag_dictionary import TagDictionary

    tagger = TagDictionary.from_words([("run", "NN"), ("run", "VB"), ("run", "VB"), ("a", "DT")])
    bag = AnnotatedBag(("run", "a"), pos=(None, "XX"), units=((1, 0),))
    assert bag_vertices(bag, tagger) == (Vertex((0, 1), "run", "VB"),)
    assert [v.tag for v in bag_vertices(bag, tagger, units=False)] == ["XX", "VB"]
