"""From a bag with annotation to what the compiled search works on.

InputToken     a token as the decoder sees it: its possible forms, and what is given of it
Input          the tokens of a bag, atomic phrases, and words whose order is fixed
Grammar        what a grammar offers on the Python side
Leaf           a leaf edge: the slot whose words it uses, the words, and their tags
Prepared       the compiled problem and what its numbers mean
prepare        make one
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from comparison.best_first.edge import (
    ACTIONS,
    ANY_HEAD,
    COLUMNS,
    FIRST_TAG,
    FIRST_WORD,
    HEAD_SLOT,
    HEAD_TAG,
    HEAD_WORD,
    IS_ROOT,
    LAST_TAG,
    LAST_WORD,
    LEFT,
    LM_STATE,
    NOTHING,
    OWN,
    PENULTIMATE_TAG,
    PENULTIMATE_WORD,
    RIGHT,
    RULE,
    SECOND_TAG,
    SIZE,
    STRING_BASE,
    Problem,
)
from comparison.learning.hashing import text_hash
from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton
from gyro.text.corpus import ROOT
from lm.model import LanguageModel

_WORD_BITS = 64
LONGEST_LM_ORDER = 5  # an edge knows its first four words


@dataclass(frozen=True)
class InputToken:
    """A token as the decoder sees it; None is for what is not given."""

    forms: tuple[str, ...]  # several: inflections, of which one is used
    pos: str | None = None
    head: int | None = None  # its place among the tokens, or ROOT
    label: str | None = None
    categories: tuple[str, ...] | None = None
    count: int = 1
    optional: bool = False


@dataclass(frozen=True)
class Input:
    """The tokens of a bag, in any order."""

    tokens: tuple[InputToken, ...]
    units: tuple[tuple[int, ...], ...] = ()
    order: tuple[tuple[int, ...], ...] = ()


class Grammar(Protocol):
    """A grammar's Python side; `tables` is what the compiled code gets."""

    name: ClassVar[str]
    obeys_heads: ClassVar[bool]  # are given heads heads of its edges?

    @property
    def tags(self) -> tuple[str, ...]:
        """All tags; the first two are NO_TAG and UNKNOWN_TAG."""

    @property
    def tables(self) -> Any:
        """The grammar for compiled code."""

    @property
    def most_rules(self) -> int:
        """The most rules that apply to two edges in one order, or to one edge."""

    def tag_numbers(self, word: str, pos: str | None) -> Sequence[int]:
        """The tags that a word may have: places in `tags`."""

    def own_columns(
        self, words: Sequence[str], tags: Sequence[int], head: int, categories: Sequence[str] | None
    ) -> Sequence[Sequence[int]]:
        """The grammar's own columns of each leaf that words with these tags and this head can be."""

    def label_number(self, label: str) -> int:
        """The number of a label."""


class Leaf(NamedTuple):
    """A leaf edge."""

    slot: int
    words: tuple[str, ...]
    tags: tuple[int, ...]
    own: tuple[int, ...]


class Prepared(NamedTuple):
    """A problem, its leaves, and for each slot the groups of tokens that are its copies."""

    problem: Problem
    leaves: tuple[Leaf, ...]
    slots: tuple[tuple[tuple[int, ...], ...], ...]

    def slot_of(self, token: int) -> int:
        """The slot that has this token."""
        return next(s for s, groups in enumerate(self.slots) for group in groups if token in group)


