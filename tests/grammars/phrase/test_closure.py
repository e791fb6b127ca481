"""P* against all ways of cutting a string into phrases."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grammars.phrase import closure
from grammars.phrase.closure import PhraseCosts, parse_phrase_costs, phrase_closure
from gyro.errors import InputError
from gyro.index.phrase import PhraseSet
from tests.grammars.phrase.cutting import cheapest_chain, cheapest_cutting

INFINITY = float("inf")
WORDS = ("a", "b", "c")

phrase_sets = st.dictionaries(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(tuple), st.integers(0, 1000), max_size=9
)
lengths = st.dictionaries(st.integers(1, 4), st.sampled_from([0.5, 0.75, 2.0]), max_size=3)
some_costs = st.builds(
    PhraseCosts, st.sampled_from([0.0, 0.25, 1.5]), lengths.map(lambda by_length: tuple(by_length.items()))
)


def short_strings(longest: int) -> list[tuple[str, ...]]:
    return [string for n in range(longest + 1) for string in itertools.product(WORDS, repeat=n)]


@settings(max_examples=80, deadline=None)
@given(phrase_sets)
def test_without_costs_it_accepts_what_can_be_cut(phrases: dict[tuple[str, ...], int]) -> None:
    automaton = phrase_closure(PhraseSet.from_phrases(WORDS, phrases), costs=PhraseCosts())
    for string in short_strings(5):
        assert automaton.score(string) == cheapest_cutting(string, phrases, PhraseCosts())


@settings(max_examples=80, deadline=None)
@given(phrase_sets, some_costs)
def test_with_costs_it_takes_the_cheapest_cutting(phrases: dict[tuple[str, ...], int], costs: PhraseCosts) -> None:
    phrases = {**phrases, **{(word,): 5 for word in WORDS}}
    automaton = phrase_closure(PhraseSet.from_phrases(WORDS, phrases), costs=costs)
    for string in short_strings(5):
        assert automaton.score(string) == pytest.approx(cheapest_cutting(string, phrases, costs))


@settings(max_examples=60, deadline=None)
@given(phrase_sets, st.sampled_from([0.1, 1.0]), st.booleans())
def test_costs_by_count_are_those_of_the_cheapest_cutting(
    phrases: dict[tuple[str, ...], int], weight: float, with_single_words: bool
) -> None:
    """With many different costs, and with words that are in no phrase of their own."""
    if with_single_words:
        phrases = {**phrases, **{(word,): 5 for word in WORDS}}
    costs = PhraseCosts(per_phrase=0.5, by_length=((1, 0.377), (2, 0.131)), count_weight=weight)
    automaton = phrase_closure(PhraseSet.from_phrases(WORDS, phrases), costs=costs)
    for string in short_strings(5):
        assert automaton.score(string) == pytest.approx(cheapest_cutting(string, phrases, costs), abs=1e-5)


def test_every_word_a_free_phrase_is_one_state() -> None:
    phrases = PhraseSet.from_phrases(WORDS, {("a",): 1, ("b",): 1, ("c",): 1, ("a", "b", "c"): 1})
    assert phrase_closure(phrases, costs=PhraseCosts()).num_states == 1


def test_no_phrase_at_all_accepts_only_the_empty_string() -> None:
    automaton = phrase_closure(PhraseSet.from_phrases(WORDS, {}), costs=PhraseCosts())
    assert automaton.score(()) == 0.0
    assert all(automaton.score((word,)) == INFINITY for word in WORDS)


def test_the_published_example_has_four_orders() -> None:
    words = ("a", "b", "c", "d", "e")
    phrases = PhraseSet.from_phrases(words, {("a", "b"): 1, ("b", "a"): 1, ("d", "e", "c"): 1})
    automaton = phrase_closure(phrases, costs=PhraseCosts())
    orders = {" ".join(order) for order in itertools.permutations(words) if automaton.score(order) < INFINITY}
    assert orders == {"a b d e c", "b a d e c", "d e c a b", "d e c b a"}


def test_free_phrases_may_need_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closure, "FEW_STATES", 2)
    monkeypatch.setattr(closure, "STATES_PER_NODE", 0)
    phrases = {("a", "b", "c"): 1, ("c", "b", "a"): 1, ("b", "b"): 1}
    automaton = phrase_closure(PhraseSet.from_phrases(WORDS, phrases), costs=PhraseCosts())
    assert automaton.num_states > 2
    assert automaton.score(("a", "b", "c", "b", "b")) == 0.0


def test_with_too_many_states_a_string_has_a_way_for_each_cutting(monkeypatch: pytest.MonkeyPatch) -> None:
    phrases = {("a",): 5, ("b",): 7, ("c",): 9, ("a", "b", "c"): 3, ("b", "c", "a"): 2, ("c", "a"): 8, ("b", "a"): 1}
    costs = PhraseCosts(0.3, ((1, 1.377), (2, 0.291)))
    one_way = phrase_closure(PhraseSet.from_phrases(WORDS, phrases), costs=costs)
    assert one_way.is_deterministic
    monkeypatch.setattr(closure, "FEW_STATES", 2)
    monkeypatch.setattr(closure, "STATES_PER_NODE", 0)
    all_ways = phrase_closure(PhraseSet.from_phrases(WORDS, phrases), costs=costs)
    assert not all_ways.is_deterministic
    assert all_ways.num_states == 6  # the boundary; after a, b and c; after a b and b c
    assert all_ways.distinct_words == WORDS
    for string in short_strings(5):
        assert all_ways.score(string) == pytest.approx(one_way.score(string), abs=1e-5)


def cuttings_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No deterministic automaton of more than a state has room any more."""
    for name, most in (("FEW_STATES", 1), ("STATES_PER_NODE", 0), ("MAX_STATES", 0)):
        monkeypatch.setattr(closure, name, most)


