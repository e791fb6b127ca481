"""What bags may ask of GYRO's own search besides their tokens.

KNOWN              the constraints of annotated bags that the search keeps to
check_constraints  refuse a bag with others: an order that ignores them would be wrong
"""

from __future__ import annotations

from gyro.errors import InputError
from gyro.text.annotated_bag import INFORMATION, AnnotatedBag
from gyro.text.bag import Bag

KNOWN: frozenset[str] = frozenset()


def check_constraints(bag: Bag) -> Bag:
    """The bag, unless it has constraints that are not KNOWN; other annotation changes no order, and passes."""
    found = bag.constraints if isinstance(bag, AnnotatedBag) else ()
    for key in found:
        if key not in KNOWN:
            allowed = ", ".join(("tokens", *INFORMATION, *sorted(KNOWN)))
            message = f"bag {bag.id!r}: found the constraint {key}, which the system gyro does not know"
            raise InputError(f"{message}; allowed are {allowed} (the system best-first knows it)")
    return bag
