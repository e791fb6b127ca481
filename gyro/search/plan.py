"""How a bag with constraints is searched: the automaton and the conditions on coverage that its constraints are.

Plan       the classes of a bag, the automaton that guides them, and what may be left out
make_plan  the plan of a bag; None where it has no constraints

docs/search.md says which constraint becomes what, and why the bounds stay bounds. The words of an order come first;
then, without cost, the uses that are left out are skipped one by one, so that every order uses up the whole bag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gyro.lattice.automaton import WordAutomaton, product, trim
from gyro.search.exact_bound import Rules, Space, feasible_part
from gyro.search.token_class import BagClasses, TokenClass, token_classes
from gyro.text.annotated_bag import AnnotatedBag
from gyro.text.bag import Bag

_State = TypeVar("_State")

SKIP = -1  # what stands for the word of a column that skips a use


class _Guide(NamedTuple):
    """An automaton over columns: what units and places counted from the end ask for. State 0 is the start."""

    next_state: NDArray[np.int32]
    is_final: NDArray[np.bool_]


class _Skips(NamedTuple):
    """An automaton over the classes that may be left out, each skipped after those before it; state 0 is the start."""

    classes: tuple[int, ...]
    next_state: NDArray[np.int32]  # by state and number in `classes`
    is_final: NDArray[np.bool_]


@dataclass(frozen=True)
class Plan:
    """Columns are pairs of a class and one of its words."""

    words: tuple[str, ...]
    known: BagClasses
    columns: tuple[tuple[int, int], ...]
    guide: _Guide
    skips: _Skips

    def space(self, automaton: WordAutomaton) -> Space:
        """What a search over an automaton of the bag's words walks, so that it keeps to the constraints."""
        uses = [
            (group, word, column)
            for group, word in self.columns
            for column, other in enumerate(automaton.word_of_column().tolist())
            if other == word
        ]
        number = {pair: n for n, pair in enumerate(self.columns)}
        left = self.guide.next_state[:, [number[group, word] for group, word, _ in uses]]
        column = [column for _, _, column in uses]
        cost = automaton.cost[:, column]
        right = np.where(np.isfinite(cost), automaton.next_state[:, column], np.int32(-1))
        pairs, next_state = product(left, 0, right, automaton.start)
        guided, state = pairs[:, 0], pairs[:, 1]
        end_cost = np.where(self.guide.is_final[guided], automaton.end_cost[state], np.inf)
        words = tuple(self.words[word] for _, word, _ in uses)
        whole = trim(WordAutomaton(words, 0, next_state, np.where(next_state >= 0, cost[state], np.inf), end_cost))
        whole = self._with_skips(whole)
        group_of = np.array([*(group for group, _, _ in uses), *self.skips.classes], dtype=np.int64)
        label = np.array([*(word for _, word, _ in uses), *([SKIP] * len(self.skips.classes))], dtype=np.int64)
        counts = np.array([group.most for group in self.known.classes], dtype=np.int64)
        space = feasible_part(whole, counts, group_of)
        return space._replace(label=label, rules=self._rules(group_of, label))

    @property
    def is_deterministic(self) -> bool:
        """Whether no word has two columns."""
        words = [word for _, word in self.columns]
        return len(set(words)) == len(words)

    @property
    def tokens(self) -> int:
        """The uses of all classes, with those that are left out."""
        return sum(group.most for group in self.known.classes)

    def uses(self) -> Bag:
        """The bag of all words that an order may use, as often as it may."""
        repeated = ((self.words[word],) * group.most for group in self.known.classes for word in group.words)
        return Bag(tuple(chain.from_iterable(repeated)))

    def _with_skips(self, whole: WordAutomaton) -> WordAutomaton:
        """The same, where an order that has ended goes on by skipping; the end is paid with the first skip."""
        classes, follow, is_final = self.skips
        if not classes:
            return whole
        states, more = whole.num_states, len(is_final) - 1
        next_state = np.full((states + more, len(whole.words) + len(classes)), -1, dtype=np.int32)
        cost = np.full(next_state.shape, np.inf)
        next_state[:states, : len(whole.words)], cost[:states, : len(whole.words)] = whole.next_state, whole.cost
        # State n of the skips is the state `states` + n - 1; an end leads to what state 0 leads to.
        target = np.where(follow >= 0, follow + np.int32(states - 1), np.int32(-1))
        ends = np.isfinite(whole.end_cost)
        next_state[:states, len(whole.words) :] = np.where(ends[:, None], target[0], np.int32(-1))
        next_state[states:, len(whole.words) :] = target[1:]
        cost[:states, len(whole.words) :] = whole.end_cost[:, None]
        cost[states:, len(whole.words) :] = 0.0
        cost[next_state < 0] = np.inf
        end_cost = np.append(whole.end_cost if is_final[0] else np.full(states, np.inf), np.zeros(more))
        end_cost[states:][~is_final[1:]] = np.inf
        words = whole.words + ("",) * len(classes)
        return trim(WordAutomaton(words, whole.start, next_state, cost, end_cost))

    def _rules(self, group_of: NDArray[np.int64], label: NDArray[np.int64]) -> Rules:
        """The conditions on coverage of each column; skips have none."""
        is_use = label != SKIP
        size = len(self.known.classes)
        full, empty = np.zeros((size, size), np.bool_), np.zeros((size, size), np.bool_)
        for a, b in self.known.pairs:
            first = self.known.classes[a]
            # What may be left out may not come later, once the others are used.
            (full if first.is_needed else empty)[(b, a) if first.is_needed else (a, b)] = True
        limit = np.where(is_use, self._limits()[:, group_of], np.iinfo(np.int64).max)
        return Rules(limit, full[group_of] & is_use[:, None], empty[group_of] & is_use[:, None])

    def _limits(self) -> NDArray[np.int64]:
        """How many uses of a class there may be before one in this row, and one more: none where it may not be used."""
        classes = self.known.classes
        limits = np.zeros((self.tokens, len(classes)), np.int64)
        owner: dict[int, int] = {row: n for n, group in enumerate(classes) if group.is_needed for row in group.rows}
        asked = Counter(row for group in classes if group.is_needed for row in group.rows)
        for n, group in enumerate(classes):
            last = min(self.known.latest[n], self.known.longest - 1, self.tokens - 1)
            for row in range(self.known.earliest[n], last + 1):
                is_own = row in group.rows
                if (group.only_there and not is_own) or owner.get(row, n) != n or asked[row] > 1:
                    continue
                later = sum(other > row for other in group.rows) if group.is_needed else 0
                limits[row, n] = group.most - later
        return limits


