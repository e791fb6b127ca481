"""The strings of an acyclic automaton in the order of their costs.

Hypothesis   a string of tokens and its cost
StringOrder  the arcs of an automaton, made ready to list its cheapest strings, each once
rest_costs   the cheapest cost from each state to an end
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled

BILLION = 1e9
INFINITY = float("inf")


class Hypothesis(NamedTuple):
    """One string of a lattice.

    >>> print(Hypothesis(("the", "dog", "barks"), 12.5))
    the dog barks
    """

    tokens: tuple[str, ...]
    cost: float

    @property
    def text(self) -> str:
        """The tokens with blanks between them."""
        return " ".join(self.tokens)

    def __str__(self) -> str:
        return self.text


class StringOrder:
    """A* with the exact costs of the rest. The start is state 0; `final` has a cost for each state.

    The arcs are sorted by source and lead to higher states. Sums of costs of single precision, as OpenFst has them, are
    exact; those of double precision differ in their last bits with the order of their terms, so that strings which
    cost the same would come in any order: `in_billionths` compares them in whole billionths.

    >>> columns = (np.array([0, 0]), np.array([0, 1]), np.array([1, 1]), np.array([0.5, 0.25]))
    >>> StringOrder(("a", "b"), *columns, np.array([np.inf, 0.0])).cheapest(1)
    [Hypothesis(tokens=('b',), cost=0.25)]
    """

    def __init__(
        self,
        words: Sequence[str],
        source: NDArray[Any],
        word: NDArray[Any],
        target: NDArray[Any],
        cost: NDArray[Any],
        final: NDArray[Any],
        *,
        in_billionths: bool = False,
    ) -> None:
        self._words = words
        self._compared: Callable[[float], float] = _rounded if in_billionths else float
        self._first: list[int] = np.searchsorted(source, np.arange(len(final) + 1)).tolist()
        self._word, self._target, self._cost = word.tolist(), target.tolist(), cost.astype(float).tolist()
        self._final: list[float] = final.astype(float).tolist()
        self._rest: list[float] = rest_costs(source, target, cost.astype(float), final.astype(float)).tolist()

    def cheapest(self, n: int | None = None) -> list[Hypothesis]:
        """The n cheapest distinct strings (None: all), by cost and then by tokens."""
        # Sorted once more, for the last bits of a prefix's total may lie on the other side of its string's.
        return sorted(islice(self._in_order(), n), key=lambda h: (self._compared(h.cost), h.tokens))

    def _in_order(self) -> Iterator[Hypothesis]:
        """A prefix is determinised when it is reached, so none comes twice.

        Among equal totals, a prefix comes before the strings that start with it, and so never too late.
        """
        if not self._final:
            return
        # Entries: total as compared, words, whether they are complete, the cost so far in each state that they reach.
        queue: list[tuple[float, tuple[str, ...], bool, dict[int, float]]] = [(0.0, (), False, {0: 0.0})]
        while queue:
            _, tokens, complete, states = heapq.heappop(queue)
            end = min([cost + self._final[state] for state, cost in states.items()])
            if complete:
                yield Hypothesis(tokens, end)
                continue
            if end != INFINITY:
                heapq.heappush(queue, (self._compared(end), tokens, True, states))
            reached: dict[int, dict[int, float]] = {}
            for state, so_far in states.items():
                for arc in range(self._first[state], self._first[state + 1]):
                    targets, target = reached.setdefault(self._word[arc], {}), self._target[arc]
                    targets[target] = min(targets.get(target, INFINITY), so_far + self._cost[arc])
            for word, targets in reached.items():
                least = min([cost + self._rest[state] for state, cost in targets.items()])
                if least != INFINITY:  # infinity in billionths is no number, and would put the queue out of order
                    heapq.heappush(queue, (self._compared(least), (*tokens, self._words[word]), False, targets))


@compiled
def rest_costs(source: Any, target: Any, cost: Any, final: Any) -> Any:
    """The cheapest cost from each state to an end."""
    rest = final.copy()
    for arc in range(len(source) - 1, -1, -1):
        rest[source[arc]] = min(rest[source[arc]], cost[arc] + rest[target[arc]])
    return rest


def _rounded(cost: float) -> float:
    """The cost in billionths; ten times as fast as Python's `round` to nine decimals."""
    return (cost * BILLION + 0.5) // 1.0
