"""The bound of the exact search: a relaxed bag, made tight by a price on each word.

Rules          what constraints ask of the use of a word, besides that there is one left
Space          the part of an automaton that a bag can reach
feasible_part  make it: leave out arcs that need more of a word than the bag has
Prices         a price for each word, the bound they give, and the words most in need of tracking
find_prices    raise the price of a word that the relaxed optimum leaves out, lower that of one it uses too often
choose_tracked the words that a table of a given size can track
make_machine   the table of cheapest relaxed completions, and the automaton at reduced costs to search with

Constraints leave out orders, so that what bounds all of them bounds the others; and the relaxed problem keeps to as
much of them as its counts tell: which words may be used after so many, and the order of tracked words.

The relaxed problem tracks the count of some words exactly and of all the others only their total. Every order of the
bag uses word w exactly count[w] times, so taking a price off each use of w and adding count[w] prices at the end
changes no cost of a true order, but does change the cost of relaxed ones: the best prices (Lagrange multipliers,
found by subgradient steps) nearly close the gap. Any prices, and any choice of tracked words, are admissible.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.lattice.automaton import WordAutomaton
from gyro.search.exact_kernel import Machine
from gyro.search.work import Work, read_clock

# The first step tries to raise the bound by this much a token; it decays when so many rounds bring nothing.
STEP_PER_TOKEN = 0.4
STEP_DECAY = 0.7
PATIENCE = 3
NEVER = 255  # more than the count of any word


class Rules(NamedTuple):
    """Conditions on coverage, by column.

    After row r words, that of column c may be used if its own were used less than `limit[r, c]` times, all the words
    that `full[c]` marks as often as the bag has them, and none of those that `empty[c]` marks.
    """

    limit: NDArray[np.int64]
    full: NDArray[np.bool_]
    empty: NDArray[np.bool_]


class Space(NamedTuple):
    """The states and arcs of an automaton that some order of the bag may use; words as in `counts`.

    Its columns are those of the automaton: a word may have more than one. A bag with constraints (gyro.search.plan)
    counts classes of tokens in place of words; then `label` has what each column stands for, and there are `rules`.
    """

    start: int
    next_state: NDArray[np.int32]
    cost: NDArray[np.float64]
    end_cost: NDArray[np.float64]
    word_of: NDArray[np.int64]  # by column
    counts: NDArray[np.int64]  # by word
    label: NDArray[np.int64]  # by column
    rules: Rules | None = None

    @property
    def tokens(self) -> int:
        return int(self.counts.sum())

    @property
    def arcs(self) -> int:
        return int(self.next_state.size)


class Prices(NamedTuple):
    """A price a word; `value` is the bound that they give with no word tracked; `order` the words to track first."""

    price: NDArray[np.float64]
    value: float
    order: NDArray[np.int64]


@compiled
def _least_uses(start: int, next_state: Any, word_of: Any, counts: Any) -> Any:
    """How often, at least, each word was used on the way to each state; NEVER everywhere: no way.

    A fixed point from above, so it holds for every way that the bag allows.
    """
    states, words = next_state.shape[0], len(counts)
    uses = np.full((states, words), NEVER, dtype=np.uint8)
    uses[start] = 0
    after = np.empty(words, dtype=np.uint8)
    changed = np.zeros(states, dtype=np.bool_)
    changed[start] = True
    again = True
    while again:
        again = False
        for state in range(states):
            if not changed[state]:
                continue
            changed[state] = False
            for column in range(len(word_of)):
                target, word = next_state[state, column], word_of[column]
                if target < 0 or uses[state, word] >= counts[word]:
                    continue
                after[:] = uses[state]
                after[word] += 1
                lower = False
                for other in range(words):
                    lower |= after[other] < uses[target, other]
                    uses[target, other] = min(uses[target, other], after[other])
                if lower:
                    changed[target] = True
                    again = True
    return uses


@compiled
def _restrict(start: int, next_state: Any, cost: Any, end_cost: Any, word_of: Any, counts: Any) -> Any:
    """The arcs and states that `_least_uses` leaves, numbered in the same order."""
    usable = np.where(cost < np.inf, next_state, np.int32(-1))
    uses = _least_uses(start, usable, word_of, counts)
    states, columns = usable.shape
    number = np.full(states, -1, dtype=np.int32)
    reached = 0
    for state in range(states):
        if columns == 0 or uses[state, 0] < NEVER:
            number[state] = reached
            reached += 1
    part_next, part_cost = np.full((reached, columns), -1, dtype=np.int32), np.full((reached, columns), np.inf)
    part_end = np.empty(reached)
    for state in range(states):
        if number[state] < 0:
            continue
        part_end[number[state]] = end_cost[state]
        for column in range(columns):
            if usable[state, column] >= 0 and uses[state, word_of[column]] < counts[word_of[column]]:
                part_next[number[state], column] = number[usable[state, column]]
                part_cost[number[state], column] = cost[state, column]
    return number[start], part_next, part_cost, part_end


def feasible_part(
    automaton: WordAutomaton, counts: NDArray[np.int64], group_of: NDArray[np.int64] | None = None
) -> Space:
    """Leave out the arcs that need more of a word than the bag has, and the states that are then not reached.

    `group_of` is what the counts are of, by column, when that is not the words.
    """
    word_of = automaton.word_of_column() if group_of is None else group_of
    tables = (automaton.next_state, automaton.cost, automaton.end_cost)
    start, next_state, cost, end_cost = _restrict(automaton.start, *tables, word_of, counts)
    return Space(int(start), next_state, cost, end_cost, word_of, counts, word_of)


@compiled
def _columns(next_state: Any, cost: Any, price: Any) -> Any:
    """Column by column, for the tables: next states (0 where there is none) and reduced costs (infinity there).

    `price` is that of each column's word.

    The numbers are unsigned because numba tests signed ones for being negative.
    """
    states, columns = next_state.shape
    target = np.zeros((columns, states), dtype=np.uint32)
    reduced = np.full((columns, states), np.inf, dtype=np.float32)
    for state in range(states):
        for column in range(columns):
            if next_state[state, column] >= 0:
                target[column, state] = next_state[state, column]
                reduced[column, state] = cost[state, column] - price[column]
    return target, reduced


@compiled(fastmath={"nnan", "nsz"})
def _relax(into: Any, target: Any, reduced: Any, column: int, after: Any, other: int, other_after: Any) -> None:
    """Lower `into` to what either of two columns and then its completion costs; two at a time are a third faster."""
    one, two, cost_one, cost_two = target[column], target[other], reduced[column], reduced[other]
    for state in range(into.shape[0]):
        least = min(cost_one[state] + after[one[state]], cost_two[state] + other_after[two[state]])
        into[state] = min(into[state], least)


@compiled(fastmath={"nnan", "nsz"})
def _relax_by_all(into: Any, target: Any, reduced: Any, after: Any) -> None:
    """Lower `into` to what any word and then `after` costs."""
    columns = target.shape[0]
    for column in range(0, columns, 2):
        other = min(column + 1, columns - 1)
        one, two, cost_one, cost_two = target[column], target[other], reduced[column], reduced[other]
        for state in range(into.shape[0]):
            least = min(cost_one[state] + after[one[state]], cost_two[state] + after[two[state]])
            into[state] = min(into[state], least)


@compiled
def _relax_by_open(into: Any, target: Any, reduced: Any, after: Any, is_open: Any) -> None:
    """Lower `into` to what any word that is open and then `after` costs."""
    waiting = -1
    for column in range(target.shape[0]):
        if is_open[column]:
            if waiting < 0:
                waiting = column
            else:
                _relax(into, target, reduced, waiting, after, column, after)
                waiting = -1
    if waiting >= 0:
        _relax(into, target, reduced, waiting, after, waiting, after)


@compiled
def _count_uses(
    start: int, target: Any, reduced: Any, word_of: Any, counts: Any, table: Any, rules: Any, uses: Any, broken: Any
) -> None:
    """How often the relaxed optimum uses each word, and how often each one is used against the rules."""
    uses[:] = 0
    broken[:] = 0
    state = start
    for row in range(table.shape[0] - 1):
        best, chosen = np.float32(np.inf), 0
        for column in range(target.shape[0]):
            if rules is not None and rules.limit[row, column] == 0:
                continue
            through = reduced[column, state] + table[row + 1, target[column, state]]
            if through < best:
                best, chosen = through, column
        if rules is not None:
            for other in range(len(counts)):
                wants = rules.full[chosen, other] and uses[other] < counts[other]
                if wants or (rules.empty[chosen, other] and uses[other] > 0):
                    broken[other] += 1
                    broken[word_of[chosen]] += 1
        uses[word_of[chosen]] += 1
        state = target[chosen, state]


@compiled
def _climb(
    start: int,
    target: Any,
    plain: Any,
    end_cost: Any,
    word_of: Any,
    counts: Any,
    price: Any,
    rules: Any,
    rounds: int,
    deadline: float,
) -> Any:
    """Subgradient ascent of the bound over the prices.

    Returns the best prices, their bound, each word's misuse, and the rounds that it took.
    """
    words, (columns, states) = len(counts), target.shape
    tokens = counts.sum()
    table = np.empty((tokens + 1, states), dtype=np.float32)
    reduced = np.empty_like(plain)
    uses, misuse, broken = np.zeros(words, dtype=np.int64), np.zeros(words), np.zeros(words, dtype=np.int64)
    best_value, best_price = -np.inf, price.copy()
    step, failures = STEP_PER_TOKEN * tokens, 0
    table[tokens] = end_cost
    for done in range(1, rounds + 1):
        for column in range(columns):
            reduced[column] = plain[column] - np.float32(price[word_of[column]])
        for row in range(tokens - 1, -1, -1):
            table[row] = np.inf
            if rules is None:
                _relax_by_all(table[row], target, reduced, table[row + 1])
            else:
                _relax_by_open(table[row], target, reduced, table[row + 1], rules.limit[row] > 0)
        value = table[0, start] + (price * counts).sum()
        if value == np.inf:
            return price, value, misuse, done
        _count_uses(start, target, reduced, word_of, counts, table, rules, uses, broken)
        if value > best_value + 1e-3:
            best_value, best_price, failures = value, price.copy(), 0
        else:
            failures += 1
            if failures == PATIENCE:
                step, failures, price = step * STEP_DECAY, 0, best_price.copy()
        wrong = (counts - uses).astype(np.float64)
        square = (wrong * wrong).sum()
        if square == 0:
            return price, value, misuse, done
        if read_clock() > deadline:
            return best_price, best_value, misuse, done
        misuse = 0.9 * misuse + np.maximum(-wrong, 0)
        if rules is not None:
            misuse += broken
        price = price + step / square * wrong
    return best_price, best_value, misuse, rounds


def find_prices(space: Space, rounds: int, work: Work | None = None) -> Prices:
    """Climb for at most `rounds` rounds from each word's mean cost, or until the deadline."""
    work = work or Work()
    usable = space.next_state >= 0
    words, by_column = len(space.counts), np.where(usable, space.cost, 0.0).sum(axis=0)
    total = np.bincount(space.word_of, by_column, words)
    price = total / np.maximum(np.bincount(space.word_of, usable.sum(axis=0), words), 1)
    target, plain = _columns(space.next_state, space.cost, np.zeros(len(space.word_of)))
    end_cost = space.end_cost.astype(np.float32)
    price, value, misuse, done = _climb(
        space.start, target, plain, end_cost, space.word_of, space.counts, price, space.rules, rounds, work.deadline
    )
    work.take(done * space.tokens * space.arcs)
    return Prices(price, float(value), np.argsort(-misuse, kind="stable"))


