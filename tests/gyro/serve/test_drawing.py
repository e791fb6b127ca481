"""Drawings hold the orders that they are of, and nothing else."""

from __future__ import annotations

import re
from itertools import permutations

import pytest

from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.serve.drawing import Drawing, Weighted, draw_lattice, draw_orders

WORDS = ("a", "b", "c", "d")
STRINGS = [Hypothesis(order, float(cost)) for cost, order in enumerate(permutations(WORDS))]


def strings_of(drawing: Drawing) -> set[tuple[str, ...]]:
    """All strings from the start to a final state, found by walking."""
    found, walks = set(), [(0, ())]
    while walks:
        state, words = walks.pop()
        if drawing.states[state].final:
            found.add(words)
        walks += [(arc.target, (*words, arc.word)) for arc in drawing.arcs if arc.source == state]
    return found


@pytest.mark.parametrize("n", [1, 2, 7, 24])
def test_the_drawing_has_the_n_best_orders(n: int) -> None:
    drawing = draw_lattice(Lattice.from_strings(WORDS, STRINGS), n)
    assert strings_of(drawing) == {each.tokens for each in STRINGS[:n]}
    assert [(tuple(order.tokens), order.cost) for order in drawing.orders] == STRINGS[:n]
    assert [tuple(order.tokens) for order in drawing.others] == [each.tokens for each in STRINGS[n:]]


def test_orders_and_arcs_know_each_other() -> None:
    drawing = draw_lattice(Lattice.from_strings(WORDS, STRINGS), 9)
    for number, order in enumerate(drawing.orders):
        arcs = [drawing.arcs[k] for k in order.arcs]
        assert [arc.word for arc in arcs] == order.tokens
        assert [arc.source for arc in arcs] == [0, *(arc.target for arc in arcs[:-1])]
        assert drawing.states[arcs[-1].target].final
        assert {k for k, arc in enumerate(drawing.arcs) if number in arc.orders} == set(order.arcs)
    assert sorted(k for line in drawing.lines for k in line.arcs) == list(range(len(drawing.arcs)))


def test_all_is_within_the_box_and_lines_go_from_state_to_state() -> None:
    drawing = draw_lattice(Lattice.from_strings(WORDS, STRINGS), 24)
    for x, y in [(s.x, s.y) for s in drawing.states] + [(line.x, line.y) for line in drawing.lines]:
        assert 0 <= x <= drawing.width
        assert 0 <= y <= drawing.height
    for line in drawing.lines:
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", line.path)]
        arc = drawing.arcs[line.arcs[0]]
        ends = (drawing.states[arc.source], drawing.states[arc.target])
        assert numbers[1] == pytest.approx(ends[0].y, abs=0.2)
        assert numbers[-1] == pytest.approx(ends[1].y, abs=0.2)
        assert ends[0].x < numbers[0] < numbers[-2] < ends[1].x


def test_orders_that_are_given_are_drawn() -> None:
    given = [Weighted(tokens=list(each.tokens), cost=each.cost) for each in STRINGS[:5]]
    assert draw_orders(given) == draw_lattice(Lattice.from_strings(WORDS, STRINGS[:5]), 5)


def test_what_is_no_token_is_not_drawn() -> None:
    with pytest.raises(InputError, match="found the token 'two words'"):
        draw_orders([Weighted(tokens=["two words"], cost=1.0)])
