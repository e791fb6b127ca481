"""Rescoring a lattice with n-gram models of any order, exactly: every string of the lattice gets its own new cost.

rescore         the lattice under one or several models, in place of its own costs or added to them
Rescorer        the same for many lattices: what the models need to begin is done once
string_costs    the costs of strings under one model, in bulk
lattice_costs   the costs of strings in a lattice

The lattice is expanded to pairs of its states and the contexts of the model, only as far as they are reached, level by
level (a level is what is equally far from the start on the longest way): each level is one bulk question to the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.compilation import compiled
from gyro.errors import InputError
from gyro.lattice.automaton import WordAutomaton
from gyro.lattice.lattice import Lattice
from gyro.row_table import RowTable
from gyro.text.corpus import check_words
from lm.model import LanguageModel
from lm.walker import Walker

Ints = NDArray[np.int64]
Costs = NDArray[np.float64]
SENTENCE_MARKS = ("<s>", "</s>")


def rescore(
    lattice: Lattice,
    models: Sequence[tuple[LanguageModel, float]],
    *,
    keep: float = 0.0,
    beta: float | None = None,
) -> Lattice:
    """Cost of a string: `keep` times its cost in the lattice, and weight times its cost under each model.

    With `beta`, only what is on a path within beta of the new best stays.
    """
    return Rescorer(models, keep=keep, beta=beta)(lattice)


class Rescorer:
    """Models with their weights, ready for lattices."""

    def __init__(
        self, models: Sequence[tuple[LanguageModel, float]], *, keep: float = 0.0, beta: float | None = None
    ) -> None:
        if not np.isfinite([keep, *(weight for _, weight in models)]).all():
            raise InputError("found a weight that is not a finite number")
        if beta is not None and not beta >= 0:
            raise InputError(f"found β = {beta}; a number from 0 is allowed")
        self._walkers = [(model.walkers(), weight) for model, weight in models]
        self._keep = keep
        self._beta = beta

    def __call__(self, lattice: Lattice) -> Lattice:
        """The lattice with its new costs."""
        if lattice.empty():
            return lattice
        check_words(lattice.words, SENTENCE_MARKS)
        arcs = _lattice_to_arcs(lattice, self._keep)
        for walkers, weight in self._walkers:
            arcs = _expand(arcs, walkers(lattice.words), weight)
        ends = np.flatnonzero(arcs.final != np.inf)
        columns = (arcs.source, arcs.word, arcs.target, arcs.cost)
        rescored = Lattice.from_arrays(lattice.words, 0, *columns, ends, arcs.final[ends])
        return rescored if self._beta is None else rescored.prune(self._beta)


def string_costs(walkers: Callable[[Sequence[str]], Walker], strings: Sequence[tuple[str, ...]]) -> Costs:
    """The costs of strings under the model that the walkers are of (`LanguageModel.walkers`)."""
    words = sorted({token for string in strings for token in string})
    check_words(words, SENTENCE_MARKS)
    number = {word: i for i, word in enumerate(words)}
    walker = walkers(words)
    lengths = np.array([len(string) for string in strings], np.int64)
    tokens = np.full((len(strings), int(lengths.max(initial=0))), -1, np.int64)
    for row, string in zip(tokens, strings, strict=True):
        row[: len(string)] = [number[token] for token in string]
    contexts, costs = np.full(len(strings), walker.start, np.int64), np.zeros(len(strings))
    for place in range(tokens.shape[1]):
        longer = np.flatnonzero(lengths > place)
        contexts[longer], cost = walker.step(contexts[longer], tokens[longer, place])
        costs[longer] += cost
    return costs + walker.end(contexts)


def lattice_costs(lattice: Lattice, strings: Sequence[tuple[str, ...]]) -> Costs:
    """The costs of strings in a lattice; infinity for those that it does not have."""
    number = {word: i for i, word in enumerate(lattice.words)}
    known = [string for string in strings if all(token in number for token in string)]
    children: dict[tuple[int, int], int] = {}
    ends = []
    for string in known:
        state = 0
        for token in string:
            state = children.setdefault((state, number[token]), len(children) + 1)
        ends.append(state)
    next_state = np.full((len(children) + 1, len(number)), -1, np.int32)
    for (state, word), child in children.items():
        next_state[state, word] = child
    end_cost = np.full(len(next_state), np.inf)
    end_cost[ends] = 0.0
    prefixes = WordAutomaton(lattice.words, 0, next_state, np.zeros(next_state.shape), end_cost)
    found = {h.tokens: h.cost for h in lattice.apply(prefixes).strings()} if known else {}
    return np.array([found.get(tuple(string), np.inf) for string in strings])


class _Arcs(NamedTuple):
    """A lattice in double precision: start 0, arcs sorted by source and leading to higher states."""

    source: Ints
    word: Ints
    target: Ints
    cost: Costs
    final: Costs  # a cost for each state; infinite where no string ends


def _lattice_to_arcs(lattice: Lattice, keep: float) -> _Arcs:
    source, word, target, cost, final_states, final_costs = lattice.to_arrays()
    final = np.full(lattice.num_states, np.inf)
    final[final_states] = keep * final_costs.astype(np.float64)
    numbers = (source.astype(np.int64), word.astype(np.int64), target.astype(np.int64))
    return _Arcs(*numbers, keep * cost.astype(np.float64), final)


def _expand(arcs: _Arcs, walker: Walker, weight: float) -> _Arcs:
    """The same strings, with weight times the model's costs added."""
    level = _levels(arcs.source, arcs.target, len(arcs.final))
    first = np.searchsorted(arcs.source, np.arange(len(arcs.final) + 1))
    pairs, steps = RowTable(2), _Steps(walker)
    waiting: list[list[Ints]] = [[] for _ in range(int(level.max()) + 1)]
    waiting[0].append(pairs.number(np.array([[0, walker.start]])))
    parts: list[tuple[Ints, Ints, Ints, Costs]] = []
    for here in waiting:
        sources = np.concatenate(here)
        state, context = pairs.rows[sources].T
        source, arc = _arcs_of(sources, first[state], first[state + 1])
        after, cost = steps.take(np.repeat(context, first[state + 1] - first[state]), arcs.word[arc])
        known = len(pairs)
        target = pairs.number(np.column_stack([arcs.target[arc], after]))
        parts.append((source, arc, target, arcs.cost[arc] + weight * cost))
        new = np.arange(known, len(pairs))
        levels = level[pairs.rows[new, 0]]
        for later in np.unique(levels).tolist():
            waiting[later].append(new[levels == later])
    return _join(arcs, parts, pairs, level, weight * walker.end(pairs.rows[:, 1]))


