"""The learner of orders of given trees: the search from the leaves up, mended wherever the right tree is lost.

learn_tree  order one tree, and update the weights on the way

The search is that of comparison.best_first.tree_kernel. When a right partial tree is not among those that are kept
after a step, the weights are updated and it is put back, so that every head of every sentence is learned from; and so
they are when the best tree with all dependents is a wrong one. Partial trees are compared by their scores and those of
the best subtrees of the dependents that they lack, and that is what an update is made of. Scores are sums, which are
never divided by actions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from comparison.best_first.compilation import inner
from comparison.best_first.edge import LEFT, NOTHING, RIGHT, RULE, Edges, Integers, Numbers, binary_rules, fits
from comparison.best_first.given_tree import GivenTree
from comparison.best_first.kernel import is_gold, make_edge, structure_of_item
from comparison.best_first.score import rate, score_edge
from comparison.best_first.state import EXPANDED, SCORED, UPDATES, State
from comparison.best_first.tree_kernel import attach_one, empty_beam, offer_leaves
from comparison.best_first.update import Learning, add_vector, update
from gyro.compilation import compiled


@compiled
def learn_tree(grammar: Any, s: State, learning: Learning, tree: GivenTree, size: int, best: int, limit: int) -> bool:
    """Order a tree with beams of `size` and the `best` subtrees of each dependent; return whether nothing was mended.

    Once `limit` edges are scored beams are of one edge, as in `build_trees`.
    """
    counters = s.scratch.counters
    before = counters[UPDATES]
    subtrees = np.empty((tree.copies.size, size), np.int64)
    found = np.zeros(tree.copies.size, np.int64)
    beam, rests = empty_beam(size), np.empty(size)
    parts = np.empty((size + tree.copies.max(), 3), np.int64)
    for slot in tree.slots:
        members, steps, rest = subtrees[slot], 0, 0.0
        _renew_dependents(grammar, s, tree, slot, subtrees, found)
        for i in range(tree.first[slot], tree.first[slot + 1]):
            dependent = tree.dependents[i]
            steps += tree.copies[dependent]
            rest += tree.copies[dependent] * s.edges.score[subtrees[dependent, 0]]
        count = offer_leaves(grammar, s, tree, slot, rest, beam, size)
        rights = _right_leaves(s, tree, slot, parts)
        for step in range(steps + 1):
            for row in range(count):
                score = beam.score[row]
                edge = make_edge(grammar, s, beam.left[row], beam.right[row], beam.rule[row], score)
                s.chart.gold[edge] = is_gold(s.scratch, s.edges.structure[edge])
                members[row], rests[row] = edge, beam.rest[row]
            counters[EXPANDED] += count
            count = _keep_right(
                grammar, s, learning, tree, slot, members, rests, count, parts[:rights], subtrees, found
            )
            if step < steps:
                narrow = limit > 0 and counters[SCORED] >= limit
                width, most = (1, 1) if narrow else (size, best)
                rights = _next_right(grammar, s, tree, slot, members[:count], subtrees, found, parts)
                count = attach_one(grammar, s, tree, slot, members[:count], rests, subtrees, found, most, beam, width)
        if tree.copies[slot] == 1:
            _prefer_right(grammar, s, learning, tree, slot, members[:count], subtrees, found)
        found[slot] = count
    return counters[UPDATES] == before  # type: ignore[no-any-return]


@inner
def _right_leaves(s: State, tree: GivenTree, slot: int, parts: Integers) -> int:
    """Write the right leaves of a slot; equal words may have more than one. Return their number."""
    n = 0
    for leaf in range(tree.first_leaf[slot], tree.first_leaf[slot + 1]):
        if n < parts.shape[0] and is_gold(s.scratch, structure_of_item(s.edges, NOTHING, NOTHING, leaf)):
            parts[n, 0], parts[n, 1], parts[n, 2] = NOTHING, NOTHING, leaf
            n += 1
    return n


@compiled
def _next_right(
    grammar: Any, s: State, tree: GivenTree, slot: int, members: Integers, subtrees: Any, found: Integers, parts: Any
) -> int:
    """Write what is right of the right partial trees with one more dependent; return how many these are."""
    n, rules = 0, s.scratch.rules
    for edge in members:
        if not s.chart.gold[edge]:
            continue
        for i in range(tree.first[slot], tree.first[slot + 1]):
            dependent = tree.dependents[i]
            if not fits(s.problem, s.edges, edge, subtrees[dependent, 0]):
                continue
            for j in range(2 * found[dependent]):
                other = subtrees[dependent, j >> 1]
                if not s.chart.gold[other]:
                    continue
                left, right = (edge, other) if j & 1 == 0 else (other, edge)
                for k in range(binary_rules(grammar, s.problem, s.edges, left, right, rules)):
                    structure = structure_of_item(s.edges, left, right, rules[k])
                    if n < parts.shape[0] and is_gold(s.scratch, structure):
                        parts[n, 0], parts[n, 1], parts[n, 2] = left, right, rules[k]
                        n += 1
    return n


@compiled
def _keep_right(
    grammar: Any, s: State, learning: Learning, tree: GivenTree, slot: int, members: Integers, rests: Numbers,
    count: int, parts: Any, subtrees: Any, found: Integers,
) -> int:  # fmt: skip
    """See that all right partial trees are among the members; return how many members there are now."""
    for i in range(parts.shape[0]):
        left, right, rule = parts[i]
        if _has(s.edges, members[:count], structure_of_item(s.edges, left, right, rule)):
            continue
        edge = make_edge(grammar, s, left, right, rule, score_edge(grammar, s, left, right, rule))
        s.chart.gold[edge] = 1
        best, worst = NOTHING, NOTHING
        for row in range(count):
            if not s.chart.gold[members[row]]:
                value = s.edges.score[members[row]] + rests[row]
                if best < 0 or value > s.edges.score[members[best]] + rests[best]:
                    best = row
                if worst < 0 or value <= s.edges.score[members[worst]] + rests[worst]:
                    worst = row
        if best >= 0:
            _mend(grammar, s, learning, tree, slot, edge, members[best], subtrees)
        if count < members.size:
            members[count] = edge
            count += 1
        elif worst >= 0:
            members[worst] = edge
        _renew_dependents(grammar, s, tree, slot, subtrees, found)
        rate(grammar, s, members, 0, count, True)
        for row in range(count):
            rests[row] = _rest(s, tree, slot, members[row], subtrees)
    return count


@inner
def _has(edges: Edges, members: Integers, structure: Any) -> bool:
    found = False
    for edge in members:
        found |= edges.structure[edge] == structure
    return found


@compiled
def _prefer_right(
    grammar: Any, s: State, learning: Learning, tree: GivenTree, slot: int, members: Integers, subtrees: Any,
    found: Integers,
) -> None:  # fmt: skip
    """Update where the best tree of a head with all its dependents is a wrong one."""
    right, wrong = NOTHING, NOTHING
    for edge in members:
        if s.chart.gold[edge]:
            right = edge
        elif wrong < 0 or s.edges.score[edge] > s.edges.score[wrong]:
            wrong = edge
    if right >= 0 and wrong >= 0 and s.edges.score[wrong] >= s.edges.score[right]:
        _mend(grammar, s, learning, tree, slot, right, wrong, subtrees)


@inner
def _mend(
    grammar: Any, s: State, learning: Learning, tree: GivenTree, slot: int, right: int, wrong: int, subtrees: Any
) -> None:
    """Update for a wrong partial tree that came before a right one, each with the best of what it lacks."""
    lead = s.edges.score[right] - s.edges.score[wrong]
    count = 0
    for i in range(2):
        edge, sign = (right, 1.0) if i == 0 else (wrong, -1.0)
        row = s.edges.columns[edge]
        count = add_vector(grammar, s, learning, (row[LEFT], row[RIGHT], row[RULE]), sign, count)
    for i in range(tree.first[slot], tree.first[slot + 1]):
        other, copies = subtrees[tree.dependents[i], 0], tree.copies[tree.dependents[i]]
        lack = _lacks(s, right, other, copies) - _lacks(s, wrong, other, copies)
        if lack != 0:
            row = s.edges.columns[other]
            lead += lack * s.edges.score[other]
            if learning.whole:
                count = add_vector(grammar, s, learning, (row[LEFT], row[RIGHT], row[RULE]), float(lack), count)
    update(s.model, s.scratch, learning, count, lead)


@inner
def _lacks(s: State, edge: int, other: int, copies: int) -> int:
    """How many of the equal subtrees that `other` is one of an edge lacks."""
    for count in range(copies):
        for i in range(s.edges.coverage.shape[1]):
            more = s.edges.coverage[other, i] * np.uint64(count + 1)
            if (s.edges.coverage[edge, i] + more + s.problem.bias[i]) & s.problem.guard[i]:
                return count
    return copies


@inner
def _rest(s: State, tree: GivenTree, slot: int, edge: int, subtrees: Any) -> float:
    """The scores of the best subtrees of all that a partial tree lacks."""
    total = 0.0
    for i in range(tree.first[slot], tree.first[slot + 1]):
        other, copies = subtrees[tree.dependents[i], 0], tree.copies[tree.dependents[i]]
        total += _lacks(s, edge, other, copies) * s.edges.score[other]
    return total


@compiled
def _renew_dependents(grammar: Any, s: State, tree: GivenTree, slot: int, subtrees: Any, found: Integers) -> None:
    """Give the subtrees of a slot's dependents the scores of the present weights, and put the best first."""
    for i in range(tree.first[slot], tree.first[slot + 1]):
        dependent = tree.dependents[i]
        members = subtrees[dependent, : found[dependent]]
        rate(grammar, s, members, 0, members.size, True)
        for row in range(1, members.size):
            edge, place = members[row], row
            while place > 0 and s.edges.score[members[place - 1]] < s.edges.score[edge]:
                members[place] = members[place - 1]
                place -= 1
            members[place] = edge
