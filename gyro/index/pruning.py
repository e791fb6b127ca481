"""Least counts: leaving out of an index what occurs too seldom to be worth its room.

check_least   refuse least counts that would leave an n-gram without its beginning
is_pruned     do these least counts leave anything out?
prune_levels  leave the n-grams out of the levels of a folder
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from gyro.errors import InputError
from gyro.index.levels import ArrayWriter, array_length, read_entries
from gyro.index.reader import counts_name, keys_name

BLOCK = 1 << 20


def check_least(least: Sequence[int] | None, order: int) -> tuple[int, ...]:
    """The least counts of all orders; the last one given stands for the orders after it, none for 1.

    >>> check_least([1, 1, 2], 5)
    (1, 1, 2, 2, 2)
    """
    known = tuple(least or [1])
    if len(known) > order or known[0] < 1 or any(a > b for a, b in pairwise(known)):
        found = ",".join(map(str, known))
        raise InputError(f"found the least counts {found}; up to {order} numbers from 1 that never fall are allowed")
    return known + known[-1:] * (order - len(known))


def is_pruned(least: Sequence[int]) -> bool:
    """Do these least counts leave anything out?"""
    return max(least) > 1


def prune_levels(folder: Path, num_words: int, least: Sequence[int], count_type: str) -> list[int]:
    """Leave out of the levels from the second on what occurs fewer than `least[n-1]` times; how many are left of each.

    The least counts never fall with the order, so what an n-gram starts with stays as long as it does.
    """
    sizes: list[int] = []
    ranks = None  # of the level before: the new rank of each entry
    scratch = folder / "ranks-before.tmp", folder / "ranks.tmp"
    for n in range(2, len(least) + 1):
        keys_path, counts_path = folder / keys_name(n), folder / counts_name(n)
        length = array_length(keys_path)
        new = npy.open_memmap(scratch[1], "w+", np.uint64, (length,)) if length else np.empty(0, np.uint64)
        with (
            ArrayWriter(keys_path.with_suffix(".tmp"), "<u8") as keys_file,
            ArrayWriter(counts_path.with_suffix(".tmp"), count_type) as counts_file,
        ):
            for start in range(0, length, BLOCK):
                keys, counts = read_entries(folder, n, start, BLOCK)
                kept = counts >= np.uint64(least[n - 1])
                new[start : start + len(keys)] = keys_file.length + np.cumsum(kept) - 1
                keys = keys[kept]
                if ranks is not None:
                    parents = keys // np.uint64(num_words)
                    keys += (ranks[parents.astype(np.int64)] - parents) * np.uint64(num_words)  # modulo 2⁶⁴
                keys_file.append(keys)
                counts_file.append(counts[kept])
            sizes.append(keys_file.length)
        for path in (keys_path, counts_path):
            path.with_suffix(".tmp").replace(path)
        ranks = new
        if length:
            scratch[1].replace(scratch[0])
    for path in scratch:
        path.unlink(missing_ok=True)
    return sizes