def prepare(given: Input, grammar: Grammar, model: LanguageModel | None = None) -> Prepared:
    """Number words, slots and leaves, and lay the counters of coverage out."""
    slots = _slots(given)
    fields = _Fields([_capacity(given, groups) for groups in slots])
    leaves = tuple(leaf for s in range(len(slots)) for leaf in _leaves(given, grammar, s, slots[s][0]))
    if not leaves:
        raise InputError("found a bag without words")
    words = sorted({word for leaf in leaves for word in leaf.words})
    number = {word: i for i, word in enumerate(words, 1)}
    lm = _language_model(model, words)
    strings = [_string_hash(leaf.words) for leaf in leaves]
    walked = [_walk(lm, [number[word] for word in leaf.words]) for leaf in leaves]
    columns = np.zeros((len(leaves), COLUMNS), dtype=np.int64)
    for i, leaf in enumerate(leaves):
        head = _head_place(given, slots[leaf.slot][0])
        _fill_leaf(columns[i], leaf, [number[word] for word in leaf.words], head, i)
        columns[i, LM_STATE] = walked[i][0]
    coverage = np.array([fields.one(leaf.slot) for leaf in leaves], dtype=np.uint64)
    before = _before(given, slots, fields)
    bound = given if grammar.obeys_heads else Input(tuple(replace(token, head=None) for token in given.tokens))
    given_head, dependents_bias, dependents_guard = _given_heads(bound, slots, fields)
    problem = Problem(
        words=np.array([0, *map(text_hash, words)], dtype=np.uint64),
        tags=np.array([0, *(text_hash(tag) for tag in grammar.tags[1:])], dtype=np.uint64),
        bias=fields.bias,
        guard=fields.guard,
        goal_bias=fields.goal_bias,
        goal_guard=fields.goal_guard,
        leaf_columns=columns,
        leaf_coverage=coverage,
        leaf_before=np.array([before[leaf.slot] for leaf in leaves], dtype=np.uint64),
        leaf_string=np.array([string for string, _ in strings], dtype=np.uint64),
        leaf_power=np.array([power for _, power in strings], dtype=np.uint64),
        leaf_lm=np.array([score for _, score in walked]),
        given_head=given_head,
        dependents_bias=dependents_bias,
        dependents_guard=dependents_guard,
        selection=int(any(token.optional or token.count > 1 for token in given.tokens)),
        given_label=_given_labels(given, slots, grammar),
        **lm,
    )
    return Prepared(problem, leaves, slots)


def _slots(given: Input) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Groups of tokens (units, or one token) that can take each other's place, in an order of their own."""
    in_units = {token for unit in given.units for token in unit}
    groups = [*given.units, *((i,) for i in range(len(given.tokens)) if i not in in_units)]
    # Others speak of these by their places: nothing can stand for them.
    named = {token for chain in given.order for token in chain} | {token.head for token in given.tokens}
    alike: dict[Any, list[tuple[int, ...]]] = {}
    for group in groups:
        facts = tuple(_facts(given.tokens[i]) for i in group)
        place = group if named.intersection(group) else ()
        alike.setdefault((facts, place), []).append(tuple(group))
    return tuple(tuple(alike[key]) for key in sorted(alike))


def _facts(token: InputToken) -> tuple[Any, ...]:
    head = ANY_HEAD if token.head is None else token.head
    known = (token.pos or "", token.label or "", token.categories or ())
    return (token.forms, *known, head, token.count, token.optional)


def _capacity(given: Input, groups: Sequence[Sequence[int]]) -> tuple[int, int]:
    """How often a slot must and may be used."""
    least = sum(not all(given.tokens[i].optional for i in group) for group in groups)
    return least, sum(given.tokens[group[0]].count for group in groups)


