"""The best-first decoder as people write it in plain Python: edges are objects, features tuples, weights a dictionary.

PlainWeights  feature → weight, filled from a trained model as features come up
PlainDecoder  decode a prepared bag with unlabelled dependencies or CCG; nothing is given but tags

The features, the beam and the equivalence of edges are those of the compiled decoder, so that both do the same work.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.best_first import template as t
from comparison.best_first.ccg_inventory import CcgInventory
from comparison.best_first.dependency_edge import MOST_VALENCY
from comparison.best_first.dependency_grammar import DependencyGrammar
from comparison.best_first.edge import NO_TAG
from comparison.best_first.problem import Prepared
from comparison.learning.hashing import text_hash
from grammars.ccg.grammar import BinaryRule

_ALL = (1 << 64) - 1
_SEED, _GOLDEN = 0xD1B54A32D192ED03, 0x9E3779B97F4A7C15
Value = str | int
Values = list[Any]
Feature = tuple[int, tuple[Value, ...]]
Getter = tuple[int, Callable[[Values], tuple[Value, ...]]]


def _getters(table: t.Table, first: int = 0) -> list[Getter]:
    """The templates of a table: a number, and what takes the values out of a list."""
    return [(first + number, _taker(places)) for number, *places in table]


def _taker(places: list[int]) -> Callable[[Values], tuple[Value, ...]]:
    if len(places) > 1:
        return itemgetter(*places)
    place = places[0]
    return lambda values: (values[place],)


def _parts(first: int) -> list[list[Getter]]:
    return [_getters(table, first) for table, _ in t.JOINT_PARTS]


_ARCS = (*t.ARC, *t.SIBLINGS, *t.GRANDCHILDREN, *t.VALENCIES, *t.DISTANCES, *t.BORDER)
_LEAF, _ARC = _getters(t.LEAF), _getters(_ARCS)
_CONSTITUENT, _LARGE, _UNARY = map(_getters, (t.CONSTITUENT, t.LARGE, t.UNARY))
_BINARY = _getters((*t.BINARY, *t.LEXICAL))
_JOINT, _JOINT_W1, _JOINT_W4, _JOINT_BOTH = _parts(t.DEPENDENCY_JOINT)
_CCG_JOINT, _CCG_JOINT_W1, _CCG_JOINT_W4, _CCG_JOINT_BOTH = _parts(t.CCG_JOINT)
_BOUNDARY, _CCG_BOUNDARY = _getters(t.BOUNDARY, t.DEPENDENCY_BOUNDARY), _getters(t.BOUNDARY, t.CCG_BOUNDARY)


def _mix(state: int, value: int) -> int:
    state = ((state ^ value) * _GOLDEN) & _ALL
    return state ^ (state >> 32)


class PlainWeights(dict[Feature, float]):
    """A feature is a template's number and its values: texts or numbers."""

    def __init__(self, weights: NDArray[np.float32]) -> None:
        super().__init__()
        self.weights = weights

    def __missing__(self, feature: Feature) -> float:
        state = _mix(_SEED, feature[0])
        for value in feature[1]:
            state = _mix(state, self._number(value))
        self[feature] = weight = float(self.weights[state & (self.weights.size - 1)])
        return weight

    @staticmethod
    def _number(value: Value) -> int:
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
        known: dict[tuple[Any, ...], Edge] = {}
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

    def signature(self, edge: Edge) -> tuple[Any, ...] | None:
        """What makes edges equivalent; without dp dependency trees are, and these are built in one way only."""
        ends = (edge.words[:2], edge.words[-2:], edge.tags[:2], edge.tags[-2:])
        if self.rules:
            return (edge.category, edge.head, edge.counts, *ends)
        if not self.grammar.dp:
            return None
        valencies = tuple(min(number, MOST_VALENCY) for number in edge.valencies)
        return (edge.head, edge.tag, edge.place, edge.counts, *ends, edge.left_child, edge.right_child, valencies)

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
        values: Values = [""] * t.NUM_VALUES
        values[t.HW], values[t.HT] = new.head, new.tag
        if complete or new.size > 1:
            values[t.W_FIRST], values[t.W_LAST] = new.words[0], new.words[-1]
            values[t.T_FIRST], values[t.T_LAST] = new.tags[0], new.tags[-1]
            values[t.T_SECOND], values[t.T_PENULTIMATE] = new.tags[1], new.tags[-2]
        if self.rules:
            getters = self._put_constituent(left, right, rule, new, values)
        elif left is None or right is None:
            values[t.LENGTH] = new.size
            getters = _LEAF
        else:
            _put_arc(left, right, rule, values)
            getters = _ARC
        if left is not None and right is not None:
            getters = getters + _put_joint(left, right, bool(self.rules), values)
        if complete:
            getters = getters + (_CCG_BOUNDARY if self.rules else _BOUNDARY)
        return [(number, take(values)) for number, take in getters]

    def _put_constituent(
        self, left: Edge | None, right: Edge | None, rule: int, new: Edge, values: Values
    ) -> list[Getter]:
        values[t.C], values[t.LENGTH], values[t.NAME] = new.category, bucket(new.size), rule + 1
        getters = _CONSTITUENT + _LARGE if new.size > 1 else _CONSTITUENT
        if left is None:
            return getters
        if right is None:
            return getters + _UNARY
        other = right if getattr(self.rules[rule], "head", 0) == 0 else left
        assert isinstance(self.grammar, CcgInventory)
        none = self.grammar.categories[0]
        values[t.XW], values[t.XT] = other.head, other.tag
        values[t.K1], values[t.K2] = left.lexical[-2] if left.size > 1 else none, left.lexical[-1]
        values[t.K3], values[t.K4] = right.lexical[0], right.lexical[1] if right.size > 1 else none
        return getters + _BINARY


