"""Dependency trees as edges of the best-first decoder: spans with a head, joined by attaching one head to the other.

DependencyTables  what the compiled code knows of the grammar: its labels, which go with which tags, its features
leaf_columns      the grammar's own columns of a leaf

A rule is 2 · label + side, where side is 0 when the left edge has the head and 1 when the right one has it. The right
dependents of a word are attached before its left ones, from the inside outwards, so that a tree has one derivation.
The features, which the module template lists, are of the kind of Koo and Collins (2010) and Zhang and Nivre (2011):
head, modifier, its siblings, the outermost dependents of both, valencies, distances, tags between, and the joint.

Equivalent are edges that no feature of a larger one, and no language model, can tell apart: the same words, head,
outermost dependents, valencies and ends. Or, with dp = 0, equal trees, as in the 2015 paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from comparison.best_first import template as t
from comparison.best_first.compilation import INLINE, INNER, inline
from comparison.best_first.edge import (
    ANY_HEAD,
    FIRST_TAG,
    FIRST_WORD,
    HEAD_SLOT,
    HEAD_TAG,
    HEAD_WORD,
    LAST_TAG,
    LM_STATE,
    NOTHING,
    OWN,
    PENULTIMATE_WORD,
    SIZE,
    Edges,
    Integers,
    Problem,
    binary_rules,
    ends,
    fill,
    is_complete,
    put_values,
    signature,
    unary_rules,
)
from comparison.best_first.value import bucket, norm, put_ends, put_joint
from comparison.learning.hashing import SEED, Hashes, mix

LEFT_VALENCY, RIGHT_VALENCY = OWN, OWN + 1
LEFT_CHILD_WORD, LEFT_CHILD_TAG = OWN + 2, OWN + 3
RIGHT_CHILD_WORD, RIGHT_CHILD_TAG = OWN + 4, OWN + 5
HEAD_PLACE = OWN + 6  # how many words stand before the head in its edge
# The dependents next to the outermost ones; the tags next to the head; those on each side of it, as bits.
LEFT_SECOND_TAG, RIGHT_SECOND_TAG = OWN + 7, OWN + 8
BEFORE_TAG, AFTER_TAG = OWN + 9, OWN + 10
LEFT_TAGS, RIGHT_TAGS = OWN + 11, OWN + 12

HEAD_ON_LEFT, HEAD_ON_RIGHT = 0, 1

MOST_VALENCY = 6  # a valency that is larger counts as this one
_TAG_BITS = t.MOST_TAGS - 1


class DependencyTables(NamedTuple):
    """The grammar for compiled code; unlabelled grammars have one label that says nothing."""

    label_hashes: Hashes
    # The labels seen between tags: row (head tag · tags + modifier tag) · 2 + side, as places in `labels`.
    label_start: Integers
    labels: Integers
    usual_label: int
    tags: int
    labelled: int
    code: Integers  # its features, of template.pack
    rich: int  # are there features of more than the outermost dependents?
    dp: int  # signatures of what features look at


def leaf_columns(tags: Sequence[int], head: int) -> list[int]:
    """The grammar's own columns of a leaf of words with these tags, of which one is the head: no dependents yet."""
    row = [0] * (RIGHT_TAGS - OWN + 1)
    row[HEAD_PLACE - OWN] = head
    row[BEFORE_TAG - OWN], row[AFTER_TAG - OWN] = [0, *tags][head], [*tags, 0][head + 1]
    for column, side in ((LEFT_TAGS, tags[:head]), (RIGHT_TAGS, tags[head + 1 :])):
        bits = sum({1 << (tag & _TAG_BITS) for tag in side})
        row[column - OWN] = bits - (1 << t.MOST_TAGS) if bits >> _TAG_BITS else bits
    return row


def _is_ours(grammar: Any) -> bool:
    return isinstance(grammar, types.NamedTuple) and grammar.instance_class is DependencyTables


@inline
def _may_attach(problem: Problem, edges: Edges, head: int, modifier: int, complete: bool) -> bool:
    """Whether the given heads allow this arc: the modifier has all its given dependents; a whole sentence a root."""
    slot, head_slot = edges.columns[modifier, HEAD_SLOT], edges.columns[head, HEAD_SLOT]
    given = problem.given_head[slot]
    if given != ANY_HEAD and given != head_slot:
        return False
    complete = complete and not problem.selection  # with more words a goal can become a part of another
    if complete and problem.given_head[head_slot] >= 0:
        return False
    missing = np.uint64(0)
    for i in range(edges.coverage.shape[1]):
        guard = problem.dependents_guard[slot, i]
        missing |= guard & ~(edges.coverage[modifier, i] + problem.dependents_bias[slot, i])
        if complete:
            guard = problem.dependents_guard[head_slot, i]
            together = edges.coverage[head, i] + edges.coverage[modifier, i]
            missing |= guard & ~(together + problem.dependents_bias[head_slot, i])
    return bool(missing == 0)


