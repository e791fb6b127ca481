"""The best-first decoder as people write it in plain Python: edges are objects, features tuples, weights a dictionary.

PlainWeights  feature → weight, filled from a trained model as features come up
PlainDecoder  decode a prepared bag with unlabelled dependencies or CCG; nothing is given but tags

The features, the beam and the equivalence of edges are those of the compiled decoder, so that both do the same work.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.best_first.ccg_edge import _ANY, _BINARY, _LARGE, _LEXICAL, _UNARY
from comparison.best_first.ccg_edge import _BOUNDARY as CCG_BOUNDARY
from comparison.best_first.ccg_edge import _JOINT as CCG_JOINT
from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_edge import (
    _ARC,
    _BORDER,
    _BOUNDARY,
    _DISTANCE,
    _GRANDCHILD,
    _JOINT,
    _LEAF,
    _SIBLING,
    _VALENCY,
)
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.edge import NO_TAG, text_hash
from comparison.best_first.problem import Prepared
from grammars.ccg.grammar import BinaryRule

_ALL = (1 << 64) - 1
_SEED, _GOLDEN = 0xD1B54A32D192ED03, 0x9E3779B97F4A7C15
Feature = tuple[Any, ...]
Value = str | int | tuple[str, int]


def _mix(state: int, value: int) -> int:
    state = ((state ^ value) * _GOLDEN) & _ALL
    return state ^ (state >> 32)


class PlainWeights(dict[Feature, float]):
    """A feature is a template's number and values: texts, numbers, or a text with the side of the modifier."""

    def __init__(self, weights: NDArray[np.float32]) -> None:
        super().__init__()
        self.weights = weights

    def __missing__(self, feature: Feature) -> float:
        state = _mix(_SEED, feature[0])
        for value in feature[1:]:
            state = _mix(state, self._number(value))
        self[feature] = weight = float(self.weights[state & (self.weights.size - 1)])
        return weight

    @staticmethod
    def _number(value: Value) -> int:
        if isinstance(value, tuple):
            return _mix(PlainWeights._number(value[0]), value[1])
        return value if isinstance(value, int) else text_hash(value) if value else 0


class Edge:
    """An edge with all that features look at."""

    __slots__ = (
        "actions", "category", "counts", "head", "is_leaf", "left_child", "lexical", "place", "right_child", "score",
        "size", "tag", "tags", "valencies", "words",
    )  # fmt: skip

    counts: tuple[int, ...]
    words: tuple[str, ...]
    tags: tuple[str, ...]
    lexical: tuple[str, ...]
    category: str
    head: str
    tag: str
    left_child: tuple[str, str]
    right_child: tuple[str, str]
    valencies: tuple[int, int]
    place: int
    size: int
    score: float
    actions: int
    is_leaf: bool


class PlainResult(NamedTuple):
    """The string of the goal, if there is one, and the work that was done."""

    words: tuple[str, ...] | None
    scored: int
    expanded: int


def bucket(number: int) -> int:
    """A length or distance as a class."""
    return next((i for i, last in enumerate((0, 1, 2, 3, 4, 6, 9, 14, 29)) if number <= last), 9)


