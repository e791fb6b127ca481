"""The feature templates of the transition system, each said once: a number, and the values that are hashed after it.

S0, S1, PAIR …  the values: places in an array of NUM_VALUES of them; 0 is the value of what is absent
STANDARD        the 70 templates of Liu et al. (2015), Table 1
ZGEN            these, and those that the program ZGen has besides
TEMPLATES       both by name
BIN_TEMPLATES   the numbers of the features of a language model's probability; others are those of actions
Group           templates whose values go together: their scores are remembered together
Packed, pack    a table as compiled code takes it

A template does not fire where one of its values is absent. The numbers are part of every trained model: a template that
goes leaves its number unused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.learning.hashing import Hashes, start

Template = tuple[int, ...]

# The values of one of the two top nodes of the stack, S0 or S1: its word and tag, those of its outermost dependents on
# the left and on the right, and of the next ones inwards (2).
W, P, LW, LP, RW, RP, L2W, L2P, R2W, R2P = range(10)
# ZGen's: how far the outermost dependents are away, how many there are on each side, and the set of their tags.
L_FAR, R_FAR, L_COUNT, R_COUNT, L_TAGS, R_TAGS = range(10, 16)
NODE_VALUES = 16
S0, S1 = 0, NODE_VALUES
# How far the two are apart; the last three words of the output and their tags, the last one first.
FAR, W0, W1, W2, P0, P1, P2 = range(2 * NODE_VALUES, 2 * NODE_VALUES + 7)
NUM_VALUES = 2 * NODE_VALUES + 7
ALWAYS = -1


class Group(NamedTuple):
    """Templates that are looked up together; they fire only where the value `needs` is there."""

    needs: int
    templates: tuple[Template, ...]


def _node(node: int, first: int) -> tuple[Group, ...]:
    """The 30 templates of a node by itself, numbered from `first`."""
    word, tag = node + W, node + P

    def side(first: int, dw: int, dp: int, dw2: int, dp2: int) -> tuple[Group, Group]:
        outermost = (
            (first, dw),
            (first + 1, dp),
            (first + 2, word, dw),
            (first + 3, word, dp),
            (first + 4, tag, dw),
            (first + 5, tag, dp),
            (first + 6, word, tag, dw),
            (first + 7, word, dw, dp),
            (first + 8, word, tag, dp),
            (first + 9, tag, dw, dp),
        )
        second = ((first + 10, dw2), (first + 11, dp2), (first + 12, dw, dw2), (first + 13, dp, dp2))
        return Group(dw, outermost), Group(dw2, second)

    return (
        Group(ALWAYS, ((first, word), (first + 1, tag))),
        *side(first + 2, node + LW, node + LP, node + L2W, node + L2P),
        *side(first + 16, node + RW, node + RP, node + R2W, node + R2P),
    )


STANDARD: tuple[Group, ...] = (
    *_node(S0, 1),
    *_node(S1, 31),
    Group(ALWAYS, ((61, S0 + W, S1 + W), (62, S0 + W, S1 + P), (63, S0 + P, S1 + W), (64, S0 + P, S1 + P))),
    Group(ALWAYS, ((65, W0), (66, P0))),
    Group(ALWAYS, ((67, W1, W0), (68, P1, P0))),
    Group(ALWAYS, ((69, W2, W1, W0), (70, P2, P1, P0))),
)


def _distances(first: int, one: int, other: int, far: int) -> Group:
    """Word and tag of one node with those of another, and how far they are apart."""
    pairs = [(a, b) for a in (one + W, one + P) for b in (other + W, other + P)]
    return Group(far, tuple((first + i, a, b, far) for i, (a, b) in enumerate(pairs)))


def _valencies(first: int, node: int) -> Group:
    """Word and tag of a node with the number of its dependents and the set of their tags, by side."""
    columns = (L_COUNT, R_COUNT, L_TAGS, R_TAGS)
    pairs = [(node + own, node + column) for own in (W, P) for column in columns]
    return Group(ALWAYS, tuple((first + i, *pair) for i, pair in enumerate(pairs)))


ZGEN: tuple[Group, ...] = (
    *STANDARD,
    Group(
        ALWAYS,
        (
            (101, S0 + W, S0 + P, S1 + W),
            (102, S0 + W, S0 + P, S1 + P),
            (103, S0 + W, S1 + W, S1 + P),
            (104, S0 + P, S1 + W, S1 + P),
        ),
    ),
    _distances(105, S0, S1, FAR),
    _distances(109, S0, S0 + LW, S0 + L_FAR),
    _distances(113, S0, S0 + RW, S0 + R_FAR),
    _distances(117, S1, S1 + LW, S1 + L_FAR),
    _distances(121, S1, S1 + RW, S1 + R_FAR),
    _valencies(125, S0),
    _valencies(133, S1),
)
TEMPLATES = {"standard": STANDARD, "zgen": ZGEN}

# What else is hashed from a number: the four features of a bin, and the actions.
BIN_TEMPLATES = (201, 202, 203, 204)
LEFT_ARC_NUMBER, RIGHT_ARC_NUMBER, SHIFT_NUMBER = 301, 302, 303


class Packed(NamedTuple):
    """A table for compiled code."""

    starts: Hashes  # by template: the hash of its number
    values: NDArray[np.uint8]  # the values of all templates, one after the other
    ends: NDArray[np.int64]  # by template: where its values end
    group_ends: NDArray[np.int64]  # by group: where its templates end
    needs: NDArray[np.int64]  # by group
    key_values: NDArray[np.uint8]  # the values that the templates of a group have, of all groups
    key_ends: NDArray[np.int64]  # by group: where these end


def pack(groups: Sequence[Group]) -> Packed:
    """A table for compiled code."""
    templates = [template for group in groups for template in group.templates]
    keys = [sorted({value for _, *values in group.templates for value in values}) for group in groups]
    return Packed(
        starts=np.array([start(number) for number, *_ in templates], dtype=np.uint64),
        values=np.array([value for _, *values in templates for value in values], dtype=np.uint8),
        ends=np.cumsum([len(template) - 1 for template in templates]),
        group_ends=np.cumsum([len(group.templates) for group in groups]),
        needs=np.array([group.needs for group in groups]),
        key_values=np.array([value for key in keys for value in key], dtype=np.uint8),
        key_ends=np.cumsum([len(key) for key in keys]),
    )
