"""Dependency trees as edges of the best-first decoder: spans with a head, joined by attaching one head to the other.

DependencyTables  what the compiled code knows of the grammar: its labels, and which go with which tags

A rule is 2 · label + side, where side is 0 when the left edge has the head and 1 when the right one has it. The right
dependents of a word are attached before its left ones, from the inside outwards, so that a tree has one derivation.
The features are of the kind of Koo and Collins (2010) and Zhang and Nivre (2011): head h, modifier m, the nearest
sibling s of m on its side, the outermost dependents of h and m, valencies, distances, and the surface at the joint.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload

from comparison.best_first.edge import (
    ANY_HEAD,
    FIRST_TAG,
    FIRST_WORD,
    HEAD_SLOT,
    HEAD_TAG,
    HEAD_WORD,
    LAST_TAG,
    LAST_WORD,
    OWN,
    SIZE,
    Edges,
    Hashes,
    Integers,
    Problem,
    binary_rules,
    boundary,
    bucket,
    ends,
    features,
    fill,
    is_complete,
    joint,
    mix,
    signature,
    start,
    unary_rules,
)

LEFT_VALENCY, RIGHT_VALENCY = OWN, OWN + 1
LEFT_CHILD_WORD, LEFT_CHILD_TAG = OWN + 2, OWN + 3
RIGHT_CHILD_WORD, RIGHT_CHILD_TAG = OWN + 4, OWN + 5
HEAD_PLACE = OWN + 6  # how many words stand before the head in its edge

HEAD_ON_LEFT, HEAD_ON_RIGHT = 0, 1

# Numbers of the first feature template of each group.
_LEAF, _ARC, _SIBLING, _GRANDCHILD, _VALENCY, _DISTANCE, _JOINT, _BORDER, _BOUNDARY, _LABEL = (
    100,
    110,
    130,
    145,
    160,
    175,
    190,
    210,
    220,
    230,
)
MOST_FEATURES = 90


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
def _features(grammar, problem, edges, left, right, rule, complete, out):  # type: ignore[no-untyped-def]
    if not _is_ours(grammar):
        return None

    def extract(grammar, problem, edges, left, right, rule, complete, out):  # type: ignore[no-untyped-def]
        if left < 0:
            n = _leaf_features(problem, rule, out)
        else:
            n = _arc_features(grammar, problem, edges, left, right, rule, out)
            n = joint(problem, edges, left, right, out, n, _JOINT)
        if complete:
            a, b = ends(problem, edges, left, right, rule)
            n = boundary(problem, a, b, right < 0, out, n, _BOUNDARY)
        return n

    return extract


@njit(cache=True)
def _leaf_features(problem: Problem, leaf: int, out: Any) -> int:
    row = problem.leaf_columns[leaf]
    word, tag = problem.words[row[HEAD_WORD]], problem.tags[row[HEAD_TAG]]
    out[0] = mix(mix(start(_LEAF), word), tag)
    out[1] = mix(start(_LEAF + 1), tag)
    out[2] = mix(mix(start(_LEAF + 2), word), np.uint64(row[SIZE]))
    return 3


@njit(cache=True)
def _arc_features(grammar: Any, problem: Problem, edges: Edges, left: int, right: int, rule: int, out: Any) -> int:
    """The features of a new arc; all know the side of the modifier."""
    side = rule % 2
    head, modifier = (left, right) if side == HEAD_ON_LEFT else (right, left)
    h, m = edges.columns[head], edges.columns[modifier]
    words, tags = problem.words, problem.tags
    d = np.uint64(side + 1)
    hw, ht, mw, mt = words[h[HEAD_WORD]], tags[h[HEAD_TAG]], words[m[HEAD_WORD]], tags[m[HEAD_TAG]]
    htd, mtd = mix(ht, d), mix(mt, d)
    out[0] = mix(mix(mix(mix(start(_ARC), hw), htd), mw), mt)
    out[1] = mix(mix(mix(start(_ARC + 1), hw), htd), mt)
    out[2] = mix(mix(mix(start(_ARC + 2), htd), mw), mt)
    out[3] = mix(mix(mix(start(_ARC + 3), hw), mw), d)
    out[4] = mix(mix(start(_ARC + 4), htd), mt)
    out[5] = mix(mix(start(_ARC + 5), hw), mtd)
    out[6] = mix(mix(start(_ARC + 6), htd), mw)
    out[7] = mix(mix(start(_ARC + 7), mw), d)
    out[8] = mix(start(_ARC + 8), mtd)
    out[9] = mix(mix(start(_ARC + 9), hw), d)
    out[10] = mix(start(_ARC + 10), htd)
    n = 11
    # The nearest sibling on the modifier's side is the outermost dependent there so far; beyond it is the other side's.
    if side == HEAD_ON_LEFT:
        sw, st, ot = words[h[RIGHT_CHILD_WORD]], tags[h[RIGHT_CHILD_TAG]], tags[h[LEFT_CHILD_TAG]]
        valency = h[RIGHT_VALENCY]
        distance = h[SIZE] - h[HEAD_PLACE] - 1 + m[HEAD_PLACE]
    else:
        sw, st, ot = words[h[LEFT_CHILD_WORD]], tags[h[LEFT_CHILD_TAG]], tags[h[RIGHT_CHILD_TAG]]
        valency = h[LEFT_VALENCY]
        distance = h[HEAD_PLACE] + m[SIZE] - m[HEAD_PLACE] - 1
    out[n] = mix(mix(mix(start(_SIBLING), htd), st), mt)
    out[n + 1] = mix(mix(mix(start(_SIBLING + 1), htd), sw), mw)
    out[n + 2] = mix(mix(start(_SIBLING + 2), st), mtd)
    out[n + 3] = mix(mix(start(_SIBLING + 3), sw), mtd)
    out[n + 4] = mix(mix(start(_SIBLING + 4), st), mix(mw, d))
    out[n + 5] = mix(mix(mix(start(_SIBLING + 5), hw), st), mtd)
    out[n + 6] = mix(mix(mix(start(_SIBLING + 6), htd), ot), mt)
    n += 7
    lt, rt = tags[m[LEFT_CHILD_TAG]], tags[m[RIGHT_CHILD_TAG]]
    lw, rw = words[m[LEFT_CHILD_WORD]], words[m[RIGHT_CHILD_WORD]]
    out[n] = mix(mix(mix(start(_GRANDCHILD), htd), mt), lt)
    out[n + 1] = mix(mix(mix(start(_GRANDCHILD + 1), htd), mt), rt)
    out[n + 2] = mix(mix(mix(start(_GRANDCHILD + 2), htd), mt), lw)
    out[n + 3] = mix(mix(mix(start(_GRANDCHILD + 3), htd), mt), rw)
    out[n + 4] = mix(mix(mix(start(_GRANDCHILD + 4), mtd), lt), rt)
    out[n + 5] = mix(mix(mix(start(_GRANDCHILD + 5), hw), mtd), lw)
    out[n + 6] = mix(mix(mix(start(_GRANDCHILD + 6), mw), lt), mix(rt, d))
    n += 7
    v, ml, mr = np.uint64(min(valency, 6)), np.uint64(min(m[LEFT_VALENCY], 6)), np.uint64(min(m[RIGHT_VALENCY], 6))
    out[n] = mix(mix(start(_VALENCY), htd), v)
    out[n + 1] = mix(mix(mix(start(_VALENCY + 1), hw), d), v)
    out[n + 2] = mix(mix(mix(start(_VALENCY + 2), htd), mt), v)
    out[n + 3] = mix(mix(mix(start(_VALENCY + 3), mtd), ml), mr)
    out[n + 4] = mix(mix(mix(start(_VALENCY + 4), mw), ml), mr)
    out[n + 5] = mix(mix(mix(mix(start(_VALENCY + 5), htd), mt), ml), mr)
    n += 6
    far, long = bucket(distance), bucket(m[SIZE])
    out[n] = mix(mix(mix(start(_DISTANCE), htd), mt), far)
    out[n + 1] = mix(mix(mix(start(_DISTANCE + 1), hw), d), far)
    out[n + 2] = mix(mix(start(_DISTANCE + 2), mtd), far)
    out[n + 3] = mix(mix(start(_DISTANCE + 3), mtd), long)
    out[n + 4] = mix(mix(mix(start(_DISTANCE + 4), htd), mt), long)
    out[n + 5] = mix(mix(mix(start(_DISTANCE + 5), mw), d), far)
    n += 6
    if grammar.labelled:
        label = grammar.label_hashes[rule // 2]
        for i in range(11):
            out[n + i] = mix(mix(start(_LABEL), out[i]), label)
        n += 11
    return _border_features(problem, edges, left, right, ht, out, n)


@njit(cache=True)
def _border_features(problem: Problem, edges: Edges, left: int, right: int, head_tag: Any, out: Any, n: int) -> int:
    """The ends of the new edge with its head."""
    a, b = edges.columns[left], edges.columns[right]
    first, last = problem.tags[a[FIRST_TAG]], problem.tags[b[LAST_TAG]]
    out[n] = mix(mix(mix(start(_BORDER), head_tag), first), last)
    out[n + 1] = mix(mix(start(_BORDER + 1), head_tag), problem.words[a[FIRST_WORD]])
    out[n + 2] = mix(mix(start(_BORDER + 2), head_tag), problem.words[b[LAST_WORD]])
    return n + 3