def _arcs_of(sources: Ints, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """For the arcs first … last - 1 of every source: the source, and the arc."""
    sizes = last - first
    offset = np.repeat(first - np.cumsum(sizes) + sizes, sizes)
    return np.repeat(sources, sizes), offset + np.arange(len(offset))


def _join(
    arcs: _Arcs, parts: Sequence[tuple[Ints, Ints, Ints, Costs]], pairs: RowTable, level: Ints, end: Costs
) -> _Arcs:
    """The arcs of all levels, with the pairs numbered level by level."""
    source, arc, target, cost = (np.concatenate(column) for column in zip(*parts, strict=True))
    state = pairs.rows[:, 0]
    by_level = np.argsort(level[state], kind="stable")
    number = np.empty(len(state), np.int64)
    number[by_level] = np.arange(len(state))
    order = np.argsort(number[source], kind="stable")
    final = (arcs.final[state] + end)[by_level]
    return _Arcs(number[source[order]], arcs.word[arc[order]], number[target[order]], cost[order], final)


class _Steps:
    """The steps of a walker, each asked for once."""

    def __init__(self, walker: Walker) -> None:
        self._walker = walker
        self._asked = RowTable(2)
        self._after = np.empty(0, np.int64)
        self._cost = np.empty(0)

    def take(self, contexts: Ints, words: Ints) -> tuple[Ints, Costs]:
        known = len(self._asked)
        numbers = self._asked.number(np.column_stack([contexts, words]))
        if len(self._asked) > known:
            after, cost = self._walker.step(*self._asked.rows[known:].T)
            self._after = np.concatenate([self._after, after])
            self._cost = np.concatenate([self._cost, cost])
        return self._after[numbers], self._cost[numbers]


@compiled
def _levels(source: Any, target: Any, states: Any) -> Any:
    """The number of arcs on the longest way from the start to each state."""
    level = np.zeros(states, np.int64)
    for arc in range(len(source)):
        level[target[arc]] = max(level[target[arc]], level[source[arc]] + 1)
    return level
