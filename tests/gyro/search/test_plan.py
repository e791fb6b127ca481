"""The exact search of bags with constraints against brute force."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gyro.lattice.lattice import Hypothesis
from gyro.search import exact
from gyro.search.exact import search
from gyro.search.plan import make_plan
from gyro.text.annotated_bag import AnnotatedBag
from tests.gyro.search.constraint_problems import allowed_orders, constrained
from tests.gyro.search.problems import INFINITY, random_automaton, same

some = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def all_allowed(bag: AnnotatedBag, automaton: exact.WordAutomaton) -> list[Hypothesis]:
    scored = (Hypothesis(order, automaton.score(order)) for order in allowed_orders(bag))
    return sorted((h for h in scored if h.cost < INFINITY), key=lambda h: (round(h.cost, 9), h.tokens))


@st.composite
def problems(
    draw: st.DrawFn, kinds: str = "units order positions optional counts choices"
) -> tuple[AnnotatedBag, exact.WordAutomaton]:
    bag = draw(constrained(kinds))
    missing = draw(st.sampled_from([0.0, 0.0, 0.3]))
    automaton = random_automaton(draw(st.integers(0, 10**6)), len(bag.words), draw(st.integers(1, 6)), missing)
    return bag, exact.WordAutomaton(
        bag.words, *[getattr(automaton, n) for n in ("start", "next_state", "cost", "end_cost")]
    )


@some
@given(problems(), st.sampled_from([0.0, 2.0, 100.0]), st.sampled_from([1, 64]))
def test_all_strings_within_beta(problem: tuple[AnnotatedBag, exact.WordAutomaton], beta: float, beam: int) -> None:
    bag, automaton = problem
    expected = all_allowed(bag, automaton)
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
    listed = [h for h in lattice.nbest(10**6) if h.cost <= result.cost + beta + 1e-6]
    assert sorted(h.tokens for h in listed) >= sorted(h.tokens for h in within if h.cost <= result.cost + beta - 1e-5)
    assert {h.tokens for h in lattice.nbest(10**6)} <= set(known)