def _text(tag: str) -> str:
    return "" if tag == NO_TAG else tag


def _put_arc(left: Edge, right: Edge, side: int, values: Values) -> None:
    h, m, d = (left, right, 1) if side == 0 else (right, left, 2)
    values[t.D], values[t.MW], values[t.MT] = d, m.head, m.tag
    if side == 0:
        (values[t.SW], values[t.ST]), values[t.OT], valency = h.right_child, h.left_child[1], h.valencies[1]
        distance = h.size - h.place - 1 + m.place
    else:
        (values[t.SW], values[t.ST]), values[t.OT], valency = h.left_child, h.right_child[1], h.valencies[0]
        distance = h.place + m.size - m.place - 1
    values[t.LW], values[t.LT] = m.left_child
    values[t.RW], values[t.RT] = m.right_child
    values[t.V], values[t.ML], values[t.MR] = (
        min(valency, MOST_VALENCY),
        min(m.valencies[0], MOST_VALENCY),
        min(m.valencies[1], MOST_VALENCY),
    )
    values[t.FAR], values[t.LENGTH] = bucket(distance), bucket(m.size)


def _put_joint(left: Edge, right: Edge, is_ccg: bool, values: Values) -> list[Getter]:
    values[t.W2], values[t.T2], values[t.W3], values[t.T3] = (
        left.words[-1],
        left.tags[-1],
        right.words[0],
        right.tags[0],
    )
    getters = _CCG_JOINT if is_ccg else _JOINT
    if left.size > 1:
        values[t.W1], values[t.T1] = left.words[-2], left.tags[-2]
        getters = getters + (_CCG_JOINT_W1 if is_ccg else _JOINT_W1)
    if right.size > 1:
        values[t.W4], values[t.T4] = right.words[1], right.tags[1]
        getters = getters + (_CCG_JOINT_W4 if is_ccg else _JOINT_W4)
    if left.size > 1 and right.size > 1:
        getters = getters + (_CCG_JOINT_BOTH if is_ccg else _JOINT_BOTH)
    return getters
