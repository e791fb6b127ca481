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
from numpy.typing import NDArray

from comparison.best_first import template as t
from comparison.best_first.compilation import INLINE, INNER
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
    fill,
    put_values,
    signature,
    unary_rules,
)
from comparison.best_first.value import bucket, put_ends, put_joint
from comparison.learning.hashing import Hashes, mix, start

CATEGORY = OWN
# The lexical categories of the words at the ends; 0 stands for none.
FIRST_CATEGORY, SECOND_CATEGORY, PENULTIMATE_CATEGORY, LAST_CATEGORY = OWN + 1, OWN + 2, OWN + 3, OWN + 4
UNARY_RULES = OWN + 5  # how many unary rules are on top of each other here
# Rules like N => NP => N\N => N would else go round for ever: the average of a scaled score may grow with each.
MOST_UNARY_RULES = 4


class CcgTables(NamedTuple):
    """Rule instances; those that combine two categories are found by the number of the pair."""

    category_hashes: Hashes
    result: Integers  # by rule
    head: Integers  # by rule: 0 left, 1 right; unary rules have 0
    pair_of: NDArray[np.int32]  # category on the left × category on the right: their number as a pair, -1 without rules
    pair_start: Integers  # by pair: the first of its rules; they end where the next one's start
    pair_rules: Integers
    unary_start: Integers  # by category
    unary_rules: Integers
    dp: int  # signatures for pruning in the style of dynamic programming
    code: Integers  # its features, of template.pack


def _is_ours(grammar: Any) -> bool:
    return isinstance(grammar, types.NamedTuple) and grammar.instance_class is CcgTables


@overload(binary_rules, jit_options=INLINE)
def _binary_rules(grammar, problem, edges, left, right, rules):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def find(grammar, problem, edges, left, right, rules):  # type: ignore[no-untyped-def]
        pair, n = grammar.pair_of[edges.columns[left, CATEGORY], edges.columns[right, CATEGORY]], 0
        if pair < 0:
            return 0
        for i in range(grammar.pair_start[pair], grammar.pair_start[pair + 1]):
            rules[n] = grammar.pair_rules[i]
            n += 1
        return n

    return find


@overload(unary_rules, jit_options=INLINE)
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


@overload(fill, jit_options=INNER)
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


@overload(signature, jit_options=INNER)
def _signature(grammar, problem, edges, edge):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def sign(grammar, problem, edges, edge):  # type: ignore[no-untyped-def]
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


@overload(put_values, jit_options=INLINE)
def _put_values(grammar, problem, edges, left, right, rule, complete, values):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def put(grammar, problem, edges, left, right, rule, complete, values):  # type: ignore[no-untyped-def]
        a, b = ends(problem, edges, left, right, rule)
        is_binary = right >= 0
        kinds = t.WHOLE_EDGE if complete else 0
        head, other = (b, a) if is_binary and grammar.head[rule] == 1 else (a, b)
        category = a[CATEGORY] if left < 0 else grammar.result[rule]
        size = a[SIZE] + b[SIZE] if is_binary else a[SIZE]
        values[t.C], values[t.LENGTH] = grammar.category_hashes[category], bucket(size)
        values[t.HW], values[t.HT] = problem.words[head[HEAD_WORD]], problem.tags[head[HEAD_TAG]]
        if size > 1:
            kinds |= t.LARGE_EDGE
        if size > 1 or complete:
            put_ends(problem, a, b, not is_binary, values)
        if left < 0:
            return kinds | t.LEAF_EDGE
        values[t.NAME] = np.uint64(rule + 1)
        if not is_binary:
            return kinds | t.UNARY_EDGE
        values[t.XW], values[t.XT] = problem.words[other[HEAD_WORD]], problem.tags[other[HEAD_TAG]]
        hashes = grammar.category_hashes
        values[t.K1], values[t.K2] = hashes[a[PENULTIMATE_CATEGORY]], hashes[a[LAST_CATEGORY]]
        values[t.K3], values[t.K4] = hashes[b[FIRST_CATEGORY]], hashes[b[SECOND_CATEGORY]]
        put_joint(problem, a, b, values)
        return kinds | t.BINARY_EDGE

    return put
