"""What a string costs when it is cut into phrases, by trying all ways.

cheapest_cutting  the cost of the cheapest way; infinity when there is none
cheapest_chain    the same for phrases that may share words with what stands before them
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from grammars.phrase.closure import PhraseCosts

INFINITY = float("inf")


def cheapest_cutting(string: tuple[str, ...], phrases: Mapping[tuple[str, ...], int], costs: PhraseCosts) -> float:
    """Try every set of places to cut."""
    largest = max(phrases.values(), default=0)
    best = INFINITY
    for cuts in itertools.product([False, True], repeat=max(0, len(string) - 1)):
        edges = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), len(string)]
        parts = [string[i:j] for i, j in itertools.pairwise(edges) if i < j]
        if all(part in phrases for part in parts):
            best = min(best, sum(costs.cost(len(part), phrases[part], largest) for part in parts))
    return best


def cheapest_chain(
    string: tuple[str, ...], phrases: Mapping[tuple[str, ...], int], costs: PhraseCosts, overlap: int
) -> float:
    """Try every chain of phrases by the definition of the overlap: all next phrases, from all places allowed."""
    largest = max(phrases.values(), default=0)

    def rest(before: int) -> float:
        """What the words after an end cost at least."""
        if before == len(string):
            return 0.0
        found = INFINITY
        for begin in range(max(0, before - overlap), before + 1):
            for end in range(before + 1, len(string) + 1):
                if (phrase := string[begin:end]) in phrases:
                    found = min(found, costs.cost(len(phrase), phrases[phrase], largest) + rest(end))
        return found

    return rest(0)
