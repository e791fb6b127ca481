"""The lexical dictionary of a CCG: which categories a word may have.

Lexicon       categories of frequent words, of parts of speech, and of rare words together
read_counts   a JSON object of counts → dictionary, or an error that says what was found

As in Zhang and Clark (2011), Section 6.1: a word seen more than `cutoff` times has the categories it was seen with, any
other word those that its part of speech was seen with.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from grammars.ccg.derivation import Leaf
from gyro.errors import InputError

Counts = Mapping[str, int]


@dataclass(frozen=True)
class Lexicon:
    """Categories with counts: of words seen more than `cutoff` times, of parts of speech, of all rare words.

    >>> lexicon = Lexicon.from_leaves([Leaf.plain("NP/N", "the", "DT")] * 2 + [Leaf.plain("N", "cat", "NN")], cutoff=1)
    >>> lexicon.categories_of("the", "NN"), lexicon.categories_of("dog", "NN"), lexicon.categories_of("dog", "?")
    (('NP/N',), ('N',), ('N',))
    """

    cutoff: int
    words: Mapping[str, Counts]
    tags: Mapping[str, Counts]
    rare: Counts

    @classmethod
    def from_leaves(cls, leaves: Iterable[Leaf], cutoff: int = 20) -> Lexicon:
        """Count the leaves of derivations."""
        words: defaultdict[str, Counter[str]] = defaultdict(Counter)
        tags: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for leaf in leaves:
            words[leaf.word][leaf.category] += 1
            tags[leaf.pos][leaf.category] += 1
        frequent = {word: counts for word, counts in words.items() if counts.total() > cutoff}
        rare: Counter[str] = Counter()
        for word, counts in words.items():
            if word not in frequent:
                rare.update(counts)
        return cls(cutoff, frequent, dict(tags), rare)

    def categories_of(self, word: str, pos: str) -> tuple[str, ...]:
        """The categories that a word may have, the most frequent first; never none, if any leaf was seen at all."""
        key = ("word", word) if word in self.words else ("tag", pos)
        return self._ranked.get(key, self._ranked["rare", ""])

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """All lexical categories, sorted."""
        return tuple(sorted({category for counts in self.tags.values() for category in counts}))

    @cached_property
    def _ranked(self) -> dict[tuple[str, str], tuple[str, ...]]:
        entries = {("word", word): counts for word, counts in self.words.items()}
        entries |= {("tag", tag): counts for tag, counts in self.tags.items()}
        ranked = {key: _most_frequent_first(counts) for key, counts in entries.items()}
        return ranked | {("rare", ""): _most_frequent_first(self.rare) or self.categories}

    def to_json(self) -> dict[str, Any]:
        """A JSON value that `from_json` takes."""
        entries = {name: {key: dict(value) for key, value in getattr(self, name).items()} for name in ("words", "tags")}
        return {"cutoff": self.cutoff, "rare": dict(self.rare), **entries}

    @classmethod
    def from_json(cls, value: object) -> Lexicon:
        """Read what `to_json` made."""
        if not isinstance(value, dict) or not isinstance(value.get("cutoff"), int):
            raise InputError("found a lexicon without a cut-off; an object with cutoff, words, tags, rare is allowed")
        words, tags = value.get("words"), value.get("tags")
        if not isinstance(words, dict) or not isinstance(tags, dict):
            raise InputError("found a lexicon without words and tags; objects are allowed")
        words, tags = ({key: read_counts(counts, key) for key, counts in entries.items()} for entries in (words, tags))
        return cls(value["cutoff"], words, tags, read_counts(value.get("rare"), "rare"))


def read_counts(value: object, name: str) -> dict[str, int]:
    """Read a JSON object of whole numbers above 0.

    >>> read_counts({"N": 3}, "cat")
    {'N': 3}
    """
    if not isinstance(value, dict) or not all(type(count) is int and count > 0 for count in value.values()):
        raise InputError(f"found {value!r:.60} as the counts of {name!r}; an object of numbers above 0 is allowed")
    return value


def _most_frequent_first(counts: Counts) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda category: (-counts[category], category)))