@inline
def _add_arc(
    grammar: Any, problem: Problem, edges: Edges, head: int, modifier: int, side: int, rules: Any, n: int
) -> int:
    """Write the rules that attach the modifier to the head, one for each label that it may have."""
    if not grammar.labelled:
        rules[n] = side
        return n + 1
    given = problem.given_label[edges.columns[modifier, HEAD_SLOT]]
    if given >= 0:
        rules[n] = 2 * given + side
        return n + 1
    row = (edges.columns[head, HEAD_TAG] * grammar.tags + edges.columns[modifier, HEAD_TAG]) * 2 + side
    if grammar.label_start[row] == grammar.label_start[row + 1]:  # tags that were never seen so
        rules[n] = 2 * grammar.usual_label + side
        return n + 1
    for i in range(grammar.label_start[row], grammar.label_start[row + 1]):
        rules[n] = 2 * grammar.labels[i] + side
        n += 1
    return n


@overload(binary_rules, jit_options=INLINE)
def _binary_rules(grammar, problem, edges, left, right, rules):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def find(grammar, problem, edges, left, right, rules):  # type: ignore[no-untyped-def]
        n = 0
        complete = is_complete(problem, edges, left, right, NOTHING)
        if edges.columns[left, LEFT_VALENCY] == 0 and _may_attach(problem, edges, left, right, complete):
            n = _add_arc(grammar, problem, edges, left, right, HEAD_ON_LEFT, rules, n)
        if _may_attach(problem, edges, right, left, complete):
            n = _add_arc(grammar, problem, edges, right, left, HEAD_ON_RIGHT, rules, n)
        return n

    return find


@overload(unary_rules, jit_options=INLINE)
def _unary_rules(grammar, problem, edges, edge, rules):  # type: ignore[no-untyped-def]
    return (lambda grammar, problem, edges, edge, rules: 0) if _is_ours(grammar) else None


@overload(signature, jit_options=INNER)
def _signature(grammar, problem, edges, edge):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def sign(grammar, problem, edges, edge):  # type: ignore[no-untyped-def]
        if not grammar.dp:
            return edges.structure[edge]
        row = edges.columns[edge]
        state = SEED
        for i in range(edges.coverage.shape[1]):
            state = mix(state, edges.coverage[edge, i])
        for column in range(HEAD_WORD, HEAD_SLOT + 1):
            state = mix(state, np.uint64(row[column]))
        # The second word is a feature's, more are the language model's.
        for i in range(max(2, problem.lm_order - 1)):
            state = mix(state, np.uint64(row[FIRST_WORD + i]))
        for column in range(PENULTIMATE_WORD, LAST_TAG + 1):
            state = mix(state, np.uint64(row[column]))
        state = mix(state, np.uint64(row[LM_STATE]))
        # A word without left dependents can still get right ones; else only the class of a valency counts.
        state = mix(state, np.uint64(min(row[LEFT_VALENCY], MOST_VALENCY)))
        state = mix(state, np.uint64(min(row[RIGHT_VALENCY], MOST_VALENCY)))
        for column in range(LEFT_CHILD_WORD, (RIGHT_TAGS if grammar.rich else HEAD_PLACE) + 1):
            state = mix(state, np.uint64(row[column]))
        return state

    return sign


@overload(fill, jit_options=INNER)
def _fill(grammar, problem, edges, edge, left, right, rule):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def copy(grammar, problem, edges, edge, left, right, rule):  # type: ignore[no-untyped-def]
        side = rule % 2
        head, modifier = (left, right) if side == HEAD_ON_LEFT else (right, left)
        new, h, m = edges.columns[edge], edges.columns[head], edges.columns[modifier]
        for column in range(HEAD_WORD, HEAD_SLOT + 1):
            new[column] = h[column]
        for column in range(LEFT_VALENCY, RIGHT_TAGS + 1):
            new[column] = h[column]
        tags = m[LEFT_TAGS] | m[RIGHT_TAGS] | np.int64(1) << np.int64(m[HEAD_TAG] & _TAG_BITS)
        if side == HEAD_ON_LEFT:
            new[RIGHT_VALENCY] += 1
            new[RIGHT_SECOND_TAG] = h[RIGHT_CHILD_TAG]
            new[RIGHT_CHILD_WORD], new[RIGHT_CHILD_TAG] = m[HEAD_WORD], m[HEAD_TAG]
            new[RIGHT_TAGS] |= tags
            if h[HEAD_PLACE] == h[SIZE] - 1:
                new[AFTER_TAG] = m[FIRST_TAG]
        else:
            new[LEFT_VALENCY] += 1
            new[LEFT_SECOND_TAG] = h[LEFT_CHILD_TAG]
            new[LEFT_CHILD_WORD], new[LEFT_CHILD_TAG] = m[HEAD_WORD], m[HEAD_TAG]
            new[LEFT_TAGS] |= tags
            if h[HEAD_PLACE] == 0:
                new[BEFORE_TAG] = m[LAST_TAG]
            new[HEAD_PLACE] += m[SIZE]

    return copy