THE_CAT = ("the cat sat", "cat sat on", "on the mat")


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize(
    ("string", "by_overlap"),
    [
        # (the cat sat)(on the mat): no need to share; (the cat sat)(cat sat on)(on the mat) would be dearer.
        ("the cat sat on the mat", (2, 2, 2)),
        # (cat sat on)(on the mat): the end is at 3, the next phrase begins at 2.
        ("cat sat on the mat", (INFINITY, 2, 2)),
        # (the cat sat)(cat sat on): the end is at 3, the next phrase begins at 1.
        ("the cat sat on", (INFINITY, INFINITY, 2)),
        # (the cat sat)(cat sat on)(the cat sat)
        ("the cat sat on the cat sat", (INFINITY, INFINITY, 3)),
        # No phrase has "on the cat": words are shared, not skipped.
        ("on the cat sat", (INFINITY, INFINITY, INFINITY)),
        ("on the mat", (1, 1, 1)),
    ],
)
def test_overlap_by_hand(
    string: str, by_overlap: tuple[float, ...], is_cut: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_cut:
        cuttings_only(monkeypatch)
    words = tuple(dict.fromkeys(" ".join(THE_CAT).split()))
    phrases = PhraseSet.from_phrases(words, {tuple(phrase.split()): 1 for phrase in THE_CAT})
    for overlap, cost in enumerate(by_overlap):
        automaton = phrase_closure(phrases, costs=PhraseCosts(1.0), overlap=overlap)
        assert automaton.is_deterministic != is_cut
        assert automaton.score(string.split()) == cost


all_costs = st.one_of(st.just(PhraseCosts()), some_costs, st.just(PhraseCosts(0.5, ((1, 0.377),), 0.1)))


@pytest.mark.parametrize("is_cut", [False, True])
@settings(max_examples=100, deadline=None)
@given(phrase_sets, all_costs, st.integers(1, 4), st.booleans(), st.booleans())
def test_overlap_is_that_of_the_cheapest_chain(
    is_cut: bool, phrases: dict[tuple[str, ...], int], costs: PhraseCosts, overlap: int, closed: bool, single: bool
) -> None:
    """Also where all parts of phrases are phrases, as in an index, and where all words are: then places beat others."""
    for phrase in list(phrases) if closed else ():
        parts = (phrase[i:j] for i in range(len(phrase)) for j in range(i + 2, len(phrase) + 1))
        phrases = {**dict.fromkeys(parts, 1), **phrases}
    if single:
        phrases = {**phrases, **{(word,): 5 for word in WORDS}}
    with pytest.MonkeyPatch.context() as monkeypatch:
        if is_cut:
            cuttings_only(monkeypatch)
        automaton = phrase_closure(PhraseSet.from_phrases(WORDS, phrases), costs=costs, overlap=overlap)
    assert automaton.distinct_words == WORDS
    for string in short_strings(5):
        expected = cheapest_chain(string, phrases, costs, overlap)
        assert automaton.score(string) == pytest.approx(expected, abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(phrase_sets, all_costs, st.integers(0, 9))
def test_an_overlap_beyond_all_phrases_is_the_longest_of_use(
    phrases: dict[tuple[str, ...], int], costs: PhraseCosts, more: int
) -> None:
    chosen = PhraseSet.from_phrases(WORDS, phrases)
    longest = max(map(len, phrases), default=1)
    one = phrase_closure(chosen, costs=costs, overlap=longest - 1)
    other = phrase_closure(chosen, costs=costs, overlap=longest - 1 + more)
    assert one.words == other.words
    assert one.next_state.tolist() == other.next_state.tolist()


def test_a_word_may_have_many_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """After "a a a a" one may be at an end, inside of a phrase, or share one word, two or three with the next."""
    cuttings_only(monkeypatch)
    phrases = PhraseSet.from_phrases(("a", "b"), {("a",) * 4: 1, ("a", "a", "a", "a", "b"): 1})
    automaton = phrase_closure(phrases, costs=PhraseCosts(1.0), overlap=3)
    assert automaton.words == ("a", "b", "a", "a", "a", "a")
    assert sorted(automaton.next_state[3][[0, 2, 3, 4, 5]].tolist()) == [0, 1, 2, 3, 4]
    assert automaton.score(("a",) * 6) == 2.0
    assert automaton.score(("a",) * 5) == 2.0


def test_free_overlapping_phrases_of_an_index_have_few_states() -> None:
    """All parts of two words and more are phrases: only the last word and whether it ends a phrase matter."""
    sentence = tuple("abcdefgh")
    parts = {sentence[i:j]: 1 for i in range(8) for j in range(i + 2, min(i + 5, 8) + 1)}
    automaton = phrase_closure(PhraseSet.from_phrases(sentence, parts), costs=PhraseCosts(), overlap=1)
    # The start, which is also after h; after a first word (a … g); at an end (b … g), with a word to share.
    assert automaton.num_states == 1 + 7 + 6


def test_a_negative_overlap_is_refused() -> None:
    with pytest.raises(InputError, match="an overlap of -1 words; 0 or more"):
        phrase_closure(PhraseSet.from_phrases(WORDS, {}), costs=PhraseCosts(), overlap=-1)


def test_differences_that_grow_for_ever_are_no_trouble() -> None:
    # "a b a b …" as (a b)(a b)… or as (a)(b a)(b a)…
    phrases = {("a",): 1, ("a", "b"): 1, ("b", "a"): 1000}
    costs = PhraseCosts(count_weight=1.0)
    automaton = phrase_closure(PhraseSet.from_phrases(("a", "b"), phrases), costs=costs)
    string = ("a", "b") * 6 + ("a",)
    assert automaton.score(string) == pytest.approx(cheapest_cutting(string, phrases, costs))


@pytest.mark.parametrize("cost", [1e9, 1e300])
def test_costs_beyond_all_grains(cost: float) -> None:
    phrases = {("a",): 1, ("b",): 1, ("c",): 1, ("a", "b"): 1}
    costs = PhraseCosts(per_phrase=cost)
    automaton = phrase_closure(PhraseSet.from_phrases(WORDS, phrases), costs=costs)
    assert automaton.score(("a", "b", "c")) == pytest.approx(2 * cost)


@pytest.mark.parametrize(
    ("text", "costs"),
    [
        ("", PhraseCosts()),
        ("phrase=1.0,length1=2,count=0.1", PhraseCosts(1.0, ((1, 2.0),), 0.1)),
        (" length3 = .5 , length2=1e-1 ,", PhraseCosts(0.0, ((2, 0.1), (3, 0.5)))),
        ("count=0", PhraseCosts()),
    ],
)
def test_parse(text: str, costs: PhraseCosts) -> None:
    assert parse_phrase_costs(text) == costs


@pytest.mark.parametrize(
    "text",
    [
        "phrase", "phrase=", "phrase=x", "phrase=-1", "count=nan", "count=inf", "length=1", "length0=1", "lengthx=1",
        "words=1", "=1", "phrase=1,phrase=2", "length1=1,length01=2",
    ],
)  # fmt: skip
def test_parse_refuses(text: str) -> None:
    with pytest.raises(InputError, match="in the phrase costs"):
        parse_phrase_costs(text)


def test_is_zero() -> None:
    assert PhraseCosts(by_length=((2, 0.0),)).is_zero
    assert not PhraseCosts(count_weight=0.1).is_zero


@pytest.mark.parametrize("text", ["", "phrase=1", "phrase=0.5,length1=2,count=0.125"])
def test_costs_are_written_as_they_are_read(text: str) -> None:
    assert str(parse_phrase_costs(text)) == text


def test_costs_are_multiplied() -> None:
    assert str(parse_phrase_costs("phrase=1,length1=2,count=0.1").times(2)) == "phrase=2,length1=4,count=0.2"
