"""Given heads, by brute force: an action may follow just when some sequence of actions after it gives all of them."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest

from comparison.transition.decoder import Workspace
from comparison.transition.grammar import TransitionGrammar
from comparison.transition.legal import left_arc_allowed, read_stack, right_arc_allowed, shift_allowed
from comparison.transition.problem import Given, prepare
from comparison.transition.search import _apply, _start
from comparison.transition.state import DEPTH, FIRST_SHIFT, LEFT, LEFT_ARC, RIGHT_ARC
from tests.comparison.transition.bank import random_heads, trees

GRAMMAR = TransitionGrammar.from_trees(trees())
# A stack of (node, its dependents so far), and what is left; all as tuples.
Node = tuple[int, frozenset[int]]
Plain = tuple[tuple[Node, ...], frozenset[int]]


def brute_force(heads: tuple[int | None, ...]) -> dict[Plain, set[tuple[str, int]]]:
    """All states that can be reached with nothing but completable ones, and what may follow each."""
    size = len(heads)
    needs = [frozenset(d for d in range(size) if heads[d] == h) for h in range(size)]

    def follow(state: Plain) -> list[tuple[tuple[str, int], Plain]]:
        stack, left = state
        found: list[tuple[tuple[str, int], Plain]] = []
        for unit in left:
            found.append((("shift", unit), ((*stack, (unit, frozenset())), left - {unit})))
        if len(stack) >= 2:
            (low, low_has), (top, top_has) = stack[-2:]
            if heads[low] in (None, top) and needs[low] <= low_has:
                found.append((("left", -1), ((*stack[:-2], (top, top_has | {low})), left)))
            if heads[top] in (None, low) and needs[top] <= top_has:
                found.append((("right", -1), ((*stack[:-2], (low, low_has | {top})), left)))
        return found

    @cache
    def completable(state: Plain) -> bool:
        stack, left = state
        if not left and len(stack) == 1:
            (root, has) = stack[0]
            return heads[root] in (None, -1) and needs[root] <= has
        return any(completable(after) for _, after in follow(state))

    begin: Plain = ((), frozenset(range(size)))
    known: dict[Plain, set[tuple[str, int]]] = {}
    waiting = [begin]
    while waiting:
        state = waiting.pop()
        if state not in known:
            fine = [(name, after) for name, after in follow(state) if completable(after)]
            known[state] = {name for name, _ in fine}
            waiting += [after for _, after in fine]
    return known


def compiled(heads: tuple[int | None, ...]) -> dict[Plain, set[tuple[str, int]]]:
    """The same by the compiled functions."""
    size = len(heads)
    given = Given(tuple("abcdef"[:size]), ("NN",) * size, heads)
    prepared = prepare(given, GRAMMAR)
    problem = prepared.problem
    place = [slot.groups[0][0] for slot in prepared.slots]
    workspace = Workspace()
    states, room = workspace.states(problem, 40_000), workspace.room(problem, 10)
    _start(problem, states)
    begin: Plain = ((), frozenset(range(size)))
    numbers, known, waiting, made = {begin: 0}, {}, [begin], 1
    while waiting:
        plain = waiting.pop()
        stack, left = plain
        state = numbers[plain]
        depth = int(states.columns[state, DEPTH])
        read_stack(problem, states, state, room)
        found: list[tuple[tuple[str, int], int, Plain]] = []
        for slot in range(size):
            unit = place[slot]
            if unit in left and shift_allowed(problem, room, depth, slot):
                after = ((*stack, (unit, frozenset())), left - {unit})
                found.append((("shift", unit), FIRST_SHIFT + slot, after))
        if depth >= 2:
            (low, low_has), (top, top_has) = stack[-2:]
            if left_arc_allowed(problem, states, state):
                found.append((("left", -1), LEFT_ARC, ((*stack[:-2], (top, top_has | {low})), left)))
            if right_arc_allowed(problem, states, state):
                found.append((("right", -1), RIGHT_ARC, ((*stack[:-2], (low, low_has | {top})), left)))
        known[plain] = {name for name, _, _ in found}
        assert int(states.columns[state, LEFT]) == len(left)
        for _, action, after in found:
            if after not in numbers:
                _apply(problem, states, state, action, made)
                numbers[after] = made
                made += 1
                waiting.append(after)
    return known


def forests(size: int, count: int) -> list[tuple[int | None, ...]]:
    random = Random(size)
    found = []
    for _ in range(count):
        heads, share = random_heads(random, size), random.random()
        names = random.sample(range(size), size)
        mixed: list[int | None] = [None] * size
        for place, head in enumerate(heads):
            if random.random() < share:
                mixed[names[place]] = head if head < 0 else names[head]
        found.append(tuple(mixed))
    return found


@pytest.mark.parametrize(("size", "count"), [(1, 3), (2, 8), (3, 40), (4, 40)])
def test_legal_actions_are_those_that_can_be_completed(size: int, count: int) -> None:
    for heads in forests(size, count):
        assert compiled(heads) == brute_force(heads), heads


@pytest.mark.slow
@pytest.mark.parametrize(("size", "count"), [(5, 40), (6, 12)])
def test_legal_actions_of_larger_bags(size: int, count: int) -> None:
    for heads in forests(size, count):
        assert compiled(heads) == brute_force(heads), heads


def test_all_heads_given_leave_the_orders_of_the_tree() -> None:
    """A head with two dependents, in any order: three places of the head times two of the dependents."""
    heads = (2, 2, -1)
    whole = [state for state in compiled(heads) if len(state[0]) == 1 and not state[1]]
    assert whole == [(((2, frozenset({0, 1})),), frozenset())]
    assert np.all([after for state, after in compiled(heads).items() if state != whole[0]])
