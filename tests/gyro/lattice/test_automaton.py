"""Word automata: scoring, intersection and trimming."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton, intersect, trim

INFINITY = float("inf")


@st.composite
def automata(draw: st.DrawFn, words: int = 3) -> WordAutomaton:
    states = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    missing = draw(st.sampled_from([0.0, 0.3, 0.7]))
    next_state = rng.integers(0, states, size=(states, words)).astype(np.int32)
    next_state[rng.random(next_state.shape) < missing] = -1
    cost = np.where(next_state >= 0, rng.random(next_state.shape), np.inf)
    end_cost = np.where(rng.random(states) < missing, np.inf, rng.random(states))
    return WordAutomaton(tuple("abc"[:words]), int(rng.integers(states)), next_state, cost, end_cost)


def short_strings(words: tuple[str, ...], longest: int = 5) -> list[tuple[str, ...]]:
    return [string for n in range(longest + 1) for string in itertools.product(words, repeat=n)]


@settings(max_examples=80, deadline=None)
@given(automata(), automata())
def test_intersection_adds_the_costs(a: WordAutomaton, b: WordAutomaton) -> None:
    both = intersect(a, b)
    for string in short_strings(a.words):
        assert both.score(string) == pytest.approx(a.score(string) + b.score(string))


@settings(max_examples=80, deadline=None)
@given(automata(), automata())
def test_states_of_an_intersection_are_all_of_use_and_numbered_breadth_first(
    a: WordAutomaton, b: WordAutomaton
) -> None:
    both = intersect(a, b)
    order = [0]
    for state in order:
        order.extend(t for t in dict.fromkeys(both.next_state[state].tolist()) if t >= 0 and t not in order)
    assert order == list(range(both.num_states))
    ends = {s for s in order if both.end_cost[s] < INFINITY}
    for _ in order:
        ends |= {s for s in order if ends & set(both.next_state[s].tolist())}
    assert len(ends) == both.num_states or both.num_states == 1
    assert ((both.next_state < 0) == np.isinf(both.cost)).all()


def test_an_arc_of_infinite_cost_is_no_arc() -> None:
    loop = WordAutomaton(("a",), 0, np.zeros((1, 1), np.int32), np.array([[np.inf]]), np.zeros(1))
    free = WordAutomaton(("a",), 0, np.zeros((1, 1), np.int32), np.zeros((1, 1)), np.zeros(1))
    assert intersect(loop, free).next_state.tolist() == [[-1]]


def test_an_empty_language_is_one_state_without_arcs() -> None:
    loop = WordAutomaton(("a",), 0, np.array([[1], [0]], np.int32), np.zeros((2, 1)), np.full(2, np.inf))
    empty = trim(loop)
    assert empty.next_state.tolist() == [[-1]]
    assert empty.end_cost.tolist() == [INFINITY]


def test_a_large_intersection_grows() -> None:
    def cycle(length: int) -> WordAutomaton:
        next_state = ((np.arange(length) + 1) % length).astype(np.int32).reshape(-1, 1)
        end_cost = np.where(np.arange(length) == 0, 0.0, np.inf)
        return WordAutomaton(("a",), 0, next_state, np.ones((length, 1)), end_cost)

    both = intersect(cycle(89), cycle(97))
    assert both.num_states == 89 * 97
    assert both.score(("a",) * (89 * 97)) == 2 * 89 * 97
    assert both.score(("a",) * 97) == INFINITY


def test_different_words_are_refused() -> None:
    a = WordAutomaton(("a",), 0, np.zeros((1, 1), np.int32), np.zeros((1, 1)), np.zeros(1))
    b = WordAutomaton(("b",), 0, np.zeros((1, 1), np.int32), np.zeros((1, 1)), np.zeros(1))
    with pytest.raises(InputError, match="different words"):
        intersect(a, b)


def test_score_of_an_unknown_word_is_infinite() -> None:
    a = WordAutomaton(("a",), 0, np.zeros((1, 1), np.int32), np.full((1, 1), 2.0), np.ones(1))
    assert a.score(["a", "a"]) == 5.0
    assert a.score(("z",)) == INFINITY
