"""Probabilities of a language model as classes: the four features of a shift in the combined system.

WIDTH, LOWEST       the classes: so many powers of ten wide, down to there
cost_bins           natural-log costs as numbers of bins
bin_value           the value that a feature has for a bin, for compiled code
BINS, LOW           how many bins there are, and that of what is too unlikely
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled

WIDTH = 0.625
LOWEST = -12.5  # log10; Table 6 of the paper prints e to that power, its section 7.1 ten
LOW = 20
BINS = 21
DIVISORS = (1, 2, 4, 10)  # of the four features: 20, 10, 5 and 2 classes


def cost_bins(cost: NDArray[np.float64]) -> NDArray[np.int8]:
    """The bins of natural-log costs: of 0.625 powers of ten each, LOW from 12.5 of them on.

    >>> cost_bins(np.array([0.624, 0.625, 12.499, 12.5]) * math.log(10)).tolist()
    [0, 1, 19, 20]
    """
    # What a unit of the last place off is put right: costs are log10 probabilities of single precision, times ln 10.
    powers = np.round(cost / math.log(10), 12)
    return np.where(powers >= -LOWEST, LOW, np.minimum(powers / WIDTH, LOW)).astype(np.int8)


@compiled
def bin_value(kind: int, number: int) -> Any:
    """The value that one of the four features has for a bin."""
    if number == LOW:
        return np.uint64(LOW + 1)
    return np.uint64(number // DIVISORS[kind] + 1)