class _Fields:
    """The counters of coverage: for each slot its place in the words of 64 bits."""

    def __init__(self, capacities: Sequence[tuple[int, int]]) -> None:
        self.places: list[tuple[int, int]] = []
        self.capacities = capacities
        word, bit = 0, 0
        for _, most in capacities:
            width = most.bit_length() + 1
            if bit + width > _WORD_BITS:
                word, bit = word + 1, 0
            self.places.append((word, bit))
            bit += width
        self.width = word + 1
        self.bias, self.guard, self.goal_bias, self.goal_guard = (self._zeros() for _ in range(4))
        for slot, ((word, bit), (_, most)) in enumerate(zip(self.places, capacities, strict=True)):
            values = 1 << most.bit_length()
            self.require(slot, self.goal_bias, self.goal_guard)
            self._add(self.bias, word, (values - 1 - most) << bit)
            self._add(self.guard, word, values << bit)

    def _zeros(self) -> NDArray[np.uint64]:
        return np.zeros(self.width, dtype=np.uint64)

    @staticmethod
    def _add(array: NDArray[np.uint64], word: int, value: int) -> None:
        array[word] += np.uint64(value)

    def one(self, slot: int) -> NDArray[np.uint64]:
        """The coverage of one use of a slot."""
        array = self._zeros()
        word, bit = self.places[slot]
        self._add(array, word, 1 << bit)
        return array

    def all(self, slot: int) -> NDArray[np.uint64]:
        """All bits of a slot's counter."""
        array = self._zeros()
        word, bit = self.places[slot]
        self._add(array, word, ((1 << self.capacities[slot][1].bit_length()) - 1) << bit)
        return array

    def require(self, slot: int, bias: NDArray[np.uint64], guard: NDArray[np.uint64]) -> None:
        """Let the guard be set, once the bias is added, just when the slot is used as often as it must be."""
        (word, bit), (least, most) = self.places[slot], self.capacities[slot]
        if least:
            values = 1 << most.bit_length()
            self._add(bias, word, (values - least) << bit)
            self._add(guard, word, values << bit)


def _leaves(given: Input, grammar: Grammar, slot: int, group: Sequence[int]) -> list[Leaf]:
    """All leaves of a slot: forms × tags × what else the grammar tells apart."""
    tokens = [given.tokens[i] for i in group]
    head = _head_place(given, group)
    leaves = []
    readings: list[tuple[tuple[str, ...], tuple[int, ...]]]
    if len(tokens) == 1:
        readings = [((form,), (tag,)) for form in tokens[0].forms for tag in grammar.tag_numbers(form, tokens[0].pos)]
    else:  # a unit is one reading: the first form and the likeliest tag of each of its words
        words = tuple(token.forms[0] for token in tokens)
        readings = [(words, tuple(grammar.tag_numbers(t.forms[0], t.pos)[0] for t in tokens))]
    for words, tags in readings:
        for own in grammar.own_columns(words, tags, head, tokens[head].categories):
            leaves.append(Leaf(slot, tuple(words), tuple(tags), tuple(own)))
    return leaves


def _head_place(given: Input, group: Sequence[int]) -> int:
    """Which word of a unit is its head: the one whose given head is outside, else the last."""
    outside = [p for p, i in enumerate(group) if given.tokens[i].head is not None and given.tokens[i].head not in group]
    return outside[0] if len(outside) == 1 else len(group) - 1


def _fill_leaf(row: NDArray[np.int64], leaf: Leaf, words: Sequence[int], head: int, number: int) -> None:
    """Write a leaf's record."""
    tags = leaf.tags
    row[LEFT], row[RIGHT], row[RULE], row[SIZE], row[ACTIONS] = NOTHING, NOTHING, number, len(words), 1
    row[HEAD_WORD], row[HEAD_TAG], row[HEAD_SLOT] = words[head], tags[head], leaf.slot
    row[FIRST_WORD : FIRST_WORD + min(len(words), 4)] = words[:4]
    row[FIRST_TAG], row[LAST_WORD], row[LAST_TAG] = tags[0], words[-1], tags[-1]
    if len(words) > 1:
        row[SECOND_TAG], row[PENULTIMATE_WORD], row[PENULTIMATE_TAG] = tags[1], words[-2], tags[-2]
    row[OWN : OWN + len(leaf.own)] = leaf.own


