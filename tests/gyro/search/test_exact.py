"""The exact search against brute force over all orders of small bags."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grammars.phrase import closure as closure_module
from grammars.phrase.closure import PhraseCosts, parse_phrase_costs, phrase_closure
from grammars.phrase.grammar import PhraseGrammar
from gyro.errors import InputError
from gyro.index.phrase import PhraseSet
from gyro.lattice.automaton import WordAutomaton, intersect
from gyro.lattice.lattice import Hypothesis
from gyro.search import exact
from gyro.search.exact import search, search_nbest
from gyro.search.right_linear import ALGORITHMS
from gyro.search.work import Work
from gyro.text.bag import Bag
from tests.grammars.phrase.cutting import cheapest_chain, cheapest_cutting
from tests.gyro.search.problems import INFINITY, all_orders, many, problems, random_automaton, same


def no_room_for_deterministic_closures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closure_module, "FEW_STATES", 1)
    monkeypatch.setattr(closure_module, "STATES_PER_NODE", 0)


@pytest.fixture
def cuttings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No deterministic closure has room."""
    no_room_for_deterministic_closures(monkeypatch)


@pytest.fixture
def one_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    """No table may track a word, and there is one effort only: the relaxed coverage of large bags, on small ones."""
    monkeypatch.setattr(exact, "EFFORTS", (exact.Effort(0, INFINITY, 1),))


class TestAgainstBruteForce:
    @many
    @given(problems(), st.sampled_from([0.0, 1.0, 4.0, 100.0]), st.sampled_from([1, 3, 64]))
    def test_all_strings_within_beta(
        self, problem: tuple[WordAutomaton, tuple[int, ...]], beta: float, beam: int
    ) -> None:
        automaton, counts = problem
        orders = all_orders(automaton, counts)
        result = search(automaton, counts, beta=beta, beam=beam)
        assert result.proved
        if not orders:
            assert result.paths is None
            assert result.lattice() is None
            assert result.cost == result.lower_bound == INFINITY
            return
        assert result.cost == pytest.approx(orders[0].cost)
        assert result.lower_bound == result.cost
        within = [h for h in orders if h.cost <= orders[0].cost + beta + 1e-9]
        strings = result.cheapest(10**6)
        same([h for h in strings if h.cost <= result.cost + beta + 1e-9], within)
        known = {h.tokens: h.cost for h in orders}
        assert all(h.cost == pytest.approx(known[h.tokens]) for h in strings)
        assert len({h.tokens for h in strings}) == len(strings)
        assert not result.exhausted or len(strings) == len(orders)
        # A node beyond β may be a dead end, so that all is there without our knowing it; not so with a wide β.
        assert result.exhausted or beta < 100

    @many
    @given(problems(), st.sampled_from([0.0, 5.0]))
    def test_every_arc_is_on_a_string_within_beta(
        self, problem: tuple[WordAutomaton, tuple[int, ...]], beta: float
    ) -> None:
        result = search(*problem, beta=beta)
        if result.paths is None:
            return
        prefixes = {h.tokens[:i] for h in result.cheapest(10**6) if h.cost <= result.cost + beta + 1e-9
                    for i in range(1, len(h.tokens) + 1)}  # fmt: skip
        lattice = result.lattice()
        assert lattice is not None
        assert {h.tokens[:i] for h in lattice.strings() for i in range(1, len(h.tokens) + 1)} >= prefixes
        assert lattice.num_states <= result.nodes
        assert lattice.num_arcs <= result.arcs
        assert lattice.minimal().num_arcs == lattice.num_arcs
        assert lattice.best().cost == pytest.approx(result.cost, abs=1e-4)

    @many
    @given(problems(), st.integers(1, 40))
    def test_nbest(self, problem: tuple[WordAutomaton, tuple[int, ...]], n: int) -> None:
        found = search_nbest(*problem, n)
        assert found.proved
        same(found.hypotheses, all_orders(*problem)[:n])

    @many
    @given(problems(), st.integers(1, 30))
    def test_max_arcs_gives_the_largest_beta_that_fits(
        self, problem: tuple[WordAutomaton, tuple[int, ...]], max_arcs: int
    ) -> None:
        automaton, counts = problem
        result = search(automaton, counts, max_arcs=max_arcs)
        if result.paths is None:
            return
        assert result.proved
        if result.arcs > max_arcs:
            assert result.arcs == sum(counts)  # the one string that is always there
            assert len(result.cheapest(9)) == 1
        assert search(automaton, counts, beta=result.beta).cost == result.cost
        if not result.exhausted:
            # A dearer string may have no arc of its own: then it is there already.
            inside = {h.tokens for h in result.cheapest(10**6)}
            larger = [h.cost - result.cost for h in all_orders(automaton, counts) if h.tokens not in inside]
            assert search(automaton, counts, beta=min(larger, default=INFINITY) + 1e-6).arcs > max_arcs

    @many
    @given(problems(), st.sampled_from([0.0, 3.0]))
    @pytest.mark.usefixtures("one_effort")
    def test_relaxed_coverage(self, problem: tuple[WordAutomaton, tuple[int, ...]], beta: float) -> None:
        orders = all_orders(*problem)
        result = search(*problem, beta=beta)
        assert result.proved
        same([h for h in result.cheapest(10**6) if h.cost <= result.cost + beta + 1e-9],
             [h for h in orders if h.cost <= orders[0].cost + beta + 1e-9])  # fmt: skip

    @many
    @given(problems(), st.sampled_from([1, 2, 8]))
    def test_beam_gives_true_orders_and_true_bounds(
        self, problem: tuple[WordAutomaton, tuple[int, ...]], beam: int
    ) -> None:
        automaton, counts = problem
        orders = all_orders(automaton, counts)
        result = search(automaton, counts, beam=beam, exact=False)
        assert not result.proved
        assert (result.paths is None) == (not orders)
        assert not orders or result.lower_bound <= orders[0].cost + 1e-9 <= result.cost + 2e-9
        for string in result.cheapest(50):
            assert Counter(string.tokens) == dict(zip(automaton.words, counts, strict=True))
            assert automaton.score(string.tokens) == pytest.approx(string.cost)


