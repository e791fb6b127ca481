"""The compiled search for an order of a given tree: from its leaves up, with a beam for each number of dependents.

build_trees                the best subtrees of every slot, those of the root as goals
most_edges                 the edges that it may make
empty_beam, offer_leaves, attach_one   its parts, which learning shares

A head takes its dependents one by one, the right ones from the inside outwards and then the left ones, as
comparison.best_first.dependency_grammar.attachments has them. After each step the best partial trees are kept,
whichever dependents they have: they are compared by what they have and the best subtrees of the dependents that they
lack. So all that are compared come to the same number of words in the end, and scores need not be divided by actions.

Scores are those of comparison.best_first.score, and the same tree has the same one as in the search by agenda.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from comparison.best_first.edge import Integers, Numbers, binary_rules, fits
from comparison.best_first.given_tree import GivenTree
from comparison.best_first.kernel import make_edge
from comparison.best_first.score import score_edge
from comparison.best_first.state import EXPANDED, SCORED, State
from gyro.compilation import compiled


class Beam(NamedTuple):
    """The best edges that could be made, best first; of equal ones the first that came."""

    value: Numbers  # what they are compared by
    score: Numbers
    left: Integers
    right: Integers
    rule: Integers
    rest: Numbers  # the scores of the dependents that they lack


@compiled
def empty_beam(size: int) -> Beam:
    """A beam with room for so many edges."""
    return Beam(
        np.empty(size),
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size),
    )


@compiled
def _offer(beam: Beam, count: int, size: int, score: float, left: int, right: int, rule: int, rest: float) -> int:
    """Put an edge into a beam of `count` if it is among the best `size`; return how many there are now."""
    value = score + rest
    if count == size:
        if value <= beam.value[count - 1]:
            return count
        count -= 1
    place = count
    while place > 0 and beam.value[place - 1] < value:
        place -= 1
    for row in range(count, place, -1):
        beam.value[row], beam.score[row], beam.rest[row] = beam.value[row - 1], beam.score[row - 1], beam.rest[row - 1]
        beam.left[row], beam.right[row], beam.rule[row] = beam.left[row - 1], beam.right[row - 1], beam.rule[row - 1]
    beam.value[place], beam.score[place], beam.rest[place] = value, score, rest
    beam.left[place], beam.right[place], beam.rule[place] = left, right, rule
    return count + 1


def most_edges(tree: GivenTree, size: int) -> int:
    """How many edges beams of this size can hold: every slot's leaves, and each dependent that its head takes."""
    return size * (tree.copies.size + int(tree.copies.sum()))


@compiled
def build_trees(grammar: Any, s: State, tree: GivenTree, size: int, best: int, limit: int) -> Any:
    """The subtrees of each slot that were found, best first: edges, slot × `size`, and how many there are.

    `size` is that of the beams; of a dependent's subtrees the `best` ones are tried. Once `limit` edges are scored
    (0: never) beams are of one edge and of each dependent one subtree is tried, so that an order is found all the same.
    """
    counters = s.scratch.counters
    subtrees = np.empty((tree.copies.size, size), np.int64)
    found = np.zeros(tree.copies.size, np.int64)
    beam, rests = empty_beam(size), np.empty(size)
    for slot in tree.slots:
        steps, rest = 0, 0.0
        for i in range(tree.first[slot], tree.first[slot + 1]):
            dependent = tree.dependents[i]
            steps += tree.copies[dependent]
            rest += tree.copies[dependent] * s.edges.score[subtrees[dependent, 0]]
        count = offer_leaves(grammar, s, tree, slot, rest, beam, size)
        members = subtrees[slot]
        for step in range(steps + 1):
            for row in range(count):
                score = beam.score[row]
                members[row] = make_edge(grammar, s, beam.left[row], beam.right[row], beam.rule[row], score)
                rests[row] = beam.rest[row]
            counters[EXPANDED] += count
            if step < steps:
                narrow = limit > 0 and counters[SCORED] >= limit
                width, most = (1, 1) if narrow else (size, best)
                count = attach_one(grammar, s, tree, slot, members[:count], rests, subtrees, found, most, beam, width)
        found[slot] = count
    return subtrees, found


@compiled
def offer_leaves(grammar: Any, s: State, tree: GivenTree, slot: int, rest: float, beam: Beam, width: int) -> int:
    """Fill the beam with the leaves of a slot; return how many there are."""
    count = 0
    for leaf in range(tree.first_leaf[slot], tree.first_leaf[slot + 1]):
        score = score_edge(grammar, s, -1, -1, leaf)
        s.scratch.counters[SCORED] += 1
        count = _offer(beam, count, width, score, -1, -1, leaf, rest)
    return count


@compiled
def attach_one(
    grammar: Any, s: State, tree: GivenTree, slot: int, members: Any, rests: Any, subtrees: Any, found: Any,
    most: int, beam: Beam, width: int,
) -> int:  # fmt: skip
    """Fill the beam with each edge and one more of the slot's dependents; return how many there are."""
    first, count = tree.first[slot], 0
    lacks = np.zeros(tree.first[slot + 1] - first, np.bool_)
    for row in range(members.size):
        edge = members[row]
        for i in range(lacks.size):
            lacks[i] = fits(s.problem, s.edges, edge, subtrees[tree.dependents[first + i], 0])
        for i in range(lacks.size):
            if not lacks[i]:
                continue
            dependent = tree.dependents[first + i]
            rest = rests[row] - s.edges.score[subtrees[dependent, 0]]
            may_follow, may_lead = _may_follow(tree, slot, lacks, i), _may_lead(tree, slot, lacks, i)
            for j in range(min(found[dependent], most)):
                other = subtrees[dependent, j]
                if may_follow:
                    count = _offer_rules(grammar, s, edge, other, rest, beam, count, width)
                if may_lead:
                    count = _offer_rules(grammar, s, other, edge, rest, beam, count, width)
    return count


@compiled
def _offer_rules(grammar: Any, s: State, left: int, right: int, rest: float, beam: Beam, count: int, width: int) -> int:
    """Score what the rules make of two edges, and put it into the beam."""
    rules = s.scratch.rules
    for i in range(binary_rules(grammar, s.problem, s.edges, left, right, rules)):
        score = score_edge(grammar, s, left, right, rules[i])
        s.scratch.counters[SCORED] += 1
        count = _offer(beam, count, width, score, left, right, rules[i], rest)
    return count


@compiled
def _may_follow(tree: GivenTree, slot: int, lacks: Any, item: int) -> bool:
    """Whether the order of words lets a dependent be the next right one, and what is lacking go somewhere then.

    Nothing that is there may come after it; and nothing that is lacking may come before it and after what is there.
    """
    if tree.precedes.size == 0:
        return True
    columns, start = lacks.size + 1, tree.first_cell[slot]
    for there in range(columns):
        if there < lacks.size and lacks[there]:
            continue
        if tree.precedes[start + item * columns + there]:
            return False
        for other in range(lacks.size):
            before, after = start + other * columns + item, start + there * columns + other
            if lacks[other] and tree.precedes[before] and tree.precedes[after]:
                return False
    return True


@compiled
def _may_lead(tree: GivenTree, slot: int, lacks: Any, item: int) -> bool:
    """The same for the next left one: it and all that is lacking, which goes before it, come after nothing there."""
    if tree.precedes.size == 0:
        return True
    columns, start = lacks.size + 1, tree.first_cell[slot]
    for there in range(columns):
        if there < lacks.size and lacks[there] and there != item:
            continue
        for other in range(lacks.size):
            if lacks[other] and tree.precedes[start + there * columns + other]:
                return False
    return True
