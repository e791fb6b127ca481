"""The bit-string grammar: the published example, and coverages against plain multisets."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammars.phrase.closure import PhraseCosts
from grammars.phrase.grammar import CoverageCode, PhraseGrammar
from gyro.errors import InputError
from gyro.index.phrase import PhraseSet
from gyro.text.bag import Bag

bags = st.lists(st.sampled_from("abcdef"), max_size=12).map(lambda tokens: Bag(tuple(tokens)))


def grammar_of(bag: Bag, *phrases: str) -> PhraseGrammar:
    return PhraseGrammar(bag, PhraseSet.from_phrases(bag.words, {tuple(phrase.split()): 1 for phrase in phrases}))


@st.composite
def grammars(draw: st.DrawFn) -> PhraseGrammar:
    bag = draw(st.lists(st.sampled_from("abcde"), max_size=7).map(lambda tokens: Bag(tuple(tokens))))
    if not bag.words:
        return grammar_of(bag)
    phrase = st.lists(st.sampled_from(bag.words), min_size=1, max_size=4).map(" ".join)
    return grammar_of(bag, *draw(st.lists(phrase, max_size=12)))


def multiset(grammar: PhraseGrammar, coverage: int) -> frozenset[tuple[str, int]]:
    counts = zip(grammar.bag.words, grammar.code.counts(int(coverage)), strict=True)
    return frozenset((word, count) for word, count in counts if count)


def reachable(grammar: PhraseGrammar) -> set[frozenset[tuple[str, int]]]:
    """All multisets that phrases make within the bag, by closing over Counters."""
    whole = Counter(grammar.bag.tokens)
    phrases = [Counter(grammar.bag.words[w] for w in rules.words[0]) for rules in grammar.phrases]
    found, todo = {frozenset[tuple[str, int]]()}, [Counter[str]()]
    while todo:
        covered = todo.pop()
        for phrase in phrases:
            total = covered + phrase
            if total <= whole and frozenset(total.items()) not in found:
                found.add(frozenset(total.items()))
                todo.append(total)
    return found


def test_the_published_example_has_the_published_rules() -> None:
    grammar = grammar_of(Bag(tuple("edcba")), "a b", "b a", "d e c")
    assert grammar.rules() == [
        "11000→a b",
        "11000→b a",
        "00111→d e c",
        "11111→11000 00111",
        "11111→00111 11000",
        "S→11111",
    ]


@pytest.mark.parametrize(
    ("tokens", "coverage", "bits"),
    [
        ("a b c", {}, "000"),
        ("a b c", {"b": 1}, "010"),
        ("a the the the z", {"the": 2, "z": 1}, "01101"),
        ("a the the the z", {"a": 1, "the": 3}, "11110"),
    ],
)
def test_bit_strings_fill_repeated_words_from_the_lowest_bit(tokens: str, coverage: dict[str, int], bits: str) -> None:
    code = CoverageCode(Bag(tuple(tokens.split())))
    packed = sum(int(code.units[code.bag.words.index(word)]) * count for word, count in coverage.items())
    assert code.bit_string(packed) == bits


@given(bags, st.data())
def test_adding_coverages_is_adding_multisets(bag: Bag, data: st.DataObject) -> None:
    code = CoverageCode(bag)
    part = st.tuples(*(st.integers(0, count) for count in bag.counts))
    left, right = data.draw(st.lists(part, min_size=1, max_size=8)), data.draw(part)
    pack = [sum(int(unit) * n for unit, n in zip(code.units, counts, strict=True)) for counts in [right, *left]]
    fits, sums = code.add(np.array(pack[1:], np.uint64), np.uint64(pack[0]))
    for counts, fit, total in zip(left, fits, sums, strict=True):
        expected = [a + b for a, b in zip(counts, right, strict=True)]
        assert fit == all(n <= most for n, most in zip(expected, bag.counts, strict=True))
        if fit:
            assert code.counts(int(total)) == expected


@given(grammars())
def test_parsing_finds_all_that_phrases_make(grammar: PhraseGrammar) -> None:
    rows = grammar.parse()
    expected = reachable(grammar)
    found = [multiset(grammar, cell) for row in rows for cell in row]
    assert len(found) == len(set(found))
    assert set(found) == expected
    for size, row in enumerate(rows):
        assert (np.diff(row.astype(object)) > 0).all()
        assert all(sum(grammar.code.counts(int(cell))) == size for cell in row)
    whole = frozenset(Counter(grammar.bag.tokens).items())
    assert grammar.has_parse() == (whole in expected)


@given(grammars())
def test_cells_are_those_that_can_be_completed(grammar: PhraseGrammar) -> None:
    whole, expected = Counter(grammar.bag.tokens), reachable(grammar)
    useful = {cell for cell in expected if frozenset((whole - Counter(dict(cell))).items()) in expected}
    assert {multiset(grammar, cell) for row in grammar.cells() for cell in row} == useful


@given(grammars())
def test_row_rules_are_all_pairs_that_fit(grammar: PhraseGrammar) -> None:
    cells = grammar.parse()
    found = set()
    for row in range(1, len(cells)):
        rules = grammar.row_rules(cells, row)
        found |= set(zip(rules.left.tolist(), rules.phrase.tolist(), rules.result.tolist(), strict=True))
    expected = set()
    pairs = itertools.product([int(cell) for row in cells for cell in row], enumerate(grammar.coverages.tolist()))
    for left, (number, phrase) in pairs:
        counts = zip(grammar.code.counts(left), grammar.code.counts(phrase), grammar.bag.counts, strict=True)
        if all(a + b <= most for a, b, most in counts):
            expected.add((left, number, left + phrase))
    assert found == expected


def test_overlapping_phrases_have_their_first_words_as_contexts() -> None:
    """`a b c` may add b c after a, or c after a b; `b c` adds c after b, which needs less than a b before it."""
    bag = Bag(("a", "b", "c"))
    phrases = PhraseSet.from_phrases(bag.words, {("a", "b", "c"): 1, ("b", "c"): 1})
    free = PhraseGrammar(bag, phrases, overlap=2)
    assert free.rules() == ["001→[b] c", "011→b c", "111→a b c", "S→111"]
    costly = PhraseGrammar(bag, phrases, costs=PhraseCosts(by_length=((2, 2.0),)), overlap=2)
    assert costly.rules() == ["001→[b] c", "001→[a b] c", "011→b c", "011→[a] b c", "111→a b c", "S→111"]
    assert costly.contexts == ((), (1,), (0,), (0, 1))


@given(grammars(), st.integers(0, 3))
def test_contexts_hold_their_own_beginnings(grammar: PhraseGrammar, overlap: int) -> None:
    words = {" ".join(spelled) for rules in grammar.phrases for spelled in grammar.spell(rules)}
    phrases = PhraseSet.from_phrases(grammar.bag.words, {tuple(text.split()): 1 for text in words})
    contexts = set(PhraseGrammar(grammar.bag, phrases, overlap=overlap).contexts)
    assert all(context[:length] in contexts for context in contexts for length in range(len(context)))
    assert max(map(len, contexts)) <= overlap


def test_a_phrase_cost_beyond_the_range_is_refused() -> None:
    phrases = PhraseSet.from_phrases(("a",), {("a",): 1})
    with pytest.raises(InputError, match="phrase cost of 1e\\+07"):
        PhraseGrammar(Bag(("a",)), phrases, costs=PhraseCosts(per_phrase=1e7))


def test_phrases_that_the_bag_cannot_make_are_left_out() -> None:
    grammar = grammar_of(Bag(("a", "b", "b")), "a a", "b b a", "b b b")
    assert [rules.words.tolist() for rules in grammar.phrases] == [[[1, 1, 0]]]


def test_rules_with_repeated_words() -> None:
    grammar = grammar_of(Bag(("a", "b", "b")), "b", "a")
    assert grammar.rules() == [
        "100→a",
        "010→b",
        "110→100 010",
        "110→010 100",
        "011→010 010",
        "111→110 010",
        "111→011 100",
        "S→111",
    ]


def test_an_empty_bag_has_only_the_root() -> None:
    grammar = grammar_of(Bag(()))
    assert grammar.rules() == ["S→"]
    assert grammar.has_parse()


def test_a_bag_that_needs_too_many_bits_is_refused() -> None:
    CoverageCode(Bag(tuple(f"w{i}" for i in range(63))))
    with pytest.raises(InputError, match="64 coverage bits; 63 are allowed"):
        CoverageCode(Bag(tuple(f"w{i}" for i in range(64))))


def test_phrases_of_another_bag_are_refused() -> None:
    with pytest.raises(InputError, match="other words"):
        PhraseGrammar(Bag(("a", "b")), PhraseSet.from_phrases(("a", "c"), {}))


def test_a_bag_of_sixty_words_is_checked_quickly() -> None:
    words = tuple(f"w{i:02}" for i in range(60))
    grammar = grammar_of(Bag(words), *(f"{a} {b}" for a, b in itertools.pairwise(words)))
    assert grammar.has_parse()
    assert not grammar_of(Bag(words[:59]), *(f"{a} {b}" for a, b in itertools.pairwise(words[:59]))).has_parse()
