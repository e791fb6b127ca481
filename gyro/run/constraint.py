"""What bags may ask of a system besides their tokens.

check_constraints  refuse a bag that asks for more than a system keeps to: an order that ignores it would be wrong
KNOWN_BY           the constraints that GYRO's own search and best-first keep to, by the name of the system
"""

from __future__ import annotations

from collections.abc import Collection

from gyro.errors import InputError
from gyro.text.annotated_bag import INFORMATION, AnnotatedBag
from gyro.text.bag import Bag

_WORDS = ("units", "order", "counts", "optional")
KNOWN_BY = {
    "gyro": (*_WORDS, "positions", "choices"),
    "best-first": (*_WORDS, "heads", "categories", "lemmas without tokens"),
}


def check_constraints(bag: Bag, system: str, known: Collection[str] = ()) -> Bag:
    """The bag, unless it has constraints that the system does not know; what changes no order passes."""
    for key in bag.constraints if isinstance(bag, AnnotatedBag) else ():
        if key not in known:
            allowed = ", ".join(("tokens", *INFORMATION, *sorted(known)))
            names = [name for name, keys in KNOWN_BY.items() if key in keys and name != system]
            others = f" (the system{'s' * (len(names) > 1)} {' and '.join(names)} know{'s' * (len(names) < 2)} it)"
            place = f"bag {bag.id!r}: " if bag.id else ""
            message = f"{place}found the constraint {key}, which the system {system} does not know"
            raise InputError(f"{message}; allowed are {allowed}{others if names else ''}")
    return bag
