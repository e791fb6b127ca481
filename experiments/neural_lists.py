"""N-best lists that a neural model has scored, cut shorter and weighted otherwise: nothing is computed anew.

ScoredString     a string with its cost before the neural model and that of the model
read_lists       the lists of a rescored run, in the order of its first pass
lists_of         those of all rescored runs of a group
choose_strings   the best string of each list, when so many of the first are looked at and the model has this weight
length_table     BLEU against the length of the lists
weight_table     BLEU against λ
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from experiments.markdown import markdown_table
from gyro.lattice.nbest import read_moses
from gyro.report.data import Group, Member
from gyro.report.model_costs import FEATURE, neural_weight
from gyro.run.folder import Run
from gyro.score.bleu import bleu_scores, bleu_statistics

LENGTHS = (10, 30, 100, 300)
WEIGHTS = (0.0, 0.3, 0.6, 1.0, 1.5, 2.5, 4.0, 8.0, math.inf)

Tokens = tuple[str, ...]


class ScoredString(NamedTuple):
    """A string of a list; costs are natural-log costs."""

    tokens: Tokens
    before: float
    neural: float


Lists = Sequence[Sequence[ScoredString]]


def read_lists(run: Run, source: Run) -> list[list[ScoredString]]:
    """For each bag its strings from the cheapest of the first pass on; an empty list for one that failed.

    The order is that of the lattice, so that among strings of one cost the neural model has no say.
    """
    neural: dict[int, dict[Tokens, float]] = {}
    for sentence, entries in groupby(read_moses(run.folder.nbest_moses), key=lambda entry: entry.sentence):
        neural[sentence] = {entry.tokens: 0.0 - entry.features[FEATURE][0] for entry in entries}
    lists = []
    for number in range(len(run)):
        known = neural.get(number, {})
        lattice = source.lattice(number) if known else None
        strings = lattice.nbest(len(known)) if lattice is not None else []
        lists.append([ScoredString(s.tokens, s.cost, known[s.tokens]) for s in strings if s.tokens in known])
    return lists


def choose_strings(lists: Lists, weight: float, most: int | None = None) -> list[Tokens]:
    """The strings with the least before + weight · neural, or neural alone where the weight is infinite.

    Of equal ones the first; of an empty list the empty string, as runs have it for bags that failed.
    """

    def cost(string: ScoredString) -> float:
        return string.neural if math.isinf(weight) else string.before + weight * string.neural

    return [min(strings[:most], key=cost).tokens if strings else () for strings in lists]


def length_table(lists: Mapping[str, tuple[Lists, float]], references: Sequence[Tokens]) -> str:
    """BLEU of runs, by name their lists and λ, had the lists been shorter."""
    longest = {name: max(map(len, of_run), default=0) for name, (of_run, _) in lists.items()}
    lengths = [length for length in LENGTHS if length <= max(longest.values(), default=0)]
    rows = []
    for name, (of_run, weight) in lists.items():
        known = [length for length in lengths if length <= longest[name]]
        scores = [_bleu(choose_strings(of_run, weight, length), references) for length in known]
        rows.append([name, f"{weight:.4g}", *scores, *("" for _ in lengths[len(known) :])])
    return markdown_table(["system", "λ", *(f"first {length}" for length in lengths)], rows)


def weight_table(lists: Mapping[str, tuple[Lists, float]], references: Sequence[Tokens]) -> str:
    """BLEU of runs, by name their lists and λ, had the neural model another weight."""
    rows = [
        [
            name,
            *(_bleu(choose_strings(of_run, weight), references) for weight in WEIGHTS),
            f"{own:.4g}: {_bleu(choose_strings(of_run, own), references)}",
        ]
        for name, (of_run, own) in lists.items()
    ]
    heads = ["∞" if math.isinf(weight) else f"{weight:g}" for weight in WEIGHTS]
    return markdown_table(["system", *(f"λ {head}" for head in heads), "its own"], rows)


def lists_of(group: Group) -> dict[str, tuple[Lists, float]]:
    """By name the lists and λ of the runs that gave the strings of another run new costs, without a search."""
    found: dict[str, tuple[Lists, float]] = {}
    for member in group.members:
        weight, source = neural_weight(member.settings), _source(group, member)
        if member.run is None or source is None or weight is None or "budget" in member.settings:
            continue
        if all(source.folder.lattice(n).exists() for n, outcome in enumerate(source.outcomes) if outcome.ok):
            found[member.name] = read_lists(member.run, source), weight
    return found


def _source(group: Group, member: Member) -> Run | None:
    return group.member(member.parent).run if member.parent else None


def _bleu(strings: Sequence[Tokens], references: Sequence[Tokens]) -> str:
    counts = [bleu_statistics(string, reference) for string, reference in zip(strings, references, strict=True)]
    return f"{float(bleu_scores(np.sum(counts, axis=0, keepdims=True))[0]):.2f}"
