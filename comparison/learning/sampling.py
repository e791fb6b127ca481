"""Samples of treebanks.

draw  at most so many of them, at random
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def draw(items: Sequence[Item], limit: int | None, seed: int) -> list[Item]:
    """At most `limit` items in their order: the first ones of a treebank are often of one text or kind.

    With one seed a larger limit has all those of a smaller one.
    """
    if limit is None or limit >= len(items):
        return list(items)
    order = list(range(len(items)))
    random.Random(seed).shuffle(order)
    return [items[number] for number in sorted(order[:limit])]
