"""What an edge was made of, as a tree in Python; of a dependency tree its words with their heads.

Derivation       a tree over leaves
Span             the words of a derivation of the dependency grammar, with heads and labels
dependency_span  make one
token_places     the tokens of the bag that words are
LOOSE            the relation of what no rule has attached
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from comparison.best_first.dependency_edge import HEAD_ON_LEFT, HEAD_PLACE
from comparison.best_first.edge import OWN
from comparison.best_first.problem import Leaf, Prepared
from gyro.text.corpus import ROOT

LOOSE = "dep"  # within units, and between parts of default outputs


@dataclass(frozen=True)
class Derivation:
    """An edge as a tree: a leaf, or a rule over one or two parts."""

    rule: int
    parts: tuple[Derivation, ...]
    leaf: Leaf | None = None

    def leaves(self) -> Iterator[Leaf]:
        """The leaves from left to right."""
        stack = [self]
        while stack:
            top = stack.pop()
            if top.leaf is not None:
                yield top.leaf
            stack.extend(reversed(top.parts))

    @property
    def words(self) -> tuple[str, ...]:
        """The string."""
        return tuple(word for leaf in self.leaves() for word in leaf.words)


class Span(NamedTuple):
    """The words of an edge: their heads by place, and the place of its own head, whose head is ROOT."""

    leaves: list[tuple[Leaf, int]]  # each word: its leaf, and its place in that
    heads: list[int]
    labels: list[str]
    head: int


def dependency_span(derivation: Derivation, labels: Sequence[str] = ()) -> Span:
    """The words, heads and labels; `labels` are the grammar's."""
    parts = [derivation]
    for part in parts:  # it grows; not by recursion, for a tree may be deep
        parts += part.parts
    built: dict[int, Span] = {}  # by the identity of the part
    for part in reversed(parts):
        built[id(part)] = _leaf_span(part.leaf) if part.leaf is not None else _joined(part, built, labels)
    return built[id(derivation)]


def _leaf_span(leaf: Leaf) -> Span:
    head, size = leaf.own[HEAD_PLACE - OWN], len(leaf.words)
    heads = [ROOT if place == head else head for place in range(size)]
    return Span([(leaf, place) for place in range(size)], heads, [LOOSE] * size, head)


def _joined(part: Derivation, built: Mapping[int, Span], labels: Sequence[str]) -> Span:
    left, right = (built[id(below)] for below in part.parts)
    label = labels[part.rule // 2] if labels else LOOSE
    if part.rule % 2 == HEAD_ON_LEFT:
        return attach(left, right, left.head, right.head, label, keep=left.head)
    return attach(left, right, right.head, left.head, label, keep=len(left.heads) + right.head)


def attach(left: Span, right: Span, head: int, modifier: int, label: str, keep: int) -> Span:
    """Join two spans; `head` and `modifier` are places in their own spans, `keep` the head's in the whole."""
    shift = len(left.heads)
    heads = left.heads + [ROOT if h == ROOT else h + shift for h in right.heads]
    labels = left.labels + right.labels
    place = shift + modifier if keep < shift else modifier
    heads[place], labels[place] = keep, label
    return Span(left.leaves + right.leaves, heads, labels, keep)


def token_places(words: Sequence[tuple[Leaf, int]], prepared: Prepared) -> list[int]:
    """For each word a token of the bag that it is a use of; copies of a word in turn."""
    used: Counter[int] = Counter()
    places = []
    for leaf, place in words:
        groups = prepared.slots[leaf.slot]
        if place == 0:
            used[leaf.slot] += 1
        places.append(groups[min(used[leaf.slot], len(groups)) - 1][place])
    return places
