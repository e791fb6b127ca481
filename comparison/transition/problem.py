"""From a bag with annotation to what the compiled search works on.

Given       the tokens of a sentence in any order, and what is known of them
bag_given   what a bag gives
Reading     a unit with a tag: what can be shifted
Prepared    the compiled problem and what its numbers mean
prepare     make one
UNIT_TAG    the tag of units of several words
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.learning.hashing import mix, start, text_hash
from comparison.transition.binning import LOWEST, cost_bins
from comparison.transition.grammar import TransitionGrammar
from comparison.transition.state import ANY_HEAD, IS_ROOT, Floats, Problem, Singles
from comparison.transition.template import SHIFT_NUMBER
from gyro.errors import InputError
from gyro.text.annotated_bag import as_annotated
from gyro.text.bag import Bag
from gyro.text.corpus import ROOT
from lm.model import LanguageModel

UNIT_TAG = "NP"
OBEYED = ("heads", "units")  # the constraints of bags that this system knows
BEGIN = " BEGIN "  # no token has a blank
_SHIFT = np.array([start(SHIFT_NUMBER)], dtype=np.uint64)

Group = tuple[int, ...]


class Given(NamedTuple):
    """Tokens, and what is given of each: its tag, the place of its head or ROOT, the unit that it is in."""

    tokens: tuple[str, ...]
    pos: tuple[str | None, ...]
    heads: tuple[int | None, ...]
    units: tuple[Group, ...] = ()


class Reading(NamedTuple):
    """The words of a slot with a tag."""

    slot: int
    words: tuple[str, ...]
    tag: str


class Slot(NamedTuple):
    """Units that can take each other's place, and their given head: a slot, IS_ROOT or ANY_HEAD."""

    groups: tuple[Group, ...]
    words: tuple[str, ...]
    pos: str | None
    head: int


class Prepared(NamedTuple):
    """A problem, its readings and slots."""

    problem: Problem
    readings: tuple[Reading, ...]
    slots: tuple[Slot, ...]


def bag_given(bag: Bag) -> Given:
    """What a bag gives; what this system cannot obey is refused."""
    known = as_annotated(bag)
    for key in known.constraints:
        if key not in OBEYED:
            allowed = f"{' and '.join(OBEYED)} are allowed (the system best-first knows it)"
            raise InputError(
                f"bag {bag.id!r}: found the constraint {key}, which the system transition does not know; {allowed}"
            )
    nothing = (None,) * len(known)
    return Given(known.tokens, known.pos or nothing, known.heads or nothing, known.units)


def prepare(given: Given, grammar: TransitionGrammar, model: LanguageModel | None = None) -> Prepared:
    """Number slots, readings, words and tags."""
    if not given.tokens:
        raise InputError("found a bag without words")
    slots = _slots(given)
    readings = tuple(
        Reading(number, slot.words, tag)
        for number, slot in enumerate(slots)
        for tag in ((UNIT_TAG,) if len(slot.words) > 1 else grammar.tags_of(slot.words[0], slot.pos))
    )
    return Prepared(_problem(slots, readings, grammar, model), readings, slots)


def _slots(given: Given) -> tuple[Slot, ...]:
    """Units (tokens by themselves too) that are equal to each other, in an order of their own."""
    inside = {place for unit in given.units for place in unit}
    groups: list[Group] = [*given.units, *((place,) for place in range(len(given.tokens)) if place not in inside)]
    group_of = {place: number for number, group in enumerate(groups) for place in group}
    heads = [_outside_head(given, group, group_of) for group in groups]
    _check_heads(heads)
    named = set(heads)  # nothing can stand for what others name as their head
    alike: dict[tuple[tuple[str, ...], str, int, Group], list[int]] = {}
    for number, group in enumerate(groups):
        words = tuple(given.tokens[place] for place in group)
        pos = given.pos[group[0]] if len(group) == 1 else None
        alike.setdefault((words, pos or "", heads[number], group if number in named else ()), []).append(number)
    slot_of = {IS_ROOT: IS_ROOT, ANY_HEAD: ANY_HEAD}
    ordered = sorted(alike.items())
    for slot, (_, members) in enumerate(ordered):
        slot_of |= dict.fromkeys(members, slot)
    return tuple(
        Slot(tuple(groups[number] for number in members), words, pos or None, slot_of[head])
        for (words, pos, head, _), members in ordered
    )


def _outside_head(given: Given, group: Group, group_of: dict[int, int]) -> int:
    """The unit that is given as the head of a unit: that of the word of it whose head is outside."""
    heads = {given.heads[place] for place in group} - {None, *group}
    outside = {IS_ROOT if head == ROOT else group_of[head] for head in heads if head is not None}
    if len(outside) > 1:
        raise InputError(f"found a unit with {len(outside)} heads outside it; one is allowed")
    return outside.pop() if outside else ANY_HEAD


