"""P*: the strings that can be cut into phrases, as an automaton with soft costs.

PhraseCosts         what a phrase costs: a constant, by its length, by its count; all zero is the published grammar
parse_phrase_costs  read them from the text of an option, "phrase=1.0,length1=2,count=0.1"
phrase_closure      the automaton: a string costs what its cheapest cutting into phrases costs
GRAIN               what the costs of a deterministic closure are rounded to

A state of the deterministic automaton is the set of places where a cutting may be: at the boundary between two phrases,
or inside a phrase that began one to four words ago, each at its cost beyond the cheapest of them. With many different
phrase costs there are many different differences, and more states than a search can take. Then the automaton keeps to
one cutting at a time, and says of each word whether it ends a phrase: it has a state for each node of the phrases'
trie, no cost is rounded, and a string has as many ways as cuttings.

With an overlap, phrases may share words with what stands before them (grammars.phrase.overlap): cuttings are chains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from grammars.phrase.overlap import WAITING, OverlapTables, find_overlap_tables, step_with_overlap
from gyro.compilation import compiled
from gyro.errors import InputError
from gyro.index.phrase import PhraseSet
from gyro.lattice.automaton import WordAutomaton, trim
from gyro.row_table import fill_slots, slot_of

# Costs are whole numbers of grains, so that equal differences are equal; a thousand phrases are off by 0.0005 at most.
GRAIN, MOST_GRAINS = 2.0**-20, 2**50
# A node of the trie may have this many states of the deterministic automaton, and a small trie this many in all.
# Phrases that cost nothing have few states: they may have the last number.
STATES_PER_NODE, FEW_STATES, MAX_STATES = 8, 3000, 200_000
_ALLOWED = "'phrase', 'length<n>' and 'count' with a number of at least 0 each, as in phrase=1.0,length1=2,count=0.1"


@dataclass(frozen=True)
class PhraseCosts:
    """The cost of a phrase: `per_phrase` + that of its length + `count_weight` · ln((1 + largest) / (1 + count)).

    `largest` is the largest count of the set, so no cost is below 0.
    """

    per_phrase: float = 0.0
    by_length: tuple[tuple[int, float], ...] = ()
    count_weight: float = 0.0

    @property
    def is_zero(self) -> bool:
        """Whether every phrase is free, as in the published grammar."""
        return not (self.per_phrase or self.count_weight or any(cost for _, cost in self.by_length))

    def times(self, factor: float) -> PhraseCosts:
        """All costs multiplied."""
        lengths = tuple((length, cost * factor) for length, cost in self.by_length)
        return PhraseCosts(self.per_phrase * factor, lengths, self.count_weight * factor)

    def __str__(self) -> str:
        """The text of the option: parse_phrase_costs reads it back."""
        lengths = ((f"length{length}", cost) for length, cost in self.by_length)
        parts = (("phrase", self.per_phrase), *lengths, ("count", self.count_weight))
        return ",".join(f"{name}={cost:.6g}" for name, cost in parts if cost)

    def cost(self, length: int, count: int, largest: int) -> float:
        """What a phrase costs, before it is rounded."""
        by_count = self.count_weight * math.log((1 + largest) / (1 + count)) if self.count_weight else 0.0
        return self.per_phrase + dict(self.by_length).get(length, 0.0) + by_count


def parse_phrase_costs(text: str) -> PhraseCosts:
    """Read the text of an option; empty: all phrases are free.

    >>> parse_phrase_costs("phrase=1,length2=0.5")
    PhraseCosts(per_phrase=1.0, by_length=((2, 0.5),), count_weight=0.0)
    """
    found: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = (piece.strip() for piece in part.partition("="))
        length = name.removeprefix("length")
        known = name in ("phrase", "count") or (
            name != length and length.isdecimal() and len(length) < 10 and int(length) > 0
        )
        try:
            cost = float(number)
        except ValueError:
            cost = math.nan
        if not (known and equals and 0 <= cost < math.inf):
            raise InputError(f"found {part!r} in the phrase costs; allowed are {_ALLOWED}")
        if name in found:
            raise InputError(f"found {name!r} twice in the phrase costs")
        found[name] = cost
    lengths = sorted((int(name.removeprefix("length")), cost) for name, cost in found.items() if name[0] == "l")
    for one, other in pairwise(lengths):
        if one[0] == other[0]:
            raise InputError(f"found 'length{one[0]}' twice in the phrase costs")
    return PhraseCosts(found.get("phrase", 0.0), tuple(lengths), found.get("count", 0.0))


class _Trie:
    """The phrases as a tree; node 0 is the boundary between two phrases, the others are inside of phrases.

    `child[n, w]`: the node inside a longer phrase after word w (-1: none). `end[n, w]`: the cost of the phrase that w
    ends (infinity: none).
    """

    def __init__(self, phrases: PhraseSet, costs: PhraseCosts) -> None:
        children: list[dict[int, int]] = [{}]
        ends: list[tuple[int, int, float]] = []
        largest = max((int(counts.max()) for counts in phrases.counts if len(counts)), default=0)
        for grams, counts in zip(phrases.grams, phrases.counts, strict=True):
            for gram, count in zip(grams.tolist(), counts.tolist(), strict=True):
                node = 0
                for word in gram[:-1]:
                    following = children[node].setdefault(word, len(children))
                    if following == len(children):
                        children.append({})
                    node = following
                ends.append((node, gram[-1], costs.cost(len(gram), count, largest)))
        self.depth = max((n for n, grams in enumerate(phrases.grams, 1) if len(grams)), default=1)
        self.child = np.full((len(children), len(phrases.words)), -1, dtype=np.int32)
        self.end = np.full(self.child.shape, np.inf)
        for parent, below in enumerate(children):
            for word, node in below.items():
                self.child[parent, word] = node
        for parent, word, cost in ends:
            self.end[parent, word] = cost
        self.room = max(FEW_STATES, STATES_PER_NODE * len(children))


@compiled
def _find_gains(child: Any, end: Any) -> Any:
    """The most that a phrase through each node can save against the boundary there and its other words one by one.

    Infinity when these are not all phrases. A child has a higher number than its parent.
    """
    gain = np.full(child.shape[0], -np.inf)
    for node in range(child.shape[0] - 1, 0, -1):
        for word in range(child.shape[1]):
            if end[node, word] < np.inf:
                gain[node] = max(gain[node], end[0, word] - end[node, word])
            if child[node, word] >= 0:
                gain[node] = max(gain[node], end[0, word] + gain[child[node, word]])
    return gain


@compiled
def _step(child: Any, end: Any, gain: Any, places: Any, word: int, to: Any) -> Any:
    """One more word: the places that it leads to, less their common cost, which is returned (infinity: none).

    Places lie by how many words ago their phrase began, so there is at most one for each number: first the nodes (-1:
    none), then their costs in grains. Those that never beat the boundary and single words are left out: this alone
    keeps the number of states small.
    """
    depth = len(places) // 2
    nodes, costs = places[:depth], places[depth:]
    to_nodes, to_costs = to[:depth], to[depth:]
    to_nodes[:] = -1
    to_costs[:] = 0
    boundary = np.inf
    for ago in range(depth):
        if nodes[ago] >= 0:
            boundary = min(boundary, costs[ago] + end[nodes[ago], word])
    least = boundary
    for ago in range(depth - 1):
        if nodes[ago] < 0:
            continue
        node = child[nodes[ago], word]
        if node >= 0 and (boundary == np.inf or costs[ago] - boundary < gain[node]):
            to_nodes[ago + 1] = node
            to_costs[ago + 1] = costs[ago]
            least = min(least, costs[ago])
    if boundary < np.inf:
        to_nodes[0] = 0
        to_costs[0] = np.int64(boundary)
    for ago in range(depth):
        if to_nodes[ago] >= 0:
            to_costs[ago] -= np.int64(least)
    return least


@compiled
def _determinise(child: Any, end: Any, gain: Any, depth: int, room: int, overlap: int, tables: Any) -> Any:
    """The states that strings of phrases reach, breadth first; returns no more than `room` + 1 of them."""
    words = child.shape[1]
    places = np.empty((room + words + 1, 2 * depth), np.int64)
    next_state, cost = np.full((room + 1, words), -1, np.int32), np.full((room + 1, words), np.inf)
    size = 2
    while size < 2 * len(places):
        size *= 2
    slots = np.full(size, -1, np.int32)
    places[0, :depth], places[0, depth:] = -1, 0
    places[0, 0] = 0
    fill_slots(places, 1, slots)
    to = np.empty(2 * depth, np.int64)
    states, at = 1, 0
    while at < states <= room:
        for word in range(words):
            if overlap:
                least = step_with_overlap(child, end, tables.gain, tables.meet, overlap, places[at], word, to)
            else:
                least = _step(child, end, gain, places[at], word, to)
            if least == np.inf:
                continue
            slot = slot_of(slots, places, to)
            if slots[slot] < 0:
                slots[slot] = states
                places[states] = to
                states += 1
            next_state[at, word] = slots[slot]
            cost[at, word] = least
        at += 1
    is_end = (places[:states, 0] == 0) & (places[:states, depth] < WAITING)
    return next_state[:states], cost[:states], np.where(is_end, places[:states, depth], np.inf)


def phrase_closure(phrases: PhraseSet, *, costs: PhraseCosts, overlap: int = 0) -> WordAutomaton:
    """The strings that some row of phrases yields, each at the cost of its cheapest row.

    With an overlap of o, a string of N words is accepted when there are ends 0 = b0 < b1 < … < bm = N and for each i a
    phrase that is an occurrence in the string from a_i to b_i with b_{i-1} − o ≤ a_i ≤ b_{i-1} (a_i ≥ 0). The words
    a_i … b_{i-1} are shared with what stands before. Each phrase used costs its phrase cost; a string costs what its
    cheapest such chain costs. An overlap of the longest phrase or more is the same as one of a word less than that.

    >>> phrases = PhraseSet.from_phrases(("a", "b", "c"), {("a", "b"): 1, ("b", "c"): 1})
    >>> phrase_closure(phrases, costs=PhraseCosts(1.0), overlap=1).score("abc")
    2.0
    """
    if overlap < 0:
        raise InputError(f"found an overlap of {overlap} words; 0 or more is allowed")
    trie = _Trie(phrases, costs)
    overlap = min(overlap, trie.depth - 1)
    grains = np.round(trie.end / GRAIN)
    tables = find_overlap_tables(trie.child, grains, trie.depth, overlap)
    if np.max(grains, where=np.isfinite(grains), initial=0.0) > MOST_GRAINS:
        return _cutting_automaton(phrases.words, trie, overlap, tables)
    gain = _find_gains(trie.child, grains)
    room = trie.room
    while room <= (MAX_STATES if costs.is_zero else trie.room):
        next_state, cost, ends = _determinise(trie.child, grains, gain, trie.depth, room, overlap, tables)
        if len(ends) <= room:
            return trim(WordAutomaton(phrases.words, 0, next_state.copy(), cost * GRAIN, ends * GRAIN))
        room *= 8
    return _cutting_automaton(phrases.words, trie, overlap, tables)


def _cutting_automaton(words: tuple[str, ...], trie: _Trie, overlap: int, tables: OverlapTables) -> WordAutomaton:
    """One state a node of the trie. The first column of a word ends a phrase, the second goes on inside of one.

    With an overlap there are more: those that end a phrase and go on inside of another that shares one word, two …
    """
    is_end = np.isfinite(trie.end)
    blocks = [(np.where(is_end, 0, -1), trie.end), (trie.child, np.where(trie.child >= 0, 0.0, np.inf))]
    for shared in range(1, overlap + 1):
        before = tables.suffix[:, shared - 1]
        # As many words as the node has, and the one that ends the phrase, are the phrase itself: less are shared.
        is_shorter = (before >= 0) & (before != np.arange(len(before)))
        into = np.where((is_end & is_shorter[:, None]), trie.child[before], -1)
        blocks.append((into, np.where(into >= 0, trie.end, np.inf)))
    # All words have a first column, and those that need one have others.
    chosen = [np.arange(len(words)), *(np.flatnonzero((into >= 0).any(axis=0)) for into, _ in blocks[1:])]
    next_state = np.hstack([into[:, which] for (into, _), which in zip(blocks, chosen, strict=True)]).astype(np.int32)
    cost = np.hstack([arc[:, which] for (_, arc), which in zip(blocks, chosen, strict=True)])
    ends = np.full(len(trie.child), np.inf)
    ends[0] = 0.0
    columns = tuple(words[w] for which in chosen for w in which)
    return trim(WordAutomaton(columns, 0, next_state, cost, ends))
