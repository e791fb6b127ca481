"""What the compiled search works on: the problem of a bag, the states of the beam, and room to work in.

PARENT, ACTION …       the columns of a state
LEFT_ARC, RIGHT_ARC    the actions; from FIRST_SHIFT on, each shifts one reading of a unit
Problem                a bag as arrays
States                 states as arrays, all steps one after the other
Rows                   scores of all actions that were looked up once, by what they were looked up for
Room                   the rest of what the search writes to
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.learning.hashing import Hashes

Integers = NDArray[np.int64]
Small = NDArray[np.int16]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

# How a state came about; the state whose top lies below this one's top; how many nodes are on the stack, and how many
# units are still to be shifted.
PARENT, ACTION, TAIL, DEPTH, LEFT = range(5)
# The top of the stack: its reading, those of its outermost dependents and of the next ones, how many of its given
# dependents it has.
HEAD, LEFTMOST, LEFT_NEXT, RIGHTMOST, RIGHT_NEXT, GIVEN = range(5, 11)
# The last three words and their tags, and the language model's state.
WORD_0, WORD_1, WORD_2, TAG_0, TAG_1, TAG_2, LM_STATE = range(11, 18)
FIRST_OF_OUTPUT, END_OF_OUTPUT = WORD_0, LM_STATE + 1
# The places of the top and its outermost dependents among the units of the output; the numbers of its dependents on
# each side, and their tags, a bit each.
PLACE, LEFT_PLACE, RIGHT_PLACE, LEFT_COUNT, RIGHT_COUNT, LEFT_TAGS, RIGHT_TAGS = range(18, 25)
COLUMNS = 25

LEFT_ARC, RIGHT_ARC, FIRST_SHIFT = 0, 1, 2
ANY_HEAD, IS_ROOT = -2, -1  # of a slot whose head is not given, or is none


class Problem(NamedTuple):
    """A bag. A slot is a unit with its copies, a reading a slot with a tag. Words and tags of readings have two more
    rows: what stands below the stack, and what is absent.
    """

    words: Hashes  # by number; 0: before the first word
    tags: Hashes
    reading_slot: Integers
    reading_word: Hashes  # the unit as a symbol
    reading_tag: Hashes
    reading_action: Hashes  # what stands for the action that shifts it
    reading_first: Integers  # the columns of the model for its first word
    reading_class: Integers  # which of the classes its tag is
    reading_bit: Integers  # the bit of its tag in sets of tags
    class_action: Hashes  # what stands for shifting any unit with that tag; empty when this is no feature
    word_ends: Integers  # by reading: where its words end
    unit_words: Integers  # the words of all readings, one after the other
    unit_tags: Integers
    slot_count: Small
    given_head: Integers  # by slot: a slot, IS_ROOT or ANY_HEAD
    given_dependents: Integers  # by slot: how many units are given it as their head
    has_heads: int
    units: int
    lm_next: NDArray[np.int32]  # by state and word
    lm_bin: NDArray[np.int8]  # by state and word: a row of bin_scores
    lm_gain: Singles  # by state and word: what the log-probability itself adds; empty when it adds nothing
    lm_start: int
    has_lm: int
    bare_shift: Hashes  # what stands for shifting anything; empty when this is no feature
    lexical_bins: int


class States(NamedTuple):
    """States by number: 0 is the start, then those of each step."""

    columns: Integers
    score: Floats
    used: Small  # by slot: how many of its units are shifted


class Rows(NamedTuple):
    """A hash table: what was looked up, the row that it has, and the scores of all actions in rows."""

    keys: Hashes
    places: NDArray[np.int32]
    scores: Singles
    counters: Integers  # how many rows are taken; how often the table was full


class Room(NamedTuple):
    """Room to work in."""

    values: Hashes
    total: Singles  # by action
    by_class: Singles
    bin_scores: Singles  # by bin and reading
    heap_counts: Integers  # how many candidates are held, and how many were proposed
    heap_score: Floats
    heap_order: Integers
    heap_parent: Integers
    heap_action: Integers
    stack: Integers  # by depth: the slot
    pending: Integers  # by depth: how many given dependents it lacks
    level: Integers  # by slot: its depth, -1 when it is not on the stack
    direct: Integers  # by slot not shifted: the lowest depth of a node whose given head it is
    through: Integers  # the lowest depth of a node that is below it through others that are not shifted


Weights = Any  # float32, a power of two of them
