"""Edges: the hypotheses of the syntactic best-first decoder, as arrays; and what a grammar offers to it.

Edges         the records of edges: one row each
Problem       one bag, ready for the search: its words, leaves, capacities and constraints
fits          the input check: does the bag have the words of both edges?
may_precede   the check of words whose relative order is fixed
ends          the records at the ends of an edge
is_complete   does an edge have all that the bag requires?

A grammar is a NamedTuple of its tables, and the decoder's compiled loop is specialised on its type. Its module gives,
with numba's `overload`, the code for these five, which have no body here:

binary_rules  the rules that combine an edge with one on its right
unary_rules   the rules that apply to one edge
put_values    the values that the features of the top of an edge are made of
fill          the columns of a new edge that are the grammar's
signature     what makes two edges equivalent, as a hash

Its tables have, besides, the `code` of its features (comparison.best_first.template).

An edge has a left and a right part (binary), a left part only (unary) or none (leaf: its rule is the leaf's number).

Coverage is a vector of counters, one for each kind of word in the bag, packed into words of 64 bits. Each counter has a
guard bit above it. Adding two coverages and a bias sets the guard of each counter that is over its capacity, so the
input check is one addition and one mask for 32 different words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.best_first.compilation import inline
from comparison.learning.hashing import SEED, Hashes, mix
from gyro.compilation import compiled

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]

# Columns of an edge's record. Words and tags are places in the tables of the Problem; 0 stands for none.
LEFT, RIGHT, RULE, SIZE, ACTIONS = 0, 1, 2, 3, 4
HEAD_WORD, HEAD_TAG, HEAD_SLOT = 5, 6, 7
FIRST_WORD, SECOND_WORD, THIRD_WORD, FOURTH_WORD = 8, 9, 10, 11
PENULTIMATE_WORD, LAST_WORD = 12, 13
FIRST_TAG, SECOND_TAG, PENULTIMATE_TAG, LAST_TAG = 14, 15, 16, 17
LM_STATE = 18
OWN = 19  # the first of the grammar's own columns
COLUMNS = 32

# The first two tags of every grammar.
NO_TAG, UNKNOWN_TAG = "<none>", "<unknown>"

NOTHING = -1  # in LEFT and RIGHT: there is no such part

STRING_BASE = np.uint64(0x100000001B3)


class Edges(NamedTuple):
    """Edges that were taken off the agenda, one a row."""

    columns: Integers  # edge × COLUMNS
    coverage: Hashes  # edge × words of 64 bits
    before: Hashes  # the words that must not come after this edge, as bits of coverage
    string: Hashes  # a hash of the words in their order
    power: Hashes  # STRING_BASE to the number of words
    structure: Hashes  # a hash of the whole derivation
    score: Numbers  # the model's score, not scaled
    ending: Numbers  # what of the score is for being a whole sentence: larger edges do not inherit it
    lm: Numbers  # log-probability of the words without what is before and after them


class Problem(NamedTuple):
    """One bag, ready for the search."""

    words: Hashes  # hash of each word; 0 is none
    tags: Hashes
    bias: Hashes
    guard: Hashes
    goal_bias: Hashes
    goal_guard: Hashes
    leaf_columns: Integers  # the leaves, as rows of Edges
    leaf_coverage: Hashes
    leaf_before: Hashes
    leaf_string: Hashes
    leaf_power: Hashes
    leaf_lm: Numbers
    given_head: Integers  # slot → slot of its given head; ANY_HEAD, or IS_ROOT
    # slot × words: coverage has all that must hang on the slot if adding the bias sets all these guards.
    dependents_bias: Hashes
    dependents_guard: Hashes
    given_label: Integers  # slot → its given label, -1 for none
    lm_next: Integers  # G_Ω without sentence start: state × word
    lm_score: Numbers
    lm_end: Numbers
    lm_start_next: Integers  # G_Ω from the sentence start
    lm_start_score: Numbers
    lm_start_end: Numbers
    lm_order: int
    lm_null: int
    lm_start: int
    selection: int  # are there words that may be left out or used again?


ANY_HEAD, IS_ROOT = -2, -1


def binary_rules(grammar: Any, problem: Problem, edges: Edges, left: int, right: int, rules: Any) -> int:
    """Write the rules that combine left and right, in this order, and return their number."""
    raise TypeError("only compiled code calls this")


def unary_rules(grammar: Any, problem: Problem, edges: Edges, edge: int, rules: Any) -> int:
    """Write the unary rules that apply to the edge and return their number."""
    raise TypeError("only compiled code calls this")


def put_values(
    grammar: Any, problem: Problem, edges: Edges, left: int, right: int, rule: int, complete: bool, values: Any
) -> int:
    """Write the values that the features of the top of an edge are made of; return the kinds of edges that it is."""
    raise TypeError("only compiled code calls this")


def fill(grammar: Any, problem: Problem, edges: Edges, edge: int, left: int, right: int, rule: int) -> None:
    """Write the head and the grammar's own columns of a new unary or binary edge."""
    raise TypeError("only compiled code calls this")


def signature(grammar: Any, problem: Problem, edges: Edges, edge: int) -> int:
    """The hash that equivalent edges share."""
    raise TypeError("only compiled code calls this")


@compiled
def structure_of(left: Any, right: Any, rule: Any) -> Any:
    """The structure of an edge from its parts', 0 for those that are not there."""
    return mix(mix(mix(SEED, np.uint64(left)), np.uint64(right)), np.uint64(rule) + np.uint64(1))


def structure(left: int, right: int, rule: int) -> int:
    """The same for Python."""
    return int(structure_of(np.uint64(left), np.uint64(right), rule))


@inline
def fits(problem: Problem, edges: Edges, one: int, other: int) -> bool:
    """Whether the bag has the words of both edges together."""
    over = np.uint64(0)
    for i in range(edges.coverage.shape[1]):
        over |= (edges.coverage[one, i] + edges.coverage[other, i] + problem.bias[i]) & problem.guard[i]
    return bool(over == 0)


@inline
def may_precede(edges: Edges, left: int, right: int) -> bool:
    """Whether no word on the right must come before one on the left."""
    late = np.uint64(0)
    for i in range(edges.coverage.shape[1]):
        late |= edges.coverage[right, i] & edges.before[left, i]
    return bool(late == 0)


@inline
def is_complete(problem: Problem, edges: Edges, left: int, right: int, rule: int) -> bool:
    """Whether an edge of these parts has every word that the bag requires."""
    for i in range(edges.coverage.shape[1]):
        coverage = edges.coverage[left, i] if left >= 0 else problem.leaf_coverage[rule, i]
        if right >= 0:
            coverage += edges.coverage[right, i]
        if (coverage + problem.goal_bias[i]) & problem.goal_guard[i] != problem.goal_guard[i]:
            return False
    return True


@compiled(inline="always")
def ends(problem: Problem, edges: Edges, left: int, right: int, rule: int) -> Any:
    """The records that have the first and the last words of an edge of these parts."""
    a = edges.columns[left] if left >= 0 else problem.leaf_columns[rule]
    return a, (edges.columns[right] if right >= 0 else a)