phrase_sets = st.dictionaries(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=3).map(tuple), st.integers(1, 9), min_size=2, max_size=12
)


class TestPhrases:
    """The whole language: Perm(Ω) ∩ P* ∩ G_Ω."""

    @many
    @given(phrase_sets, st.integers(0, 10**6), st.sampled_from(["", "phrase=1", "phrase=0.5,length1=1.25"]))
    def test_against_brute_force(self, phrases: dict[tuple[str, ...], int], seed: int, costs: str) -> None:
        counts = (2, 1, 2, 1)
        if costs:
            phrases = {**phrases, **{(word,): 1 for word in "abcd"}}
        model = random_automaton(seed, 4, 6, 0.0)
        closure = phrase_closure(PhraseSet.from_phrases(model.words, phrases), costs=parse_phrase_costs(costs))
        scored = [Hypothesis(h.tokens, h.cost + closure.score(h.tokens)) for h in all_orders(model, counts)]
        expected = sorted((h for h in scored if h.cost < INFINITY), key=lambda h: (round(h.cost, 9), h.tokens))
        result = search(intersect(closure, model), counts, beta=3.0)
        assert result.proved
        within = [h for h in expected if h.cost <= expected[0].cost + 3.0 + 1e-9]
        same([h for h in result.cheapest(10**6) if h.cost <= result.cost + 3.0 + 1e-9], within)

    @many
    @given(
        phrase_sets,
        st.integers(0, 10**6),
        st.sampled_from(["count=0.1", "phrase=0.7,length1=0.4,length2=0.13", "phrase=1.0,length1=2,count=0.1"]),
        st.sampled_from([0.0, 3.0]),
    )
    @pytest.mark.usefixtures("cuttings")
    def test_a_way_for_each_cutting_against_brute_force(
        self, phrases: dict[tuple[str, ...], int], seed: int, costs: str, beta: float
    ) -> None:
        """Soft costs that no deterministic automaton has room for: every order at its cheapest cutting, once."""
        counts = (2, 1, 2, 1)
        chosen = parse_phrase_costs(costs)
        model = random_automaton(seed, 4, 6, 0.0)
        closure = phrase_closure(PhraseSet.from_phrases(model.words, phrases), costs=chosen)
        cut_up = [Hypothesis(h.tokens, h.cost + cheapest_cutting(h.tokens, phrases, chosen))
                  for h in all_orders(model, counts)]  # fmt: skip
        expected = sorted((h for h in cut_up if h.cost < INFINITY), key=lambda h: (round(h.cost, 9), h.tokens))
        result = search(intersect(closure, model), counts, beta=beta)
        assert result.proved
        assert (result.paths is None) == (not expected)
        if not expected:
            return
        within = [h for h in expected if h.cost <= expected[0].cost + beta + 1e-9]
        same([h for h in result.cheapest(10**6) if h.cost <= result.cost + beta + 1e-9], within)
        lattice = result.lattice()
        assert lattice is not None
        listed = lattice.strings()
        assert len({h.tokens for h in listed}) == len(listed)
        known = {h.tokens: h.cost for h in expected}
        assert all(h.cost == pytest.approx(known[h.tokens], abs=1e-3) for h in listed)
        assert {h.tokens for h in listed} >= {h.tokens for h in within}

    @pytest.mark.parametrize("is_cut", [False, True])
    @many
    @given(
        phrase_sets, st.integers(0, 10**6), st.sampled_from(["", "phrase=1", "phrase=0.7,length1=0.4,count=0.1"]),
        st.integers(1, 3), st.sampled_from([0.0, 3.0]),
    )  # fmt: skip
    def test_overlapping_phrases_against_brute_force(
        self, is_cut: bool, phrases: dict[tuple[str, ...], int], seed: int, costs: str, overlap: int, beta: float
    ) -> None:
        """Every order at its cheapest chain, once, also where a word has more than two ways from a state."""
        counts = (2, 1, 2, 1)
        chosen, model = parse_phrase_costs(costs), random_automaton(seed, 4, 6, 0.0)
        with pytest.MonkeyPatch.context() as monkeypatch:
            if is_cut:
                monkeypatch.setattr(closure_module, "MAX_STATES", 0)
                no_room_for_deterministic_closures(monkeypatch)
            closure = phrase_closure(PhraseSet.from_phrases(model.words, phrases), costs=chosen, overlap=overlap)
        chained = [Hypothesis(h.tokens, h.cost + cheapest_chain(h.tokens, phrases, chosen, overlap))
                   for h in all_orders(model, counts)]  # fmt: skip
        expected = sorted((h for h in chained if h.cost < INFINITY), key=lambda h: (round(h.cost, 9), h.tokens))
        result = search(intersect(closure, model), counts, beta=beta)
        assert result.proved
        assert (result.paths is None) == (not expected)
        if expected:
            assert result.cost == pytest.approx(expected[0].cost, abs=1e-4)
            lattice = result.lattice()
            assert lattice is not None
            listed, known = lattice.strings(), {h.tokens: h.cost for h in expected}
            assert len({h.tokens for h in listed}) == len(listed)
            assert all(h.cost == pytest.approx(known[h.tokens], abs=1e-3) for h in listed)
            assert {h.tokens for h in listed} >= {h.tokens for h in expected if h.cost < expected[0].cost + beta - 1e-4}

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(phrase_sets, st.integers(0, 10**6), st.sampled_from(["abcd", "aabbcd", "aaabbccdd"]))
    def test_against_full_expansion_over_the_rtn(
        self, phrases: dict[tuple[str, ...], int], seed: int, tokens: str
    ) -> None:
        bag = Bag(tuple(tokens))
        left = Counter(tokens)
        rules = {phrase: count for phrase, count in phrases.items() if not Counter(phrase) - left}
        chosen = PhraseSet.from_phrases(bag.words, {**rules, ("a",): 1, ("b",): 1})
        model = random_automaton(seed, 4, 6, 0.0)
        result = search(intersect(phrase_closure(chosen, costs=PhraseCosts()), model), bag.counts, beta=1e3)
        expanded = ALGORITHMS["full"](PhraseGrammar(bag, chosen), model).lattice
        assert result.proved
        assert (result.paths is None) == (expanded is None)
        if expanded is not None:
            published = {h.tokens: h.cost for h in expanded.strings()}
            ours = {h.tokens: h.cost for h in result.cheapest(10**6)}
            assert ours.keys() == published.keys()
            assert all(ours[tokens] == pytest.approx(cost, abs=1e-3) for tokens, cost in published.items())

    @many
    @given(problems(), st.randoms(use_true_random=False))
    def test_the_numbers_of_words_and_states_mean_nothing(
        self, problem: tuple[WordAutomaton, tuple[int, ...]], rng: random.Random
    ) -> None:
        automaton, counts = problem
        words = rng.sample(range(len(counts)), len(counts))
        states = rng.sample(range(automaton.num_states), automaton.num_states)
        number = np.append(np.argsort(states), -1).astype(np.int32)
        shuffled = WordAutomaton(
            tuple(automaton.words[w] for w in words),
            int(number[automaton.start]),
            number[automaton.next_state[np.ix_(states, words)]],
            automaton.cost[np.ix_(states, words)],
            automaton.end_cost[states],
        )
        one = search(automaton, counts, beta=2.0)
        other = search(shuffled, [counts[w] for w in words], beta=2.0)
        assert other.cost == pytest.approx(one.cost)
        assert (other.nodes, other.arcs) == (one.nodes, one.arcs)
        assert {h.tokens for h in other.cheapest(10**6)} == {h.tokens for h in one.cheapest(10**6)}