def table_rows(space: Space, tracked: NDArray[np.int64]) -> int:
    """How many different relaxed coverages there are."""
    rest = space.tokens - int(space.counts[tracked].sum())
    rows = rest + 1
    for count in space.counts[tracked].tolist():
        rows *= count + 1
    return rows


def choose_tracked(space: Space, prices: Prices, budget: float) -> NDArray[np.int64]:
    """The first words of the prices' order whose table can be filled in about `budget` steps (perhaps none)."""
    chosen: NDArray[np.int64] = prices.order[:0]
    for length in range(1, len(prices.order) + 1):
        longer = prices.order[:length]
        if table_rows(space, longer) * space.arcs > budget:
            break
        chosen = longer
    return chosen


@compiled
def _is_open(rules: Any, column: int, row: int, group: int, digits: Any, size: Any) -> bool:
    """Whether the rules, as far as the digits tell, let a word be used in a row; its own digit is `group`."""
    tracked = len(digits) - 1
    if rules.limit[row, column] == 0 or (group < tracked and digits[group] >= rules.limit[row, column]):
        return False
    for other in range(tracked):
        if rules.full[column, other] and digits[other] + 1 < size[other]:
            return False
        if rules.empty[column, other] and digits[other] > 0:
            return False
    return True


@compiled
def _fill(
    target: Any, reduced: Any, end_cost: Any, group: Any, step: Any, size: Any, rules: Any, rows: int, deadline: float
) -> Any:
    """Cheapest relaxed completions, from the full coverage downward; those not known at the deadline are -infinity.

    A coverage is a number of digits, digit d below size[d]; the word of column c raises digit group[c] and so the
    number by step[c].
    """
    columns, states = target.shape
    table = np.empty((rows, states), dtype=np.float32)
    digits = size - 1
    table[rows - 1] = end_cost
    for row in range(rows - 2, -1, -1):
        if row % 64 == 0 and read_clock() > deadline:
            table[: row + 1] = -np.inf
            break
        place = 0
        while digits[place] == 0:
            digits[place] = size[place] - 1
            place += 1
        digits[place] -= 1
        table[row] = np.inf
        waiting, used = -1, 0
        if rules is not None:
            used = digits.sum()
        for column in range(columns):
            if rules is not None and not _is_open(rules, column, used, group[column], digits, size):
                continue
            if digits[group[column]] + 1 < size[group[column]]:
                if waiting < 0:
                    waiting = column
                else:
                    first, second = table[row + step[waiting]], table[row + step[column]]
                    _relax(table[row], target, reduced, waiting, first, column, second)
                    waiting = -1
        if waiting >= 0:
            last = table[row + step[waiting]]
            _relax(table[row], target, reduced, waiting, last, waiting, last)
    return table


