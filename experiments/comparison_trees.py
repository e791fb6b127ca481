"""Trees that are worse than they were: heads moved to other places.

move_heads       a share of the heads of many trees moved, each tree staying projective
move_some        a number of the heads of one tree moved
possible_heads   the places that a word may be attached to with all below it, so that the tree stays projective
attachment       the share of words with the same head in two versions of some trees (UAS)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random

from gyro.text.corpus import ROOT


def move_heads(trees: Iterable[Sequence[int]], share: float, seed: int) -> Iterator[list[int]]:
    """Yield projective trees with so many of their heads moved, over all trees as near to the share as can be.

    What a sentence cannot give, a whole number of heads for one, the next ones do.
    """
    wanted = 0.0
    for number, heads in enumerate(trees):
        wanted += share * len(heads)
        moved = move_some(heads, int(wanted + 0.5), Random(f"{seed} {number}"))
        wanted -= sum(old != new for old, new in zip(heads, moved, strict=True))
        yield moved


def move_some(heads: Sequence[int], count: int, random: Random) -> list[int]:
    """The tree with that many heads moved, or as many as can be; the root stays.

    >>> move_some([ROOT, 0, 1], 1, Random(1))
    [-1, 0, 0]
    """
    moved = list(heads)
    waiting = [place for place, head in enumerate(heads) if head != ROOT]
    random.shuffle(waiting)
    left, passed = count, 0
    # One that cannot be moved goes to the end of the queue: after other moves it may be free.
    while left > 0 and passed < len(waiting):
        place = waiting.pop(0)
        choices = [head for head in possible_heads(moved, place) if head != heads[place]]
        if choices:
            moved[place], left, passed = random.choice(choices), left - 1, 0
        else:
            waiting.append(place)
            passed += 1
    return moved


def possible_heads(heads: Sequence[int], place: int) -> list[int]:
    """The places in order; its own head is one of them.

    >>> possible_heads([1, ROOT, 1, 2], 3)
    [1, 2]

    From the neighbour of the subtree on either side the way goes up, as long as no arc on it spans the subtree.
    """
    first, last = _spans(heads, place)
    start, end = first[place], last[place]
    found = set()
    for at in (start - 1, end + 1):
        while 0 <= at < len(heads):
            found.add(at)
            if at < start <= last[at] or first[at] <= end < at:
                break
            at = heads[at]
    return sorted(found)


def _spans(heads: Sequence[int], place: int) -> tuple[list[int], list[int]]:
    """The first and the last word below each word; what is below `place` counts for nothing above it."""
    first, last = list(range(len(heads))), list(range(len(heads)))
    for word in range(len(heads)):
        way = [word]
        while way[-1] != ROOT:
            way.append(heads[way[-1]])
        way.pop()
        if place in way:
            way = way[: way.index(place) + 1]
        for above in way:
            first[above], last[above] = min(first[above], word), max(last[above], word)
    return first, last


def attachment(trees: Iterable[Sequence[int | None]], others: Iterable[Sequence[int | None]]) -> float:
    """The share of all words, punctuation too, whose heads agree.

    >>> attachment([[1, ROOT]], [[ROOT, 0]]), attachment([[1, ROOT], [ROOT]], [[ROOT, 0], [ROOT]])
    (0.0, 0.3333333333333333)
    """
    same = total = 0
    for one, other in zip(trees, others, strict=True):
        same += sum(a == b for a, b in zip(one, other, strict=True))
        total += len(one)
    return same / max(total, 1)
