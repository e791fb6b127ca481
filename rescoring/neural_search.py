"""Search over the orders of a bag with a neural model, which is too dear to be asked about more than some hundreds.

search_orders   from some orders to better ones, within a budget of tokens that the model computes
SearchSettings  the budget, the weight of the model, and how the search goes
FoundOrders     all orders that were scored, with their costs, the best first
ScoredOrder     one of them
BagScorer       what the search asks of a model
Scored          its answer

The score of an order is its n-gram cost + weight · its neural cost. The search expands one scored order after another:
swaps of segments make others of it (segment_move), the most promising of which are scored. What the model says of the
next word at every prefix is pooled (word_table) and tells, with the n-gram model, which are promising. Good orders are
expanded first, but with noise, so that all that is near the best gets its turn. The costs of a fast, coarse precision
lead the way; the best orders are decided by exact costs, because a search finds the errors of what leads it.

Nothing is proved. The same bag, starting orders and settings give the same result, whatever the order of the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton
from rescoring.segment_move import best_swaps, guided_costs, make_guide, ngram_costs
from rescoring.word_table import WordTable

Order = tuple[int, ...]
Costs = NDArray[np.float64]

DECISION_SHARE = 4  # a quarter of the budget at most is kept for exact costs
DIGITS = 3  # of neural costs
MOST_RANKED = 100_000  # orders of 250 tokens: 200 MB


class Scored(Protocol):
    """Costs of strings in nats with the end of the sentence, and what was said of next words on the way.

    `prefixes` are those that were not met before in this bag: the words before a place, none or a whole string
    included. `next_cost` has a row for each, a column for the first piece of each word and a last one for the end; NaN
    where a word is used up, and for an end before all are.
    """

    @property
    def costs(self) -> Costs: ...

    @property
    def prefixes(self) -> list[Order]: ...

    @property
    def next_cost(self) -> NDArray[np.float32]: ...


class BagScorer(Protocol):
    """Strings over the words of one bag, as tuples of word numbers."""

    def score(self, strings: Sequence[Order]) -> Scored:
        """Costs in the fast precision; each string is asked for once."""

    def decide(self, strings: Sequence[Order]) -> Costs:
        """Exact costs in nats, rounded so that they do not depend on what else is asked for."""

    @property
    def computed(self) -> int:
        """The tokens computed so far, fast and exact together."""


@dataclass(frozen=True)
class SearchSettings:
    """How the search goes; noise, margin and the guide's share are in nats of the neural model."""

    budget: int = 17_500  # tokens that the model computes, those of the decision included
    weight: float = 2.5  # of the neural cost, beside n-gram costs of weight 1
    width: int = 16  # orders scored when one is expanded
    ranked: int = 300  # swaps that the guide scores whole
    noise: float = 2.0  # scale of the Gumbel noise in the choice of what is expanded
    guide_share: float = 0.15  # of n-gram costs in the guide
    decided: int = 24  # orders with exact costs
    margin: float = 2.0  # by which fast costs may be wrong
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("budget", "width", "ranked", "decided"):
            if getattr(self, name) < 1:
                raise InputError(f"found a {name} of {getattr(self, name)}; at least 1 is allowed")
        for name in ("noise", "guide_share", "margin", "seed"):
            if not 0 <= getattr(self, name) < np.inf:
                raise InputError(f"found a {name} of {getattr(self, name)}; a number from 0 is allowed")
        if self.ranked > MOST_RANKED:
            raise InputError(f"found {self.ranked} swaps to be ranked; at most {MOST_RANKED:,} are allowed")
        if not 0 < self.weight < np.inf:
            raise InputError(f"found a neural weight of {self.weight}; a number above 0 is allowed")


@dataclass(frozen=True)
class ScoredOrder:
    """An order and its costs; exact ones if it was decided, else corrected ones that put it behind all that were."""

    words: Order
    neural: float
    ngram: float
    total: float
    decided: bool


@dataclass(frozen=True)
class FoundOrders:
    """All orders scored, the best first; `start_cost` and `end_cost` are the exact totals of the best start and of all.

    `expanded` says how many orders gave rise to others, and `computed` how many tokens the model computed.
    """

    orders: tuple[ScoredOrder, ...]
    start_cost: float
    end_cost: float
    expanded: int
    computed: int

    @property
    def scored(self) -> int:
        return len(self.orders)


