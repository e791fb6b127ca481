"""The feature templates of the best-first decoder, each said once: a number, and the values that are hashed after it.

HW, HT, …                          the values: places in an array of NUM_VALUES of them
LEAF_EDGE, …                       the kinds of edges; an edge may be of several
Group                              templates that look at the same few values, and the kinds of edges that have them
dependency_groups, ccg_groups      those of each grammar
TEMPLATE_SETS                      which of them a dependency model may have
MOST_FEATURES                      how many features an edge can have
pack                               groups as compiled code takes them

The numbers are part of every trained model: a template that goes leaves its number unused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from comparison.best_first.edge import Integers
from comparison.learning.hashing import start

Template = tuple[int, ...]
Table = Sequence[Template]

# W is a word, T a tag. H is the head of an edge or of an arc.
HW, HT = range(2)
# The words and tags where two edges meet: W1 W2 | W3 W4.
W1, W2, W3, W4, T1, T2, T3, T4 = range(2, 10)
# The ends of an edge, and its length: of a dependency leaf in words, else as a class.
W_FIRST, W_LAST, T_FIRST, T_SECOND, T_PENULTIMATE, T_LAST, LENGTH = range(10, 17)
# Dependency: D is the side, M the modifier, S its nearest sibling, S2 the next one, O the outermost dependent on the
# head's other side, L and R the outermost dependents of the modifier, V the head's valency on this side, ML and MR the
# modifier's valencies, FAR the distance of head and modifier.
D, MW, MT, SW, ST, S2T, OT, LW, LT, RW, RT, V, ML, MR, FAR = range(17, 32)
# The classes of the 2015 paper for size and distance; the tags that stand next to head and modifier towards each other;
# one of the tags between them; which tags these are, as bits; the label of the arc.
ALL, DIST, HNT, MNT, BT, BETWEEN, LABEL = range(32, 39)
# CCG: C is the category, NAME the rule, X the head of the part that is not the head, K1 K2 | K3 K4 the lexical
# categories where two edges meet.
C, NAME, XW, XT, K1, K2, K3, K4 = range(39, 47)
NUM_VALUES = 47

LEAF: Table = ((100, HW, HT), (101, HT), (102, HW, LENGTH))
ARC: Table = (
    (110, HW, HT, MW, MT, D),
    (111, HW, HT, MT, D),
    (112, HT, MW, MT, D),
    (113, HW, MW, D),
    (114, HT, MT, D),
    (115, HW, MT, D),
    (116, HT, MW, D),
    (117, MW, D),
    (118, MT, D),
    (119, HW, D),
    (120, HT, D),
)
SIBLINGS: Table = (
    (130, HT, ST, MT, D),
    (131, HT, SW, MW, D),
    (132, ST, MT, D),
    (133, SW, MT, D),
    (134, ST, MW, D),
    (135, HW, ST, MT, D),
)
GRANDCHILDREN: Table = (
    (145, HT, MT, LT, D),
    (146, HT, MT, RT, D),
    (147, HT, MT, LW, D),
    (148, HT, MT, RW, D),
    (149, MT, LT, RT, D),
    (150, HW, MT, LW, D),
    (151, MW, LT, RT, D),
    (163, MT, ML, MR, D),
    (164, MW, ML, MR),
    (165, HT, MT, ML, MR, D),
)
VALENCIES: Table = ((136, HT, OT, MT, D), (160, HT, V, D), (161, HW, V, D), (162, HT, MT, V, D))
DISTANCES: Table = (
    (175, HT, MT, FAR, D),
    (176, HW, FAR, D),
    (177, MT, FAR, D),
    (178, MT, LENGTH, D),
    (179, HT, MT, LENGTH, D),
    (180, MW, FAR, D),
)
BORDER: Table = ((210, HT, T_FIRST, T_LAST), (211, HT, W_FIRST), (212, HT, W_LAST))

# What Table 2 of Zhang and Clark (2015) has besides: 23 of its 41 templates of the new arc …
NEW_ARC: Table = ((240, HW, HT, D), (241, MW, MT, D))
SIZES: Table = ((242, HW, HT, ALL), (243, HW, ALL), (244, HT, ALL))
FAR_ARC: Table = (
    (245, HW, HT, DIST),
    (246, HT, DIST),
    (247, MW, MT, DIST),
    (248, HW, HT, MW, MT, DIST),
    (249, HW, HT, MT, DIST),
    (250, HT, MW, MT, DIST),
)
TAGS_BETWEEN: Table = ((251, HT, MT, BT, D),)
NEIGHBOURS: Table = ((252, HT, HNT, MT, MNT, D),)  # two in the paper, for an arc to the left and to the right
MORE_GRANDCHILDREN: Table = ((254, HW, MT, LT, D), (255, HW, MT, RT, D))
MORE_SIBLINGS: Table = (
    (256, HT, ST, D),
    (257, HW, SW, D),
    (258, MW, SW, D),
    (259, HT, SW, D),
    (260, HW, ST, D),
    (261, HW, MT, ST, S2T, D),
    (262, HT, MT, ST, S2T, D),
)
# … and those of a word that has all its dependents, which is the modifier of every new arc.
COMPLETED: Table = (
    (270, MW, MT, LW, LT),
    (271, MW, MT, LT),
    (272, MT, LW, LT),
    (273, MT, LT),
    (274, MW, MT, RW, RT),
    (275, MW, MT, RT),
    (276, MT, RW, RT),
    (277, MT, RT),
    (278, MW, MT, ML),
    (279, MT, ML),
    (280, MW, MT, MR),
    (281, MT, MR),
    (282, MW, MT, ML, MR),
    (283, MT, ML, MR),
)
# The templates that both have.
SHARED = frozenset((110, 111, 112, 114, 117, 118, 119, 120, 130, 132, 133, 134, 145, 146, 175, 176, 177, 180))
DEPENDENCY_JOINT, DEPENDENCY_BOUNDARY = 190, 220
LABELLED = 1000  # the same with the label of the arc

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
)
LEXICAL: Table = ((340, K2, K3), (341, K1, K2, K3), (342, K2, K3, K4))
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
JOINT_PARTS: Sequence[tuple[Table, tuple[int, ...]]] = (
    (JOINT, ()),
    (JOINT_W1, (W1,)),
    (JOINT_W4, (W4,)),
    (JOINT_W1_W4, (W1, W4)),
)
BOUNDARY: Table = (
    (0, W_FIRST),
    (1, T_FIRST),
    (2, W_LAST),
    (3, T_LAST),
    (4, T_FIRST, T_SECOND),
    (5, T_PENULTIMATE, T_LAST),
)

LEAF_EDGE, UNARY_EDGE, BINARY_EDGE, LARGE_EDGE, WHOLE_EDGE = 1, 2, 4, 8, 16

OURS, TABLE_2, ALL_TEMPLATES = "ours", "table2", "all"
TEMPLATE_SETS = (TABLE_2, OURS, ALL_TEMPLATES)
MOST_TAGS = 64  # that are told apart between two words: the bits of BETWEEN


class Group(NamedTuple):
    """Templates that look at the same few values. A search adds their weights up once for all edges that share these.

    The templates of a part need that certain values are there, that is not 0.
    """

    kinds: int  # of edges that have the features
    parts: Sequence[tuple[Table, tuple[int, ...]]]

    @property
    def templates(self) -> list[Template]:
        """All of them, whatever they need."""
        return [template for table, _ in self.parts for template in table]

    @property
    def values(self) -> list[int]:
        """What the templates look at."""
        found = {value for _, *values in self.templates for value in values}
        found |= {value for _, needed in self.parts for value in needed}
        return sorted(found - {BT} | ({BETWEEN} if BT in found else set()))


def _shifted(parts: Sequence[tuple[Table, tuple[int, ...]]], first: int) -> list[tuple[Table, tuple[int, ...]]]:
    return [([(first + number, *values) for number, *values in table], needed) for table, needed in parts]


def _joint(first: int) -> list[Group]:
    return [Group(BINARY_EDGE, _shifted(JOINT_PARTS, first))]


def _boundary(first: int) -> Group:
    return Group(WHOLE_EDGE, _shifted([(BOUNDARY, ())], first))


_ARC_GROUPS: Sequence[Table] = (
    (*ARC, *NEW_ARC),
    (*SIBLINGS, *MORE_SIBLINGS),
    (*GRANDCHILDREN, *MORE_GRANDCHILDREN, *COMPLETED),
    VALENCIES,
    DISTANCES,
    FAR_ARC,
    SIZES,
    NEIGHBOURS,
    TAGS_BETWEEN,
)
_NEW = frozenset(range(240, 290))
# The arc itself, and all that the 2015 paper has of it.
_WITH_LABEL = frozenset(number for number, *_ in ARC) | _NEW


def dependency_groups(templates: str = OURS, *, labelled: bool = False) -> list[Group]:
    """The templates of dependency trees; those of the arc also with its label, where arcs have one."""
    found = [Group(LEAF_EDGE, [(LEAF, ())])]
    for table in _ARC_GROUPS:
        chosen = [template for template in table if _is_in(template[0], templates)]
        if chosen:
            found.append(Group(BINARY_EDGE, [(chosen, ())]))
        named = [(LABELLED + n, *values, LABEL) for n, *values in chosen if labelled and n in _WITH_LABEL]
        if named:
            found.append(Group(BINARY_EDGE, [(named, ())]))
    if templates != TABLE_2:
        found.append(Group(BINARY_EDGE, [(BORDER, ())]))
    return [*found, *_joint(DEPENDENCY_JOINT), _boundary(DEPENDENCY_BOUNDARY)]


def _is_in(number: int, templates: str) -> bool:
    if templates == TABLE_2:
        return number in _NEW or number in SHARED
    return templates == ALL_TEMPLATES or number not in _NEW


def ccg_groups() -> list[Group]:
    """The templates of CCG derivations."""
    every = LEAF_EDGE | UNARY_EDGE | BINARY_EDGE
    found = [(every, CONSTITUENT), (LARGE_EDGE, LARGE), (UNARY_EDGE, UNARY), (BINARY_EDGE, BINARY)]
    groups = [Group(kinds, [(table, ())]) for kinds, table in (*found, (BINARY_EDGE, LEXICAL))]
    return [*groups, *_joint(CCG_JOINT), _boundary(CCG_BOUNDARY)]


def _most_features(groups: Sequence[Group]) -> int:
    """Of an edge that has all of a binary one's; a template of the tags between two words gives one for each."""
    counts = [len(each.templates) * (MOST_TAGS if BETWEEN in each.values else 1) for each in groups]
    return sum(counts)


MOST_FEATURES = max(map(_most_features, (dependency_groups(ALL_TEMPLATES, labelled=True), ccg_groups())))

# The places of a group in the code that `pack` makes: the kinds of edges; where the next group is; whether it is done
# for each of the tags between two words; the number of its values, which follow.
KINDS, NEXT, EACH, NUM_KEYS, KEYS = range(5)
# The places of a template: the hash of its number; two values that must be there; how many it has, which follow.
START, NEED, NEED_TOO, NUM_HASHED, HASHED = range(5)


def pack(groups: Sequence[Group]) -> Integers:
    """Groups for compiled code: whole numbers in a row."""
    code: list[int] = []
    for group in groups:
        keys = group.values
        row = [group.kinds, 0, int(BETWEEN in keys), len(keys), *keys]
        for table, needed in group.parts:
            needs = [*needed, *needed][:2] or [-1, -1]
            for number, *values in table:
                row += [int(np.array(start(number), dtype=np.uint64).view(np.int64)), *needs, len(values), *values]
        row[NEXT] = len(code) + len(row)
        code += row
    return np.array(code, dtype=np.int64)
