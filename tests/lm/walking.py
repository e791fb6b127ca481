"""walk  the cost of a string, step by step over the contexts of a walker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lm.walker import Walker


def walk(walker: Walker, words: Sequence[str], tokens: Sequence[str]) -> float:
    contexts, cost = np.array([walker.start]), 0.0
    for token in tokens:
        contexts, step = walker.step(contexts, np.array([words.index(token)]))
        cost += float(step[0])
    return cost + float(walker.end(contexts)[0])