class PlainDecoder:
    """Best-first search with a heap and a list as the chart."""

    def __init__(
        self, grammar: DependencyGrammar | CcgInventory, weights: NDArray[np.float32], *, scaled: bool, beam: int
    ) -> None:
        self.grammar, self.weights, self.scaled, self.beam = grammar, PlainWeights(weights), scaled, beam
        self.binary: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.unary: dict[str, list[int]] = defaultdict(list)
        self.rules = grammar.rules if isinstance(grammar, CcgInventory) else ()
        for number, rule in enumerate(self.rules):
            if isinstance(rule, BinaryRule):
                self.binary[rule.left, rule.right].append(number)
            else:
                self.unary[rule.child].append(number)

    def decode(self, prepared: Prepared, limit: int) -> PlainResult:
        """Search until a goal or so many scored edges."""
        capacity = tuple(len(groups) for groups in prepared.slots)
        agenda: list[tuple[float, int, Edge | None, Edge | None, int, float]] = []
        scored = expanded = 0

        def propose(left: Edge | None, right: Edge | None, rule: int, new: Edge) -> None:
            nonlocal scored
            complete = right is not None and new.counts == capacity
            new.score += sum(map(self.weights.__getitem__, self.features(left, right, rule, new, complete)))
            scored += 1
            heapq.heappush(agenda, (-self.key(new), scored, left, right, rule, new))  # type: ignore[misc]

        for leaf in self.leaves(prepared):
            propose(None, None, 0, leaf)
        chart: list[Edge] = []
        known: dict[Feature, Edge] = {}
        while agenda and scored < limit:
            edge: Edge = heapq.heappop(agenda)[5]  # type: ignore[assignment]
            if edge.counts == capacity:
                return PlainResult(edge.words, scored, expanded)
            signature = self.signature(edge)
            if signature is not None:
                other = known.get(signature)
                if other is not None and other in chart:
                    if self.key(other) >= self.key(edge):
                        continue
                    chart.remove(other)
                known[signature] = edge
            for rule in self.unary.get(edge.category, ()):
                propose(edge, None, rule, self.make(edge, None, rule))
            for other in [*chart, edge]:
                if all(a + b <= most for a, b, most in zip(edge.counts, other.counts, capacity, strict=True)):
                    for left, right in ((edge, other), (other, edge))[: 1 if other is edge else 2]:
                        for rule in self.binary_rules(left, right):
                            propose(left, right, rule, self.make(left, right, rule))
            expanded += 1
            chart.append(edge)
            large = [member for member in chart if not member.is_leaf]
            if len(large) > self.beam:
                chart.remove(min(large, key=self.key))
        return PlainResult(None, scored, expanded)

    def key(self, edge: Edge) -> float:
        return edge.score / edge.actions if self.scaled else edge.score

    def signature(self, edge: Edge) -> Feature | None:
        """What makes CCG edges equivalent; dependency trees are built in one way only."""
        if not self.rules:
            return None
        ends = (edge.words[:2], edge.words[-2:], edge.tags[:2], edge.tags[-2:])
        return (edge.category, edge.head, edge.counts, *ends)

    def leaves(self, prepared: Prepared) -> Iterator[Edge]:
        for leaf in prepared.leaves:
            new = Edge()
            new.counts = tuple(int(slot == leaf.slot) for slot in range(len(prepared.slots)))
            new.words = leaf.words
            new.tags = tuple(_text(self.grammar.tags[tag]) for tag in leaf.tags)
            new.category = self.grammar.categories[leaf.own[0]] if isinstance(self.grammar, CcgInventory) else ""
            new.lexical = (new.category,)
            new.head, new.tag, new.place, new.size = new.words[0], new.tags[0], 0, 1
            new.left_child = new.right_child = ("", "")
            new.valencies, new.score, new.actions, new.is_leaf = (0, 0), 0.0, 1, True
            yield new

    def binary_rules(self, left: Edge, right: Edge) -> list[int]:
        if self.rules:
            return self.binary.get((left.category, right.category), [])
        return [0, 1] if left.valencies[0] == 0 else [1]  # right dependents come before left ones

    def make(self, left: Edge, right: Edge | None, rule: int) -> Edge:
        """A new edge; its score is that of its parts so far."""
        new = Edge()
        new.is_leaf = False
        if right is None:
            for name in Edge.__slots__:
                if name != "is_leaf":
                    setattr(new, name, getattr(left, name))
            new.category, new.actions = self.rules[rule].result, left.actions + 1
            return new
        side = getattr(self.rules[rule], "head", 0) if self.rules else rule
        head, other = (left, right) if side == 0 else (right, left)
        new.counts = tuple(a + b for a, b in zip(left.counts, right.counts, strict=True))
        new.words, new.tags, new.lexical = (
            left.words + right.words,
            left.tags + right.tags,
            left.lexical + right.lexical,
        )
        new.category = self.rules[rule].result if self.rules else ""
        new.head, new.tag = head.head, head.tag
        new.left_child, new.right_child, new.valencies = head.left_child, head.right_child, head.valencies
        if side == 0:
            new.right_child, new.valencies = (other.head, other.tag), (head.valencies[0], head.valencies[1] + 1)
        else:
            new.left_child, new.valencies = (other.head, other.tag), (head.valencies[0] + 1, head.valencies[1])
        new.place = head.place + (left.size if side else 0)
        new.size, new.score = left.size + right.size, left.score + right.score
        new.actions = left.actions + right.actions + 1
        return new

    def features(self, left: Edge | None, right: Edge | None, rule: int, new: Edge, complete: bool) -> list[Feature]:
        if self.rules:
            found = _constituent(new)
            if left is not None:
                found += self._rule(left, right, rule)
        elif left is None or right is None:
            return [(_LEAF, new.head, new.tag), (_LEAF + 1, new.tag), (_LEAF + 2, new.head, new.size)]
        else:
            found = _arc(left, right, rule, new)
        if left is not None and right is not None:
            found += _joint(left, right, CCG_JOINT if self.rules else _JOINT)
        return found + (_boundary(new, CCG_BOUNDARY if self.rules else _BOUNDARY) if complete else [])

    def _rule(self, a: Edge, b: Edge | None, rule: int) -> list[Feature]:
        name = rule + 1
        if b is None:
            return [(_UNARY, name), (_UNARY + 1, name, a.head)]
        head, other = (a, b) if getattr(self.rules[rule], "head", 0) == 0 else (b, a)
        assert isinstance(self.grammar, CcgInventory)
        none = self.grammar.categories[0]
        c1, c2 = a.lexical[-2] if a.size > 1 else none, a.lexical[-1]
        c3, c4 = b.lexical[0], b.lexical[1] if b.size > 1 else none
        return [
            (_BINARY, name), (_BINARY + 1, name, head.head), (_BINARY + 2, name, head.head, other.head),
            (_BINARY + 3, name, other.head), (_BINARY + 4, name, head.tag, other.tag),
            (_BINARY + 5, name, head.head, other.tag), (_BINARY + 6, name, head.tag, other.head),
            (_LEXICAL, c2, c3), (_LEXICAL + 1, c1, c2, c3), (_LEXICAL + 2, c2, c3, c4),
        ]  # fmt: skip


