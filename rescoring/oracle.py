"""Oracles: the best BLEU that an n-best list or a lattice holds.

Oracle          the chosen strings and their corpus BLEU
choose_oracle   one string of each list, by sentence BLEU and then by what makes corpus BLEU better
choose_rows     the same choice when only the counts for BLEU are there
LatticeOracle   strings of a lattice that come near the reference: linear BLEU, many weightings in one go
OracleReport    BLEU of the best strings, of the n-best oracle and of the lattice oracle
oracle_report   all three for a source of lattices

Linear BLEU (Sokolov et al. 2012) rewards a string y with θ₀·|y| + Σₙ θₙ · Σᵤ #ᵤ(y) · [u in the reference]: the gain of
MBR under posteriors that are 1 for the n-grams of the reference. Matches are not clipped, and the best weights are
not known beforehand: so the best strings under several θ are collected and joined by the n-best list, and the choice
among them is made by BLEU itself. The result is a lower bound of the true oracle, and never below that of the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gyro.errors import InputError
from gyro.lattice.lattice import Lattice
from gyro.pool import Failure, run_tasks
from gyro.score.bleu import COLUMNS, bleu_scores, bleu_statistics
from rescoring.mbr import MbrDecoder, MbrParameters
from rescoring.posterior import string_posteriors
from rescoring.source import LatticeSource

Tokens = tuple[str, ...]
Ints = NDArray[np.int64]

# Weights of linear BLEU that are tried. Strings of a bag have one length, and then precision and θ₀ change nothing; for
# other lattices a low precision makes longer strings better.
RATIOS = (0.2, 0.35, 0.5, 0.65, 0.8, 1.0)
PRECISIONS = (0.3, 0.6, 0.85)
MOST_ROUNDS = 20
# Added to the counts of single sentences above order 1, so that those without a long match differ (Lin and Och 2004).
ADDED = np.array([0, 0, *[0, 1, 1, 1] * 2])


@dataclass(frozen=True)
class Oracle:
    """The string chosen for each sentence (empty where there is none) and the BLEU of all together."""

    strings: tuple[Tokens, ...]
    bleu: float


@dataclass(frozen=True)
class OracleReport:
    """What the best strings reach, and what was there to be reached."""

    sentences: int
    best: float
    nbest_length: int
    nbest: Oracle
    lattice: Oracle

    def text(self) -> str:
        """A table for people."""
        rows = [
            ("best strings", self.best),
            (f"oracle of the {self.nbest_length}-best lists", self.nbest.bleu),
            ("oracle of the lattices", self.lattice.bleu),
        ]
        lines = [f"{name:<32}{bleu:>8.2f}" for name, bleu in rows]
        if lacking := sum(not string for string in self.lattice.strings):
            lines.append(f"{lacking} sentences have no lattice: they are scored as empty")
        return "\n".join([f"{f'{self.sentences} sentences':<32}{'BLEU':>8}", *lines])


def choose_oracle(
    lists: Sequence[Sequence[Sequence[str]]],
    references: Sequence[Sequence[str]],
    start: Sequence[Sequence[str]] | None = None,
) -> Oracle:
    """Choose one string of each list so that corpus BLEU is high.

    The first choice has the best sentence BLEU, or is `start`; then each sentence in turn takes the string with which
    the whole corpus is best, until none changes. BLEU never falls on the way.

    >>> choose_oracle([[("a", "b"), ("b", "a")]], [("b", "a")]).strings
    (('b', 'a'),)
    """
    if len(lists) != len(references):
        raise InputError(f"found {len(lists)} lists and {len(references)} references")
    # A sentence without any string counts as an empty one, as in best.txt.
    strings = [[tuple(string) for string in list_] or [()] for list_ in lists]
    statistics = [
        np.array([bleu_statistics(string, reference) for string in list_])
        for list_, reference in zip(strings, references, strict=True)
    ]
    begin = None if start is None else [list_.index(tuple(s)) for list_, s in zip(strings, start, strict=True)]
    chosen = choose_rows(statistics, begin)
    total = _sum_of(statistics, chosen)
    picked = tuple(list_[row] for list_, row in zip(strings, chosen, strict=True))
    return Oracle(picked, float(bleu_scores(total[None])[0]))


def choose_rows(tables: Sequence[Ints], start: Sequence[int] | None = None) -> Ints:
    """The same choice among statistics: tables with a row for each string of a sentence; gives a row of each."""
    chosen = np.array([np.argmax(bleu_scores(table + ADDED)) for table in tables] if start is None else start, np.int64)
    total = _sum_of(tables, chosen)
    for _ in range(MOST_ROUNDS):
        changed = False
        for sentence, table in enumerate(tables):
            scores = bleu_scores(total - table[chosen[sentence]] + table)
            row = int(np.argmax(scores))
            if scores[row] > scores[chosen[sentence]] + 1e-12:
                total += table[row] - table[chosen[sentence]]
                chosen[sentence], changed = row, True
        if not changed:
            break
    return chosen


def _sum_of(tables: Sequence[Ints], rows: Ints) -> Ints:
    return sum((table[row] for table, row in zip(tables, rows, strict=True)), np.zeros(COLUMNS, np.int64))


class LatticeOracle:
    """The strings of a lattice that linear BLEU finds for a reference."""

    def __init__(self, lattice: Lattice) -> None:
        self._decoder = MbrDecoder(lattice)

    def strings(
        self,
        reference: Sequence[str],
        precisions: Iterable[float] = PRECISIONS,
        ratios: Iterable[float] = RATIOS,
    ) -> list[Tokens]:
        """The best string under each choice of weights, without duplicates."""
        wanted = string_posteriors([reference])
        tried = [MbrParameters(precision=p, ratio=r, tokens=1.0) for p in precisions for r in ratios]
        return list(dict.fromkeys(self._decoder.decode(parameters, wanted).tokens for parameters in tried))


def oracle_report(
    source: LatticeSource, references: Sequence[Sequence[str]], *, nbest: int = 100, jobs: int = 1
) -> OracleReport:
    """The oracles of all lattices of a source; a sentence without a lattice counts as an empty string."""
    if len(references) != len(source):
        raise InputError(f"found {len(references)} references for {len(source)} lattices; as many of both are needed")
    if nbest < 1:
        raise InputError(f"found n-best lists of {nbest}; at least 1 is allowed")
    if not len(source):
        raise InputError("found no lattices")

    def collect(number: int) -> list[list[Tokens]]:
        lattice = source[number].lattice()
        if lattice is None or lattice.empty():
            return [[()], []]
        listed = [hypothesis.tokens for hypothesis in lattice.nbest(nbest)]
        return [listed, LatticeOracle(lattice).strings(references[number])]

    found: list[list[list[Tokens]]] = [[] for _ in references]
    for ended in run_tasks(range(len(source)), collect, jobs=jobs):
        if isinstance(ended.result, Failure):
            raise InputError(f"lattice {source[ended.task].id}: {ended.result.reason}", path=source.path)
        found[ended.task] = [[tuple(string) for string in strings] for strings in ended.result]
    listed = [strings for strings, _ in found]
    best = choose_oracle([strings[:1] for strings in listed], references)
    in_lists = choose_oracle(listed, references)
    everything = [list(dict.fromkeys([*strings, *more])) for strings, more in found]
    options = [choose_oracle(everything, references), choose_oracle(everything, references, in_lists.strings)]
    in_lattices = max(options, key=lambda oracle: oracle.bleu)
    return OracleReport(len(references), best.bleu, nbest, in_lists, in_lattices)