def _string_hash(words: Sequence[str]) -> tuple[int, int]:
    value, power, base = 0, 1, int(STRING_BASE)
    for word in words:
        value = (value * base + text_hash(word)) % (1 << _WORD_BITS)
        power = power * base % (1 << _WORD_BITS)
    return value, power


def _before(given: Input, slots: Sequence[Any], fields: _Fields) -> list[NDArray[np.uint64]]:
    """For each slot the coverage bits of the words that have to come before it."""
    slot_of = {token: s for s, groups in enumerate(slots) for group in groups for token in group}
    masks = [np.zeros(fields.width, dtype=np.uint64) for _ in slots]
    for chain in given.order:
        for i, token in enumerate(chain):
            for earlier in chain[:i]:
                if slot_of[earlier] != slot_of[token]:
                    masks[slot_of[token]] |= fields.all(slot_of[earlier])
    return masks


def _given_heads(
    given: Input, slots: Sequence[Any], fields: _Fields
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64]]:
    """Each slot's given head as a slot, and how to see from a coverage that it has a slot's given dependents."""
    slot_of = {token: s for s, groups in enumerate(slots) for group in groups for token in group}
    heads = np.full(len(slots), ANY_HEAD, dtype=np.int64)
    bias, guard = (np.zeros((len(slots), fields.width), dtype=np.uint64) for _ in range(2))
    for i, token in enumerate(given.tokens):
        if token.head is None:
            continue
        slot, head = slot_of[i], IS_ROOT if token.head == ROOT else slot_of[token.head]
        if head == slot:
            continue  # within a unit
        if head != IS_ROOT and heads[slot] != head:
            fields.require(slot, bias[head], guard[head])
        heads[slot] = head
    return heads, bias, guard


def _given_labels(given: Input, slots: Sequence[Any], grammar: Grammar) -> NDArray[np.int64]:
    labels = []
    for groups in slots:
        label = given.tokens[groups[0][_head_place(given, groups[0])]].label
        labels.append(-1 if label is None else grammar.label_number(label))
    return np.array(labels, dtype=np.int64)


def _language_model(model: LanguageModel | None, words: Sequence[str]) -> dict[str, Any]:
    """The model restricted to the words, with and without the sentence start, as arrays; column 0 is for no word."""
    if model is None:
        none, zero = np.zeros((1, 1), dtype=np.int64), np.zeros((1, 1))
        tables = {"lm_next": none, "lm_score": zero, "lm_end": zero[0]}
        tables |= {"lm_start_next": none, "lm_start_score": zero, "lm_start_end": zero[0]}
        return {**tables, "lm_order": 0, "lm_null": 0, "lm_start": 0}
    if model.order > LONGEST_LM_ORDER:
        raise InputError(f"found a language model of order {model.order}; at most {LONGEST_LM_ORDER} is allowed here")
    inner = model.acceptor(words, start=False)
    outer = model.acceptor(words)
    next_state, score, end = _padded(inner)
    start_next, start_score, start_end = _padded(outer)
    return {
        "lm_next": next_state,
        "lm_score": score,
        "lm_end": end,
        "lm_start_next": start_next,
        "lm_start_score": start_score,
        "lm_start_end": start_end,
        "lm_order": model.order,
        "lm_null": inner.start,
        "lm_start": outer.start,
    }


def _padded(automaton: WordAutomaton) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    states = automaton.num_states
    next_state = np.hstack([np.zeros((states, 1), dtype=np.int64), automaton.next_state])
    score = np.hstack([np.zeros((states, 1)), -automaton.cost])
    return np.ascontiguousarray(next_state), np.ascontiguousarray(score), -automaton.end_cost


def _walk(lm: dict[str, Any], words: Sequence[int]) -> tuple[int, float]:
    """The model's state after the words, and their log-probability, without context."""
    state, score = lm["lm_null"], 0.0
    if lm["lm_order"]:
        for word in words:
            score += float(lm["lm_score"][state, word])
            state = int(lm["lm_next"][state, word])
    return state, score
