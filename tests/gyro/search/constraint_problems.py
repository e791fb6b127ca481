"""Small bags with constraints for tests of the exact search, and all orders that keep to them.

constrained     a bag with some constraints, which may contradict each other, for hypothesis
allowed_orders  brute force: every order that keeps to a bag's constraints
keeps           whether tokens in a row keep to them
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from gyro.errors import InputError
from gyro.text.annotated_bag import AnnotatedBag

MOST_USES = 6


@st.composite
def constrained(draw: st.DrawFn, kinds: str = "units order positions optional counts choices") -> AnnotatedBag:
    """A bag of up to 5 tokens over 3 words, and up to 6 uses of them."""
    size = draw(st.integers(1, 5))
    places = st.integers(0, size - 1)
    chains = st.lists(st.lists(places, unique=True, min_size=2, max_size=3), max_size=2)
    given: dict[str, Any] = {}
    for kind in kinds.split():
        if not draw(st.booleans()) or (kind in ("units", "order", "choices") and size < 2):
            continue
        if kind in ("units", "order"):
            given[kind] = tuple(map(tuple, draw(chains)))
        elif kind == "positions":
            number = st.one_of(st.integers(1, size), st.integers(-size, -1))
            given[kind] = tuple(draw(st.lists(st.tuples(places, number), max_size=2)))
        elif kind == "optional":
            given[kind] = tuple(draw(st.sets(places, max_size=3)))
        elif kind == "counts":
            given["count_limits"] = tuple(draw(st.lists(st.sampled_from([1, 1, 1, 2]), min_size=size, max_size=size)))
        else:
            group = draw(st.lists(places, unique=True, min_size=2, max_size=4))
            given[kind] = ((tuple(group), draw(st.integers(1, len(group) - 1))),)
    try:
        bag = AnnotatedBag(tuple(draw(st.lists(st.sampled_from("abc"), min_size=size, max_size=size))), **given)
    except InputError:
        assume(False)
        raise
    assume(sum(bag.count_limits or (1,) * size) <= MOST_USES)
    return bag


def allowed_orders(bag: AnnotatedBag) -> set[tuple[str, ...]]:
    """All orders: every choice of uses, in every order of tokens."""
    found = set()
    for uses in _selections(bag):
        for order in set(itertools.permutations(uses)):
            if keeps(bag, order):
                found.add(tuple(bag.tokens[place] for place in order))
    return found


def _selections(bag: AnnotatedBag) -> Iterator[tuple[int, ...]]:
    limits = bag.count_limits or (1,) * len(bag)
    chosen = {place for group, _ in bag.choices for place in group}
    least = [0 if place in bag.optional or place in chosen else 1 for place in range(len(bag))]
    for times in itertools.product(*(range(low, high + 1) for low, high in zip(least, limits, strict=True))):
        if all(sum(times[place] for place in group) == count for group, count in bag.choices):
            yield tuple(place for place, number in enumerate(times) for _ in range(number))


def keeps(bag: AnnotatedBag, order: Sequence[int]) -> bool:
    """Whether tokens, by their places, in this order keep to units, chains and positions."""
    at: dict[int, list[int]] = {}
    for step, place in enumerate(order):
        at.setdefault(place, []).append(step)
    for unit in bag.units:
        if [at[place][0] for place in unit] != list(range(at[unit[0]][0], at[unit[0]][0] + len(unit))):
            return False
    for chain in bag.order:
        for a, b in itertools.combinations(chain, 2):
            if a in at and b in at and max(at[a]) > min(at[b]):
                return False
    for place, number in bag.positions:
        step = number - 1 if number > 0 else len(order) + number
        if place in at and at[place] != [step]:
            return False
    return True
