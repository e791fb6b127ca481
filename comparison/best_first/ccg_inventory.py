"""A CCG as the best-first decoder uses it: its categories, rules and tags by number.

CcgInventory  a grammar with the tags of its words; the Python side of comparison.best_first.ccg_edge
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from comparison.best_first.ccg_edge import CcgTables
from comparison.best_first.edge import NO_TAG, UNKNOWN_TAG
from comparison.best_first.template import ccg_groups, pack
from comparison.learning.hashing import text_hash
from comparison.learning.tag_dictionary import TagDictionary
from grammars.ccg.derivation import Derivation, leaves
from grammars.ccg.grammar import BinaryRule, CcgGrammar, Rule, UnaryRule
from gyro.errors import InputError

NO_CATEGORY = "<none>"


@dataclass(frozen=True)
class CcgInventory:
    """A grammar, the tags of words, and the categories that units (base noun phrases) may have.

    dp: equivalent edges are those of dynamic programming (2015), not those of equal strings (2011).
    """

    grammar: CcgGrammar
    dictionary: TagDictionary
    unit_categories: tuple[str, ...]
    dp: bool = True

    name: ClassVar[str] = "ccg"
    obeys_heads: ClassVar[bool] = False

    @classmethod
    def from_derivations(
        cls,
        derivations: Iterable[Derivation],
        *,
        unit_categories: Sequence[str] = ("NP",),
        cutoff: int = 20,
        dp: bool = True,
    ) -> CcgInventory:
        """Read a grammar and its tags off derivations."""
        trees = list(derivations)
        tagged = ((leaf.word, leaf.pos) for tree in trees for leaf in leaves(tree))
        grammar = CcgGrammar.from_derivations(trees, cutoff)
        known = tuple(category for category in unit_categories if category in grammar.categories)
        return cls(grammar, TagDictionary.from_words(tagged), known, dp)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        seen = {tag for tags in self.dictionary.words.values() for tag in tags}
        return (NO_TAG, UNKNOWN_TAG, *sorted(seen))

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """All categories; number 0 is for none."""
        return (NO_CATEGORY, *self.grammar.categories)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Unary rules, then binary ones."""
        return (*sorted(self.grammar.unary), *sorted(self.grammar.binary))

    @cached_property
    def rule_number(self) -> dict[Rule, int]:
        return {rule: i for i, rule in enumerate(self.rules)}

    @cached_property
    def category_number(self) -> dict[str, int]:
        return {category: i for i, category in enumerate(self.categories)}

    @cached_property
    def tables(self) -> CcgTables:
        """The grammar for compiled code."""
        number = self.category_number
        pairs: dict[tuple[int, int], list[int]] = {}
        unary: list[list[int]] = [[] for _ in self.categories]
        for i, rule in enumerate(self.rules):
            if isinstance(rule, BinaryRule):
                pairs.setdefault((number[rule.left], number[rule.right]), []).append(i)
            else:
                unary[number[rule.child]].append(i)
        pair_of = np.full((len(self.categories), len(self.categories)), -1, dtype=np.int32)
        for i, pair in enumerate(pairs):
            pair_of[pair] = i
        hashes = [text_hash(category) for category in self.categories]
        return CcgTables(
            category_hashes=np.array(hashes, dtype=np.uint64),
            result=np.array([number[rule.result] for rule in self.rules] or [0], dtype=np.int64),
            head=np.array([getattr(rule, "head", 0) for rule in self.rules] or [0], dtype=np.int64),
            pair_of=pair_of,
            pair_start=np.cumsum([0, *map(len, pairs.values())]).astype(np.int64),
            pair_rules=np.array([i for rules in pairs.values() for i in rules] or [0], dtype=np.int64),
            unary_start=np.cumsum([0, *map(len, unary)]).astype(np.int64),
            unary_rules=np.array([i for rules in unary for i in rules] or [0], dtype=np.int64),
            dp=int(self.dp),
            code=pack(ccg_groups()),
        )

    @cached_property
    def most_rules(self) -> int:
        """The most rules that apply to two edges, or to one."""
        pairs: dict[tuple[str, ...], int] = {}
        for rule in self.rules:
            key = (rule.child,) if isinstance(rule, UnaryRule) else (rule.left, rule.right)
            pairs[key] = pairs.get(key, 0) + 1
        return max(pairs.values(), default=1)

    @cached_property
    def _tag_number(self) -> dict[str, int]:
        return {tag: i for i, tag in enumerate(self.tags)}

    def tag_numbers(self, word: str, pos: str | None) -> tuple[int, ...]:
        """The tag that is given, else the likeliest: categories tell more, and are what the search decides on."""
        if pos is not None:
            return (self._tag_number.get(pos, 1),)
        return tuple(self._tag_number[tag] for tag in self.dictionary.tags_of(word)[:1]) or (1,)

    def own_columns(
        self, words: Sequence[str], tags: Sequence[int], head: int, categories: Sequence[str] | None
    ) -> list[list[int]]:
        """A leaf for each category: those given, else the unit's or the lexicon's. Unknown ones cannot combine."""
        if categories is None:
            unit = self.unit_categories or self.grammar.categories_of(words[head], self.tags[tags[head]])
            categories = unit if len(words) > 1 else self.grammar.categories_of(words[0], self.tags[tags[0]])
        numbers = [self.category_number[category] for category in categories if category in self.category_number]
        if not numbers:
            numbers = [self.category_number[c] for c in self.grammar.categories_of(words[head], self.tags[tags[head]])]
        return [[c, c, 0, 0, c] for c in dict.fromkeys(numbers)]

    def label_number(self, label: str) -> int:
        """Labels of heads say nothing here."""
        return -1

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        facts = {"unit_categories": self.unit_categories, "dp": self.dp}
        return {"grammar": self.grammar.to_json(), "dictionary": self.dictionary.to_json(), **facts}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> CcgInventory:
        """Read what `to_json` gave."""
        for name in ("grammar", "dictionary", "unit_categories", "dp"):
            if name not in value:
                raise InputError(f"found a CCG model without {name}")
        dictionary = TagDictionary.from_json(value["dictionary"])
        return cls(
            CcgGrammar.from_json(value["grammar"]), dictionary, tuple(value["unit_categories"]), bool(value["dp"])
        )
