"""CCG derivations as edges of the best-first decoder: constituents with a category, built by rule instances.

CcgTables  what the compiled code knows of the grammar: rule instances by the categories that they combine

The features are those of Zhang and Clark (2011), Table 1. Equivalent are edges with the same category, string and head
word (2011), or for pruning in the style of dynamic programming (2015) with the same category, head word, multiset of
words and word and tag bigrams at both ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload

from comparison.best_first.edge import (
    FIRST_TAG,
    FIRST_WORD,
    HEAD_SLOT,
    HEAD_TAG,
    HEAD_WORD,
    LAST_TAG,
    LAST_WORD,
    OWN,
    PENULTIMATE_TAG,
    PENULTIMATE_WORD,
    SECOND_TAG,
    SECOND_WORD,
    SIZE,
    Hashes,
    Integers,
    Problem,
    binary_rules,
    boundary,
    bucket,
    ends,
    features,
    fill,
    joint,
    mix,
    signature,
    start,
    unary_rules,
)
from gyro.row_table import slot_of

CATEGORY = OWN
# The lexical categories of the words at the ends; 0 stands for none.
FIRST_CATEGORY, SECOND_CATEGORY, PENULTIMATE_CATEGORY, LAST_CATEGORY = OWN + 1, OWN + 2, OWN + 3, OWN + 4
UNARY_RULES = OWN + 5  # how many unary rules are on top of each other here
# Rules like N => NP => N\N => N would else go round for ever: the average of a scaled score may grow with each.
MOST_UNARY_RULES = 4

# Numbers of the first feature template of each group.
_ANY, _LARGE, _BINARY, _LEXICAL, _UNARY, _JOINT, _BOUNDARY = 300, 310, 320, 340, 350, 360, 380


class CcgTables(NamedTuple):
    """Rule instances; those that combine two categories are found by the number of the pair."""

    category_hashes: Hashes
    result: Integers  # by rule
    head: Integers  # by rule: 0 left, 1 right; unary rules have 0
    pairs: Integers  # pair × 2: the categories on the left and on the right
    pair_slots: Integers  # a table of gyro.row_table over `pairs`
    pair_start: Integers  # by pair: the first of its rules; they end where the next one's start
    pair_rules: Integers
    unary_start: Integers  # by category
    unary_rules: Integers
    dp: int  # signatures for pruning in the style of dynamic programming


def _is_ours(grammar: Any) -> bool:
    return isinstance(grammar, types.NamedTuple) and grammar.instance_class is CcgTables


@overload(binary_rules)
def _binary_rules(grammar, problem, edges, left, right, rules):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def find(grammar, problem, edges, left, right, rules):  # type: ignore[no-untyped-def]
        categories = edges.columns[left, CATEGORY], edges.columns[right, CATEGORY]
        pair, n = grammar.pair_slots[slot_of(grammar.pair_slots, grammar.pairs, categories)], 0
        if pair < 0:
            return 0
        for i in range(grammar.pair_start[pair], grammar.pair_start[pair + 1]):
            rules[n] = grammar.pair_rules[i]
            n += 1
        return n

    return find


@overload(unary_rules)
def _unary_rules(grammar, problem, edges, edge, rules):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def find(grammar, problem, edges, edge, rules):  # type: ignore[no-untyped-def]
        category, n = edges.columns[edge, CATEGORY], 0
        if edges.columns[edge, UNARY_RULES] >= MOST_UNARY_RULES:
            return 0
        for i in range(grammar.unary_start[category], grammar.unary_start[category + 1]):
            rules[n] = grammar.unary_rules[i]
            n += 1
        return n

    return find


@overload(fill)
def _fill(grammar, problem, edges, edge, left, right, rule):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def copy(grammar, problem, edges, edge, left, right, rule):  # type: ignore[no-untyped-def]
        new = edges.columns[edge]
        new[CATEGORY] = grammar.result[rule]
        if right < 0:
            new[UNARY_RULES] += 1
            return  # a unary edge has all the rest from its part
        new[UNARY_RULES] = 0
        a, b = edges.columns[left], edges.columns[right]
        head = a if grammar.head[rule] == 0 else b
        for column in (HEAD_WORD, HEAD_TAG, HEAD_SLOT):
            new[column] = head[column]
        new[FIRST_CATEGORY], new[LAST_CATEGORY] = a[FIRST_CATEGORY], b[LAST_CATEGORY]
        new[SECOND_CATEGORY] = a[SECOND_CATEGORY] if a[SECOND_CATEGORY] else b[FIRST_CATEGORY]
        new[PENULTIMATE_CATEGORY] = b[PENULTIMATE_CATEGORY] if b[PENULTIMATE_CATEGORY] else a[LAST_CATEGORY]

    return copy


@overload(signature)
def _signature(grammar, edges, edge):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def sign(grammar, edges, edge):  # type: ignore[no-untyped-def]
        row = edges.columns[edge]
        state = mix(mix(start(1), np.uint64(row[CATEGORY])), np.uint64(row[HEAD_WORD]))
        if not grammar.dp:
            return mix(state, edges.string[edge])
        for i in range(edges.coverage.shape[1]):
            state = mix(state, edges.coverage[edge, i])
        for column in (FIRST_WORD, SECOND_WORD, PENULTIMATE_WORD, LAST_WORD):
            state = mix(state, np.uint64(row[column]))
        for column in (FIRST_TAG, SECOND_TAG, PENULTIMATE_TAG, LAST_TAG):
            state = mix(state, np.uint64(row[column]))
        return state

    return sign


@overload(features)
def _features(grammar, problem, edges, left, right, rule, complete, out):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def extract(grammar, problem, edges, left, right, rule, complete, out):  # type: ignore[no-untyped-def]
        a, b = ends(problem, edges, left, right, rule)
        if left < 0:
            n = _constituent_features(grammar, problem, a[CATEGORY], a[SIZE], a, a, a, out, 0)
        elif right < 0:
            n = _constituent_features(grammar, problem, grammar.result[rule], a[SIZE], a, a, a, out, 0)
            name = np.uint64(rule + 1)
            out[n] = mix(start(_UNARY), name)
            out[n + 1] = mix(mix(start(_UNARY + 1), name), problem.words[a[HEAD_WORD]])
            n += 2
        else:
            head = a if grammar.head[rule] == 0 else b
            n = _constituent_features(grammar, problem, grammar.result[rule], a[SIZE] + b[SIZE], a, b, head, out, 0)
            n = _rule_features(grammar, problem, a, b, rule, out, n)
            n = joint(problem, edges, left, right, out, n, _JOINT)
        if complete:
            n = boundary(problem, a, b, right < 0, out, n, _BOUNDARY)
        return n

    return extract


@njit(cache=True)
def _constituent_features(
    grammar: Any, problem: Problem, category: int, size: int, first: Any, last: Any, head: Any, out: Any, n: int
) -> int:
    """The category with size, head and ends; `first` and `last` are the records that have the ends."""
    c, s = grammar.category_hashes[category], bucket(size)
    word, tag = problem.words[head[HEAD_WORD]], problem.tags[head[HEAD_TAG]]
    out[n] = mix(mix(start(_ANY), c), s)
    out[n + 1] = mix(mix(start(_ANY + 1), c), word)
    out[n + 2] = mix(mix(mix(start(_ANY + 2), c), s), word)
    out[n + 3] = mix(mix(start(_ANY + 3), c), tag)
    n += 4
    if size > 1:
        w1, w9 = problem.words[first[FIRST_WORD]], problem.words[last[LAST_WORD]]
        t1, t9 = problem.tags[first[FIRST_TAG]], problem.tags[last[LAST_TAG]]
        t2 = problem.tags[first[SECOND_TAG]] if first[SIZE] > 1 else problem.tags[last[FIRST_TAG]]
        t8 = problem.tags[last[PENULTIMATE_TAG]] if last[SIZE] > 1 else problem.tags[first[LAST_TAG]]
        out[n] = mix(mix(start(_LARGE), c), w1)
        out[n + 1] = mix(mix(start(_LARGE + 1), c), w9)
        out[n + 2] = mix(mix(mix(start(_LARGE + 2), c), t1), t2)
        out[n + 3] = mix(mix(mix(start(_LARGE + 3), c), t8), t9)
        out[n + 4] = mix(mix(mix(start(_LARGE + 4), c), t1), t9)
        n += 5
    return n


@njit(cache=True)
def _rule_features(grammar: Any, problem: Problem, a: Any, b: Any, rule: int, out: Any, n: int) -> int:
    """The rule with its heads, and the lexical categories where its parts meet."""
    name = np.uint64(rule + 1)
    head, other = (a, b) if grammar.head[rule] == 0 else (b, a)
    hw, ht = problem.words[head[HEAD_WORD]], problem.tags[head[HEAD_TAG]]
    ow, ot = problem.words[other[HEAD_WORD]], problem.tags[other[HEAD_TAG]]
    out[n] = mix(start(_BINARY), name)
    out[n + 1] = mix(mix(start(_BINARY + 1), name), hw)
    out[n + 2] = mix(mix(mix(start(_BINARY + 2), name), hw), ow)
    out[n + 3] = mix(mix(start(_BINARY + 3), name), ow)
    out[n + 4] = mix(mix(mix(start(_BINARY + 4), name), ht), ot)
    out[n + 5] = mix(mix(mix(start(_BINARY + 5), name), hw), ot)
    out[n + 6] = mix(mix(mix(start(_BINARY + 6), name), ht), ow)
    n += 7
    hashes = grammar.category_hashes
    c1, c2 = hashes[a[PENULTIMATE_CATEGORY]], hashes[a[LAST_CATEGORY]]
    c3, c4 = hashes[b[FIRST_CATEGORY]], hashes[b[SECOND_CATEGORY]]
    out[n] = mix(mix(start(_LEXICAL), c2), c3)
    out[n + 1] = mix(mix(mix(start(_LEXICAL + 1), c1), c2), c3)
    out[n + 2] = mix(mix(mix(start(_LEXICAL + 2), c2), c3), c4)
    return n + 3
