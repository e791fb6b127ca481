"""The compiled search against plain Python, a model's own scores, and the exact search."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison.ngram_beam.kernel import FULL, ROOM, Machine, Settings, run_beam
from comparison.ngram_beam.problem import bag_to_problem
from gyro.lattice.automaton import WordAutomaton
from gyro.search.exact import search
from gyro.text.annotated_bag import AnnotatedBag
from tests.comparison.ngram_beam.twin import automaton_step, is_made_of, plain_beam, walker_step
from tests.conftest import World

UNLIMITED = 1 << 20
Unit = tuple[str, ...]
Found = list[tuple[Unit, float]]


def bag_of(units: list[Unit]) -> AnnotatedBag:
    tokens = tuple(word for unit in units for word in unit)
    begin = np.cumsum([0, *map(len, units)]).tolist()
    places = tuple(tuple(range(a, b)) for a, b in pairwise(begin))
    return AnnotatedBag(tokens, units=places)


def found_by_kernel(
    units: list[Unit],
    automaton: WordAutomaton,
    beam: int,
    *,
    end: bool = False,
    future: Callable[[str], float] | None = None,
    recombine: bool = False,
) -> Found:
    problem = bag_to_problem(bag_of(units), future)
    end_cost = automaton.end_cost if end else np.zeros_like(automaton.end_cost)
    machine = Machine(automaton.start, automaton.next_state, automaton.cost, end_cost)
    strings, costs = run_beam(machine, problem.types, problem.size, problem.total_future, Settings(beam, recombine))
    return [
        (tuple(problem.words[w] for w in string), cost)
        for string, cost in zip(strings.tolist(), costs.tolist(), strict=True)
    ]


def random_automaton(words: list[str], seed: int, states: int = 4) -> WordAutomaton:
    """Costs are quarters: sums are exact, and many are equal."""
    dice = np.random.default_rng(seed)
    shape = (states, len(words))
    next_state = dice.integers(0, states, shape).astype(np.int32)
    return WordAutomaton(
        tuple(words), 1, next_state, dice.integers(0, 12, shape) / 4.0, dice.integers(0, 12, states) / 4.0
    )


units_of_bags = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(tuple), max_size=7)


@settings(max_examples=300)
@given(
    units=units_of_bags,
    seed=st.integers(0, 1000),
    beam=st.sampled_from([1, 2, 3, 5, 8, 20, UNLIMITED]),
    end=st.booleans(),
    has_future=st.booleans(),
    recombine=st.booleans(),
)
def test_equals_the_plain_beam(
    units: list[Unit], seed: int, beam: int, end: bool, has_future: bool, recombine: bool
) -> None:
    """The same strings in the same order at the same costs, ties included."""
    words = sorted({word for unit in units for word in unit})
    automaton = random_automaton(words, seed)
    costs = {"a": 0.5, "b": 1.25, "c": 2.0}
    twin = plain_beam(
        units,
        automaton.start,
        automaton_step(automaton),
        beam,
        end=automaton.end_cost.__getitem__ if end else lambda state: 0.0,
        future=costs.__getitem__ if has_future else lambda word: 0.0,
        recombine=recombine,
    )
    future = costs.__getitem__ if has_future else None
    assert found_by_kernel(units, automaton, beam, end=end, future=future, recombine=recombine) == twin


def some_bags(world: World, count: int, longest: int, seed: int) -> list[list[Unit]]:
    """Sentences cut at random into units of one to three words, shuffled."""
    dice = random.Random(seed)
    bags = []
    sentences = [sentence for sentence in world.held_out if 1 < len(sentence) <= longest]
    while len(bags) < count:
        sentence, units = tuple(dice.choice(sentences)), []
        while sentence:
            length = dice.choice((1, 1, 1, 2, 3))
            units.append(sentence[:length])
            sentence = sentence[length:]
        bags.append(dice.sample(units, len(units)))
    return bags


@pytest.mark.parametrize("has_future", [False, True])
@pytest.mark.parametrize("recombine", [False, True])
def test_equals_a_plain_beam_that_walks_the_model(world: World, has_future: bool, recombine: bool) -> None:
    """The costs of strings are KenLM's; those of words are equal to the last bit, so ties come in the same order."""
    future = (lambda word: 1.0 + len(word) / 3) if has_future else (lambda word: 0.0)
    for units in some_bags(world, 12, 14, seed=5):
        words = sorted({word for unit in units for word in unit})
        automaton = world.model.acceptor(words)
        walker = world.model.walkers()(words)
        twin = plain_beam(units, walker.start, walker_step(walker, words), 8, future=future, recombine=recombine)
        found = found_by_kernel(units, automaton, 8, future=future, recombine=recombine)
        assert [string for string, _ in found] == [string for string, _ in twin]
        for string, cost in found:
            assert cost == pytest.approx(world.model.score(string, eos=False), abs=1e-4)


