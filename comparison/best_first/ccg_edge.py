"""CCG derivations as edges of the best-first decoder: constituents with a category, built by rule instances.

CcgTables  what the compiled code knows of the grammar: rule instances by the categories that they combine

The features are those of Zhang and Clark (2011), Table 1; the module template lists them. Equivalent are edges with the
same category, string and head word (2011), or for pruning in the style of dynamic programming (2015) with the same
category, head word, multiset of words and word and tag bigrams at both ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from comparison.best_first import template as t
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
    Integers,
    binary_rules,
    ends,
    features,
    fill,
    signature,
    unary_rules,
)
from comparison.best_first.template import bucket, pack, put_ends, write, write_joint
from comparison.learning.hashing import Hashes, mix, start
from gyro.row_table import slot_of

CATEGORY = OWN
# The lexical categories of the words at the ends; 0 stands for none.
FIRST_CATEGORY, SECOND_CATEGORY, PENULTIMATE_CATEGORY, LAST_CATEGORY = OWN + 1, OWN + 2, OWN + 3, OWN + 4
UNARY_RULES = OWN + 5  # how many unary rules are on top of each other here
# Rules like N => NP => N\N => N would else go round for ever: the average of a scaled score may grow with each.
MOST_UNARY_RULES = 4

_CONSTITUENT, _LARGE, _UNARY, _BINARY = pack(t.CONSTITUENT), pack(t.LARGE), pack(t.UNARY), pack(t.BINARY)
_JOINT = tuple(pack(table, t.CCG_JOINT) for table in t.JOINT_PARTS)
_BOUNDARY = pack(t.BOUNDARY, t.CCG_BOUNDARY)


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
def _features(grammar, problem, edges, left, right, rule, complete, values, out):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def extract(grammar, problem, edges, left, right, rule, complete, values, out):  # type: ignore[no-untyped-def]
        a, b = ends(problem, edges, left, right, rule)
        is_binary = right >= 0
        head, other = (b, a) if is_binary and grammar.head[rule] == 1 else (a, b)
        category = a[CATEGORY] if left < 0 else grammar.result[rule]
        size = a[SIZE] + b[SIZE] if is_binary else a[SIZE]
        values[t.C], values[t.LENGTH] = grammar.category_hashes[category], bucket(size)
        values[t.HW], values[t.HT] = problem.words[head[HEAD_WORD]], problem.tags[head[HEAD_TAG]]
        n = write(_CONSTITUENT, values, out, 0)
        if size > 1:
            put_ends(problem, a, b, not is_binary, values)
            n = write(_LARGE, values, out, n)
        values[t.NAME] = np.uint64(rule + 1)
        if is_binary:
            values[t.XW], values[t.XT] = problem.words[other[HEAD_WORD]], problem.tags[other[HEAD_TAG]]
            hashes = grammar.category_hashes
            values[t.K1], values[t.K2] = hashes[a[PENULTIMATE_CATEGORY]], hashes[a[LAST_CATEGORY]]
            values[t.K3], values[t.K4] = hashes[b[FIRST_CATEGORY]], hashes[b[SECOND_CATEGORY]]
            n = write(_BINARY, values, out, n)
            n = write_joint(_JOINT, problem, edges, left, right, values, out, n)
        elif left >= 0:
            n = write(_UNARY, values, out, n)
        if complete:
            put_ends(problem, a, b, not is_binary, values)
            n = write(_BOUNDARY, values, out, n)
        return n

    return extract