def search_orders(
    scorer: BagScorer,
    automaton: WordAutomaton,
    starts: Iterable[Sequence[int]],
    settings: SearchSettings,
    is_allowed: Callable[[Order], bool] | None = None,
) -> FoundOrders:
    """Better orders of the bag that `starts` are orders of; the automaton is its n-gram model G_Ω.

    Other orders than the starts are looked at only where they are allowed.

    The budget is kept as far as all orders have as many tokens as the cheapest start has alone; one order is scored
    and decided in any case. Where it is too small for all of `starts`, those with the lowest n-gram costs are scored.
    """
    search = _Search(scorer, automaton, _checked(starts, len(automaton.words)), settings, is_allowed)
    search.score_starts()
    while search.expand():
        pass
    return search.result()


def _checked(starts: Iterable[Sequence[int]], words: int) -> list[Order]:
    """The starting orders, each once and sorted."""
    orders = sorted({tuple(int(word) for word in start) for start in starts})
    if not orders:
        raise InputError("found no order to start the search from; at least one is allowed")
    if len({tuple(sorted(order)) for order in orders}) > 1:
        raise InputError("found orders of different words to start the search from; those of one bag are allowed")
    if orders[0] and (min(orders[0]) < 0 or max(orders[0]) >= words):
        raise InputError(
            f"found an order with words that the automaton does not have; numbers below {words} are allowed"
        )
    return orders