def _text(tag: str) -> str:
    return "" if tag == NO_TAG else tag


def _constituent(new: Edge) -> list[Feature]:
    c, size = new.category, bucket(new.size)
    found: list[Feature] = [(_ANY, c, size), (_ANY + 1, c, new.head), (_ANY + 2, c, size, new.head)]
    found.append((_ANY + 3, c, new.tag))
    if new.size > 1:
        t = new.tags
        found += [(_LARGE, c, new.words[0]), (_LARGE + 1, c, new.words[-1]), (_LARGE + 2, c, t[0], t[1])]
        found += [(_LARGE + 3, c, t[-2], t[-1]), (_LARGE + 4, c, t[0], t[-1])]
    return found


def _arc(left: Edge, right: Edge, side: int, new: Edge) -> list[Feature]:
    h, m, d = (left, right, 1) if side == 0 else (right, left, 2)
    hw, mw, mt = h.head, m.head, m.tag
    htd, mtd, mwd = (h.tag, d), (mt, d), (mw, d)
    if side == 0:
        (sw, st), ot, valency = h.right_child, h.left_child[1], h.valencies[1]
        distance = h.size - h.place - 1 + m.place
    else:
        (sw, st), ot, valency = h.left_child, h.right_child[1], h.valencies[0]
        distance = h.place + m.size - m.place - 1
    (lw, lt), (rw, rt) = m.left_child, m.right_child
    v, ml, mr = min(valency, 6), min(m.valencies[0], 6), min(m.valencies[1], 6)
    far, long = bucket(distance), bucket(m.size)
    return [
        (_ARC, hw, htd, mw, mt), (_ARC + 1, hw, htd, mt), (_ARC + 2, htd, mw, mt), (_ARC + 3, hw, mw, d),
        (_ARC + 4, htd, mt), (_ARC + 5, hw, mtd), (_ARC + 6, htd, mw), (_ARC + 7, mw, d), (_ARC + 8, mtd),
        (_ARC + 9, hw, d), (_ARC + 10, htd),
        (_SIBLING, htd, st, mt), (_SIBLING + 1, htd, sw, mw), (_SIBLING + 2, st, mtd), (_SIBLING + 3, sw, mtd),
        (_SIBLING + 4, st, mwd), (_SIBLING + 5, hw, st, mtd), (_SIBLING + 6, htd, ot, mt),
        (_GRANDCHILD, htd, mt, lt), (_GRANDCHILD + 1, htd, mt, rt), (_GRANDCHILD + 2, htd, mt, lw),
        (_GRANDCHILD + 3, htd, mt, rw), (_GRANDCHILD + 4, mtd, lt, rt), (_GRANDCHILD + 5, hw, mtd, lw),
        (_GRANDCHILD + 6, mw, lt, (rt, d)),
        (_VALENCY, htd, v), (_VALENCY + 1, hw, d, v), (_VALENCY + 2, htd, mt, v), (_VALENCY + 3, mtd, ml, mr),
        (_VALENCY + 4, mw, ml, mr), (_VALENCY + 5, htd, mt, ml, mr),
        (_DISTANCE, htd, mt, far), (_DISTANCE + 1, hw, d, far), (_DISTANCE + 2, mtd, far), (_DISTANCE + 3, mtd, long),
        (_DISTANCE + 4, htd, mt, long), (_DISTANCE + 5, mw, d, far),
        (_BORDER, h.tag, new.tags[0], new.tags[-1]), (_BORDER + 1, h.tag, new.words[0]),
        (_BORDER + 2, h.tag, new.words[-1]),
    ]  # fmt: skip


def _joint(left: Edge, right: Edge, k: int) -> list[Feature]:
    w1, w2 = left.words[-2] if left.size > 1 else "", left.words[-1]
    w3, w4 = right.words[0], right.words[1] if right.size > 1 else ""
    t1, t2 = left.tags[-2] if left.size > 1 else "", left.tags[-1]
    t3, t4 = right.tags[0], right.tags[1] if right.size > 1 else ""
    found: list[Feature] = [
        (k, w2, w3), (k + 1, t2, t3), (k + 2, w2, t3), (k + 3, t2, w3), (k + 4, t2, w3, t4), (k + 5, t1, w2, t3),
        (k + 6, t1, t2, t3), (k + 7, t2, t3, t4), (k + 8, t1, t2, t3, t4),
    ]  # fmt: skip
    found += [(k + 9, w1, w2, w3), (k + 10, w1, w2, t3)] if w1 else []
    found += [(k + 11, w2, w3, w4), (k + 12, t2, w3, w4)] if w4 else []
    return found + ([(k + 13, w1, w2, w3, w4)] if w1 and w4 else [])


def _boundary(new: Edge, k: int) -> list[Feature]:
    w, t = new.words, new.tags
    return [(k, w[0]), (k + 1, t[0]), (k + 2, w[-1]), (k + 3, t[-1]), (k + 4, t[0], t[1]), (k + 5, t[-2], t[-1])]
