"""Constraints of a bag that contradict each other, named.

find_conflict  the constraints that no order keeps to together, as people would say them; empty where there is an order

A beam that pays for nothing finds an order in no time where there is one. Only where it does not is it asked whether
there is any, and which constraints can be left out without there being one: what stays are those of the conflict.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gyro.lattice.automaton import WordAutomaton
from gyro.search.exact import search
from gyro.search.plan import make_plan
from gyro.search.work import MILLION, Work
from gyro.text.annotated_bag import AnnotatedBag

STEPS = 1000 * MILLION  # of a look at one set of constraints: some seconds
ENDS = {1: "the first word", -1: "the last word"}
KINDS = ("units", "order", "positions", "choices")


class _Constraint(NamedTuple):
    kind: str
    value: Any


def find_conflict(bag: AnnotatedBag) -> str:
    """Constraints of which each one is needed for the conflict.

    >>> find_conflict(AnnotatedBag(("the", "cat", "sat"), positions=((0, 1), (2, 3)), units=((0, 1),), order=((2, 1),)))
    "'sat' comes before 'cat'; 'sat' is word 3"
    """
    if not _is_impossible(bag):
        return ""
    left = [_Constraint(kind, value) for kind in KINDS for value in getattr(bag, kind)]
    for constraint in list(left):
        fewer = [other for other in left if other is not constraint]
        if _is_impossible(_with(bag, fewer)):
            left = fewer
    return "; ".join(_said(bag, constraint) for constraint in left)


def _with(bag: AnnotatedBag, constraints: list[_Constraint]) -> AnnotatedBag:
    """The bag with these constraints alone."""
    given: dict[str, Any] = {kind: tuple(c.value for c in constraints if c.kind == kind) for kind in KINDS}
    return replace(bag, **given)


def _is_impossible(bag: AnnotatedBag) -> bool:
    """Whether it is proved that no order keeps to all of it."""
    shape = (1, len(bag.words))
    anything = WordAutomaton(bag.words, 0, np.zeros(shape, np.int32), np.zeros(shape), np.zeros(1))
    plan = make_plan(bag)
    if plan is None or search(anything, bag.counts, work=Work(STEPS), exact=False, plan=plan).paths is not None:
        return False
    result = search(anything, bag.counts, beta=0.0, work=Work(STEPS), plan=plan)
    return result.proved and result.paths is None


def _said(bag: AnnotatedBag, constraint: _Constraint) -> str:
    kind, value = constraint
    if kind == "units":
        return f"{' '.join(bag.tokens[place] for place in value)!r} stays together"
    if kind == "order":
        return " comes before ".join(repr(bag.tokens[place]) for place in value)
    if kind == "choices":
        words = ", ".join(repr(bag.tokens[place]) for place in value[0])
        return f"{value[1]} of {words} {'is' if value[1] == 1 else 'are'} used"
    place, number = value
    counted = f"word {number}" if number > 0 else f"word {-number} from the end"
    return f"{bag.tokens[place]!r} is {ENDS.get(number, counted)}"
