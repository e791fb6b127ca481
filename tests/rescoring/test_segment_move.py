"""Swaps of segments, against brute force over all of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton
from rescoring import segment_move
from rescoring.segment_move import (
    Guide,
    apply_swaps,
    best_swaps,
    guided_costs,
    junction_changes,
    make_guide,
    ngram_costs,
    rank_swaps,
)
from rescoring.word_table import WordTable

Order = tuple[int, ...]
EVERYTHING = 10**9


def random_automaton(words: int, rng: np.random.Generator, states: int = 7) -> WordAutomaton:
    next_state = rng.integers(0, states, (states, words)).astype(np.int32)
    costs = rng.gamma(2.0, 2.0, (states, words + 1))
    return WordAutomaton(tuple(f"w{w}" for w in range(words)), 0, next_state, costs[:, :-1], costs[:, -1])


def random_world(order: Order, seed: int) -> tuple[WordTable, WordAutomaton, Guide]:
    """A table that was taught some prefixes of permutations of the order."""
    rng = np.random.default_rng(seed)
    words = max(order, default=0) + 1
    table = WordTable(words)
    for _ in range(4):
        string = tuple(rng.permutation(order).tolist())
        prefixes = [string[:length] for length in range(len(string) + 1)]
        table.teach(prefixes, rng.gamma(2.0, 2.0, (len(prefixes), words + 1)).astype(np.float32))
    automaton = random_automaton(words, rng)
    return table, automaton, make_guide(table.arrays, automaton, 0.15)


def swap(order: Order, i: int, j: int, k: int, l: int) -> Order:  # noqa: E741
    return order[:i] + order[k:l] + order[j:k] + order[i:j] + order[l:]


def all_swaps(size: int) -> Iterator[tuple[int, int, int, int]]:
    for i, j, k, l in itertools.product(range(size + 1), repeat=4):  # noqa: E741
        if i < j <= k < l:
            yield i, j, k, l


def change_by_definition(table: WordTable, automaton: WordAutomaton, order: Order, a: int, b: int, m: int) -> float:
    """The change of cost of the m words from place b on when they follow the first a words."""

    def costs(prefix: Order, following: list[int]) -> list[float]:
        state, found = automaton.start, []
        for word in prefix:
            state = int(automaton.next_state[state, word])
        for word in following:
            is_end = word == len(automaton.words)
            ngram = automaton.end_cost[state] if is_end else automaton.cost[state, word]
            found.append(table.estimate(prefix, word) + 0.15 * float(ngram))
            if not is_end:
                prefix, state = (*prefix, word), int(automaton.next_state[state, word])
        return found

    words = [*order, len(automaton.words)][b : b + m]
    return sum(costs(order[:a], words)) - sum(costs(order[:b], words))


orders = st.lists(st.integers(0, 4), min_size=1, max_size=8).map(tuple)


@settings(max_examples=30)
@given(orders, st.integers(0, 1000))
def test_costs_of_strings_and_changes_at_junctions(order: Order, seed: int) -> None:
    table, automaton, guide = random_world(order, seed)
    strings = np.array([order, order[::-1]])
    ngram = [automaton.score([automaton.words[w] for w in string]) for string in strings]
    assert ngram_costs(guide, strings) == pytest.approx(ngram)
    steps = [
        sum(table.estimate(tuple(s[:place]), int(w)) for place, w in enumerate([*s, len(automaton.words)]))
        for s in strings.tolist()
    ]
    assert guided_costs(guide, strings) == pytest.approx(np.array(steps) + 0.15 * np.array(ngram))
    change = junction_changes(guide, np.array(order))
    for a, b, m in itertools.product(range(len(order) + 1), range(len(order) + 1), range(4)):
        assert change[a, b, m] == pytest.approx(change_by_definition(table, automaton, order, a, b, m), abs=1e-4)


def estimate_by_definition(change: NDArray[np.float64], size: int, i: int, j: int, k: int, l: int) -> float:  # noqa: E741
    """Each junction of the new order: what it follows, what follows it, and how long that stays together."""
    pieces = [(i, k, l - k), (l, j, k - j), (k, i, j - i), (j, l, size + 1 - l)]
    if j == k:
        pieces = [(i, k, l - k), (l, i, j - i), (j, l, size + 1 - l)]
    return float(sum(change[before, after, min(3, length)] for before, after, length in pieces))


@settings(max_examples=60)
@given(orders, st.integers(0, 1000), st.integers(1, 40))
def test_the_best_swaps_are_those_of_brute_force(order: Order, seed: int, most: int) -> None:
    _, _, guide = random_world(order, seed)
    size, change = len(order), junction_changes(guide, np.array(order))
    moves, totals = rank_swaps(change, np.array(order), most, EVERYTHING)
    expected = sorted(
        estimate_by_definition(change, size, i, j, k, l)
        for i, j, k, l in all_swaps(size)  # noqa: E741
        if order[i] != order[k] and order[j - 1] != order[l - 1]
    )
    assert totals == pytest.approx(expected[:most])
    assert len({tuple(move) for move in moves.tolist()}) == len(moves)
    for (i, j, k, l), total in zip(moves.tolist(), totals.tolist(), strict=True):  # noqa: E741
        assert i < j <= k < l <= size
        assert total == pytest.approx(estimate_by_definition(change, size, i, j, k, l))


@settings(max_examples=60)
@given(orders, st.integers(0, 1000))
def test_every_order_that_a_swap_can_make_is_made(order: Order, seed: int) -> None:
    """Leaving out swaps that repeat others loses none, and none makes the order itself."""
    _, _, guide = random_world(order, seed)
    strings = {tuple(row) for row in best_swaps(guide, np.array(order), 10_000).tolist()}
    assert strings == {swap(order, *places) for places in all_swaps(len(order))} - {order}


def test_the_orders_that_swaps_make() -> None:
    moves = np.array([(0, 1, 1, 2), (1, 3, 4, 5), (0, 2, 2, 6), (2, 3, 5, 6)])
    expected = [(1, 0, 2, 3, 4, 5), (0, 4, 3, 1, 2, 5), (2, 3, 4, 5, 0, 1), (0, 1, 5, 3, 4, 2)]
    assert apply_swaps(np.arange(6), moves).tolist() == [list(order) for order in expected]
    assert expected == [swap(tuple(range(6)), *move) for move in moves.tolist()]


@pytest.mark.parametrize("size", [0, 1, 2])
def test_the_smallest_orders(size: int) -> None:
    _, _, guide = random_world(tuple(range(size)), 3)
    made = best_swaps(guide, np.arange(size), 300)
    assert made.shape == (1 if size == 2 else 0, size)


def test_long_orders_are_bounded_by_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too small a count the best adjacent swaps are still all there, and 250 tokens are no trouble."""
    order = tuple(np.random.default_rng(5).permutation(250).tolist())
    _, _, guide = random_world(order, 5)
    words = np.array(order)
    change = junction_changes(guide, words)
    moves, totals = rank_swaps(change, words, 50, 0)
    assert all(j == k for _, j, k, _ in moves.tolist())
    _, better = rank_swaps(change, words, 50, segment_move.MOST_DISTANT)
    assert (better <= totals).all()
    assert better.sum() < totals.sum()
    monkeypatch.setattr(segment_move, "MOST_DISTANT", 0)
    assert best_swaps(guide, words, 50).tolist() == apply_swaps(words, moves).tolist()


def test_an_automaton_that_does_not_accept_everything_is_refused() -> None:
    automaton = WordAutomaton(("a",), 0, np.array([[-1]], np.int32), np.array([[np.inf]]), np.array([0.0]))
    with pytest.raises(InputError, match="does not accept every order"):
        make_guide(WordTable(1).arrays, automaton, 0.15)