def language_model_like(seed: int, words: int, length: int = 2) -> WordAutomaton:
    """The state is the last `length - 1` words; costs are those of a random text, so orders differ as in a language."""
    rng = np.random.default_rng(seed)
    histories = [h for n in range(length) for h in itertools.product(range(words), repeat=n)]
    number = {h: i for i, h in enumerate(histories)}
    next_state = [[number[(*h, w)[-(length - 1) :]] for w in range(words)] for h in histories]
    cost = rng.gamma(1.5, 3.0, size=(len(histories), words))
    names = tuple(f"w{i:03}" for i in range(words))
    return WordAutomaton(names, 0, np.array(next_state, np.int32), cost, rng.gamma(1.5, 3.0, size=len(histories)))


def is_order_of(tokens: tuple[str, ...], automaton: WordAutomaton, counts: list[int]) -> bool:
    return Counter(tokens) == Counter({w: c for w, c in zip(automaton.words, counts, strict=True) if c})


class TestLimits:
    def hard(self) -> tuple[WordAutomaton, list[int]]:
        return language_model_like(3, 24, 3), [1] * 24

    @pytest.mark.parametrize("limits", [{"memory_limit": 100_000}, {"work": Work(1e6)}, {"work": Work(0)}])
    def test_cut_short_is_an_answer_without_a_proof(self, limits: dict[str, Any]) -> None:
        automaton, counts = self.hard()
        result = search(automaton, counts, beta=30.0, **limits)
        assert not result.proved
        assert result.lower_bound <= result.cost
        best = result.cheapest(1)[0]
        assert is_order_of(best.tokens, automaton, counts)
        assert best.cost == pytest.approx(result.cost)
        beam = search(automaton, counts, exact=False)
        full = search(automaton, counts, beta=0.0)
        assert full.proved
        assert result.lower_bound <= full.cost + 1e-9
        assert full.cost <= beam.cost + 1e-9
        assert full.cost <= result.cost + 1e-9

    @pytest.mark.parametrize("seconds", [0.0, 1e-3, 0.01, 0.05])
    def test_a_deadline_leaves_the_best_order_so_far_and_says_so(self, seconds: float) -> None:
        automaton, counts = self.hard()
        result = search(automaton, counts, beta=60.0, work=Work(np.inf, seconds), memory_limit=1 << 40)
        assert result.timed_out
        assert not result.proved
        assert is_order_of(result.cheapest(1)[0].tokens, automaton, counts)
        assert result.lower_bound <= search(automaton, counts, beta=0.0).cost + 1e-9

    def test_steps_alone_decide(self) -> None:
        automaton, counts = self.hard()
        results = [search(automaton, counts, beta=30.0, work=Work(2e7, seconds)) for seconds in (1e6, np.inf)]
        assert not results[0].timed_out
        assert [r.cheapest(20) for r in results[:1]] == [r.cheapest(20) for r in results[1:]]
        assert results[0].lower_bound == results[1].lower_bound

    def test_too_large_a_beta_is_lowered_and_the_optimum_still_proved(self) -> None:
        automaton, counts = self.hard()
        wide = search(automaton, counts, beta=200.0, memory_limit=60_000_000)
        assert wide.proved
        assert 0 <= wide.beta < 200
        assert wide.cost == pytest.approx(search(automaton, counts, beta=0.0).cost)
        narrow = search(automaton, counts, beta=min(wide.beta, 1.0))
        strings = {h.tokens for h in narrow.cheapest(200) if h.cost <= narrow.cost + narrow.beta}
        assert strings <= {h.tokens for h in wide.cheapest(10**4)}

    @pytest.mark.parametrize(
        ("words", "count"), [(200, 1), (1, 200), (2, 100), (50, 4), (66, 3)], ids=lambda value: str(value)
    )
    def test_large_bags(self, words: int, count: int) -> None:
        automaton = language_model_like(7, words)
        counts = [count] * words
        result = search(automaton, counts, beta=0.5, work=Work(5e8), memory_limit=100_000_000)
        beam = search(automaton, counts, exact=False)
        assert result.cost <= beam.cost + 1e-9
        assert result.lower_bound <= result.cost + 1e-9
        best = result.cheapest(1)[0]
        assert is_order_of(best.tokens, automaton, counts)
        assert automaton.score(best.tokens) == pytest.approx(result.cost)

    def test_a_beam_of_dead_ends_is_widened(self) -> None:
        # Every order but one dies at its end: a last word that only one history allows, and that the table with no
        # tracked words cannot see.
        words = 6
        rng = random.Random(5)
        order = rng.sample(range(words), words)
        prefixes: dict[tuple[int, ...], int] = {(): 0}
        for permutation in itertools.permutations(range(words)):
            for length in range(1, words + 1):
                prefixes.setdefault(permutation[:length], len(prefixes))
        next_state = np.full((len(prefixes), words), -1, np.int32)
        for prefix, state in prefixes.items():
            if prefix:
                next_state[prefixes[prefix[:-1]], prefix[-1]] = state
        end_cost = np.full(len(prefixes), np.inf)
        end_cost[prefixes[tuple(order)]] = 0.0
        automaton = WordAutomaton(tuple("abcdef"), 0, next_state, np.where(next_state >= 0, 1.0, np.inf), end_cost)
        for result in (search(automaton, [1] * words, beam=1), search(automaton, [1] * words, beam=1, exact=False)):
            assert result.cheapest(2) == [Hypothesis(tuple("abcdef"[w] for w in order), 6.0)]


