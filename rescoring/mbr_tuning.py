"""A grid of MBR parameters, tried on a development set.

MbrTrial   parameters and the BLEU that they give
mbr_grid   all combinations of the values given
try_grid   BLEU of each of them over all lattices of a source, the best first
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from gyro.errors import GyroError, InputError
from gyro.pool import Failure, run_tasks
from gyro.score.bleu import COLUMNS, bleu_scores, bleu_statistics
from rescoring.mbr import MbrDecoder, MbrParameters
from rescoring.posterior import Posteriors
from rescoring.source import LatticeSource


class MbrTrial(NamedTuple):
    """One point of the grid."""

    parameters: MbrParameters
    bleu: float


def mbr_grid(start: MbrParameters, values: Mapping[str, Sequence[float]]) -> list[MbrParameters]:
    """All combinations; the start is the first of them.

    >>> [p.scale for p in mbr_grid(MbrParameters(scale=0.4), {"scale": [0.4, 0.8]})]
    [0.4, 0.8]
    """
    combinations: list[dict[str, Any]] = [dict(zip(values, row, strict=True)) for row in product(*values.values())]
    grid = [replace(start, **chosen) for chosen in combinations]
    return [start, *(parameters for parameters in grid if parameters != start)]


def try_grid(
    source: LatticeSource,
    posteriors: Callable[[int], Posteriors | None],
    references: Sequence[Sequence[str]],
    grid: Sequence[MbrParameters],
    *,
    jobs: int = 1,
) -> list[MbrTrial]:
    """Decode every lattice under all parameters; it is made ready once. Equal scores stay in the grid's order.

    `posteriors` are those of MT systems for the lattice with a number.
    """
    if len(references) != len(source):
        raise InputError(f"found {len(references)} references for {len(source)} lattices")

    order = max(parameters.max_order for parameters in grid)

    def decode(number: int) -> list[list[int]]:
        lattice = source[number].lattice()
        reference = references[number]
        if lattice is None or lattice.empty():
            return [bleu_statistics((), reference)] * len(grid)
        decoder, evidence = MbrDecoder(lattice, order), posteriors(number)
        strings = (decoder.decode(parameters, mt=evidence).tokens for parameters in _by_scale(grid))
        return [bleu_statistics(tokens, reference) for tokens in strings]

    sums = np.zeros((len(grid), COLUMNS), dtype=np.int64)
    for ended in run_tasks(range(len(source)), decode, jobs=jobs):
        if isinstance(ended.result, Failure):
            raise GyroError(f"lattice {source[ended.task].id}: {ended.result.reason}")
        sums += np.array(ended.result)
    scores = dict(zip(_by_scale(grid), bleu_scores(sums).tolist(), strict=True))
    return sorted((MbrTrial(p, round(scores[p], 4)) for p in grid), key=lambda trial: -trial.bleu)


def _by_scale(grid: Iterable[MbrParameters]) -> list[MbrParameters]:
    """Parameters with the same posteriors beside each other, so that a decoder makes these once."""
    return sorted(grid, key=lambda parameters: (parameters.scale, parameters.prune))