class _Search:
    """The orders scored so far, by number: costs, and whether they were expanded."""

    def __init__(
        self,
        scorer: BagScorer,
        automaton: WordAutomaton,
        starts: list[Order],
        settings: SearchSettings,
        is_allowed: Callable[[Order], bool] | None,
    ) -> None:
        self.scorer, self.settings, self.is_allowed = scorer, settings, is_allowed
        self.table = WordTable(len(automaton.words))
        self.guide = make_guide(self.table.arrays, automaton, settings.guide_share)
        self.starts = starts
        self.random = np.random.default_rng(settings.seed)
        self.orders: list[Order] = []
        self.known: set[Order] = set()
        self.fast, self.ngram = np.empty(0), np.empty(0)
        self.expanded = np.empty(0, bool)
        self.before = scorer.computed
        self.length = 1  # tokens of an order when it is scored alone
        self.most_decided = 1

    @property
    def computed(self) -> int:
        return self.scorer.computed - self.before

    def totals(self) -> Costs:
        """The scores by fast costs."""
        return self.ngram + self.settings.weight * self.fast

    def score_starts(self) -> None:
        """Score the starting orders, the one with the lowest n-gram cost alone, to see how many tokens it has."""
        by_ngram = np.argsort(ngram_costs(self.guide, _as_rows(self.starts)), kind="stable")
        waiting = [self.starts[number] for number in by_ngram]
        self._score(waiting[:1])
        self.length = max(1, self.computed)
        room = self.settings.budget // DECISION_SHARE // self.length - 1
        self.most_decided = max(1, min(self.settings.decided, room))
        done = 1
        while done < len(waiting) and (room := self._room()):
            self._score(waiting[done : done + room])
            done += room

    def expand(self) -> bool:
        """Score what the best swaps make of one order; False when the budget or the orders are used up."""
        room, waiting = self._room(), np.flatnonzero(~self.expanded)
        if not room or not len(waiting):
            return False
        noise = self.settings.noise * self.settings.weight * self.random.gumbel(size=len(waiting))
        chosen = waiting[np.argmin(self.totals()[waiting] - noise)]
        self.expanded[chosen] = True
        guide = self.guide._replace(table=self.table.arrays)
        strings = best_swaps(guide, np.array(self.orders[chosen], np.int64), self.settings.ranked)
        self._score(self._cheapest_new(strings, guided_costs(guide, strings), min(self.settings.width, room)))
        return True

    def result(self) -> FoundOrders:
        """Decide the best orders, and put them before the others."""
        decided = self._decide()
        numbers = list(decided)
        exact = np.array([decided[number] for number in numbers])
        worst = float((self.ngram[numbers] + self.settings.weight * exact).max())
        neural = self._corrected(float(np.mean(exact - self.fast[numbers])), worst)
        neural[numbers] = exact
        totals = self.ngram + self.settings.weight * neural
        columns = (self.orders, neural.tolist(), self.ngram.tolist(), totals.tolist())
        found = [
            ScoredOrder(*order, decided=number in decided) for number, order in enumerate(zip(*columns, strict=True))
        ]
        found.sort(key=lambda order: (order.total, order.words))
        known = set(self.starts)
        start = next(order for order in found if order.decided and order.words in known)
        return FoundOrders(tuple(found), start.total, found[0].total, int(self.expanded.sum()), self.computed)

    # ---- scoring

    def _room(self) -> int:
        """How many orders the budget allows to be scored now, with room left to decide the best and one start."""
        return max(0, self._room_in_all() - self.most_decided - 1)

    def _room_in_all(self) -> int:
        return max(0, (self.settings.budget - self.computed) // self.length)

    def _score(self, orders: list[Order]) -> None:
        if not orders:
            return
        orders = sorted(orders)
        scored = self.scorer.score(orders)
        self.table.teach(scored.prefixes, scored.next_cost)
        self.orders += orders
        self.known.update(orders)
        self.fast = np.append(self.fast, scored.costs)
        self.ngram = np.append(self.ngram, ngram_costs(self.guide, _as_rows(orders)))
        self.expanded = np.append(self.expanded, np.zeros(len(orders), bool))

    def _cheapest_new(self, strings: NDArray[np.int64], costs: Costs, most: int) -> list[Order]:
        """The cheapest orders that were not scored yet."""
        new: dict[Order, None] = {}
        for row in np.argsort(costs, kind="stable").tolist():
            order = tuple(strings[row].tolist())
            if order not in self.known and (self.is_allowed is None or self.is_allowed(order)):
                new[order] = None
                if len(new) == most:
                    break
        return list(new)

    # ---- deciding

    def _decide(self) -> dict[int, float]:
        """Exact costs by number: of the best and of the best start, and of those that may still be better than these.

        The decided ones share beginnings, so there is mostly room for more than was kept.
        """
        totals, weight = self.totals(), self.settings.weight
        margin = weight * self.settings.margin
        by_total = sorted(range(len(totals)), key=lambda number: (totals[number], self.orders[number]))
        known = set(self.starts)
        starts = [number for number in by_total if self.orders[number] in known]
        decided: dict[int, float] = {}
        self._decide_more(decided, [starts[0], *by_total[: self.most_decided]])
        near = [number for number in starts[: self.most_decided] if totals[number] <= totals[starts[0]] + margin]
        self._decide_more(decided, near)
        shift = weight * float(np.mean([cost - self.fast[number] for number, cost in decided.items()]))
        best = min(self.ngram[number] + weight * cost for number, cost in decided.items())
        rivals = [number for number in by_total if totals[number] + shift - margin < best and number not in decided]
        self._decide_more(decided, rivals[: self.most_decided])
        return decided

    def _decide_more(self, decided: dict[int, float], numbers: list[int]) -> None:
        """Decide the first of these for which there is room, one of the first call in any case."""
        new = [number for number in dict.fromkeys(numbers) if number not in decided]
        new = new[: max(self._room_in_all(), 0 if decided else 1)]
        if new:
            asked = sorted(self.orders[number] for number in new)
            costs = dict(zip(asked, self.scorer.decide(asked).tolist(), strict=True))
            decided.update((number, costs[self.orders[number]]) for number in new)

    def _corrected(self, difference: float, worst: float) -> Costs:
        """Fast costs with the mean error of those that were decided taken out, and all totals above `worst`."""
        least = (worst - self.ngram) / self.settings.weight
        scale = 10.0**DIGITS
        return np.asarray(np.floor(np.maximum(self.fast + difference, least) * scale + 1) / scale)


def _as_rows(orders: list[Order]) -> NDArray[np.int64]:
    return np.array(orders, np.int64).reshape(len(orders), -1)