@overload(put_values, jit_options=INLINE)
def _put_values(grammar, problem, edges, left, right, rule, complete, values):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def put(grammar, problem, edges, left, right, rule, complete, values):  # type: ignore[no-untyped-def]
        a, b = ends(problem, edges, left, right, rule)
        whole = t.WHOLE_EDGE if complete else 0
        put_ends(problem, a, b, left < 0, values)
        if left < 0:
            values[t.HW], values[t.HT] = problem.words[a[HEAD_WORD]], problem.tags[a[HEAD_TAG]]
            values[t.LENGTH] = np.uint64(a[SIZE])
            return t.LEAF_EDGE | whole
        side = rule % 2
        h, m = (a, b) if side == HEAD_ON_LEFT else (b, a)
        _put_arc(problem, h, m, side, values)
        if grammar.rich:
            _put_more(problem, h, m, side, values)
        if grammar.labelled:
            values[t.LABEL] = grammar.label_hashes[rule // 2]
        put_joint(problem, a, b, values)
        return t.BINARY_EDGE | whole

    return put


@inline
def _put_arc(problem: Problem, h: Any, m: Any, side: int, values: Any) -> None:
    """The values of a new arc between the heads of two edges, and of what hangs on them."""
    words, tags = problem.words, problem.tags
    values[t.D], values[t.HW], values[t.HT] = np.uint64(side + 1), words[h[HEAD_WORD]], tags[h[HEAD_TAG]]
    values[t.MW], values[t.MT] = words[m[HEAD_WORD]], tags[m[HEAD_TAG]]
    # The nearest sibling on the modifier's side is the outermost dependent there so far; beyond it is the other side's.
    if side == HEAD_ON_LEFT:
        values[t.SW], values[t.ST] = words[h[RIGHT_CHILD_WORD]], tags[h[RIGHT_CHILD_TAG]]
        values[t.OT], valency = tags[h[LEFT_CHILD_TAG]], h[RIGHT_VALENCY]
        between = h[SIZE] - h[HEAD_PLACE] - 1 + m[HEAD_PLACE]
    else:
        values[t.SW], values[t.ST] = words[h[LEFT_CHILD_WORD]], tags[h[LEFT_CHILD_TAG]]
        values[t.OT], valency = tags[h[RIGHT_CHILD_TAG]], h[LEFT_VALENCY]
        between = h[HEAD_PLACE] + m[SIZE] - m[HEAD_PLACE] - 1
    values[t.LW], values[t.LT] = words[m[LEFT_CHILD_WORD]], tags[m[LEFT_CHILD_TAG]]
    values[t.RW], values[t.RT] = words[m[RIGHT_CHILD_WORD]], tags[m[RIGHT_CHILD_TAG]]
    values[t.V] = np.uint64(min(valency, MOST_VALENCY))
    values[t.ML] = np.uint64(min(m[LEFT_VALENCY], MOST_VALENCY))
    values[t.MR] = np.uint64(min(m[RIGHT_VALENCY], MOST_VALENCY))
    values[t.FAR], values[t.LENGTH] = bucket(between), bucket(m[SIZE])
    values[t.DIST] = norm(between + 1)


@inline
def _put_more(problem: Problem, h: Any, m: Any, side: int, values: Any) -> None:
    """The values that only the features of the 2015 paper look at."""
    tags = problem.tags
    values[t.ALL] = norm(h[SIZE] + m[SIZE])
    # Where the head stands at the end of its edge, the word next to it is the other edge's first one.
    if side == HEAD_ON_LEFT:
        values[t.S2T] = tags[h[RIGHT_SECOND_TAG]]
        values[t.HNT] = tags[h[AFTER_TAG] if h[HEAD_PLACE] < h[SIZE] - 1 else m[FIRST_TAG]]
        values[t.MNT] = tags[m[BEFORE_TAG] if m[HEAD_PLACE] > 0 else h[LAST_TAG]]
        values[t.BETWEEN] = np.uint64(h[RIGHT_TAGS] | m[LEFT_TAGS])
    else:
        values[t.S2T] = tags[h[LEFT_SECOND_TAG]]
        values[t.HNT] = tags[h[BEFORE_TAG] if h[HEAD_PLACE] > 0 else m[LAST_TAG]]
        values[t.MNT] = tags[m[AFTER_TAG] if m[HEAD_PLACE] < m[SIZE] - 1 else h[FIRST_TAG]]
        values[t.BETWEEN] = np.uint64(h[LEFT_TAGS] | m[RIGHT_TAGS])
