"""Whether an order of words keeps to the constraints of a bag.

is_allowed  whether it does: order, units, positions, choices, counts and optional tokens (docs/formats.md)

A word may be any token of its form, so that all ways to give tokens to words are tried; tokens that nothing is said of
stand for each other. Searches that make orders on their own terms ask this; gyro.search never makes others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from gyro.text.annotated_bag import AnnotatedBag, as_annotated
from gyro.text.bag import Bag


def is_allowed(bag: Bag, words: Sequence[str]) -> bool:
    """Whether these words in this order are an order of the bag.

    >>> bag = AnnotatedBag(("the", "cat", "the", "mat"), units=((0, 1),), positions=((2, 1),))
    >>> is_allowed(bag, ("the", "mat", "the", "cat")), is_allowed(bag, ("the", "cat", "the", "mat"))
    (True, False)
    """
    return _Check(as_annotated(bag), tuple(words)).is_possible()


class _Check:
    def __init__(self, bag: AnnotatedBag, words: tuple[str, ...]) -> None:
        self.bag, self.words = bag, words
        self.most = bag.count_limits or (1,) * len(bag)
        self.free = set(bag.optional).union(*(group for group, _ in bag.choices))
        self.next_in_unit = {a: b for unit in bag.units for a, b in pairwise(unit)}
        self.inner = set(self.next_in_unit.values())
        self.later: dict[int, set[int]] = {}
        for chain in bag.order:
            for a, b in combinations(chain, 2):
                self.later.setdefault(a, set()).add(b)
        named = self.inner | set(self.next_in_unit) | self.free
        self.named = named.union((p for p, _ in bag.positions), *bag.order)

    def is_possible(self) -> bool:
        """Give tokens to the words one by one; the same uses at the same word are looked at once."""
        reached: set[tuple[tuple[int, ...], int]] = {((0,) * len(self.bag), -1)}
        for step in range(len(self.words)):
            reached = {after for uses, last in reached for after in self._after(step, uses, last)}
        return any(last not in self.next_in_unit and self._is_whole(uses) for uses, last in reached)

    def _after(self, step: int, uses: tuple[int, ...], last: int) -> list[tuple[tuple[int, ...], int]]:
        found = []
        due = self.next_in_unit.get(last)
        is_loose_tried = False
        for place, token in enumerate(self.bag.tokens):
            if token != self.words[step] or uses[place] == self.most[place] or not self._fits(step, place, uses, due):
                continue
            is_loose = place not in self.named and self.most[place] == 1
            if not (is_loose and is_loose_tried):
                found.append(((*uses[:place], uses[place] + 1, *uses[place + 1 :]), place))
            is_loose_tried |= is_loose
        return found

    def _fits(self, step: int, place: int, uses: tuple[int, ...], due: int | None) -> bool:
        if place != due and (due is not None or place in self.inner):
            return False
        if any(uses[other] for other in self.later.get(place, ())):
            return False
        numbers = (step + 1, step - len(self.words))
        return all(number in numbers for at, number in self.bag.positions if at == place)

    def _is_whole(self, uses: tuple[int, ...]) -> bool:
        if any(not uses[place] and place not in self.free for place in range(len(uses))):
            return False
        return all(sum(uses[place] for place in group) == count for group, count in self.bag.choices)
