"""Orders of dependency trees by an n-gram model (Algorithm 2 of Wan et al., 2009, "language model ordering").

LinearSettings  the window, and what stands at the start
Linear          an order of the vertices, and the sum of the costs of its joints
linearise       order a tree: the children on each side of a head, greedily
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from comparison.wan.arborescence import Tree
from comparison.wan.count import AFTER, BEFORE
from gyro.compilation import compiled
from gyro.errors import InputError
from lm.model import LanguageModel

_START = -1  # the sentence start among the words of a window


@dataclass(frozen=True)
class LinearSettings:
    """How siblings are ordered.

    `window` words on each side of a joint are looked at (0: half the order of the model, rounded down, which is the
    paper's "2 × floor(n/2)"; it also has n − 1). Siblings before the head are put one after the other behind a sentence
    start, or behind nothing with `start` "empty"; with `outward` they are put before the head, the nearest first.
    """

    window: int = 0
    start: str = "sentence"
    outward: bool = False

    def __post_init__(self) -> None:
        if self.window < 0:
            raise InputError(f"found a window of {self.window} words; 1 or more are allowed, 0 for half the order")
        if self.start not in ("sentence", "empty"):
            raise InputError(f"found the start {self.start!r}; sentence or empty is allowed")


class Linear(NamedTuple):
    """Numbers of vertices from left to right, counted from 1, and the cost of all joints."""

    order: tuple[int, ...]
    cost: float


def linearise(
    tree: Tree, words: Sequence[Sequence[str]], model: LanguageModel, settings: LinearSettings | None = None
) -> Linear:
    """Order a tree; `words` are those of vertices 1, 2 and so on. Equally likely children come by number."""
    settings = settings or LinearSettings()
    known = sorted({word for some in words for word in some})
    number = {word: place for place, word in enumerate(known)}
    ends = np.cumsum([0, 0, *map(len, words)])
    flat = np.array([number[word] for some in words for word in some], np.int64)
    from_start, from_nothing = model.acceptor(known, end=False), model.acceptor(known, start=False, end=False)
    window = settings.window or max(model.order // 2, 1)
    tables = [(automaton.next_state, automaton.cost, automaton.start) for automaton in (from_start, from_nothing)]
    text = (ends, flat, *tables, model.order, window)
    order, cost = _linearise(tree.heads, tree.sides, text, settings.start == "sentence", settings.outward)
    return Linear(tuple(order.tolist()), float(cost))


@compiled
def _linearise(heads: Any, sides: Any, text: Any, has_start: Any, outward: Any) -> Any:
    """The vertices below the root from left to right; the children of a vertex are ordered before it is a child."""
    size = heads.shape[0]
    strings = np.empty((size, size), np.int64)  # the vertices of each subtree
    lengths = np.zeros(size, np.int64)
    after, before, children = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    total = 0.0
    for vertex in _children_first(heads):
        after[0], length = vertex, np.int64(vertex != 0)
        count = _children_on(heads, sides, vertex, AFTER, children)
        length, cost = _append(children[:count], after, length, vertex == 0, strings, lengths, text)
        total += cost
        count = _children_on(heads, sides, vertex, BEFORE, children)
        if outward:
            before[0] = vertex
            extent, cost = _prepend(children[:count], before, 1, strings, lengths, text)
            extent -= 1
        else:
            extent, cost = _append(children[:count], before, 0, has_start, strings, lengths, text)
        total += cost
        strings[vertex, :extent] = before[:extent]
        strings[vertex, extent : extent + length] = after[:length]
        lengths[vertex] = extent + length
    return strings[0, : lengths[0]], total


@compiled
def _children_on(heads: Any, sides: Any, vertex: Any, side: Any, children: Any) -> Any:
    count = 0
    for child in range(1, heads.shape[0]):
        if heads[child] == vertex and sides[child] == side:
            children[count] = child
            count += 1
    return count


@compiled
def _append(children: Any, own: Any, length: Any, starts: Any, strings: Any, lengths: Any, text: Any) -> Any:
    """Put the children behind what is there, each time the one with the likeliest joint."""
    total = 0.0
    for count in range(children.shape[0], 0, -1):
        best, best_cost = 0, np.inf
        for place in range(count):
            child = children[place]
            cost = _joint(own[:length], strings[child, : lengths[child]], starts, text)
            if cost < best_cost:
                best, best_cost = place, cost
        child = children[best]
        own[length : length + lengths[child]] = strings[child, : lengths[child]]
        length += lengths[child]
        total += best_cost
        _remove(children, best, count)
    return length, total


@compiled
def _prepend(children: Any, own: Any, length: Any, strings: Any, lengths: Any, text: Any) -> Any:
    """The same before what is there."""
    total = 0.0
    for count in range(children.shape[0], 0, -1):
        best, best_cost = 0, np.inf
        for place in range(count):
            child = children[place]
            cost = _joint(strings[child, : lengths[child]], own[:length], False, text)
            if cost < best_cost:
                best, best_cost = place, cost
        extent = lengths[children[best]]
        own[extent : extent + length] = own[:length].copy()
        own[:extent] = strings[children[best], :extent]
        length += extent
        total += best_cost
        _remove(children, best, count)
    return length, total


@compiled
def _remove(children: Any, place: Any, count: Any) -> None:
    for later in range(place, count - 1):
        children[later] = children[later + 1]


@compiled
def _children_first(heads: Any) -> Any:
    """All vertices, each after those that hang on it."""
    size = heads.shape[0]
    waiting_for = np.zeros(size, np.int64)
    for vertex in range(1, size):
        waiting_for[heads[vertex]] += 1
    order = np.empty(size, np.int64)
    done = 0
    for vertex in range(size):
        if waiting_for[vertex] == 0:
            order[done] = vertex
            done += 1
    at = 0
    while at < done:
        vertex = order[at]
        at += 1
        if vertex != 0:
            waiting_for[heads[vertex]] -= 1
            if waiting_for[heads[vertex]] == 0:
                order[done] = heads[vertex]
                done += 1
    return order[:done]


@compiled
def _joint(left: Any, right: Any, starts: Any, text: Any) -> Any:
    """Equation 3 for the last words on the left and the first on the right.

    Vertex v has the words flat[ends[v]:ends[v + 1]]. With `starts` the sentence start stands before the left.
    """
    ends, flat, from_start, from_nothing, order, window = text
    words = np.empty(2 * window, np.int64)
    begin, end = window, window
    for place in range(left.shape[0] - 1, -1, -1):
        word = ends[left[place] + 1] - 1
        while word >= ends[left[place]] and begin > 0:
            begin -= 1
            words[begin] = flat[word]
            word -= 1
        if begin == 0:
            break
    if starts and begin > 0:
        begin -= 1
        words[begin] = _START
    for place in range(right.shape[0]):
        word = ends[right[place]]
        while word < ends[right[place] + 1] and end < 2 * window:
            words[end] = flat[word]
            end += 1
            word += 1
        if end == 2 * window:
            break
    return _window_cost(words[begin:end], from_start, from_nothing, order)


@compiled
def _window_cost(words: Any, from_start: Any, from_nothing: Any, order: Any) -> Any:
    """The cost of each word that has k words before it, given these; k is one less than the order, or all but one."""
    context = min(order - 1, words.shape[0] - 1)
    total = 0.0
    for last in range(context, words.shape[0]):
        first = last - context
        if words[last] == _START:  # in a model of single words
            continue
        next_state, cost, state = from_nothing
        if words[first] == _START:
            next_state, cost, state = from_start
            first += 1
        for place in range(first, last):
            state = next_state[state, words[place]]
        total += cost[state, words[last]]
    return total
