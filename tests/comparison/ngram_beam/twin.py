"""The beam search in plain Python, over any function of states and words; tests and benchmarks compare with it.

plain_beam       the strings of the last row and their costs, best first
automaton_step   states and costs as an automaton has them
walker_step      states and costs as a model looks them up word by word
is_made_of       is a string these units, one after the other in some order?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any

import numpy as np

from gyro.lattice.automaton import WordAutomaton
from lm.walker import Walker

Unit = tuple[str, ...]
Step = Callable[[Any, str], tuple[Any, float]]


def plain_beam(
    units: Sequence[Unit],
    start: Hashable,
    step: Step,
    beam: int,
    *,
    end: Callable[[Any], float] = lambda state: 0.0,
    future: Callable[[str], float] = lambda word: 0.0,
    recombine: bool = False,
) -> list[tuple[Unit, float]]:
    """A hypothesis is its rank, its source's number in all rows, its type, then string, units left, state and costs."""
    types = sorted(set(units), key=lambda unit: (len(unit), unit))
    ahead = {unit: sum(map(future, unit)) for unit in types}
    size, counts = sum(map(len, units)), Counter(units)
    number, so_far = 1, end(start) if size == 0 else 0.0
    rest = sum(ahead[unit] * counts[unit] for unit in types)
    rows: list[list[Any]] = [[(0, (), counts, start, so_far, rest)], *([] for _ in range(size))]
    for k in range(size + 1):
        if k:
            kept: list[Any] = []
            seen: set[Any] = set()
            for *_, string, left, state, cost, rest in sorted(rows[k], key=lambda found: found[:3]):
                key = (tuple(left[unit] for unit in types), state)
                if len(kept) < beam and not (recombine and key in seen):
                    kept.append((number + len(kept), string, left, state, cost, rest))
                    seen.add(key)
            rows[k] = kept
            number += len(kept)
        for source, string, left, state, cost, rest in rows[k]:
            for kind, unit in enumerate(types):
                if left[unit]:
                    after, paid = state, cost
                    for word in unit:
                        after, more = step(after, word)
                        paid += more
                    longer = k + len(unit)
                    paid += end(after) if longer == size else 0.0
                    remaining = rest - ahead[unit]
                    found = (string + unit, left - Counter([unit]), after, paid, remaining)
                    rows[longer].append((paid + remaining, source, kind, *found))
    return [(string, cost) for _, string, _, _, cost, _ in rows[size]]


def automaton_step(automaton: WordAutomaton) -> Step:
    """States and costs as an automaton has them."""
    column = {word: i for i, word in enumerate(automaton.words)}
    next_state, cost = automaton.next_state.tolist(), automaton.cost.tolist()
    return lambda state, word: (next_state[state][column[word]], cost[state][column[word]])


def walker_step(walker: Walker, words: Sequence[str]) -> Step:
    """States and costs as a model's walker over these words has them."""

    def step(state: int, word: str) -> tuple[int, float]:
        after, cost = walker.step(np.array([state]), np.array([words.index(word)]))
        return int(after[0]), float(cost[0])

    return cache(step)


def is_made_of(string: Unit, units: Counter[Unit]) -> bool:
    """Is the string these units, one after the other in some order?"""
    if not string:
        return not +units
    return any(
        is_made_of(string[len(unit) :], units - Counter([unit])) for unit in list(+units) if string[: len(unit)] == unit
    )