class TestEdges:
    def test_no_tokens(self) -> None:
        automaton = WordAutomaton((), 0, np.zeros((1, 0), np.int32), np.zeros((1, 0)), np.array([2.5]))
        result = search(automaton, [])
        assert (result.proved, result.cost) == (True, 2.5)
        assert result.cheapest(3) == [Hypothesis((), 2.5)]

    def test_a_word_that_is_not_used(self) -> None:
        automaton = random_automaton(4, 3, 3, 0.0)
        result = search(automaton, [1, 0, 2], beta=99)
        same(result.cheapest(99), all_orders(automaton, (1, 0, 2)))

    @pytest.mark.parametrize(
        ("counts", "options", "message"),
        [
            ([1], {}, "1 counts for an automaton over 2 words"),
            ([200, 100], {}, "a bag of 300 tokens"),
            ([1, -1], {}, "counts from 0"),
            ([1, 1], {"beam": 0}, "a beam of 0"),
            ([1, 1], {"beta": -1.0}, "β = -1.0"),
            ([1, 1], {"beta": math.nan}, "β = nan"),
            ([1, 1], {"max_arcs": 0}, "a limit of 0 arcs"),
        ],
    )
    def test_refuses(self, counts: list[int], options: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=message):
            search(random_automaton(1, 2, 2, 0.0), counts, **options)

    def test_nbest_of_none_is_refused(self) -> None:
        with pytest.raises(InputError, match="n = 0"):
            search_nbest(random_automaton(1, 2, 2, 0.0), [1, 1], 0)
