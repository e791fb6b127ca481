"""What a bag asks of GYRO's search besides its words.

known_bag     the bag, unless it asks for more than an algorithm keeps to
checked_plan  how a bag with constraints is searched; those that contradict each other are refused
no_order      what is wrong where no order was found
"""

from __future__ import annotations

from gyro.errors import GyroError, InputError
from gyro.run.constraint import KNOWN_BY, check_constraints
from gyro.search.conflict import find_conflict
from gyro.search.plan import Plan, make_plan
from gyro.search.settings import Settings
from gyro.text.annotated_bag import AnnotatedBag, as_annotated
from gyro.text.bag import Bag

SYSTEM = "gyro"


def known_bag(bag: Bag, settings: Settings) -> Bag:
    """The bag, whose constraints the algorithm keeps to."""
    check_constraints(bag, SYSTEM, KNOWN_BY[SYSTEM])
    if not settings.is_search and isinstance(bag, AnnotatedBag) and bag.constraints:
        name = f"bag {bag.id!r}: " if bag.id else ""
        found = f"{name}found the constraint {bag.constraints[0]}"
        raise InputError(f"{found}, which the algorithm {settings.algorithm} does not know; exact and beam do")
    return bag


def checked_plan(bag: Bag, settings: Settings) -> Plan | None:
    """The plan of a bag, None where it has no constraints."""
    plan = make_plan(known_bag(bag, settings))
    if plan is not None and (conflict := find_conflict(as_annotated(bag))):
        raise InputError(f"found constraints that no order can keep to: {conflict}")
    return plan


def no_order(bag: Bag, plan: Plan | None) -> Exception:
    """Without constraints there is always one; with them a beam may have found dead ends alone."""
    if plan is None:
        return AssertionError(f"no rung gave an order for bag {bag.id!r}")
    return GyroError("no order was found that keeps to the constraints; a wider --beam or more --steps may find one")
