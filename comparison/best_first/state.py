"""The state of a best-first search, for compiled code: options, agenda, chart, weights, counters.

Options    how edges are scored, kept and compared
Agenda     edges that were scored but not yet taken up: only their parts and rule are stored
Chart      the accepted edges, which are found by their signatures
Model      the weights
Scratch    buffers and counters
State      all of these together, with the problem and the edges
push, pop  the agenda's heap
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comparison.best_first.compilation import inline, inner
from comparison.best_first.edge import Edges, Integers, Numbers, Problem
from comparison.learning.hashing import Hashes

# How a call of `search` or `learn` ended.
DONE, EXHAUSTED, OUT_OF_BUDGET, EDGES_FULL, AGENDA_FULL = 0, 1, 2, 3, 4

# Places in the array of counters.
NUM_EDGES, NUM_ITEMS, NUM_HEAP, NUM_FREE, NUM_CHART, NUM_GOALS, SCORED, EXPANDED, VERSION, UPDATES, NUM_GOLD = range(11)
NUM_COUNTERS = 11


class Options(NamedTuple):
    """Numbers, not truth values, so that compiled code has one type for them."""

    scaled: int  # divide scores by the number of actions (2015)
    beam: int  # edges in the chart, or for each size
    by_size: int  # one beam for each size (2011), or a single one (2015)
    keep_leaves: int  # leaves never fall off the chart
    goals: int  # how many goals are wanted
    lm_weight: float
    variants: int = 0  # edges in the chart that have the same words and head; 0: any number


# An item of the agenda: the parts and the rule of an edge that could be made; is it an edge of the right derivation?;
# its score, what of this is for being a whole sentence, the version of the weights behind both (-1: not scored yet);
# and the key under which the item stands on the heap now: entries with another key are of old.
ITEM = np.dtype(
    [
        ("left", np.int64),
        ("right", np.int64),
        ("rule", np.int64),
        ("gold", np.int64),
        ("score", np.float64),
        ("ending", np.float64),
        ("version", np.int64),
        ("queued", np.float64),
    ]
)


class Agenda(NamedTuple):
    """A heap of items."""

    key: Numbers  # by place in the heap
    item: Integers
    items: NDArray[np.void]
    free: Integers  # items that can be used again


class Chart(NamedTuple):
    """Accepted edges."""

    members: Integers
    inside: Integers  # by edge: is it in the chart?
    version: NDArray[np.int64]  # by edge: of the weights behind its score
    gold: Integers  # by edge
    signature: Hashes  # edge × 1: of the edges that were accepted, or are to be
    slots: Integers  # a table of gyro.row_table over `signature`: the latest accepted edge of each
    goals: Integers


class Model(NamedTuple):
    """Weights by hash; their number is a power of two."""

    weights: NDArray[np.float32]


class Scratch(NamedTuple):
    """Buffers of the compiled code, and what it counts."""

    counters: NDArray[np.int64]
    rules: Integers
    values: Hashes  # what the features of one edge are made of
    features: Hashes
    memo: NDArray[np.void]  # sums of weights (comparison.best_first.feature)
    places: NDArray[np.int32]  # of these weights, by place of the memo
    gold: Hashes  # the structures of the right derivation, sorted; none when nothing is learned
    gold_items: Integers  # those on the agenda
    jobs: Integers  # items or edges to be scored
    stack: Integers  # edges still to be looked at, in walks over derivations


class State(NamedTuple):
    """All that a search has."""

    problem: Problem
    edges: Edges
    agenda: Agenda
    chart: Chart
    model: Model
    options: Options
    scratch: Scratch


@inline
def push(agenda: Agenda, counters: Any, key: float, item: int) -> None:
    """Put an item on the heap."""
    place = counters[NUM_HEAP]
    counters[NUM_HEAP] += 1
    while place > 0:
        parent = (place - 1) >> 1
        if agenda.key[parent] >= key:
            break
        agenda.key[place] = agenda.key[parent]
        agenda.item[place] = agenda.item[parent]
        place = parent
    agenda.key[place] = key
    agenda.item[place] = item


@inner
def pop(agenda: Agenda, counters: Any) -> int:
    """Take the item with the highest key."""
    best = agenda.item[0]
    counters[NUM_HEAP] -= 1
    size = counters[NUM_HEAP]
    key, item = agenda.key[size], agenda.item[size]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and agenda.key[child + 1] > agenda.key[child]:
            child += 1
        if agenda.key[child] <= key:
            break
        agenda.key[place] = agenda.key[child]
        agenda.item[place] = agenda.item[child]
        place = child
    agenda.key[place] = key
    agenda.item[place] = item
    return best  # type: ignore[no-any-return]
