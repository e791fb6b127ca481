"""Bags of words: the input of every system here.

Bag        a multiset of tokens, kept sorted, so that the order in which they were given means nothing
read_bags  bags of a file: one a line, blank-separated, or JSON Lines with `id`, `tokens` and perhaps `reference`
parse_bag  one line of such a file
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike

from gyro.corpus import TOKEN_RULE, is_token, read_lines
from gyro.errors import InputError

# A brace and a quoted key: a bag may well have the token "{", but tokenised text has blanks round quotation marks.
STARTS_JSON = re.compile(r'\s*\{\s*"[^"\s]*"\s*:')


@dataclass(frozen=True)
class Bag:
    """A multiset of tokens.

    >>> bag = Bag(("the", "cat", "saw", "the", "dog"))
    >>> bag.words, bag.counts
    (('cat', 'dog', 'saw', 'the'), (1, 1, 1, 2))
    """

    tokens: tuple[str, ...]
    id: str = ""
    reference: tuple[str, ...] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for token in self.tokens:
            if not is_token(token):
                raise InputError(f"found the token {token!r}; {TOKEN_RULE}")
        object.__setattr__(self, "tokens", tuple(sorted(self.tokens)))
        if self.reference is not None and tuple(sorted(self.reference)) != self.tokens:
            raise InputError(f"the reference of bag {self.id!r} does not have the words of the bag")

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The distinct words, sorted."""
        return tuple(dict.fromkeys(self.tokens))

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How often each of `words` is there."""
        counted = Counter(self.tokens)
        return tuple(counted[word] for word in self.words)

    def __len__(self) -> int:
        return len(self.tokens)


def parse_bag(line: str, number: int) -> Bag:
    """Read one line; `number` is the bag's id unless JSON gives another."""
    if not STARTS_JSON.match(line):
        return Bag(tuple(line.split()), id=str(number))
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"found a line that starts like a JSON object but is not one: {error}") from error
    tokens = _strings(value.get("tokens"), "tokens")
    reference = None if value.get("reference") is None else _strings(value["reference"], "reference")
    name = value.get("id")
    return Bag(tokens, id=str(number if name is None else name), reference=reference)


def read_bags(path: str | PathLike[str]) -> Iterator[Bag]:
    """Yield the bags of a file ("-": standard input), each error with its line."""
    for number, line in enumerate(read_lines(path), 1):
        try:
            yield parse_bag(line, number)
        except InputError as error:
            raise InputError(str(error), path=path, line=number) from error


def _strings(value: object, name: str) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split()
    if not isinstance(value, Sequence) or not all(isinstance(token, str) for token in value):
        raise InputError(f"found {name} {value!r:.60}; a list of strings is allowed")
    return tuple(value)
