"""The tokens of a bag with constraints, as a search counts them: those that can stand for each other are one class.

TokenClass     tokens that are counted together: their words, and how often they must and may be used
BagClasses     the classes of a bag and what is asked of them
token_classes  make them

Two tokens are of one class when exchanging them breaks no constraint: the same word, in no constraint or in the same
place of equal ones. One of several forms is a class too, of several words and one use.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from itertools import combinations, pairwise
from typing import NamedTuple

from gyro.text.annotated_bag import AnnotatedBag

NOWHERE = -1  # a row, or a number of words from the end, that no word has


class TokenClass(NamedTuple):
    """Tokens by their places; the words (numbers among those of the bag) that a use of one may be.

    `rows` are those that belong to the class: the word after so many others is one of its tokens. `only_there` says
    that it is used nowhere else. `back` are the numbers of the words from the end, 1 for the last, that are its own.
    """

    places: tuple[int, ...]
    words: tuple[int, ...]
    least: int
    most: int
    rows: tuple[int, ...] = ()
    only_there: bool = False
    back: tuple[int, ...] = ()

    @property
    def is_needed(self) -> bool:
        """Whether all uses are asked for."""
        return self.least == self.most


class BagClasses(NamedTuple):
    """Classes; units and chains as their numbers; choices as numbers and how many of these uses there are.

    Each class may be used from row `earliest` to row `latest`. An order has `shortest` to `longest` words.
    """

    classes: tuple[TokenClass, ...]
    units: tuple[tuple[int, ...], ...]
    pairs: tuple[tuple[int, int], ...]  # (a, b): every use of a comes before every use of b
    choices: tuple[tuple[tuple[int, ...], int], ...]
    earliest: tuple[int, ...]
    latest: tuple[int, ...]
    shortest: int
    longest: int


def token_classes(bag: AnnotatedBag) -> BagClasses:
    """Group the tokens of a bag.

    >>> bag = AnnotatedBag(("the", "the", "the", "cat"), units=((0, 3),))
    >>> [(group.places, group.most) for group in token_classes(bag).classes]
    [((0,), 1), ((1, 2), 2), ((3,), 1)]
    """
    facts = _Facts(bag)
    members: dict[Hashable, list[int]] = defaultdict(list)
    for place in range(len(bag)):
        members[facts.role(place)].append(place)
    classes = tuple(facts.group(places) for places in members.values())
    number = {place: n for n, group in enumerate(classes) for place in group.places}
    units = dict.fromkeys(tuple(number[place] for place in unit) for unit in bag.units)
    pairs = {(number[a], number[b]) for chain in bag.order for a, b in combinations(chain, 2)}
    choices = ((tuple(dict.fromkeys(number[place] for place in group)), count) for group, count in bag.choices)
    windows = [facts.window(group) for group in classes]
    return BagClasses(
        classes,
        tuple(units),
        tuple(sorted(pairs | set(_tie_breaks(bag, facts, classes, number)))),
        tuple((group, count) for group, count in choices if len(group) > 1),
        tuple(first for first, _ in windows),
        tuple(last for _, last in windows),
        facts.shortest,
        facts.longest,
    )


class _Facts:
    """What the bag says of each place."""

    def __init__(self, bag: AnnotatedBag) -> None:
        self.bag = bag
        self.limits = bag.count_limits or (1,) * len(bag)
        self.unit = {place: (unit, step) for unit in bag.units for step, place in enumerate(unit)}
        self.choice = {place: group for group in bag.choices for place in group[0]}
        self.chained = {place for chain in bag.order for place in chain}
        self.free = set(bag.optional) | set(self.choice)  # what may be left out
        chosen = sum(count for _, count in bag.choices)
        self.shortest = len(bag) - len(self.free) + chosen
        self.longest = sum(self.limits) - len(self.choice) + chosen
        self.rows, self.back = self._positions()
        # Of words that are there several times, one may be fixed as any other, if all of them are used.
        elsewhere = {*self.chained, *self.choice, *self.unit}
        varying = (p for p in range(len(bag)) if p not in elsewhere and (p in self.free or self.limits[p] > 1))
        self.varying = {bag.tokens[place] for place in varying}
        self.before, self.behind = self._neighbours()

    def _positions(self) -> tuple[dict[int, tuple[int, ...]], dict[int, tuple[int, ...]]]:
        """For each place its rows and its numbers from the end; a unit moves with each of its tokens."""
        rows: dict[int, set[int]] = defaultdict(set)
        back: dict[int, set[int]] = defaultdict(set)
        for fixed, number in self.bag.positions:
            unit, at = self.unit.get(fixed, ((fixed,), 0))
            for step, place in enumerate(unit):
                shift = step - at
                if number < 0 and self.shortest < self.longest:
                    back[place].add(max(-number - shift, NOWHERE) or NOWHERE)
                else:
                    row = number - 1 if number > 0 else self.longest + number
                    rows[place].add(max(row + shift, NOWHERE))
        # A token cannot be at two places.
        both = ({p: tuple(at) if len(at) == 1 else (NOWHERE,) for p, at in found.items()} for found in (rows, back))
        return next(both), next(both)

    def is_fixed(self, place: int) -> bool:
        return place in self.rows or place in self.back

    def role(self, place: int) -> Hashable:
        """What the tokens of a class have in common."""
        word = self.bag.tokens[place]
        if place in self.chained:
            return place
        if place in self.unit:
            unit, step = self.unit[place]
            is_plain = not any(member in self.chained or self.is_fixed(member) for member in unit)
            return ("unit", step, tuple(self.bag.tokens[member] for member in unit)) if is_plain else place
        if self.is_fixed(place):
            is_common = self.rows.get(place, (NOWHERE,)) != (NOWHERE,) and place not in self.back
            alone = not is_common or place in self.free or word in self.varying
            return place if alone else ("word", word)
        if place in self.choice:
            group, count = self.choice[place]
            is_plain = count == 1 and not any(member in self.chained or self.is_fixed(member) for member in group)
            return ("choice", group) if is_plain else ("choice", group, word)
        return ("word", word)

    def group(self, places: list[int]) -> TokenClass:
        """The class of these places, which have one role."""
        first = places[0]
        word = {token: number for number, token in enumerate(self.bag.words)}
        words = tuple(dict.fromkeys(word[self.bag.tokens[place]] for place in places))
        if len(words) > 1 or (first in self.choice and len(places) == len(self.choice[first][0])):
            count = self.choice[first][1]  # the choice as a whole
            return TokenClass(tuple(places), words, count, count)
        most = sum(self.limits[place] for place in places)
        least = sum(place not in self.free for place in places)
        rows = tuple(sorted(row for place in places for row in self.rows.get(place, ())))
        only_there = all(place in self.rows for place in places)
        return TokenClass(tuple(places), words, least, most, rows, only_there, self.back.get(first, ()))

    def _neighbours(self) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
        """The places right before and right behind each one, as chains and units tell."""
        before: dict[int, set[int]] = defaultdict(set)
        behind: dict[int, set[int]] = defaultdict(set)
        steps = {step for chain in self.bag.order for step in combinations(chain, 2)}
        steps |= {step for unit in self.bag.units for step in pairwise(unit)}
        for a, b in list(steps):
            # A unit is passed as a whole.
            last, first = self.unit.get(a, ((a,), 0))[0][-1], self.unit.get(b, ((b,), 0))[0][0]
            if self.unit.get(a, (a,))[0] != self.unit.get(b, (b,))[0]:
                steps.add((last, first))
        for a, b in steps:
            before[b].add(a)
            behind[a].add(b)
        return before, behind

    def window(self, group: TokenClass) -> tuple[int, int]:
        """The rows between which a class may be used: as many words as must come before and after it."""
        first = min(len(self._reached(place, self.before)) for place in group.places)
        last = max(self.longest - 1 - len(self._reached(place, self.behind)) for place in group.places)
        return first, last

    def _reached(self, place: int, steps: dict[int, set[int]]) -> set[int]:
        """The tokens that are always used and lie in one direction; only such tokens pass an order on."""
        reached: set[int] = set()
        waiting = [place]
        while waiting:
            for other in steps.get(waiting.pop(), ()):
                if other not in reached and other not in self.free:
                    reached.add(other)
                    waiting.append(other)
        return reached


def _tie_breaks(
    bag: AnnotatedBag, facts: _Facts, classes: tuple[TokenClass, ...], number: dict[int, int]
) -> list[tuple[int, int]]:
    """Of equal words, one that only must come before others may as well be the first, one after others the last."""
    roles = [(facts.role(group.places[0]), group.words[0], n) for n, group in enumerate(classes)]
    loose = {word: n for role, word, n in roles if role == ("word", bag.words[word])}
    found = []
    firsts = {place for chain in bag.order for place in chain[:-1]}
    lasts = {place for chain in bag.order for place in chain[1:]}
    for place in facts.chained:
        group, other = classes[number[place]], loose.get(classes[number[place]].words[0])
        if other is None or facts.is_fixed(place) or place in facts.unit or not group.is_needed:
            continue
        if classes[other].is_needed and not classes[other].rows and (place in firsts) != (place in lasts):
            found.append((number[place], other) if place in firsts else (other, number[place]))
    return found
