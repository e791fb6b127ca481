"""Bags with constraints that are told by words, as people type them.

constrain  the bag of some words that keeps to what is asked for

A word that is in the bag once is the same token wherever it is named. One that is there several times is told apart
only as far as that is plain: each mention in one kind of constraint is another token.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from gyro.errors import InputError
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from gyro.text.bag_file import edge_positions

IN_JSON = "tokens of one word are told apart in JSON alone (docs/formats.md)"


def constrain(
    tokens: Iterable[str],
    *,
    first: str | None = None,
    last: str | None = None,
    at: Iterable[tuple[int, str]] = (),
    prefix: str = "",
    suffix: str = "",
    keep: Iterable[str] = (),
    before: Iterable[tuple[str, str]] = (),
    optional: str = "",
    one_of: Iterable[str] = (),
    some: Iterable[tuple[int, str]] = (),
    times: Iterable[tuple[int, str]] = (),
    name: str = "{}",
) -> Bag:
    """The bag of these tokens; words of one constraint have blanks between them. `name` is how errors call an option.

    >>> bag = constrain("the cat sat .".split(), first="the", keep=["the cat"], before=[("sat", ".")])
    >>> bag.tokens, bag.positions, bag.units, bag.order
    (('.', 'cat', 'sat', 'the'), ((3, 1),), ((3, 1),), ((2, 0),))
    """
    tokens = tuple(tokens)
    find = _Places(tokens, name)
    ends = (find.some(text, "places", option) for text, option in ((prefix, "prefix"), (suffix, "suffix")))
    given: dict[str, Any] = {
        "positions": (
            *edge_positions(*ends),
            *((place, 1) for place in find.some(first or "", "places", "first")),
            *((place, -1) for place in find.some(last or "", "places", "last")),
            *((find.some(word, "places", "at")[0], find.number(number, "at")) for number, word in at),
        ),
        "units": tuple(find.some(text, "phrases", "keep") for text in keep),
        "order": tuple(tuple(find.only(word, "before") for word in pair) for pair in before),
        "optional": find.some(optional, "choices", "optional"),
        "choices": (
            *((find.some(text, "choices", "one_of"), 1) for text in one_of),
            *((find.some(text, "choices", "some"), count) for count, text in some),
        ),
    }
    limits = {find.only(word, "times"): count for count, word in times}
    if limits:
        given["count_limits"] = tuple(limits.get(place, 1) for place in range(len(tokens)))
    return AnnotatedBag(tokens, **given) if any(given.values()) else Bag(tokens)


class _Places:
    """Which token a word means."""

    def __init__(self, tokens: tuple[str, ...], name: str) -> None:
        self.tokens = tokens
        self.counts = Counter(tokens)
        self.name = name
        self.taken: dict[
            str, tuple[str, str, int]
        ] = {}  # kind and option of the first mention, and how many there were

    def some(self, text: str, kind: str, option: str) -> tuple[int, ...]:
        """A place for each word of a text."""
        for word, mentions in Counter(text.split()).items():
            if 0 < self.counts[word] < mentions:
                found = f"found {word!r} {mentions} times in {self._called(option)} {text!r:.60}"
                raise InputError(f"{found}, and {self.counts[word]} times in the bag")
        return tuple(self._next(word, kind, self._called(option)) for word in text.split())

    def only(self, word: str, option: str) -> int:
        """The place of a word that is there once."""
        self._check(word, self._called(option))
        if self.counts[word] > 1:
            found = f"found {word!r} in {self._called(option)} and {self.counts[word]} times in the bag"
            raise InputError(f"{found}; a word that is there once is allowed, and {IN_JSON}")
        return self.tokens.index(word)

    def number(self, number: int, option: str) -> int:
        """The number of a word that some order has."""
        if not 1 <= abs(number) <= len(self.tokens):
            most = len(self.tokens)
            allowed = f"1 to {most} are allowed, or -1 to {-most} counted from the last word"
            raise InputError(f"found {number} in {self._called(option)}; {allowed}")
        return number

    def _next(self, word: str, kind: str, option: str) -> int:
        self._check(word, option)
        if self.counts[word] == 1:
            return self.tokens.index(word)
        other, named, mentions = self.taken.get(word, (kind, option, 0))
        if other != kind:
            found = f"found {word!r} in {named} and in {option}, and {self.counts[word]} times in the bag"
            raise InputError(f"{found}; one of both is allowed, for {IN_JSON}")
        if mentions == self.counts[word]:
            raise InputError(f"found {word!r} more often in {option} than the {mentions} times it is in the bag")
        self.taken[word] = other, named, mentions + 1
        return [place for place, token in enumerate(self.tokens) if token == word][mentions]

    def _check(self, word: str, option: str) -> None:
        if word not in self.counts:
            words: Sequence[str] = tuple(self.counts)
            raise InputError(f"found {word!r} in {option}; a word of the bag is allowed: {' '.join(words):.200}")

    def _called(self, option: str) -> str:
        return self.name.format(option.replace("_", "-") if self.name != "{}" else option)
