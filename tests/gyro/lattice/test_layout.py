"""Layouts: lines that cross no more than they must, distances that are kept, words beside each other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from gyro.lattice import layout
from gyro.lattice.layout import Line, Sizes, lay_out

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
    assert (found.left, found.right) == (0.0, 26.0)
    assert found.bottom - found.top == 10


def test_a_line_that_jumps_over_a_column_has_a_bend() -> None:
    found = lay_out([0, 1, 0], ["a", "b", "c"], [1, 2, 2], SIZES)
    long = line_between(found.lines, 0, 2)
    assert len(long.pieces) == 2
    assert long.pieces[0][-1] == long.pieces[1][0]
    bend_x, bend_y = long.pieces[0][-1]
    assert bend_x == found.states[1][0]
    assert abs(bend_y - found.states[1][1]) >= 6
    assert {*found.states} == {0, 1, 2}


def test_lines_end_beside_their_states_on_a_level() -> None:
    found = lay_out([0, 0, 1, 2], ["a", "b", "c", "d"], [1, 2, 3, 3], SIZES)
    for line in found.lines:
        (x, y), (_, left_y), (_, right_y), (last_x, last_y) = line.pieces[0]
        assert (x - 1, y) == found.states[line.source]
        assert (last_x + 1, last_y) == pytest.approx(found.states[line.target])
        assert (left_y, right_y) == (y, last_y)


def test_arcs_with_the_same_ends_are_one_line() -> None:
    found = lay_out([0, 0, 1], ["a", "long", "c"], [1, 1, 2], SIZES, best={1, 2})
    assert [(line.source, line.arcs, line.is_best) for line in found.lines] == [(0, (0, 1), True), (1, (2,), True)]


def test_the_best_path_chooses_first() -> None:
    """Its lines come first, and its words stand in the middle of them."""
    found = lay_out([0, 0, 1, 2], ["a", "b", "c", "d"], [1, 2, 3, 3], SIZES, best={1, 3})
    assert [line.arcs for line in found.lines[:2]] == [(1,), (3,)]
    for line in found.lines[:2]:
        (x, y), *_, (last_x, last_y) = line.pieces[0]
        assert line.label == pytest.approx(((x + last_x) / 2, (y + last_y) / 2))


def test_words_do_not_cover_each_other() -> None:
    """All orders of two words after each of two: the middles of the crossing lines are in one place."""
    found = lay_out([0, 0, 1, 1, 2, 2], list("abcdef"), [1, 2, 3, 4, 3, 4], SIZES)
    labels = [line.label for line in found.lines]
    assert all(abs(a[0] - b[0]) >= 2 or abs(a[1] - b[1]) >= 3 for a, b in combinations(labels, 2))


def test_a_state_alone() -> None:
    found = lay_out([], [], [], SIZES)
    assert found.states == {0: (0.0, 0.0)}
    assert found.lines == ()
