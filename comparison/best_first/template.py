"""The feature templates of the best-first decoder, each said once: a number, and the values that are hashed after it.

HW, HT, …                          the values: places in an array of NUM_VALUES of them
LEAF, ARC, AROUND, BORDER          the templates of dependency trees; LABELLED_ARC goes on from the hashes of ARC
CONSTITUENT, LARGE, BINARY, UNARY  those of CCG derivations
JOINT_PARTS, BOUNDARY              those of both, counted from the number that a grammar has for the first of them
MOST_FEATURES                      how many features an edge can have
pack                               a table as compiled code takes it
write, write_joint                 for compiled code: write the features of a table, of the place where two edges meet
put_ends                           for compiled code: the values at the ends of an edge
bucket                             a length or distance as a class

The numbers are part of every trained model: a template that goes leaves its number unused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from comparison.best_first.edge import (
    FIRST_TAG,
    FIRST_WORD,
    LAST_TAG,
    LAST_WORD,
    PENULTIMATE_TAG,
    PENULTIMATE_WORD,
    SECOND_TAG,
    SECOND_WORD,
    SIZE,
    Edges,
    Integers,
    Problem,
)
from comparison.learning.hashing import Hashes, mix, start

Template = tuple[int, ...]
Table = Sequence[Template]

# W is a word, T a tag; a D at the end: mixed with the side of the modifier. H is the head of an edge or of an arc.
HW, HT, HTD = range(3)
# The words and tags where two edges meet: W1 W2 | W3 W4.
W1, W2, W3, W4, T1, T2, T3, T4 = range(3, 11)
# The ends of an edge, and its length: of a dependency leaf in words, else as a class.
W_FIRST, W_LAST, T_FIRST, T_SECOND, T_PENULTIMATE, T_LAST, LENGTH = range(11, 18)
# Dependency: D is the side, M the modifier, S its nearest sibling, O the outermost dependent on the head's other side,
# L and R the outermost dependents of the modifier, V the head's valency on this side, ML and MR the modifier's
# valencies, FAR the distance of head and modifier.
D, MW, MT, MWD, MTD, SW, ST, OT, LW, LT, RW, RT, RTD, V, ML, MR, FAR = range(18, 35)
# CCG: C is the category, NAME the rule, X the head of the part that is not the head, K1 K2 | K3 K4 the lexical
# categories where two edges meet.
C, NAME, XW, XT, K1, K2, K3, K4 = range(35, 43)
NUM_VALUES = 43

LEAF: Table = ((100, HW, HT), (101, HT), (102, HW, LENGTH))
ARC: Table = (
    (110, HW, HTD, MW, MT),
    (111, HW, HTD, MT),
    (112, HTD, MW, MT),
    (113, HW, MW, D),
    (114, HTD, MT),
    (115, HW, MTD),
    (116, HTD, MW),
    (117, MW, D),
    (118, MTD),
    (119, HW, D),
    (120, HTD),
)
AROUND: Table = (
    # siblings
    (130, HTD, ST, MT),
    (131, HTD, SW, MW),
    (132, ST, MTD),
    (133, SW, MTD),
    (134, ST, MWD),
    (135, HW, ST, MTD),
    (136, HTD, OT, MT),
    # grandchildren
    (145, HTD, MT, LT),
    (146, HTD, MT, RT),
    (147, HTD, MT, LW),
    (148, HTD, MT, RW),
    (149, MTD, LT, RT),
    (150, HW, MTD, LW),
    (151, MW, LT, RTD),
    # valencies
    (160, HTD, V),
    (161, HW, D, V),
    (162, HTD, MT, V),
    (163, MTD, ML, MR),
    (164, MW, ML, MR),
    (165, HTD, MT, ML, MR),
    # distances
    (175, HTD, MT, FAR),
    (176, HW, D, FAR),
    (177, MTD, FAR),
    (178, MTD, LENGTH),
    (179, HTD, MT, LENGTH),
    (180, MW, D, FAR),
)
BORDER: Table = ((210, HT, T_FIRST, T_LAST), (211, HT, W_FIRST), (212, HT, W_LAST))
DEPENDENCY_JOINT, DEPENDENCY_BOUNDARY, LABELLED_ARC = 190, 220, 230

CONSTITUENT: Table = ((300, C, LENGTH), (301, C, HW), (302, C, LENGTH, HW), (303, C, HT))
LARGE: Table = (
    (310, C, W_FIRST),
    (311, C, W_LAST),
    (312, C, T_FIRST, T_SECOND),
    (313, C, T_PENULTIMATE, T_LAST),
    (314, C, T_FIRST, T_LAST),
)
BINARY: Table = (
    (320, NAME),
    (321, NAME, HW),
    (322, NAME, HW, XW),
    (323, NAME, XW),
    (324, NAME, HT, XT),
    (325, NAME, HW, XT),
    (326, NAME, HT, XW),
    (340, K2, K3),
    (341, K1, K2, K3),
    (342, K2, K3, K4),
)
UNARY: Table = ((350, NAME), (351, NAME, HW))
CCG_JOINT, CCG_BOUNDARY = 360, 380

# Where two edges meet (Zhang and Clark 2011, Table 1): always; where there is W1; W4; both.
JOINT: Table = (
    (0, W2, W3),
    (1, T2, T3),
    (2, W2, T3),
    (3, T2, W3),
    (4, T2, W3, T4),
    (5, T1, W2, T3),
    (6, T1, T2, T3),
    (7, T2, T3, T4),
    (8, T1, T2, T3, T4),
)
JOINT_W1: Table = ((9, W1, W2, W3), (10, W1, W2, T3))
JOINT_W4: Table = ((11, W2, W3, W4), (12, T2, W3, W4))
JOINT_W1_W4: Table = ((13, W1, W2, W3, W4),)
JOINT_PARTS = (JOINT, JOINT_W1, JOINT_W4, JOINT_W1_W4)
BOUNDARY: Table = (
    (0, W_FIRST),
    (1, T_FIRST),
    (2, W_LAST),
    (3, T_LAST),
    (4, T_FIRST, T_SECOND),
    (5, T_PENULTIMATE, T_LAST),
)

_OF_BOTH = (*JOINT_PARTS, BOUNDARY)
_OF_EDGES = ((LEAF,), (ARC, ARC, AROUND, BORDER, *_OF_BOTH), (CONSTITUENT, LARGE, BINARY, *_OF_BOTH))
MOST_FEATURES = max(sum(map(len, tables)) for tables in _OF_EDGES)


class Packed(NamedTuple):
    """A table for compiled code."""

    starts: Hashes  # by template: the hash of its number
    values: NDArray[np.uint8]  # the values of all templates, one after the other
    ends: Integers  # by template: where its values end


def pack(table: Table, first: int = 0) -> Packed:
    """A table for compiled code; `first` is added to its numbers."""
    starts = np.array([start(first + number) for number, *_ in table], dtype=np.uint64)
    values = np.array([value for _, *values in table for value in values], dtype=np.uint8)
    return Packed(starts, values, np.cumsum([len(values) for _, *values in table]))


# The tables are arguments, and not what a function makes functions from: these would all have one name, and numba takes
# one for another when they come from its cache.
@njit(cache=True)
def write(table: Packed, values: Any, out: Any, n: int) -> int:
    """Write the features of a table to `out` from place n on, and return the place after them."""
    i = 0
    for row in range(table.starts.size):
        state = table.starts[row]
        while i < table.ends[row]:
            state = mix(state, values[table.values[i]])
            i += 1
        out[n + row] = state
    return n + table.starts.size


@njit(cache=True)
def write_joint(
    tables: tuple[Packed, ...], problem: Problem, edges: Edges, left: int, right: int, values: Any, out: Any, n: int
) -> int:
    """The n-grams of words and tags that arise where left and right meet; the tables are those of JOINT_PARTS."""
    a, b = edges.columns[left], edges.columns[right]
    values[W1], values[W2] = problem.words[a[PENULTIMATE_WORD]], problem.words[a[LAST_WORD]]
    values[W3], values[W4] = problem.words[b[FIRST_WORD]], problem.words[b[SECOND_WORD]]
    values[T1], values[T2] = problem.tags[a[PENULTIMATE_TAG]], problem.tags[a[LAST_TAG]]
    values[T3], values[T4] = problem.tags[b[FIRST_TAG]], problem.tags[b[SECOND_TAG]]
    n = write(tables[0], values, out, n)
    if a[PENULTIMATE_WORD]:
        n = write(tables[1], values, out, n)
    if b[SECOND_WORD]:
        n = write(tables[2], values, out, n)
    if a[PENULTIMATE_WORD] and b[SECOND_WORD]:
        n = write(tables[3], values, out, n)
    return n


@njit(cache=True)
def put_ends(problem: Problem, a: Any, b: Any, single: bool, values: Any) -> None:
    """The values at the ends of an edge, from the records that have its ends. `single`: these are one and the same."""
    words, tags = problem.words, problem.tags
    values[W_FIRST], values[T_FIRST] = words[a[FIRST_WORD]], tags[a[FIRST_TAG]]
    values[W_LAST], values[T_LAST] = words[b[LAST_WORD]], tags[b[LAST_TAG]]
    values[T_SECOND] = tags[a[SECOND_TAG]] if a[SIZE] > 1 or single else tags[b[FIRST_TAG]]
    values[T_PENULTIMATE] = tags[b[PENULTIMATE_TAG]] if b[SIZE] > 1 or single else tags[a[LAST_TAG]]


@njit(cache=True)
def bucket(number: int) -> Any:
    """A length or distance as a class: 0–4 as they are, then 5–6, 7–9, 10–14, 15–29, 30 and more."""
    if number < 5:
        return np.uint64(number)
    if number < 7:
        return np.uint64(5)
    if number < 10:
        return np.uint64(6)
    if number < 15:
        return np.uint64(7)
    return np.uint64(8) if number < 30 else np.uint64(9)