def make_plan(bag: Bag) -> Plan | None:
    """The plan of a bag."""
    if not isinstance(bag, AnnotatedBag) or not bag.constraints:
        return None
    known = token_classes(bag)
    columns = tuple((n, word) for n, group in enumerate(known.classes) for word in group.words)
    return Plan(bag.words, known, columns, _guide(known, columns), _skips(known))


def _explore(
    start: _State, steps: Callable[[_State], Iterator[tuple[int, _State]]], columns: int
) -> tuple[list[_State], NDArray[np.int32]]:
    """All states that are reached, breadth first, and the table of the next ones."""
    number = {start: 0}
    states = [start]
    rows: list[list[int]] = []
    for state in states:  # which grows meanwhile
        row = [-1] * columns
        for column, after in steps(state):
            if after not in number:
                number[after] = len(states)
                states.append(after)
            row[column] = number[after]
        rows.append(row)
    return states, np.array(rows, dtype=np.int32).reshape(len(states), columns)


class _Guided(NamedTuple):
    """A state of the guide: in which unit, after how many of its words; how many words are left, if that is known."""

    unit: int | None
    step: int
    left: int | None


def _guide(known: BagClasses, columns: tuple[tuple[int, int], ...]) -> _Guide:
    """The product of the units, which are not left before their end, and of counting down to the end of the order."""
    at_step = {n: (u, step) for u, unit in enumerate(known.units) for step, n in enumerate(unit)}
    asked = {number for group in known.classes if group.least for number in group.back}

    def steps(state: _Guided) -> Iterator[tuple[int, _Guided]]:
        for column, (n, _) in enumerate(columns):
            unit, step = at_step.get(n, (None, 0))
            begun = (state.unit, state.step) if state.unit is not None else (unit, 0)
            if (unit, step) != begun or not _may_follow(known.classes[n], state.left, asked, known.classes):
                continue
            left = known.classes[n].back[0] if state.left is None and known.classes[n].back else state.left
            inside = unit is not None and step + 1 < len(known.units[unit])
            yield (
                column,
                _Guided(unit if inside else None, step + 1 if inside else 0, None if left is None else left - 1),
            )

    states, next_state = _explore(_Guided(None, 0, None), steps, len(columns))
    ends = [state.unit is None and (state.left == 0 or (state.left is None and not asked)) for state in states]
    return _Guide(next_state, np.array(ends))


def _may_follow(group: TokenClass, left: int | None, asked: set[int], classes: tuple[TokenClass, ...]) -> bool:
    """Whether a class may be used when so many words are left; what is fixed farthest from the end begins to count."""
    if left is None:
        return not group.back or (group.back[0] > 0 and group.back[0] >= max(asked, default=0))
    own = group.back == (left,)
    return left > 0 and (own or (not group.back and left not in asked))


def _skips(known: BagClasses) -> _Skips:
    """Classes of choices come first; of each choice exactly as many uses are skipped as are not made."""
    choice = {n: c for c, (group, _) in enumerate(known.choices) for n in group}
    asked = [sum(known.classes[n].most for n in group) - count for group, count in known.choices]
    ordered = [*choice, *(n for n, group in enumerate(known.classes) if n not in choice and not group.is_needed)]

    def steps(state: tuple[int, int, int]) -> Iterator[tuple[int, tuple[int, int, int]]]:
        at, times, skipped = state  # the class skipped last, how often, and how much of its choice
        now = choice.get(ordered[at], len(asked)) if at >= 0 else -1
        for item in range(max(at, 0), len(ordered)):
            group, to = known.classes[ordered[item]], choice.get(ordered[item], len(asked))
            again = times + 1 if item == at else 1
            total = skipped + 1 if to == now else 1
            is_done = to == now or ((now < 0 or skipped == asked[now]) and to == now + 1)
            fits = to == len(asked) or total <= asked[to]
            if again <= group.most - group.least and is_done and fits:
                yield item, (item, again, total if to < len(asked) else 0)

    states, next_state = _explore((-1, 0, 0), steps, len(ordered))
    return _Skips(tuple(ordered), next_state, np.array([_is_done(state, ordered, choice, asked) for state in states]))


def _is_done(state: tuple[int, int, int], ordered: list[int], choice: dict[int, int], asked: list[int]) -> bool:
    """Whether every choice has been made."""
    if state[0] < 0:
        return not asked
    now = choice.get(ordered[state[0]], len(asked))
    return now == len(asked) or (now == len(asked) - 1 and state[2] == asked[now])
