"""The acceptor of stupid backoff over the words of one bag, found level by level in the text index.

ContextTables         the contexts that some n-gram over the words continues, with next contexts and costs
context_tables        find them: one bulk look-up for each length of n-gram
tables_to_automaton   the automaton whose states are contexts and lengths of history

An n-gram over the words is looked up only when the n-gram without its first word is in the index. A context that none
of the words continues has the costs of its end, one word shorter, and so is no state. `lm.stupid_backoff.model` has the
formula.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyro.index.reader import TextIndex
from gyro.lattice.automaton import WordAutomaton

Ints = NDArray[np.int64]
Costs = NDArray[np.float64]


class ContextTables(NamedTuple):
    """Contexts from short to long, 0 being the empty one, with a column a word (and perhaps a last one for the end)."""

    start: int
    length: Ints
    next_context: Ints  # contexts × columns: the longest end of context + word that is a context
    cost: Costs  # contexts × columns, for a history that is the context and no longer


class _Level(NamedTuple):
    """The n-grams of one length over the columns; the empty one of length 0 is among them."""

    ranks: Ints
    counts: Ints
    suffix: Ints  # the place of the n-gram without its first word among those of the length before
    child: Ints  # n-grams × columns: the place of n-gram + word among those of the length after, or -1


def context_tables(
    index: TextIndex, columns: Ints, *, order: int, begin: int | None, word_costs: Costs, backoff_cost: float
) -> ContextTables:
    """The contexts of strings over the columns, from the word `begin` on or from nothing.

    The columns are numbers of words, -1 for unknown ones; `word_costs` are their costs without history.
    """
    levels = _find_levels(index, columns, order, begin)
    places = [np.zeros(1, np.int64)]  # of the n-grams that are contexts, in their levels
    places += [np.flatnonzero((level.child >= 0).any(axis=1)) for level in levels[1:order]]
    first = np.cumsum([0, *map(len, places)])
    numbers = [np.full(len(level.ranks), -1, np.int64) for level in levels[:order]]
    for length in range(order):
        numbers[length][places[length]] = np.arange(first[length], first[length + 1])
    next_context, cost = np.zeros((first[-1], len(columns)), np.int64), np.empty((first[-1], len(columns)))
    for length, level in enumerate(levels[:order]):
        rows = slice(first[length], first[length + 1])
        shorter = numbers[length - 1][level.suffix[places[length]]] if length else np.zeros(1, np.int64)
        next_context[rows] = next_context[shorter]
        cost[rows] = cost[shorter] + backoff_cost if length else word_costs
        row, column = np.nonzero(level.child[places[length]] >= 0)
        child = level.child[places[length][row], column]
        if length:
            parents = level.counts[places[length][row]]
            cost[rows][row, column] = np.log(parents) - np.log(levels[length + 1].counts[child])
        if length + 1 < order:
            longer = numbers[length + 1][child]
            is_context = longer >= 0
            next_context[rows][row[is_context], column[is_context]] = longer[is_context]
    start = 0 if begin is None or order == 1 else max(0, int(numbers[1][-1]))
    return ContextTables(start, np.repeat(np.arange(order), np.diff(first)), next_context, cost)


def _find_levels(index: TextIndex, columns: Ints, order: int, begin: int | None) -> list[_Level]:
    """The n-grams over the columns up to the order; `begin` is the last of the 1-grams, and no column."""
    known = np.flatnonzero(columns >= 0)
    child = np.full((1, len(columns)), -1, np.int64)
    child[0, known] = np.arange(len(known))
    nothing = np.zeros(1, np.int64)
    levels = [_Level(nothing, nothing, nothing, child)]
    ranks = np.append(columns[known], [] if begin is None else begin).astype(np.int64)
    suffix = np.zeros(len(ranks), np.int64)
    for length in range(1, order + 1):
        counts = index.counts(length, ranks)
        child = np.full((len(ranks), len(columns)), -1, np.int64)
        levels.append(_Level(ranks, counts, suffix, child))
        if length < order:
            ends = levels[-2].child[suffix]
            place, column = np.nonzero(ends >= 0)
            found = index.extend(length + 1, ranks[place], columns[column])
            place, column, ranks = place[found >= 0], column[found >= 0], found[found >= 0]
            child[place, column] = np.arange(len(ranks))
            suffix = ends[place, column]
    return levels


def tables_to_automaton(
    words: tuple[str, ...], tables: ContextTables, longest: int, backoff_cost: float, *, begins: bool, ends: bool
) -> WordAutomaton:
    """The automaton over the words; a state is a context and the length of the history, which ends at `longest`.

    begins: the history has one word at the start; ends: the last column is the end of the sentence.
    """
    after = tables.next_context[:, : len(words)]
    lengths, layers = _layers(tables.start, after, min(int(begins), longest), longest)
    first = np.cumsum([0, *map(len, layers)])
    next_state = np.empty((first[-1], len(words)), np.int32)
    number = np.zeros(len(after), np.int32)
    for place in reversed(range(len(layers))):
        if place == len(layers) - 1:  # the last layer leads to itself
            number[layers[place]] = np.arange(first[place], first[place + 1])
        next_state[first[place] : first[place + 1]] = number[after[layers[place]]]
        number[layers[place]] = np.arange(first[place], first[place + 1])
    context = np.concatenate(layers)
    dropped = np.repeat(lengths, np.diff(first)) - tables.length[context]
    cost = tables.cost[context] + dropped[:, None] * backoff_cost
    end_cost = cost[:, -1].copy() if ends else np.zeros(len(context))
    start = int(np.flatnonzero(layers[0] == tables.start)[0])
    return WordAutomaton(words, start, next_state, np.ascontiguousarray(cost[:, : len(words)]), end_cost)


def _layers(start: int, after: Ints, first: int, longest: int) -> tuple[list[int], list[Ints]]:
    """The contexts that are reached with each length of history, from the first length to the longest."""
    layers = [np.array([start], np.int64)]
    for _ in range(first, longest):
        layers.append(np.unique(after[layers[-1]]))
    reached = np.zeros(len(after), bool)
    new = layers.pop()
    while len(new):
        reached[new] = True
        new = np.unique(after[new])
        new = new[~reached[new]]
    return list(range(first, longest + 1)), [*layers, np.flatnonzero(reached)]
