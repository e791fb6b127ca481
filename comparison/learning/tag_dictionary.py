"""Which tags a word may have, for words whose tag is not given.

TagDictionary  tags of known words, most frequent first; unknown words have those of rare words of their look
word_look      what an unknown word is told by: digits, capitals, hyphens, its last letters
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

RARE = 5  # words seen at most so often stand for the unknown ones
LEAST_SHARE = 0.02  # a tag with less of a look's words is left out


def word_look(word: str) -> tuple[str, str]:
    """The class of a word by its look, and the same with its last two letters.

    >>> word_look("Re-elected")
    ('A-', 'A- ed')
    """
    kind = "0" if any(c.isdigit() for c in word) else "A" if word[0].isupper() else "a" if word[0].isalpha() else "."
    kind += "-" if "-" in word[1:] else ""
    return kind, f"{kind} {word[-2:].lower()}"  # no class is the ending of another


@dataclass(frozen=True)
class TagDictionary:
    """Tags by word, and by look for words that were not seen.

    >>> tags = TagDictionary.from_words([("the", "DT"), ("run", "NN"), ("run", "VB"), ("run", "VB")])
    >>> tags.tags_of("run"), tags.tags_of("sun")
    (('VB', 'NN'), ('VB', 'NN'))
    """

    words: Mapping[str, tuple[str, ...]]
    looks: Mapping[str, tuple[str, ...]]
    rare: tuple[str, ...]

    @classmethod
    def from_words(cls, tagged: Iterable[tuple[str, str]]) -> TagDictionary:
        """Count the tags of words."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for word, tag in tagged:
            counts[word][tag] += 1
        looks: dict[str, Counter[str]] = defaultdict(Counter)
        rare: Counter[str] = Counter()
        for word, tags in counts.items():
            if tags.total() <= RARE:
                for look in word_look(word):
                    looks[look] += tags
                rare += tags
        known = {word: _by_frequency(tags) for word, tags in sorted(counts.items())}
        return cls(
            known,
            {look: _by_frequency(tags, LEAST_SHARE) for look, tags in sorted(looks.items())},
            _by_frequency(rare, LEAST_SHARE),
        )

    def tags_of(self, word: str) -> tuple[str, ...]:
        """The tags that a word may have, the likeliest first."""
        if word in self.words:
            return self.words[word]
        kind, ending = word_look(word)
        return self.looks.get(ending) or self.looks.get(kind) or self.rare

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {"words": dict(self.words), "looks": dict(self.looks), "rare": self.rare}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TagDictionary:
        """Read what `to_json` gave."""
        words, looks = ({key: tuple(tags) for key, tags in value[name].items()} for name in ("words", "looks"))
        return cls(words, looks, tuple(value["rare"]))


def _by_frequency(tags: Counter[str], least_share: float = 0.0) -> tuple[str, ...]:
    total = tags.total()
    return tuple(t for t, n in sorted(tags.items(), key=lambda item: (-item[1], item[0])) if n >= least_share * total)
