"""Bags of words: the input of every system here. bag_file reads them, annotated_bag knows more of each token.

Bag           a multiset of tokens, kept sorted, so that the order in which they were given means nothing
as_bag        a bag as it is, or that of a list of tokens
check_tokens  refuse what is not a token
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gyro.errors import InputError, printable
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
        object.__setattr__(self, "tokens", _token_list(self.tokens))
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

    def __repr__(self) -> str:
        size = f"{len(self)} token" + "s" * (len(self) != 1) + self._told()
        parts = ([repr(self.id)] if self.id else []) + [": ".join(filter(None, (size, shorten(self.tokens))))]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _told(self) -> str:
        """What else there is to say of the bag in a line."""
        return ""


def as_bag(words: Bag | Iterable[str]) -> Bag:
    """The bag itself, or that of a list of tokens.

    >>> as_bag("the dog barks".split())
    Bag(3 tokens: barks dog the)
    """
    return words if isinstance(words, Bag) else Bag(_token_list(words))


def shorten(tokens: Sequence[str], most: int = 60) -> str:
    """The tokens with blanks between them, or so many as about that many characters hold."""
    text = ""
    for number, token in enumerate(tokens):
        if len(text) + len(token) > most:
            return f"{text} …".lstrip() if number else f"{printable(token)[:most]}…"
        text += " " * bool(text) + printable(token)
    return text


def _token_list(tokens: Iterable[str]) -> tuple[str, ...]:
    """The tokens; a string is refused, for nobody means its characters."""
    if isinstance(tokens, str):
        shown = tokens if len(tokens) <= 40 else tokens[:40] + "…"
        raise InputError(f"found the string {shown!r}; a list of tokens is allowed, like {shown!r}.split()")
    try:
        return tuple(tokens)
    except TypeError as error:
        raise InputError(f"found {tokens!r:.60} as tokens; a list of strings is allowed") from error


def check_tokens(tokens: tuple[str, ...], name: str = "token") -> None:
    """Refuse what is not a token."""
    for token in tokens:
        if not isinstance(token, str) or not is_token(token):
            raise InputError(f"found the {name} {token!r}; {TOKEN_RULE}")
