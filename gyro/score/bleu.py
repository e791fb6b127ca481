"""BLEU (Papineni et al. 2002), as sacreBLEU has it, from counts that can be summed.

bleu_statistics  the counts of one sentence: lengths, n-gram matches and n-grams
bleu_scores      BLEU of each row of such counts or of sums of them
sentence_bleu    BLEU of each sentence alone
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ORDER = 4
COLUMNS = 2 + 2 * ORDER


def bleu_statistics(output: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Lengths of both, clipped matches of orders 1 to 4, and n-grams of the output.

    >>> bleu_statistics("a b a".split(), "a b".split())
    [3, 2, 2, 1, 0, 0, 3, 2, 1, 0]
    """
    matches, totals = [], []
    for n in range(1, ORDER + 1):
        ours = Counter(zip(*(output[i:] for i in range(n)), strict=False))
        theirs = Counter(zip(*(reference[i:] for i in range(n)), strict=False))
        matches.append(sum((ours & theirs).values()))
        totals.append(sum(ours.values()))
    return [len(output), len(reference), *matches, *totals]


def bleu_scores(sums: NDArray[Any], *, effective_order: bool = False) -> Floats:
    """BLEU, from 0 to 100, of each row of counts, with sacreBLEU's exponential smoothing.

    An order without a match counts as half a match, the next one as a quarter, and so on.
    """
    length, reference_length = sums[:, 0], sums[:, 1]
    correct, total = sums[:, 2 : 2 + ORDER], sums[:, 2 + ORDER :]
    known = total > 0
    misses = np.cumsum((correct == 0) & known, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(correct > 0, correct, 0.5**misses) / np.where(known, total, 1)
        logs = np.where(known, np.log(precision), 0.0 if effective_order else -np.inf)
        orders = np.maximum(known.sum(axis=1), 1) if effective_order else ORDER
        brevity = np.exp(np.minimum(0.0, 1.0 - reference_length / np.where(length > 0, length, 1)))
    found = (correct[:, 0] > 0) & (length > 0)
    return np.where(found, 100.0 * brevity * np.exp(logs.sum(axis=1) / orders), 0.0)


def sentence_bleu(statistics: NDArray[Any]) -> Floats:
    """BLEU of each sentence, over the n-gram orders that it is long enough for (sacreBLEU's effective order)."""
    return bleu_scores(statistics, effective_order=True)
