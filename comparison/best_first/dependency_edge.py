"""Dependency trees as edges of the best-first decoder: spans with a head, joined by attaching one head to the other.

DependencyTables  what the compiled code knows of the grammar: its labels, and which go with which tags

A rule is 2 · label + side, where side is 0 when the left edge has the head and 1 when the right one has it. The right
dependents of a word are attached before its left ones, from the inside outwards, so that a tree has one derivation.
The features, which the module template lists, are of the kind of Koo and Collins (2010) and Zhang and Nivre (2011):
head, modifier, its nearest sibling, the outermost dependents of both, valencies, distances, and the joint.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload

from comparison.best_first import template as t
from comparison.best_first.edge import (
    ANY_HEAD,
    HEAD_SLOT,
    HEAD_TAG,
    HEAD_WORD,
    OWN,
    SIZE,
    Edges,
    Integers,
    Problem,
    binary_rules,
    ends,
    features,
    fill,
    is_complete,
    signature,
    unary_rules,
)
from comparison.best_first.template import bucket, pack, put_ends, write, write_joint
from comparison.learning.hashing import Hashes, mix, start

LEFT_VALENCY, RIGHT_VALENCY = OWN, OWN + 1
LEFT_CHILD_WORD, LEFT_CHILD_TAG = OWN + 2, OWN + 3
RIGHT_CHILD_WORD, RIGHT_CHILD_TAG = OWN + 4, OWN + 5
HEAD_PLACE = OWN + 6  # how many words stand before the head in its edge

HEAD_ON_LEFT, HEAD_ON_RIGHT = 0, 1

MOST_VALENCY = 6  # a valency that is larger counts as this one

_NUM_ARC = len(t.ARC)
_LEAF, _ARC, _AROUND, _BORDER = pack(t.LEAF), pack(t.ARC), pack(t.AROUND), pack(t.BORDER)
_JOINT = tuple(pack(table, t.DEPENDENCY_JOINT) for table in t.JOINT_PARTS)
_BOUNDARY = pack(t.BOUNDARY, t.DEPENDENCY_BOUNDARY)


class DependencyTables(NamedTuple):
    """The grammar for compiled code; unlabelled grammars have one label that says nothing."""

    label_hashes: Hashes
    # The labels seen between tags: row (head tag · tags + modifier tag) · 2 + side, as places in `labels`.
    label_start: Integers
    labels: Integers
    usual_label: int
    tags: int
    labelled: int


def _is_ours(grammar: Any) -> bool:
    return isinstance(grammar, types.NamedTuple) and grammar.instance_class is DependencyTables


@njit(cache=True)
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


@njit(cache=True)
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


@overload(binary_rules)
def _binary_rules(grammar, problem, edges, left, right, rules):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def find(grammar, problem, edges, left, right, rules):  # type: ignore[no-untyped-def]
        n = 0
        complete = is_complete(problem, edges, left, right, 0)
        if edges.columns[left, LEFT_VALENCY] == 0 and _may_attach(problem, edges, left, right, complete):
            n = _add_arc(grammar, problem, edges, left, right, HEAD_ON_LEFT, rules, n)
        if _may_attach(problem, edges, right, left, complete):
            n = _add_arc(grammar, problem, edges, right, left, HEAD_ON_RIGHT, rules, n)
        return n

    return find


@overload(unary_rules)
def _unary_rules(grammar, problem, edges, edge, rules):  # type: ignore[no-untyped-def]
    return (lambda grammar, problem, edges, edge, rules: 0) if _is_ours(grammar) else None


@overload(signature)
def _signature(grammar, edges, edge):  # type: ignore[no-untyped-def]
    # The features look at heads, siblings and grandchildren: only equal trees are equivalent.
    return (lambda grammar, edges, edge: edges.structure[edge]) if _is_ours(grammar) else None


@overload(fill)
def _fill(grammar, problem, edges, edge, left, right, rule):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def copy(grammar, problem, edges, edge, left, right, rule):  # type: ignore[no-untyped-def]
        head, modifier = (left, right) if rule % 2 == HEAD_ON_LEFT else (right, left)
        new, h, m = edges.columns[edge], edges.columns[head], edges.columns[modifier]
        for column in (HEAD_WORD, HEAD_TAG, HEAD_SLOT):
            new[column] = h[column]
        for column in range(LEFT_VALENCY, HEAD_PLACE + 1):
            new[column] = h[column]
        if rule % 2 == HEAD_ON_LEFT:
            new[RIGHT_VALENCY] += 1
            new[RIGHT_CHILD_WORD], new[RIGHT_CHILD_TAG] = m[HEAD_WORD], m[HEAD_TAG]
        else:
            new[LEFT_VALENCY] += 1
            new[LEFT_CHILD_WORD], new[LEFT_CHILD_TAG] = m[HEAD_WORD], m[HEAD_TAG]
            new[HEAD_PLACE] += m[SIZE]

    return copy


@overload(features)
def _features(grammar, problem, edges, left, right, rule, complete, values, out):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def extract(grammar, problem, edges, left, right, rule, complete, values, out):  # type: ignore[no-untyped-def]
        a, b = ends(problem, edges, left, right, rule)
        if left < 0:
            values[t.HW], values[t.HT] = problem.words[a[HEAD_WORD]], problem.tags[a[HEAD_TAG]]
            values[t.LENGTH] = np.uint64(a[SIZE])
            n = write(_LEAF, values, out, 0)
        else:
            head, modifier = (a, b) if rule % 2 == HEAD_ON_LEFT else (b, a)
            _put_arc(problem, head, modifier, rule % 2, values)
            put_ends(problem, a, b, False, values)
            n = write(_ARC, values, out, 0)
            n = write(_AROUND, values, out, n)
            if grammar.labelled:
                n = _write_labelled(grammar.label_hashes[rule // 2], out, n)
            n = write(_BORDER, values, out, n)
            n = write_joint(_JOINT, problem, edges, left, right, values, out, n)
        if complete:
            put_ends(problem, a, b, right < 0, values)
            n = write(_BOUNDARY, values, out, n)
        return n

    return extract


@njit(cache=True)
def _put_arc(problem: Problem, h: Any, m: Any, side: int, values: Any) -> None:
    """The values of a new arc between the heads of two edges, and of what hangs on them."""
    words, tags = problem.words, problem.tags
    d = np.uint64(side + 1)
    values[t.D], values[t.HW], values[t.HT] = d, words[h[HEAD_WORD]], tags[h[HEAD_TAG]]
    values[t.MW], values[t.MT] = words[m[HEAD_WORD]], tags[m[HEAD_TAG]]
    # The nearest sibling on the modifier's side is the outermost dependent there so far; beyond it is the other side's.
    if side == HEAD_ON_LEFT:
        values[t.SW], values[t.ST] = words[h[RIGHT_CHILD_WORD]], tags[h[RIGHT_CHILD_TAG]]
        values[t.OT], valency = tags[h[LEFT_CHILD_TAG]], h[RIGHT_VALENCY]
        distance = h[SIZE] - h[HEAD_PLACE] - 1 + m[HEAD_PLACE]
    else:
        values[t.SW], values[t.ST] = words[h[LEFT_CHILD_WORD]], tags[h[LEFT_CHILD_TAG]]
        values[t.OT], valency = tags[h[RIGHT_CHILD_TAG]], h[LEFT_VALENCY]
        distance = h[HEAD_PLACE] + m[SIZE] - m[HEAD_PLACE] - 1
    values[t.LW], values[t.LT] = words[m[LEFT_CHILD_WORD]], tags[m[LEFT_CHILD_TAG]]
    values[t.RW], values[t.RT] = words[m[RIGHT_CHILD_WORD]], tags[m[RIGHT_CHILD_TAG]]
    values[t.HTD], values[t.MTD] = mix(values[t.HT], d), mix(values[t.MT], d)
    values[t.MWD], values[t.RTD] = mix(values[t.MW], d), mix(values[t.RT], d)
    values[t.V] = np.uint64(min(valency, MOST_VALENCY))
    values[t.ML] = np.uint64(min(m[LEFT_VALENCY], MOST_VALENCY))
    values[t.MR] = np.uint64(min(m[RIGHT_VALENCY], MOST_VALENCY))
    values[t.FAR], values[t.LENGTH] = bucket(distance), bucket(m[SIZE])


@njit(cache=True)
def _write_labelled(label: Any, out: Any, n: int) -> int:
    """The features of the arc, which are the first that were written, with its label."""
    for i in range(_NUM_ARC):
        out[n + i] = mix(mix(start(t.LABELLED_ARC), out[i]), label)
    return n + _NUM_ARC
