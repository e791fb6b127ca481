"""The weights of arcs in OpenFst files: one cost, several, or a sparse tuple of them.

ArcWeight  what the weights of a type of arcs are made of, and the cost that they come to

A type has one of these names, with `log` in the place of `tropical` as well; 64 stands for numbers of double precision:

standard, log, log64                         one cost
tropical_LT_tropical                         two, the first of which decides: all costs, and those without the model's
tropical_^3                                  three
tropical_^n                                  a sparse tuple of OpenFst: a default, and components by number
tropicalsparsetuple, tropicalsparsetuple64   a sparse tuple of MT decoders

The cost of several numbers is the sum of each times its scale. The components of a sparse tuple count from 1. In
OpenFst's tuples, those that are not there have the default; in MT decoders' tuples it is added, whatever the scales.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError

ALLOWED = "standard, log, tropical_LT_tropical, tropical_^N and tropicalsparsetuple are allowed"
_PLAIN = re.compile(r"(?:standard|(?:tropical|log)(64)?)")
_PAIR = re.compile(r"tropical(64)?_LT_tropical(?(1)64)")
_POWER = re.compile(r"(?:tropical|log)(64)?_\^(n|[1-9][0-9]{0,3})")
_TUPLE = re.compile(r"tropicalsparsetuple(64)?")


@dataclass(frozen=True)
class ArcWeight:
    """`count` is the number of costs in a weight, 0 in a sparse tuple; `adds_default` is how such a tuple is meant.

    >>> ArcWeight.of_type("tropical_LT_tropical")
    ArcWeight(arc_type='tropical_LT_tropical', count=2, double=False, adds_default=False)
    """

    arc_type: str
    count: int
    double: bool = False
    adds_default: bool = False

    @classmethod
    def of_type(cls, arc_type: str) -> ArcWeight:
        if match := _PLAIN.fullmatch(arc_type):
            return cls(arc_type, 1, bool(match[1]))
        if match := _PAIR.fullmatch(arc_type):
            return cls(arc_type, 2, bool(match[1]))
        if match := _POWER.fullmatch(arc_type):
            return cls(arc_type, 0 if match[2] == "n" else int(match[2]), bool(match[1]))
        if match := _TUPLE.fullmatch(arc_type):
            return cls(arc_type, 0, bool(match[1]), adds_default=True)
        raise InputError(f"found {arc_type:.60} arcs; {ALLOWED}")

    @property
    def is_sparse(self) -> bool:
        return self.count == 0

    @property
    def number(self) -> str:
        """The layout of one number."""
        return "<f8" if self.double else "<f4"

    def check_scales(self, scales: Sequence[float]) -> None:
        """Refuse scales that are not for these weights, and none where they are needed."""
        kind = f"found {self.arc_type} arcs, with "
        if self.is_sparse:
            if not scales:
                raise InputError(f"{kind}sparse tuples of costs; the scales of their components are needed: --scales")
        elif scales and len(scales) != self.count:
            costs = "one cost" if self.count == 1 else f"{self.count} costs"
            raise InputError(f"{kind}{costs} each, and {len(scales)} scales; as many of both are needed")
        elif not scales and self.count > 1 and not _PAIR.fullmatch(self.arc_type):
            raise InputError(f"{kind}{self.count} costs each; as many scales are needed: --scales")

    def costs(self, numbers: NDArray[np.floating], scales: Sequence[float]) -> NDArray[np.float32]:
        """The cost of each row of numbers, which are the first of its row when there are no scales."""
        if not scales:
            return single_precision(numbers[:, 0])
        total = np.zeros(len(numbers))
        with np.errstate(invalid="ignore", over="ignore"):  # what is no number is refused later, in words
            for scale, column in zip(scales, numbers.T, strict=True):
                if scale:  # an infinite cost that does not count is none
                    total += scale * column.astype(np.float64)
        # All are infinite where there is no arc or final state, whatever the scales.
        return single_precision(np.where((numbers == np.inf).all(axis=1), np.inf, total))


def single_precision(costs: NDArray[np.floating]) -> NDArray[np.float32]:
    """The costs as lattices have them; InputError when one is too large for that."""
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = costs.astype(np.float32)
    if (np.isinf(rounded) & np.isfinite(costs)).any():
        raise InputError("found a cost that is too large a number")
    return rounded