def test_an_unlimited_beam_with_the_end_has_the_optimum_of_the_exact_search(world: World) -> None:
    sentences = [s for s in world.held_out if 2 <= len(s) <= 6][:25]
    for sentence in sentences:
        units = [(word,) for word in sentence]
        bag = bag_of(units)
        automaton = world.model.acceptor(bag.words)
        best = search(automaton, bag.counts)
        assert best.proved
        for recombine in (False, True):
            found = found_by_kernel(units, automaton, UNLIMITED, end=True, recombine=recombine)
            assert found[0][1] == pytest.approx(best.cost, abs=1e-9)
            if not recombine:
                assert len({string for string, _ in found}) == len(found) == len(set(permutations(sentence)))


def test_an_unlimited_beam_has_all_orders_of_units_at_the_costs_of_the_model(world: World) -> None:
    for units in some_bags(world, 20, 8, seed=6):
        orders = {sum(order, ()) for order in permutations(units)} if len(units) <= 6 else set()
        automaton = world.model.acceptor(sorted({word for unit in units for word in unit}))
        found = found_by_kernel(units, automaton, UNLIMITED, end=True) if orders else []
        assert {string for string, _ in found} == orders
        for string, cost in found:
            assert cost == pytest.approx(world.model.score(string), abs=1e-4)
        assert [cost for _, cost in found] == sorted(cost for _, cost in found)


@pytest.mark.parametrize("has_future", [False, True])
def test_recombination_loses_nothing_of_an_unlimited_beam(world: World, has_future: bool) -> None:
    future = len if has_future else None
    for units in some_bags(world, 20, 7, seed=7):
        automaton = world.model.acceptor(sorted({word for unit in units for word in unit}))
        all_orders = found_by_kernel(units, automaton, UNLIMITED, future=future)
        joined = found_by_kernel(units, automaton, UNLIMITED, future=future, recombine=True)
        assert joined[0][1] == pytest.approx(all_orders[0][1], abs=1e-9)
        assert len(joined) <= min(automaton.num_states, len(all_orders))


@pytest.mark.parametrize(("beam", "size"), [(ROOM // FULL - 3, 20), (ROOM // FULL, 20), (3 * ROOM, 11)])
def test_a_row_with_more_candidates_than_room_is_thinned_and_loses_nothing(beam: int, size: int) -> None:
    """Costs of many equal values, so that ties are cut too."""
    words = [f"w{i:02}" for i in range(size)]
    units: list[Unit] = [*((word,) for word in words), (words[0], words[1]), (words[2],)]
    automaton = random_automaton(words, seed=3)
    assert found_by_kernel(units, automaton, beam) == plain_beam(units, 1, automaton_step(automaton), beam)


def test_units_hold_and_outputs_are_permutations_in_1000_random_bags(world: World) -> None:
    for units in some_bags(world, 1000, 20, seed=8):
        automaton = world.model.acceptor(sorted({word for unit in units for word in unit}))
        for string, _ in found_by_kernel(units, automaton, 4, future=len):
            assert is_made_of(string, Counter(units))


def test_bags_of_250_tokens(world: World) -> None:
    text = [word for sentence in world.held_out for word in sentence][:250]
    units = [tuple(text[at : at + 1 + at % 3]) for at in range(0, 250, 3)]
    units += [(word,) for at in range(0, 250, 3) for word in text[at + 1 + at % 3 : at + 3]]
    automaton = world.model.acceptor(sorted(set(text)))
    (best, cost), *others = found_by_kernel(units, automaton, 64, future=len)
    assert sorted(best) == sorted(text)
    assert len(others) == 63
    assert cost == pytest.approx(world.model.score(best, eos=False), abs=1e-3)


def test_what_the_automaton_does_not_accept_is_no_hypothesis() -> None:
    """`a` may not follow `b`, and `c` costs infinitely much at the start."""
    next_state = np.array([[0, 1, 0], [-1, 1, 1]], np.int32)
    cost = np.array([[1.0, 2.0, np.inf], [np.inf, 1.0, 0.0]])
    automaton = WordAutomaton(("a", "b", "c"), 0, next_state, cost, np.zeros(2))
    assert found_by_kernel([("a",), ("b",)], automaton, 9) == [(("a", "b"), 3.0)]
    assert found_by_kernel([("a",), ("b",), ("c",)], automaton, 9) == [(("a", "b", "c"), 3.0)]
    assert found_by_kernel([("b", "a")], automaton, 9) == []
