"""The dependency grammar of the best-first decoder: which tags words have, which labels go between tags.

DependencyGrammar  read off trees; the Python side of comparison.best_first.dependency_edge
attachments        the steps by which a tree is built: right dependents before left ones, from the inside outwards
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from comparison.best_first.dependency_edge import (
    HEAD_ON_LEFT,
    HEAD_ON_RIGHT,
    DependencyTables,
    leaf_columns,
)
from comparison.best_first.edge import NO_TAG, UNKNOWN_TAG
from comparison.best_first.template import OURS, TEMPLATE_SETS, dependency_groups, pack
from comparison.learning.hashing import text_hash
from comparison.learning.tag_dictionary import TagDictionary
from grammars.conllu import ConlluSentence
from gyro.errors import InputError
from gyro.text.corpus import ROOT

TAG_KINDS = ("xpos", "upos")


class Attachment(NamedTuple):
    """One step: the dependent at this place goes to the head on this side of it."""

    head: int
    dependent: int

    @property
    def side(self) -> int:
        return HEAD_ON_LEFT if self.head < self.dependent else HEAD_ON_RIGHT


def attachments(heads: Sequence[int]) -> list[Attachment]:
    """The steps that build a projective tree; the parts of each come before it.

    >>> attachments([1, -1, 3, 1])          # the(1) dog saw(…)
    [Attachment(head=3, dependent=2), Attachment(head=1, dependent=3), Attachment(head=1, dependent=0)]
    """
    children: dict[int, list[int]] = {}
    for place, head in enumerate(heads):
        children.setdefault(head, []).append(place)
    steps: list[Attachment] = []

    def build(head: int) -> None:
        own = children.get(head, [])
        right = [child for child in own if child > head]
        left = [child for child in reversed(own) if child < head]
        for child in (*right, *left):
            build(child)
        steps.extend(Attachment(head, child) for child in (*right, *left))

    for root in children.get(ROOT, []):
        build(root)
    return steps


@dataclass(frozen=True)
class DependencyGrammar:
    """Tags, labels and the words' tags; `pairs` has the labels seen between a head's and a modifier's tag on a side.

    `templates` are those of the features (template.TEMPLATE_SETS); `dp`: edges that no feature can tell apart are
    equivalent, or equal trees alone.
    """

    tags: tuple[str, ...]
    labels: tuple[str, ...]  # empty: arcs have no labels
    dictionary: TagDictionary
    pairs: Mapping[tuple[int, int, int], tuple[int, ...]]
    templates: str = OURS
    dp: bool = True

    name: ClassVar[str] = "dependency"
    obeys_heads: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.templates not in TEMPLATE_SETS:
            raise InputError(f"found the templates {self.templates!r}; allowed are {', '.join(TEMPLATE_SETS)}")

    @classmethod
    def from_trees(
        cls,
        trees: Iterable[ConlluSentence],
        *,
        labelled: bool = False,
        tag_kind: str = "xpos",
        templates: str = OURS,
        dp: bool = True,
    ) -> DependencyGrammar:
        """Read a grammar off trees."""
        if tag_kind not in TAG_KINDS:
            raise InputError(f"found the tags {tag_kind!r}; {' or '.join(TAG_KINDS)} is allowed")
        sentences = list(trees)
        tagged = [(token.form, getattr(token, tag_kind)) for tree in sentences for token in tree.tokens]
        tags = (NO_TAG, UNKNOWN_TAG, *sorted({tag for _, tag in tagged}))
        labels = tuple(sorted({token.deprel for tree in sentences for token in tree.tokens})) if labelled else ()
        tag_number = {tag: i for i, tag in enumerate(tags)}
        label_number = {label: i for i, label in enumerate(labels)}
        pairs: dict[tuple[int, int, int], set[int]] = {}
        for tree in sentences if labelled else ():
            numbers = [tag_number[getattr(token, tag_kind)] for token in tree.tokens]
            for place, token in enumerate(tree.tokens):
                if token.head is None or token.head == ROOT:
                    continue
                side = HEAD_ON_LEFT if token.head < place else HEAD_ON_RIGHT
                key = (numbers[token.head], numbers[place], side)
                pairs.setdefault(key, set()).add(label_number[token.deprel])
        found = {key: tuple(sorted(value)) for key, value in sorted(pairs.items())}
        return cls(tags, labels, TagDictionary.from_words(tagged), found, templates, dp)

    @cached_property
    def tables(self) -> DependencyTables:
        """The grammar for compiled code."""
        rows = len(self.tags) ** 2 * 2
        by_row: list[tuple[int, ...]] = [()] * rows if self.labels else []
        for (head, modifier, side), labels in self.pairs.items():
            by_row[(head * len(self.tags) + modifier) * 2 + side] = labels
        start = np.cumsum([0, *map(len, by_row)]).astype(np.int64)
        hashes = [text_hash(label) for label in self.labels]
        return DependencyTables(
            label_hashes=np.array(hashes or [0], dtype=np.uint64),
            label_start=start,
            labels=np.array([label for labels in by_row for label in labels] or [0], dtype=np.int64),
            usual_label=self.usual_label,
            tags=len(self.tags),
            labelled=int(bool(self.labels)),
            code=pack(dependency_groups(self.templates, labelled=bool(self.labels))),
            rich=int(self.templates != OURS),
            dp=int(self.dp),
        )

    @property
    def usual_label(self) -> int:
        """The label between the most pairs of tags: for pairs that were never seen."""
        between = Counter(label for labels in self.pairs.values() for label in labels)
        return min(between, key=lambda label: (-between[label], label), default=0)

    @property
    def most_rules(self) -> int:
        """The most rules that can combine two edges in one order."""
        return 2 * max([len(labels) for labels in self.pairs.values()], default=1) + 2

    @cached_property
    def _tag_number(self) -> dict[str, int]:
        return {tag: i for i, tag in enumerate(self.tags)}

    def tag_numbers(self, word: str, pos: str | None) -> tuple[int, ...]:
        """The tags that a word may have: the given one, or those of the dictionary."""
        if pos is not None:
            return (self._tag_number.get(pos, 1),)
        return tuple(self._tag_number[tag] for tag in self.dictionary.tags_of(word)) or (1,)

    def own_columns(
        self, words: Sequence[str], tags: Sequence[int], head: int, categories: Sequence[str] | None
    ) -> list[list[int]]:
        """One leaf: no dependents yet."""
        return [leaf_columns(tags, head)]

    def label_number(self, label: str) -> int:
        """The number of a label that was seen; others are an error."""
        if not self.labels:
            return -1
        if label not in self.labels:
            raise InputError(f"found the label {label!r}; the model has {', '.join(self.labels)}")
        return self.labels.index(label)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        pairs = [[*key, list(labels)] for key, labels in self.pairs.items()]
        found = {"tags": self.tags, "labels": self.labels, "dictionary": self.dictionary.to_json(), "pairs": pairs}
        return {**found, "templates": self.templates, "dp": self.dp}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> DependencyGrammar:
        """Read what `to_json` gave."""
        pairs = {(head, modifier, side): tuple(labels) for head, modifier, side, labels in value["pairs"]}
        dictionary = TagDictionary.from_json(value["dictionary"])
        tags, labels = tuple(value["tags"]), tuple(value["labels"])
        return cls(tags, labels, dictionary, pairs, str(value["templates"]), bool(value["dp"]))
