"""What orders must keep to, as options of a command: the words of a bag become a bag with constraints.

add_constraint_arguments  the options
constrained_bag           the bag of these words and options

A word that is in the bag once is the same token in all options. One that is there several times is told apart only as
far as that is plain: each mention in one kind of option is another token.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import Any

from gyro.errors import InputError
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag
from gyro.text.bag_file import edge_positions

EXAMPLE = """example:
  gyro order 'the cat sat sits there .' --first the --last . --keep 'the cat' --one-of 'sat sits' --optional there
"""


EDGES = ("--prefix", "--suffix")
ONCE = "a word that is there once is allowed (others can be told apart in JSON, docs/formats.md)"


def add_constraint_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of a group of their own."""
    group = parser.add_argument_group(
        "constraints (algorithms exact and beam); each may be given several times, and names words of the bag"
    )
    group.add_argument("--first", metavar="WORD", help="the first word")
    group.add_argument("--last", metavar="WORD", help="the last word")
    group.add_argument(
        "--at", nargs=2, action="append", default=[], metavar=("N", "WORD"), help="the N-th word; -1 is the last"
    )
    group.add_argument("--prefix", metavar="WORDS", help="what the order begins with: one quoted string")
    group.add_argument("--suffix", metavar="WORDS", help="what it ends with")
    group.add_argument("--keep", action="append", default=[], metavar="WORDS", help="a phrase that stays as it is")
    group.add_argument(
        "--before", nargs=2, action="append", default=[], metavar="WORD", help="the first word comes before the second"
    )
    group.add_argument("--optional", action="append", default=[], metavar="WORDS", help="words that may be left out")
    group.add_argument(
        "--one-of", action="append", default=[], metavar="WORDS", help="alternatives: one of these words is used"
    )
    group.add_argument(
        "--some", nargs=2, action="append", default=[], metavar=("K", "WORDS"), help="just K of these words are used"
    )
    group.add_argument(
        "--times", nargs=2, action="append", default=[], metavar=("K", "WORD"), help="a word may be used up to K times"
    )


def constrained_bag(words: Sequence[str], arguments: argparse.Namespace) -> Bag:
    """A bag without constraints where no option is given."""
    tokens = tuple(words)
    places = _Places(tokens)
    ends = arguments.prefix or "", arguments.suffix or ""
    given: dict[str, Any] = {
        "positions": [
            *edge_positions(
                *(places.find(text.split(), "places", name) for text, name in zip(ends, EDGES, strict=True))
            ),
            *((place, 1) for place in places.find(_listed(arguments.first), "places", "--first")),
            *((place, -1) for place in places.find(_listed(arguments.last), "places", "--last")),
            *((places.find([word], "places", "--at")[0], _number(n, "--at")) for n, word in arguments.at),
        ],
        "units": [places.find(text.split(), "phrases", "--keep") for text in arguments.keep],
        "order": [[places.only(word, "--before") for word in pair] for pair in arguments.before],
        "optional": [p for text in arguments.optional for p in places.find(text.split(), "choices", "--optional")],
        "choices": [
            *((places.find(text.split(), "choices", "--one-of"), 1) for text in arguments.one_of),
            *((places.find(text.split(), "choices", "--some"), _number(k, "--some")) for k, text in arguments.some),
        ],
    }
    times = {places.only(word, "--times"): _number(k, "--times") for k, word in arguments.times}
    if times:
        given["count_limits"] = tuple(times.get(place, 1) for place in range(len(tokens)))
    if not any(given.values()):
        return Bag(tokens)
    return AnnotatedBag(tokens, **{key: _tuple(value) for key, value in given.items()})


class _Places:
    """Which token a word of an option means."""

    def __init__(self, tokens: tuple[str, ...]) -> None:
        self.tokens = tokens
        self.counts = Counter(tokens)
        self.taken: dict[
            str, tuple[str, str, int]
        ] = {}  # kind and option of the first mention, and how many there were

    def find(self, words: Sequence[str], kind: str, option: str) -> tuple[int, ...]:
        return tuple(self._next(word, kind, option) for word in words)

    def only(self, word: str, option: str) -> int:
        """The place of a word that is there once."""
        self._check(word, option)
        if self.counts[word] > 1:
            raise InputError(f"found {word!r} in {option} and {self.counts[word]} times in the bag; {ONCE}")
        return self.tokens.index(word)

    def _next(self, word: str, kind: str, option: str) -> int:
        self._check(word, option)
        if self.counts[word] == 1:
            return self.tokens.index(word)
        other, first, mentions = self.taken.get(word, (kind, option, 0))
        if other != kind:
            raise InputError(
                f"found {word!r} in {first} and in {option}, and {self.counts[word]} times in the bag; "
                "which one is meant can be told in JSON alone (docs/formats.md)"
            )
        if mentions == self.counts[word]:
            raise InputError(f"found {word!r} more often in {option} than the {mentions} times it is in the bag")
        self.taken[word] = other, first, mentions + 1
        return [place for place, token in enumerate(self.tokens) if token == word][mentions]

    def _check(self, word: str, option: str) -> None:
        if word not in self.counts:
            raise InputError(f"found {word!r} in {option}; a word of the bag is allowed: {' '.join(self.tokens):.200}")


def _listed(word: str | None) -> list[str]:
    return [] if word is None else [word]


def _number(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise InputError(f"found {text!r} in {option}; a whole number is allowed") from error


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list | tuple) else value