def make_machine(
    space: Space, price: NDArray[np.float64], tracked: NDArray[np.int64], work: Work | None = None
) -> Machine:
    """Fill the table for these prices and tracked words; all costs of the machine are reduced by the prices."""
    work = work or Work()
    counts, words = space.counts, len(space.counts)
    group = np.full(words, len(tracked), dtype=np.int64)
    group[tracked] = np.arange(len(tracked))
    group, by_column = group[space.word_of], price[space.word_of]
    rest = space.tokens - int(counts[tracked].sum())
    size = np.append(counts[tracked] + 1, rest + 1)
    step = np.append(1, np.cumprod(size))[group]
    target, reduced = _columns(space.next_state, space.cost, by_column)
    # Rounding to 32 bits must not lift the table above the truth: start it lower by more than all rounding together.
    largest = max(_largest(reduced), _largest(space.end_cost))
    slack = (space.tokens + 2) ** 2 * largest * 2.0**-23
    end_cost = (space.end_cost - slack).astype(np.float32)
    rows = table_rows(space, tracked)
    work.take(rows * space.arcs)
    rules = space.rules
    if rules is not None:
        rules = Rules(rules.limit, rules.full[:, tracked], rules.empty[:, tracked])
    table = _fill(target, reduced, end_cost, group, step, size, rules, rows, work.deadline)
    return Machine(space.start, space.next_state, space.cost - by_column, space.end_cost, table, step)


def _largest(costs: NDArray[Any]) -> float:
    finite = costs[np.isfinite(costs)]
    return float(np.abs(finite).max()) if finite.size else 0.0
