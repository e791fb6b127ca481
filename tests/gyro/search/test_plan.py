"""The exact search of bags with constraints against brute force over all choices and orders of tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.lattice import Hypothesis
from gyro.search import exact
from gyro.search.exact import search, search_nbest
from gyro.search.plan import make_plan
from gyro.search.work import Work
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from gyro.text.bag_file import record_to_bag
from tests.gyro.search.constraint_problems import allowed_orders, constrained
from tests.gyro.search.problems import INFINITY, random_automaton, same

some = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
Problem = tuple[AnnotatedBag, WordAutomaton]


def over_words_of(bag: Bag, seed: int, states: int, missing: float) -> WordAutomaton:
    return replace(random_automaton(seed, len(bag.words), states, missing), words=bag.words)


def all_allowed(problem: Problem) -> list[Hypothesis]:
    bag, automaton = problem
    scored = (Hypothesis(order, automaton.score(order)) for order in allowed_orders(bag))
    return sorted((h for h in scored if h.cost < INFINITY), key=lambda h: (round(h.cost, 9), h.tokens))


@st.composite
def problems(draw: st.DrawFn, kinds: str = "units order positions optional counts choices") -> Problem:
    bag = draw(constrained(kinds))
    missing = draw(st.sampled_from([0.0, 0.0, 0.3]))
    return bag, over_words_of(bag, draw(st.integers(0, 10**6)), draw(st.integers(1, 6)), missing)


class TestAgainstBruteForce:
    @some
    @given(problems(), st.sampled_from([0.0, 2.0, 100.0]), st.sampled_from([1, 64]))
    def test_all_strings_within_beta(self, problem: Problem, beta: float, beam: int) -> None:
        bag, automaton = problem
        expected = all_allowed(problem)
        result = search(automaton, bag.counts, beta=beta, beam=beam, plan=make_plan(bag))
        assert result.proved
        if not expected:
            assert result.paths is None
            return
        assert result.cost == pytest.approx(expected[0].cost)
        within = [h for h in expected if h.cost <= expected[0].cost + beta + 1e-9]
        strings = result.cheapest(10**6)
        same([h for h in strings if h.cost <= result.cost + beta + 1e-9], within)
        known = {h.tokens: h.cost for h in expected}
        assert all(h.cost == pytest.approx(known[h.tokens]) for h in strings)
        lattice = result.lattice()
        assert lattice is not None
        listed = {h.tokens: h.cost for h in lattice.nbest(10**6)}
        assert listed == {tokens: pytest.approx(known[tokens], abs=1e-4) for tokens in listed}
        assert set(listed) >= {h.tokens for h in within if h.cost < result.cost + beta - 1e-4}
        assert len(listed) == len(lattice.nbest(10**6))

    @some
    @given(problems(), st.integers(1, 40))
    def test_the_cheapest_orders(self, problem: Problem, n: int) -> None:
        bag, automaton = problem
        found = search_nbest(automaton, bag.counts, n, plan=make_plan(bag))
        assert found.proved
        same(found.hypotheses, all_allowed(problem)[:n])

    @some
    @given(problems(), st.sampled_from([1, 3, 64]))
    def test_the_beam_keeps_to_the_constraints(self, problem: Problem, beam: int) -> None:
        bag, automaton = problem
        known = {h.tokens: h.cost for h in all_allowed(problem)}
        result = search(automaton, bag.counts, beta=100.0, beam=beam, exact=False, plan=make_plan(bag))
        strings = result.cheapest(10**6)
        assert {h.tokens: h.cost for h in strings} == {h.tokens: pytest.approx(known[h.tokens]) for h in strings}
        assert result.lower_bound <= min(known.values(), default=INFINITY) + 1e-9
        assert strings or not known or beam < 64

    @some
    @given(problems(), st.integers(0, 3))
    def test_no_table_is_above_the_truth(self, problem: Problem, tracked: int) -> None:
        """With any words tracked, the bound at the start is at most the cheapest order."""
        bag, automaton = problem
        plan, known = make_plan(bag), all_allowed(problem)
        if plan is None or not known:
            return
        space = plan.space(automaton)
        prices = exact.find_prices(space, 8)
        machine = exact.make_machine(space, prices.price, prices.order[:tracked])
        offset = float((prices.price * space.counts).sum())
        assert machine.table[0, space.start] + offset <= known[0].cost + 1e-9
        assert prices.value <= known[0].cost + 1e-3

    @settings(parent=some, max_examples=30)
    @given(problems("order units"), st.integers(1, 30))
    def test_a_limit_on_arcs(self, problem: Problem, most: int) -> None:
        bag, automaton = problem
        known = {h.tokens: h.cost for h in all_allowed(problem)}
        result = search(automaton, bag.counts, max_arcs=most, plan=make_plan(bag))
        for hypothesis in result.cheapest(100):
            assert hypothesis.cost == pytest.approx(known[hypothesis.tokens])
        assert result.arcs <= most or len(result.cheapest(2)) == 1


@pytest.mark.parametrize("size", [30, 70])
def test_what_needs_many_bits(size: int) -> None:
    """Coverages of several machine words: with all but one order ruled out, that one is found."""
    tokens = [f"w{number:02}" for number in range(size)]
    bag = record_to_bag(
        {
            "tokens": tokens,
            "order": [[*range(0, size - 10, 3)], [*range(10)]],
            "units": [[number, number + 1, number + 2] for number in range(9, size - 11, 3)],
            "positions": [[number, number + 1] for number in range(size - 13, size)],
        },
        1,
    )
    plan = make_plan(bag)
    automaton = over_words_of(bag, 3, 4, 0.0)
    result = search(automaton, bag.counts, beta=0.0, plan=plan)
    assert result.proved
    assert [h.tokens for h in result.cheapest(3)] == [tuple(tokens)]
    assert result.cost == pytest.approx(automaton.score(tokens))


@pytest.mark.parametrize(
    ("given", "strings"),
    [
        ({"tokens": "a b c", "units": [[2, 0]], "positions": [[1, -1]]}, {"c a b"}),
        ({"tokens": "a a b", "units": [[0, 2]]}, {"a a b", "a b a"}),
        ({"tokens": "a b c", "choices": [[[0, 1, 2], 2]], "order": [[2, 1, 0]]}, {"b a", "c a", "c b"}),
        ({"tokens": "a b", "optional": [0, 1], "positions": [[0, -1], [1, -2]]}, {"", "a", "b a"}),
        ({"tokens": "a b", "counts": [2, 1], "order": [[0, 1]]}, {"a b", "a a b"}),
        ({"tokens": "a b a", "positions": [[0, 1], [1, 2]]}, {"a b a"}),
        ({"tokens": "a b a", "optional": [2], "positions": [[0, 3]]}, {"a b a", "b a a"}),
        ({"tokens": "a a", "positions": [[1, 1], [1, -1]]}, set()),
        ({"tokens": "a a a", "positions": [[1, 1], [2, 1]]}, set()),
        ({"tokens": "a b b", "choices": [[[0, 1], 1]], "positions": [[2, 1]]}, {"b a", "b b"}),
    ],
)
def test_small_examples(given: dict[str, Any], strings: set[str]) -> None:
    bag = record_to_bag(given, 1)
    result = search(over_words_of(bag, 1, 1, 0.0), bag.counts, beta=1000.0, plan=make_plan(bag))
    assert {" ".join(h.tokens) for h in result.cheapest(100)} == strings
    assert result.proved


def test_a_bag_without_constraints_has_no_plan() -> None:
    assert make_plan(Bag(("a", "b"))) is None
    assert make_plan(AnnotatedBag(("a", "b"), pos=("X", None))) is None


def test_too_many_uses_are_refused() -> None:
    bag = AnnotatedBag(("a", "b"), count_limits=(250, 1))
    with pytest.raises(InputError, match="found a bag of 251 tokens; 250 can be ordered whole"):
        search(over_words_of(bag, 1, 1, 0.0), bag.counts, plan=make_plan(bag))


def test_without_steps_the_order_still_keeps_to_the_constraints() -> None:
    tokens = [f"w{number:02}" for number in range(16)]
    bag = record_to_bag({"tokens": tokens, "order": [[15, 0], [14, 1]], "positions": [[7, -1]], "optional": [3]}, 1)
    result = search(over_words_of(bag, 5, 40, 0.0), bag.counts, work=Work(1e6), plan=make_plan(bag))
    assert not result.proved
    best = result.cheapest(1)[0]
    assert result.lower_bound <= best.cost
    assert best.tokens[-1] == "w07"
    assert best.tokens.index("w15") < best.tokens.index("w00")
    assert best.tokens.index("w14") < best.tokens.index("w01")
