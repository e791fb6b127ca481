"""One order for things that are known by what they are and how they hang together, however they were given.

canonical_order  the places of the things in that order
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

Chains = Sequence[tuple[str, tuple[int, ...]]]  # a kind, and places whose order matters
Sets = Sequence[tuple[str, tuple[int, ...]]]  # a kind, and places whose order means nothing


def canonical_order(
    keys: Sequence[Any], heads: Sequence[int | None], chains: Chains = (), sets: Sets = ()
) -> list[int]:
    """The places of all things, sorted by key; where keys are the same, what the things hang together with decides.

    `heads` are places without cycles, negative for a root, None where not known. Two things that are alike in all of
    this may come in either order, for exchanging them changes nothing.

    >>> canonical_order(["the", "dog", "the", "cat"], [3, -1, 1, 1])  # the first "the" is the cat's
    [3, 1, 0, 2]
    >>> canonical_order(["the", "dog", "the", "cat"], [1, -1, 3, 1])
    [3, 1, 2, 0]
    """
    colours = _refine(_ranks(keys), heads, chains, sets)
    while len(set(colours)) < len(colours):
        colours = _refine(_split(colours), heads, chains, sets)
    return sorted(range(len(keys)), key=colours.__getitem__)


def _ranks(keys: Sequence[Any]) -> list[int]:
    """How many keys are smaller than each; a class that is split later keeps all others as they are."""
    rank: dict[Any, int] = {}
    for place, key in enumerate(sorted(keys)):
        rank.setdefault(key, place)
    return [rank[key] for key in keys]


def _refine(colours: list[int], heads: Sequence[int | None], chains: Chains, sets: Sets) -> list[int]:
    """Split classes by the classes of what hangs together with their members, until nothing changes.

    This is colour refinement, which tells apart whatever differs in a forest.
    """
    while len(set(colours)) < len(colours):
        below: dict[int, list[int]] = defaultdict(list)
        beside: dict[int, list[tuple[str, int, tuple[int, ...]]]] = defaultdict(list)
        for place, head in enumerate(heads):
            if head is not None and head >= 0:
                below[head].append(colours[place])
        for kind, chain in chains:
            for step, place in enumerate(chain):
                beside[place].append((kind, step, tuple(colours[other] for other in chain)))
        for kind, members in sets:
            for place in members:
                beside[place].append((kind, -1, tuple(sorted(colours[other] for other in members))))
        above = [-2 if head is None else -1 if head < 0 else colours[head] for head in heads]
        finer = _ranks(
            [
                (colour, above[place], tuple(sorted(below[place])), tuple(sorted(beside[place])))
                for place, colour in enumerate(colours)
            ]
        )
        if finer == colours:
            break
        colours = finer
    return colours


def _split(colours: list[int]) -> list[int]:
    """Put one member of the first class that has several before the others."""
    first = min(colour for colour, size in Counter(colours).items() if size > 1)
    chosen = colours.index(first)
    return [colour + (colour == first and place != chosen) for place, colour in enumerate(colours)]
