"""What a model knows besides its weights: which tags words have, and what features it has.

Features            which templates are used
TransitionGrammar   the tags of words, all tags, and the features
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from comparison.learning.tag_dictionary import TagDictionary
from comparison.transition.template import TEMPLATES, Packed, pack
from grammars.conllu import ConlluSentence
from gyro.errors import InputError

BINS = ("lexical", "bare", "both")
UNKNOWN_TAG = "_"
_BITS = 62  # of a set of tags; the last is for all tags that were not seen, and the 62nd and further ones


@dataclass(frozen=True)
class Features:
    """`shift_tags`: (SHIFT, tag) besides (SHIFT, form, tag); `bins`: what those of a language model go with;
    `lm_weight`: that of its log-probabilities themselves, less those of the words alone.
    """

    templates: str = "standard"
    shift_tags: bool = False
    bins: str = "lexical"
    lm_weight: float = 0.0

    def __post_init__(self) -> None:
        for name, allowed in (("templates", tuple(TEMPLATES)), ("bins", BINS)):
            if getattr(self, name) not in allowed:
                raise InputError(f"found the {name} {getattr(self, name)!r}; allowed are {', '.join(allowed)}")
        if not 0 <= self.lm_weight < math.inf:
            raise InputError(f"found lm_weight {self.lm_weight}; a number from 0 on is allowed")

    @cached_property
    def table(self) -> Packed:
        """The templates for compiled code."""
        return pack(TEMPLATES[self.templates])


@dataclass(frozen=True)
class TransitionGrammar:
    """The tags of words."""

    dictionary: TagDictionary
    tags: tuple[str, ...]
    features: Features

    @classmethod
    def from_trees(
        cls, trees: Iterable[ConlluSentence], features: Features | None = None, *, tag_kind: str = "xpos"
    ) -> TransitionGrammar:
        """Read the tags off trees."""
        tagged = [(token.form, getattr(token, tag_kind)) for tree in trees for token in tree.tokens]
        tags = tuple(sorted({tag for _, tag in tagged}))
        return cls(TagDictionary.from_words(tagged), tags, features or Features())

    def tags_of(self, word: str, pos: str | None) -> tuple[str, ...]:
        """The tags that a word may have: the given one, or those of the dictionary."""
        if pos is not None:
            return (pos,)
        return self.dictionary.tags_of(word) or (UNKNOWN_TAG,)

    def tag_bit(self, tag: str) -> int:
        """The place of a tag in a set of tags."""
        return self._bits.get(tag, _BITS - 1)

    @cached_property
    def _bits(self) -> dict[str, int]:
        return {tag: min(number, _BITS - 1) for number, tag in enumerate(self.tags)}

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {"tags": self.tags, "dictionary": self.dictionary.to_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], features: Features) -> TransitionGrammar:
        """Read what `to_json` gave; the features are those of the model's settings."""
        return cls(TagDictionary.from_json(value["dictionary"]), tuple(value["tags"]), features)