def _check_heads(heads: Sequence[int]) -> None:
    if (roots := heads.count(IS_ROOT)) > 1:
        raise InputError(f"found {roots} roots; one is allowed")
    for number in range(len(heads)):
        at, steps = number, 0
        while at >= 0:
            at, steps = heads[at], steps + 1
            if steps > len(heads):
                raise InputError("found heads of units that run in a circle; a tree is allowed")


def _problem(
    slots: Sequence[Slot], readings: Sequence[Reading], grammar: TransitionGrammar, model: LanguageModel | None
) -> Problem:
    words = sorted({word for slot in slots for word in slot.words})
    word_number = {word: number for number, word in enumerate(words, 1)}
    tags = sorted({reading.tag for reading in readings})
    tag_number = {tag: number for number, tag in enumerate(tags, 1)}
    # One name for all words of a unit: no token has a blank.
    symbols = _hashes([text_hash(" ".join(reading.words)) for reading in readings])
    tag_hashes = _hashes(map(text_hash, tags))
    reading_class = np.array([tag_number[reading.tag] - 1 for reading in readings])
    reading_tags = tag_hashes[reading_class]
    begin, below = _hashes([text_hash(BEGIN)]), _hashes([text_hash(BEGIN), 0])
    given = Counter(slot.head for slot in slots for _ in slot.groups)
    settings = grammar.features
    bins = "" if model is None else settings.bins
    return Problem(
        words=np.append(begin, _hashes(map(text_hash, words))),
        tags=np.append(begin, tag_hashes),
        reading_slot=np.array([reading.slot for reading in readings]),
        reading_word=np.append(symbols, below),
        reading_tag=np.append(reading_tags, below),
        reading_action=_mixed(_mixed(_SHIFT, symbols), reading_tags),
        reading_first=np.array([word_number[reading.words[0]] - 1 for reading in readings]),
        reading_class=reading_class,
        reading_bit=np.array([grammar.tag_bit(reading.tag) for reading in readings]),
        class_action=_mixed(_SHIFT, tag_hashes) if settings.shift_tags else _hashes([]),
        word_ends=np.cumsum([len(reading.words) for reading in readings]),
        unit_words=np.array([word_number[word] for reading in readings for word in reading.words]),
        unit_tags=np.array([tag_number[reading.tag] for reading in readings for _ in reading.words]),
        slot_count=np.array([len(slot.groups) for slot in slots], dtype=np.int16),
        given_head=np.array([slot.head for slot in slots]),
        given_dependents=np.array([given[number] for number in range(len(slots))]),
        has_heads=int(any(slot.head != ANY_HEAD for slot in slots)),
        units=sum(len(slot.groups) for slot in slots),
        bare_shift=_SHIFT if bins in ("bare", "both") else _hashes([]),
        lexical_bins=int(bins in ("lexical", "both")),
        **_language_model(model, words, settings.lm_weight),
    )


def _hashes(values: Iterable[int]) -> NDArray[np.uint64]:
    return np.array(list(values), dtype=np.uint64)


def _mixed(first: NDArray[np.uint64], values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`mix` for arrays."""
    return np.asarray(mix.py_func(first, values))  # type: ignore[attr-defined]


def _language_model(model: LanguageModel | None, words: Sequence[str], weight: float) -> dict[str, Any]:
    """The states of the model on the words, and the bins of what it says of each word in each."""
    if model is None:
        return {"lm_next": _NO_STATES, "lm_bin": _NO_BINS, "lm_gain": _NO_GAINS, "lm_start": 0, "has_lm": 0}
    automaton = model.acceptor(words)
    return {
        "lm_next": np.ascontiguousarray(automaton.next_state, dtype=np.int32),
        "lm_bin": np.ascontiguousarray(cost_bins(automaton.cost)),
        "lm_gain": _gains(model, words, automaton.cost, weight) if weight else _NO_GAINS,
        "lm_start": automaton.start,
        "has_lm": 1,
    }


def _gains(model: LanguageModel, words: Sequence[str], cost: Floats, weight: float) -> Singles:
    """How much likelier words are made by what stands before them, so that states of more and fewer words compare."""
    alone = np.array([model.score([word], bos=False, eos=False) for word in words])
    highest = -LOWEST * math.log(10)
    gains = np.minimum(alone, highest) - np.minimum(cost, highest)
    return np.ascontiguousarray(weight * gains, dtype=np.float32)


_NO_STATES = np.zeros((1, 1), dtype=np.int32)
_NO_BINS = np.zeros((1, 1), dtype=np.int8)
_NO_GAINS = np.zeros((0, 0), dtype=np.float32)
