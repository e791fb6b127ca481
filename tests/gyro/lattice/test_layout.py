"""Layouts: lines that cross no more than they must, distances that are kept, words that nothing covers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyro.lattice import layout
from gyro.lattice.drawing import SIZES as DRAWN
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.lattice.layout import Layout, Line, Sizes, lay_out
from gyro.report.lattice import SIZES as SMALL

SIZES = Sizes(radius=1, state_gap=10, bend_gap=6, letter_width=2, label_height=3, beside_word=5, least_column=9)


def line_between(lines: tuple[Line, ...], source: int, target: int) -> Line:
    return next(line for line in lines if (line.source, line.target) == (source, target))


def test_two_chains_that_need_not_cross_do_not() -> None:
    # 0 → 1, 2; 1 → 4; 2 → 3: in the order of their numbers, the last arcs would cross.
    layers = [[0], [1, 2], [3, 4], [5]]
    before = {1: [0], 2: [0], 3: [2], 4: [1], 5: [3, 4], 0: []}
    after = {0: [1, 2], 1: [4], 2: [3], 3: [5], 4: [5], 5: []}
    assert layout._crossings(layers, after) == 1
    assert layout._crossings(layout._ordered(layers, before, after), after) == 0


def test_heights_keep_the_order_and_the_distances() -> None:
    wish = np.array([3.0, 1.0, 2.0, 5.0])
    assert layout._ascending(wish).tolist() == [2.0, 2.0, 2.0, 5.0]


def test_states_stand_in_columns() -> None:
    """A column is as wide as its longest word and what is beside it, or the least width."""
    found = lay_out([0, 1, 1], ["ab", "abcdef", "x"], [1, 2, 3], SIZES)
    xs = {state: x for state, (x, _) in found.states.items()}
    assert xs == {0: 0.0, 1: 9.0, 2: 9.0 + 12 + 5, 3: 9.0 + 12 + 5}
    assert abs(found.states[2][1] - found.states[3][1]) == 10
    assert (found.left, found.right) == (0.0, xs[3])
    assert found.bottom - found.top == 10


def test_steep_lines_have_more_room() -> None:
    """Four states below each other: from their middle to the words of the outer ones a line climbs by more than 3."""
    found = lay_out([0] * 4, list("abcd"), [1, 2, 3, 4], SIZES)
    outer = next(line for line in found.lines if line.target == 1)
    climb = max(abs(outer.label[1] - found.states[end][1]) for end in (0, 1))
    assert climb > 3
    assert found.right == pytest.approx(9 + (climb - 3) / 2)


def test_a_line_that_jumps_over_a_column_has_a_bend() -> None:
    found = lay_out([0, 1, 0], ["a", "b", "c"], [1, 2, 2], SIZES)
    long = line_between(found.lines, 0, 2)
    ends = [piece[-1] for piece in long.pieces]
    assert [piece[0] for piece in long.pieces[1:]] == ends[:-1]
    [bend_y] = [y for x, y in ends if x == found.states[1][0]]
    assert abs(bend_y - found.states[1][1]) >= 6
    assert long.label[0] < found.states[1][0]
    assert {*found.states} == {0, 1, 2}


def test_lines_end_beside_their_states_on_a_level() -> None:
    found = lay_out([0, 0, 1, 2], ["a", "b", "c", "d"], [1, 2, 3, 3], SIZES)
    for line in found.lines:
        (x, y), (last_x, last_y) = line.pieces[0][0], line.pieces[-1][-1]
        assert (x - 1, y) == found.states[line.source]
        assert (last_x + 1, last_y) == pytest.approx(found.states[line.target])
        for (_, y), (_, left_y), (_, right_y), (_, last_y) in line.pieces:
            assert (left_y, right_y) == (y, last_y)


def test_arcs_with_the_same_ends_are_one_line() -> None:
    found = lay_out([0, 0, 1], ["a", "long", "c"], [1, 1, 2], SIZES, best={1, 2})
    assert [(line.source, line.arcs, line.is_best) for line in found.lines] == [(0, (0, 1), True), (1, (2,), True)]


def test_the_best_path_comes_first() -> None:
    found = lay_out([0, 0, 1, 2], ["a", "b", "c", "d"], [1, 2, 3, 3], SIZES, best={1, 3})
    assert [line.arcs for line in found.lines[:2]] == [(1,), (3,)]


EIGHTEEN = "we will not make the same promises to you that others have made , or so I think"

Box = tuple[float, float, float, float]  # left, top, right, bottom


def boxes(found: Layout, words: Sequence[str], sizes: Sizes) -> tuple[list[Box], list[Box]]:
    """The room that the words of each line take up, and that of each state."""
    labels = []
    for line in found.lines:
        (x, y), wide = line.label, sizes.letter_width * max(len(words[arc]) for arc in line.arcs) / 2
        high = sizes.label_height * len(line.arcs) / 2
        labels.append((x - wide, y - high, x + wide, y + high))
    around = [
        (x - sizes.radius, y - sizes.radius, x + sizes.radius, y + sizes.radius) for x, y in found.states.values()
    ]
    return labels, around


def overlap(one: Box, other: Box) -> bool:
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across > 1e-6 and down > 1e-6


def points(line: Line) -> list[tuple[float, float]]:
    """Some points of the curves of a line."""
    found = []
    for piece in line.pieces:
        for t in np.linspace(0, 1, 9):
            weights = np.array([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
            x, y = (weights @ np.array(piece)).tolist()
            found.append((x, y))
    return found


def check_nothing_is_covered(lattice: Lattice, sizes: Sizes) -> None:
    """No word covers another or a state, and no line goes through a word of another."""
    source, word, target, *_ = lattice.to_arrays()
    words = [lattice.words[number] for number in word.tolist()]
    found = lay_out(source.tolist(), words, target.tolist(), sizes)
    labels, states = boxes(found, words, sizes)
    assert not any(overlap(one, other) for one, other in combinations(labels, 2))
    assert not any(overlap(label, state) for label in labels for state in states)
    for own, line in enumerate(found.lines):
        others = [box for number, box in enumerate(labels) if number != own]
        for x, y in points(line):
            assert not any(box[0] + 1e-6 < x < box[2] - 1e-6 and box[1] < y < box[3] for box in others)


def orders_lattice(tokens: Sequence[str], orders: Sequence[Sequence[str]]) -> Lattice:
    strings = [Hypothesis(tuple(order), float(cost)) for cost, order in enumerate(orders)]
    return Lattice.from_strings(sorted({*tokens}), strings)


@pytest.mark.parametrize("seed", range(4))
def test_ten_orders_of_eighteen_words(seed: int) -> None:
    """Each order turns some words of the one before it: lines cross, and jump over columns."""
    dice = random.Random(seed)
    tokens = EIGHTEEN.split()
    assert len(tokens) == 18
    orders = [tokens]
    while len(orders) < 10:
        order = list(orders[-1])
        start = dice.randrange(17)
        end = start + dice.randrange(2, 8)
        order[start:end] = dice.sample(order[start:end], len(order[start:end]))
        orders += [order] if order not in orders else []
    lattice = orders_lattice(tokens, orders)
    assert len(lattice.nbest(20)) == 10
    check_nothing_is_covered(lattice, DRAWN)
    check_nothing_is_covered(lattice, SMALL)


@settings(max_examples=25)
@given(st.lists(st.permutations(["a", "bb", "ccc", "a-longer-word", "e"]), min_size=1, max_size=8, unique_by=tuple))
def test_words_are_never_covered(orders: list[list[str]]) -> None:
    check_nothing_is_covered(orders_lattice(orders[0], orders), DRAWN)


def test_several_words_of_one_line() -> None:
    """They stand one below the other, and have their room."""
    lattice = Lattice.from_strings(["a", "b", "c"], [Hypothesis((one, two), 1.0) for one in "abc" for two in "abc"])
    check_nothing_is_covered(lattice, DRAWN)
    assert len(lattice.minimal().to_arrays()[0]) == 6
    check_nothing_is_covered(lattice.minimal(), DRAWN)


def test_a_state_alone() -> None:
    found = lay_out([], [], [], SIZES)
    assert found.states == {0: (0.0, 0.0)}
    assert found.lines == ()
