"""The search over orders with a scorer that is made of random tables, against brute force over all orders."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton
from rescoring.neural_search import FoundOrders, SearchSettings, search_orders
from tests.rescoring.test_segment_move import random_automaton

Order = tuple[int, ...]


@dataclass(frozen=True)
class Said:
    costs: NDArray[np.float64]
    prefixes: list[Order]
    next_cost: NDArray[np.float32]


class TableScorer:
    """A word costs what a random table says of it and the last two, and of the set of all words before it.

    The fast costs are wrong by up to `error`. Tokens are counted as nodes of a trie of the strings of a call.
    """

    def __init__(self, counts: Sequence[int], seed: int, error: float = 0.5) -> None:
        rng = np.random.default_rng(seed)
        words = len(counts)
        self.counts, self.error, self.computed = counts, error, 0
        self.pairs = rng.gamma(2.0, 2.0, (words + 1, words + 1))
        self.triples = rng.gamma(1.0, 1.5, (words + 1, words + 1, words + 1))
        self.far = rng.normal(0.0, 1.0, (words, words + 1))
        self.met: set[Order] = set()
        self.said: dict[Order, NDArray[np.float64]] = {}
        self.asked: list[list[Order]] = []

    def next_costs(self, prefix: Order) -> NDArray[np.float64]:
        if prefix not in self.said:
            self.said[prefix] = self._next_costs(prefix)
        return self.said[prefix]

    def _next_costs(self, prefix: Order) -> NDArray[np.float64]:
        before, last = (-1, -1, *prefix)[-2:]
        far = self.far[list(prefix[:-2])].sum(axis=0)
        costs = self.pairs[last] + self.triples[before, last] + far
        used = np.bincount(prefix, minlength=len(self.counts)) if prefix else np.zeros(len(self.counts))
        allowed = np.append(used < np.array(self.counts), len(prefix) == sum(self.counts))
        return np.where(allowed, costs, np.nan)

    def exact(self, string: Order) -> float:
        end = len(self.counts)
        return round(float(sum(self.next_costs(string[:n])[w] for n, w in enumerate([*string, end]))), 3)

    def score(self, strings: Sequence[Order]) -> Said:
        self.asked.append(list(strings))
        prefixes = self._count(strings)
        new = [prefix for prefix in prefixes if prefix not in self.met]
        self.met.update(new)
        errors = [np.random.default_rng(string).uniform(-self.error, self.error) for string in strings]
        costs = np.array([self.exact(string) for string in strings]) + errors
        next_cost = np.array([self.next_costs(prefix) for prefix in new], np.float32).reshape(-1, len(self.counts) + 1)
        return Said(costs, new, next_cost)

    def decide(self, strings: Sequence[Order]) -> NDArray[np.float64]:
        self._count(strings)
        return np.array([self.exact(string) for string in strings])

    def _count(self, strings: Sequence[Order]) -> list[Order]:
        prefixes = sorted({string[:n] for string in strings for n in range(len(string) + 1)})
        self.computed += len(prefixes)
        return prefixes


def bag_of(counts: Sequence[int]) -> Order:
    return tuple(word for word, count in enumerate(counts) for _ in range(count))


def random_starts(counts: Sequence[int], seed: int, most: int) -> list[Order]:
    rng = np.random.default_rng(seed)
    return [tuple(rng.permutation(bag_of(counts)).tolist()) for _ in range(most)]


def searched(
    counts: Sequence[int], seed: int, budget: int, *, error: float = 0.5, starts: int = 5, **changes: float
) -> tuple[FoundOrders, TableScorer, WordAutomaton]:
    scorer = TableScorer(counts, seed, error)
    automaton = random_automaton(len(counts), np.random.default_rng(seed + 1))
    settings = replace(SearchSettings(budget=budget), **changes)  # type: ignore[arg-type]
    return search_orders(scorer, automaton, random_starts(counts, seed, starts), settings), scorer, automaton


def total_of(scorer: TableScorer, automaton: WordAutomaton, order: Order, weight: float = 2.5) -> float:
    return automaton.score([automaton.words[word] for word in order]) + weight * scorer.exact(order)


def cost_of_best_start(scorer: TableScorer, automaton: WordAutomaton, counts: Sequence[int], seed: int) -> float:
    return min(total_of(scorer, automaton, order) for order in random_starts(counts, seed, 5))


def test_small_bags_mostly_end_at_the_optimum_of_brute_force() -> None:
    """With at most 70 of 720 or 360 orders scored; 54 of 60 when this was written."""
    reached = 0
    cases = list(itertools.product([(1,) * 6, (2, 1, 1, 1, 1)], range(30)))
    for counts, seed in cases:
        found, scorer, automaton = searched(counts, seed, budget=420)
        best = min(total_of(scorer, automaton, order) for order in set(itertools.permutations(bag_of(counts))))
        assert found.scored <= 70
        assert found.end_cost >= best - 1e-9
        reached += found.end_cost <= best + 1e-9
    assert reached >= 0.85 * len(cases), f"{reached} of {len(cases)}"


@pytest.mark.parametrize("counts", [(1,), (3,), (1, 1), (2, 1), (2, 2), (1, 1, 1, 1)])
def test_with_enough_budget_all_orders_of_tiny_bags_are_scored(counts: tuple[int, ...]) -> None:
    found, scorer, automaton = searched(counts, 3, budget=100_000)
    everything = set(itertools.permutations(bag_of(counts)))
    assert {order.words for order in found.orders} == everything
    assert found.end_cost == pytest.approx(min(total_of(scorer, automaton, order) for order in everything))
    assert found.expanded == len(everything)


def test_orders_that_are_not_allowed_are_not_scored() -> None:
    counts = (1,) * 5
    scorer, automaton = TableScorer(counts, 3), random_automaton(5, np.random.default_rng(4))

    def is_allowed(order: Order) -> bool:
        return order.index(1) < order.index(2)

    starts = [order for order in random_starts(counts, 3, 9) if is_allowed(order)]
    found = search_orders(scorer, automaton, starts, SearchSettings(budget=100_000), is_allowed)
    everything = {order for order in itertools.permutations(bag_of(counts)) if is_allowed(order)}
    assert {order.words for order in found.orders} == everything
    assert all(is_allowed(order) for asked in scorer.asked for order in asked)


def test_an_empty_bag_has_one_order() -> None:
    automaton = random_automaton(1, np.random.default_rng(1))
    found = search_orders(TableScorer((1,), 1), automaton, [()], SearchSettings())
    assert [order.words for order in found.orders] == [()]


BAGS = [(1,) * 8, (2, 2, 1, 1, 1, 1, 1), (1,) * 14, (3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1)]


@pytest.mark.parametrize("counts", BAGS)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_found(counts: tuple[int, ...], seed: int) -> None:
    """Costs are right, no order comes twice, decided ones come first, the end is not worse than any start."""
    found, scorer, automaton = searched(counts, seed, budget=3_000)
    assert len({order.words for order in found.orders}) == found.scored == sum(map(len, scorer.asked))
    assert all(sorted(order.words) == sorted(bag_of(counts)) for order in found.orders)
    decided = [order for order in found.orders if order.decided]
    assert found.orders[: len(decided)] == tuple(decided)
    assert len(decided) >= 24
    for order in found.orders:
        assert order.ngram == pytest.approx(automaton.score([automaton.words[word] for word in order.words]))
        assert order.total == order.ngram + 2.5 * order.neural
    assert [order.neural for order in decided] == [scorer.exact(order.words) for order in decided]
    assert [order.total for order in found.orders] == sorted(order.total for order in found.orders)
    assert found.end_cost == found.orders[0].total
    assert found.start_cost == pytest.approx(cost_of_best_start(scorer, automaton, counts, seed))
    assert found.end_cost <= found.start_cost
    assert found.computed == scorer.computed <= 3_000


def test_it_gets_better_by_far_than_its_start_and_with_its_budget() -> None:
    gains = []
    for budget in (800, 1_600, 4_000):
        found = [searched((1,) * 12, seed, budget)[0] for seed in range(5)]
        gains.append(np.mean([one.start_cost - one.end_cost for one in found]))
    assert 0 < gains[0] < gains[1] < gains[2]


def test_a_bag_of_250_tokens() -> None:
    found, scorer, _ = searched((5,) * 50, 1, budget=20_000, starts=2)
    assert scorer.computed <= 20_000
    assert found.end_cost < found.start_cost


def test_what_the_model_says_of_next_words_leads_the_search() -> None:
    """With the same scores but without them, the n-gram model alone leads: it gets less far."""

    class Silent(TableScorer):
        def score(self, strings: Sequence[Order]) -> Said:
            return Said(super().score(strings).costs, [], np.empty((0, len(self.counts) + 1), np.float32))

    ends = []
    for kind in (TableScorer, Silent):
        total = 0.0
        for seed in range(6):
            automaton = random_automaton(12, np.random.default_rng(seed + 1))
            starts = random_starts((1,) * 12, seed, 5)
            total += search_orders(kind((1,) * 12, seed), automaton, starts, SearchSettings(budget=2_000)).end_cost
        ends.append(total)
    assert ends[0] < ends[1]


@pytest.mark.parametrize("budget", [1, 30, 100, 150, 400, 1_000])
def test_the_budget_is_kept(budget: int) -> None:
    """One order is scored and decided in any case: 2 × 13 tokens here."""
    found, scorer, _ = searched((1,) * 12, 2, budget, starts=40)
    assert scorer.computed == found.computed <= max(budget, 2 * 13)
    assert found.orders[0].decided


def test_a_small_budget_takes_the_starts_with_the_lowest_ngram_costs() -> None:
    found, _, automaton = searched((1,) * 12, 2, budget=300, starts=60)
    starts = random_starts((1,) * 12, 2, 60)
    cheapest = sorted(starts, key=lambda start: automaton.score([automaton.words[word] for word in start]))
    assert {order.words for order in found.orders} == set(cheapest[: found.scored])
    assert 5 < found.scored < 60
    assert found.expanded == 0


def test_the_result_depends_on_settings_alone() -> None:
    counts, automaton = (2, 2, 1, 1, 1, 1, 1, 1), random_automaton(8, np.random.default_rng(1))
    starts = random_starts(counts, 9, 30)
    shuffled = [starts[place] for place in np.random.default_rng(0).permutation(30)] + starts[:3]

    def run(starts: list[Order], seed: int = 0, before: int = 0) -> FoundOrders:
        scorer = TableScorer(counts, 4)
        scorer.computed = before
        return search_orders(scorer, automaton, starts, SearchSettings(budget=2_000, seed=seed))

    found = run(starts)
    assert found == run(starts) == run(shuffled) == run(starts, before=700)
    assert found != run(starts, seed=1)


def test_fast_costs_that_are_wrong_do_not_decide() -> None:
    """Errors of up to 2 nats: the best decided order is the best of all that were scored."""
    for seed in range(6):
        found, scorer, automaton = searched((1,) * 7, seed, budget=6_000, error=1.0, decided=40)
        best = min(total_of(scorer, automaton, order.words) for order in found.orders)
        assert found.end_cost == pytest.approx(best)


def test_orders_that_may_still_be_better_are_decided_as_well() -> None:
    counts = []
    for margin in (0.0, 2.0):
        found = [searched((1,) * 8, seed, 3_000, error=1.0, decided=4, margin=margin)[0] for seed in range(6)]
        counts.append([sum(order.decided for order in one.orders) for one in found])
        for one in found:  # those left out are put behind, however cheap they looked
            worst = max(order.total for order in one.orders if order.decided)
            assert min(order.total for order in one.orders if not order.decided) > worst
    assert sum(counts[0]) < sum(counts[1])
    assert max(counts[1]) <= 3 * 4


STARTS = [
    ([], "no order to start"),
    ([(0, 1), (0, 0)], "orders of different words"),
    ([(0, 2)], "words that the automaton does not have"),
    ([(0, -1)], "words that the automaton does not have"),
]


@pytest.mark.parametrize(("starts", "message"), STARTS)
def test_starts_that_are_refused(starts: list[Order], message: str) -> None:
    with pytest.raises(InputError, match=message):
        search_orders(TableScorer((1, 1), 1), random_automaton(2, np.random.default_rng(1)), starts, SearchSettings())


SETTINGS = [
    ("budget", 0),
    ("width", 0),
    ("decided", -1),
    ("ranked", 0),
    ("ranked", 10**6),
    ("weight", 0.0),
    ("weight", float("nan")),
]


@pytest.mark.parametrize(("name", "value"), [*SETTINGS, ("noise", -1.0), ("margin", float("inf")), ("seed", -1)])
def test_settings_that_are_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=name):
        SearchSettings(**{name: value})  # type: ignore[arg-type]
