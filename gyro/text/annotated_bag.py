"""Bags whose tokens are known by more than their form: parts of speech, heads, fixed phrases and the like.

AnnotatedBag  a bag with annotation; to a system that does not look at the annotation it is a bag like any other
as_annotated  the same bag as one with annotation, for systems that look at it

docs/formats.md describes their files, gyro.text.bag_file reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

from gyro.errors import InputError
from gyro.text.bag import Bag, check_tokens
from gyro.text.canonical_order import canonical_order
from gyro.text.corpus import ROOT

PER_TOKEN = ("pos", "heads", "labels", "lemmas", "feats", "count_limits", "categories")
TEXTS = ("pos", "labels", "lemmas", "feats")
INFORMATION = TEXTS  # what allows no other orders than the tokens alone


@dataclass(frozen=True, repr=False)  # the short one of Bag
class AnnotatedBag(Bag):
    """A bag with annotation. Tokens are sorted and the annotation goes with them: places are those in `tokens`.

    What is given for no token is None. Equal bags are equal in whatever order their tokens were given.

    >>> bag = AnnotatedBag(("the", "dog", "barks"), pos=("DT", "NN", "VBZ"), heads=(1, 2, ROOT), units=((0, 1),))
    >>> bag.tokens, bag.pos, bag.heads, bag.units
    (('barks', 'dog', 'the'), ('VBZ', 'NN', 'DT'), (-1, 0, 1), ((2, 1),))
    >>> bag
    AnnotatedBag(3 tokens with pos, heads, units: barks dog the)
    """

    pos: tuple[str | None, ...] | None = None
    heads: tuple[int | None, ...] | None = None  # the place of the head, ROOT for the root, None: not given
    labels: tuple[str | None, ...] | None = None  # the relation to the head
    lemmas: tuple[str | None, ...] | None = None
    feats: tuple[str | None, ...] | None = None  # like "Number=Sing|Person=3"
    units: tuple[tuple[int, ...], ...] = ()  # phrases that stay as they are: their places in that order
    count_limits: tuple[int, ...] | None = None  # how often each token may be used; None: once
    optional: tuple[int, ...] = ()  # places of tokens that may be left out
    order: tuple[tuple[int, ...], ...] = ()  # chains of places: these tokens come in that order, others may be between
    positions: tuple[tuple[int, int], ...] = ()  # a place, and which word it is: from 1, or from -1 backwards
    choices: tuple[tuple[tuple[int, ...], int], ...] = ()  # places, and how many of these tokens are used
    categories: tuple[tuple[str, ...] | None, ...] | None = None  # CCG: the lexical categories that a token may have
    inflect: bool = False  # tokens are lemmas, whose forms are to be chosen

    @property
    def is_selection(self) -> bool:
        """Whether an order need not have each token once."""
        return bool(self.optional or self.choices) or self.count_limits is not None

    @property
    def constraints(self) -> tuple[str, ...]:
        """The keys, as in files of bags, that allow other orders than all those of the tokens.

        >>> AnnotatedBag(("the", "dog"), pos=("DT", "NN"), order=((0, 1),)).constraints
        ('order',)
        """
        given = {
            "heads": self.heads is not None,
            "units": bool(self.units),
            "counts": self.count_limits is not None,
            "optional": bool(self.optional),
            "order": bool(self.order),
            "positions": bool(self.positions),
            "choices": bool(self.choices),
            "categories": self.categories is not None,
            "lemmas without tokens": self.inflect,
        }
        return tuple(key for key, is_given in given.items() if is_given)

    def _sort(self) -> None:
        _check(self)
        if self.inflect:
            self._set("lemmas", self.tokens)
        places = canonical_order(self._keys(), self.heads or [None] * len(self), self._chains(), self._sets())
        new_place = {old: new for new, old in enumerate(places)}
        new_place[ROOT] = ROOT
        self._set("tokens", (self.tokens[place] for place in places))
        for name in PER_TOKEN:
            if (values := getattr(self, name)) is not None:
                moved = tuple(values[place] for place in places)
                self._set(name, None if set(moved) <= {1 if name == "count_limits" else None} else moved)
        if self.heads is not None:
            self._set("heads", (None if head is None else new_place[head] for head in self.heads))
        self._set("optional", sorted(new_place[place] for place in self.optional))
        for name in ("units", "order"):
            # A unit or chain of one token says nothing.
            chains = {tuple(new_place[place] for place in chain) for chain in getattr(self, name) if len(chain) > 1}
            self._set(name, sorted(chains))
        self._set("positions", sorted({(new_place[place], number) for place, number in self.positions}))
        # All of so many tokens is no choice.
        choices = ((sorted(new_place[place] for place in group), count) for group, count in self.choices)
        self._set("choices", sorted((tuple(group), count) for group, count in choices if count < len(group)))

    def _check_reference(self) -> None:
        if self.reference is not None and (self.inflect or self.is_selection):
            check_tokens(self.reference, "word of the reference")
        else:
            super()._check_reference()

    def _told(self) -> str:
        own = [field.name for field in fields(self) if field.name not in Bag.__dataclass_fields__]
        given = [_key(name) for name in own if getattr(self, name)]
        return f" with {', '.join(given)}" if given else ""

    def _set(self, name: str, value: Iterable[Any] | None) -> None:
        object.__setattr__(self, name, None if value is None else tuple(value))

    def _keys(self) -> list[tuple[Any, ...]]:
        """What a token is by itself: its form first."""
        count = len(self.tokens)
        missing: tuple[None, ...] = (None,) * count
        columns = [getattr(self, name) or missing for name in ("pos", "lemmas", "feats", "labels")]
        texts = [[(value is not None, value or "") for value in column] for column in columns]
        limits = self.count_limits or (1,) * count
        optional = [place in self.optional for place in range(count)]
        categories = [(names is not None, tuple(names or ())) for names in self.categories or missing]
        numbers = [tuple(sorted({number for at, number in self.positions if at == i})) for i in range(count)]
        return list(zip(self.tokens, *texts, limits, optional, categories, numbers, strict=True))

    def _chains(self) -> list[tuple[str, tuple[int, ...]]]:
        return [(name, chain) for name in ("units", "order") for chain in getattr(self, name) if len(chain) > 1]

    def _sets(self) -> list[tuple[str, tuple[int, ...]]]:
        return [(f"choices {count}", group) for group, count in self.choices if count < len(group)]


def as_annotated(bag: Bag) -> AnnotatedBag:
    """The same bag; one that has no annotation gets an empty one.

    >>> as_annotated(Bag(("b", "a"))).heads is None
    True
    """
    return bag if isinstance(bag, AnnotatedBag) else AnnotatedBag(bag.tokens, id=bag.id, reference=bag.reference)


def _check(bag: AnnotatedBag) -> None:
    """Refuse annotation that does not fit the tokens or itself."""
    count = len(bag.tokens)
    for name in PER_TOKEN:
        values = getattr(bag, name)
        if values is not None and len(values) != count:
            raise InputError(f"found {len(values)} {_key(name)} for {count} tokens; one for each token is allowed")
    for name in TEXTS:
        check_tokens(tuple(value for value in getattr(bag, name) or () if value is not None), f"{name} value")
    _check_places(bag)
    for place, names in enumerate(bag.categories or ()):
        if names is not None and not names:
            raise InputError(f"found no categories for token {place}; one or more are allowed, or null for any")
        check_tokens(tuple(names or ()), "category")
    for limit in bag.count_limits or ():
        if limit < 1:
            raise InputError(f"found {limit} in counts; 1 or more is allowed")
    if bag.inflect and bag.lemmas is not None and tuple(bag.lemmas) != tuple(bag.tokens):
        raise InputError("found tokens to inflect that are not the lemmas")
    _check_heads(bag.heads or ())
    _check_units(bag)
    _check_chains(bag)
    _check_positions(bag)
    _check_choices(bag)


def _check_places(bag: AnnotatedBag) -> None:
    count = len(bag.tokens)
    heads = [head for head in bag.heads or () if head is not None and head != ROOT]
    named = {"heads": heads, "optional": bag.optional}
    named |= {name: [place for chain in getattr(bag, name) for place in chain] for name in ("units", "order")}
    named |= {"positions": [place for place, _ in bag.positions]}
    named |= {"choices": [place for group, _ in bag.choices for place in group]}
    for name, places in named.items():
        for place in places:
            if not 0 <= place < count:
                root = f", or {ROOT} for the root" if name == "heads" else ""
                allowed = f"places from 0 to {count - 1} are allowed{root}" if count else "the bag has no tokens"
                raise InputError(f"found {place} in {name}; {allowed}")


def _check_heads(heads: Sequence[int | None]) -> None:
    if cycle := _cycle((head, place) for place, head in enumerate(heads) if head is not None and head != ROOT):
        raise InputError(f"found heads that run in a circle through {_joined(cycle)}; a tree is allowed")


def _check_units(bag: AnnotatedBag) -> None:
    members = [place for unit in bag.units for place in unit]
    if len(set(members)) < len(members):
        raise InputError(f"found token {_repeated(members)} twice in units; a token is in one unit at most")
    for place in members:
        if place in bag.optional:
            raise InputError(f"found token {place} in a unit and in optional; a unit is never left out")
        if bag.count_limits is not None and bag.count_limits[place] != 1:
            raise InputError(f"found token {place} in a unit with a count of {bag.count_limits[place]}; 1 is allowed")


def _check_chains(bag: AnnotatedBag) -> None:
    """Chains must agree with each other and with the units, each of which stands in one piece."""
    unit_of = {place: number for number, unit in enumerate(bag.units) for place in unit}
    step_of = {place: step for unit in bag.units for step, place in enumerate(unit)}

    def piece(place: int) -> int:
        return -1 - unit_of[place] if place in unit_of else place

    for chain in bag.order:
        if len(set(chain)) < len(chain):
            raise InputError(f"found token {_repeated(chain)} twice in a chain of order; once is allowed")
    steps = [step for chain in bag.order for step in pairwise(chain)]
    for first, second in steps:
        if piece(first) == piece(second) and first in unit_of and step_of[first] > step_of[second]:
            words = f"{bag.tokens[first]!r} before {bag.tokens[second]!r}"
            raise InputError(f"found {words} in order (token {first}, {second}), and after it in a unit")
    if cycle := _cycle((piece(first), piece(second)) for first, second in steps if piece(first) != piece(second)):
        tokens = [bag.units[-1 - place][0] if place < 0 else place for place in cycle]
        words = " before ".join(repr(bag.tokens[place]) for place in tokens)
        raise InputError(f"found an order that contradicts itself: {words} (token {_joined(tokens)})")


def _check_positions(bag: AnnotatedBag) -> None:
    longest = sum(bag.count_limits or (1,) * len(bag.tokens))
    for place, number in bag.positions:
        if not 1 <= abs(number) <= longest:
            raise InputError(
                f"found token {place} at {number} in positions; 1 to {longest} are allowed, or -1 to {-longest} "
                "counted from the last word"
            )
        if bag.count_limits is not None and bag.count_limits[place] != 1:
            raise InputError(
                f"found token {place} in positions with a count of {bag.count_limits[place]}; 1 is allowed"
            )


def _check_choices(bag: AnnotatedBag) -> None:
    members = [place for group, _ in bag.choices for place in group]
    if len(set(members)) < len(members):
        raise InputError(f"found token {_repeated(members)} twice in choices; a token is in one choice at most")
    in_units = {place for unit in bag.units if len(unit) > 1 for place in unit}
    for group, count in bag.choices:
        if not 1 <= count <= len(group):
            raise InputError(f"found a choice of {count} of {len(group)} tokens; 1 to {len(group)} are allowed")
    for place in members:
        if place in bag.optional or place in in_units:
            name = "optional" if place in bag.optional else "a unit"
            raise InputError(f"found token {place} in choices and in {name}; one of both is allowed")
        if bag.count_limits is not None and bag.count_limits[place] != 1:
            raise InputError(f"found token {place} in choices with a count of {bag.count_limits[place]}; 1 is allowed")


def _cycle(steps: Iterable[tuple[int, int]]) -> list[int]:
    """A circle among these steps from one place to another; empty when there is none."""
    before: dict[int, set[int]] = {}
    for first, second in steps:
        before.setdefault(second, set()).add(first)
    try:
        TopologicalSorter(before).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _joined(places: Iterable[int]) -> str:
    return ", ".join(map(str, places))


def _repeated(places: Sequence[int]) -> int:
    return next(place for place in places if places.count(place) > 1)


def _key(name: str) -> str:
    return "counts" if name == "count_limits" else name
