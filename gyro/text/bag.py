"""Bags of words: the input of every system here. bag_file reads them, annotated_bag knows more of each token.

Bag           a multiset of tokens, kept sorted, so that the order in which they were given means nothing
check_tokens  refuse what is not a token
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from gyro.errors import InputError
from gyro.text.corpus import TOKEN_RULE, is_token


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
        check_tokens(self.tokens)
        self._sort()
        self._check_reference()

    def _sort(self) -> None:
        object.__setattr__(self, "tokens", tuple(sorted(self.tokens)))

    def _check_reference(self) -> None:
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


def check_tokens(tokens: tuple[str, ...], name: str = "token") -> None:
    """Refuse what is not a token."""
    for token in tokens:
        if not is_token(token):
            raise InputError(f"found the {name} {token!r}; {TOKEN_RULE}")
