"""What bags may ask of a system besides their tokens.

check_constraints  refuse a bag that asks for more than a system keeps to: an order that ignores it would be wrong
"""

from __future__ import annotations

from collections.abc import Collection

from gyro.errors import InputError
from gyro.text.annotated_bag import INFORMATION, AnnotatedBag
from gyro.text.bag import Bag


def check_constraints(bag: Bag, system: str, known: Collection[str] = ()) -> Bag:
    """The bag, unless it has constraints that the system does not know; what changes no order passes."""
    for key in bag.constraints if isinstance(bag, AnnotatedBag) else ():
        if key not in known:
            allowed = ", ".join(("tokens", *INFORMATION, *sorted(known)))
            message = f"bag {bag.id!r}: found the constraint {key}, which the system {system} does not know"
            raise InputError(f"{message}; allowed are {allowed} (the system best-first knows it)")
    return bag
