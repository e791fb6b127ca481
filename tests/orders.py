"""Orders of bags for tests of what comes after the search.

ordered  the strings of a bag as what a system gives
failed   what it gives for a bag without an order
"""

from __future__ import annotations

from typing import Any

from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag


def ordered(bag: Bag, strings: list[Hypothesis], words: tuple[str, ...] | None = None, **facts: Any) -> Ordering:
    lattice = Lattice.from_strings(bag.words if words is None else words, strings)
    return Ordering(lattice, Outcome.ordered(bag, min(h.cost for h in strings), **facts))


def failed(bag: Bag, reason: str = "no order was found", **facts: Any) -> Outcome:
    return Outcome(id=bag.id, status="failed", reason=reason, cost=None, **facts)
