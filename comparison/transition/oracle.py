"""The right actions of a dependency tree: left dependents, the head, each right dependent with its arc, left arcs.

Example       a sentence to learn from
right_steps   the actions that build a projective tree, by place
make_example  a tree as an example
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from comparison.transition.grammar import TransitionGrammar
from comparison.transition.problem import UNIT_TAG, Given, Prepared, prepare
from comparison.transition.state import FIRST_SHIFT, LEFT_ARC, RIGHT_ARC, Integers
from grammars.base_phrase import base_noun_phrases
from grammars.conllu import ConlluSentence
from gyro.errors import InputError
from gyro.text.corpus import ROOT
from lm.model import LanguageModel


class Example(NamedTuple):
    """A bag, and the actions that build its tree."""

    prepared: Prepared
    right: Integers


class Step(NamedTuple):
    """An action; `place` is what a shift shifts."""

    action: int
    place: int = -1


def right_steps(heads: Sequence[int]) -> list[Step]:
    """The actions that build a projective tree; its root has the head ROOT.

    >>> right_steps([1, -1, 1])
    [Step(action=2, place=0), Step(action=2, place=1), Step(action=2, place=2), Step(action=1, place=-1), \
Step(action=0, place=-1)]
    """
    below: dict[int, list[int]] = {}
    for place, head in enumerate(heads):
        below.setdefault(head, []).append(place)
    steps: list[Step] = []
    waiting: list[int | Step] = [*reversed(below.get(ROOT, []))]  # a number is the tree of that place
    while waiting:
        task = waiting.pop()
        if isinstance(task, Step):
            steps.append(task)
            continue
        left = [place for place in below.get(task, []) if place < task]
        whole: list[int | Step] = [*left, Step(FIRST_SHIFT, task)]
        for place in below.get(task, []):
            if place > task:
                whole += [place, Step(RIGHT_ARC)]
        whole += [Step(LEFT_ARC)] * len(left)
        waiting += reversed(whole)
    return steps


def make_example(
    tree: ConlluSentence,
    grammar: TransitionGrammar,
    known: Sequence[str],
    *,
    tag_kind: str = "xpos",
    model: LanguageModel | None = None,
) -> Example:
    """A tree as an example whose bag knows its "pos", "heads" or "units"; InputError when no actions build it."""
    size = len(tree.tokens)
    tags = tuple(getattr(token, tag_kind) for token in tree.tokens)
    units = tuple(base_noun_phrases(tree)) if "units" in known else ()
    given = Given(
        tree.forms,
        tags if "pos" in known else (None,) * size,
        tree.heads if "heads" in known else (None,) * size,
        units,
    )
    prepared = prepare(given, grammar, model)
    unit_of = {place: unit for unit in units for place in unit}
    groups = sorted({unit_of.get(place, (place,)) for place in range(size)})
    number_of = {place: number for number, group in enumerate(groups) for place in group}
    heads = [_head(tree, group, number_of) for group in groups]
    slot_of = {group: number for number, slot in enumerate(prepared.slots) for group in slot.groups}
    reading_of = {(reading.slot, reading.tag): number for number, reading in enumerate(prepared.readings)}
    right = []
    for step in right_steps(heads):
        if step.action != FIRST_SHIFT:
            right.append(step.action)
            continue
        group = groups[step.place]
        reading = reading_of.get((slot_of[group], UNIT_TAG if len(group) > 1 else tags[group[0]]))
        if reading is None:
            raise InputError(f"found {tree.forms[group[0]]!r} with a tag that its bag does not allow")
        right.append(FIRST_SHIFT + reading)
    if len(right) != 2 * len(groups) - 1:
        raise InputError(f"found {heads.count(ROOT)} roots; one is allowed")
    return Example(prepared, np.array(right))


def _head(tree: ConlluSentence, group: Sequence[int], number_of: dict[int, int]) -> int:
    """The unit that a unit hangs on."""
    outside = [tree.heads[place] for place in group if tree.heads[place] not in group]
    if len(outside) != 1:
        raise InputError("found a unit that is no subtree")
    head = outside[0]
    return ROOT if head is None or head == ROOT else number_of[head]
