"""The count of what was judged: who wins, whether that may be chance, and how far the judges agree.

tally        judgements → Tally
Tally        systems, pairs of systems and agreement, as text or JSON
SystemCount  how often a system was preferred to any other
PairCount    two systems against each other: by judgements, and by bags
sign_test    the chance of so uneven a count, or a more uneven one, if both were as likely

A bag goes to the system that most of its judges prefer; it is a tie where neither has more than the other or most say
that they are equal. The sign test counts bags, since judgements of one bag are not independent of each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import comb
from statistics import fmean
from typing import Any

from gyro.judge.agreement import Agreement, measure_agreement
from gyro.judge.judgement import EQUAL, FIRST, SECOND, Judgement
from gyro.score.significance import p_text


@dataclass(frozen=True)
class Count:
    """Wins, ties and losses."""

    wins: int
    ties: int
    losses: int

    @property
    def total(self) -> int:
        return self.wins + self.ties + self.losses

    @property
    def share(self) -> float:
        """The share of wins, a tie being half of one."""
        return (self.wins + self.ties / 2) / self.total


@dataclass(frozen=True)
class SystemCount:
    """A system against all others, by judgements."""

    name: str
    judgements: Count


@dataclass(frozen=True)
class PairCount:
    """`system` against `other`, which won no more bags.

    `confidence` is the mean share of a bag's judges with its most frequent verdict; `p` is that of the sign test on
    bags, ties left out.
    """

    system: str
    other: str
    judgements: Count
    bags: Count
    confidence: float
    p: float


@dataclass(frozen=True)
class Tally:
    """The best systems and the clearest wins first; `first` counts the verdicts by which order was shown first."""

    systems: tuple[SystemCount, ...]
    pairs: tuple[PairCount, ...]
    judges: dict[str, int]
    first: Count
    agreement: Agreement | None
    by_judges: dict[tuple[str, str], Agreement]

    def to_json(self) -> dict[str, Any]:
        """The same as a JSON value."""
        return {
            "systems": [
                {"system": each.name, **asdict(each.judgements), "share": each.judgements.share}
                for each in self.systems
            ],
            "pairs": [{**asdict(pair), "test": "exact binomial sign test on bags, two-sided"} for pair in self.pairs],
            "judges": self.judges,
            "first_shown": asdict(self.first),
            "agreement": self.agreement._asdict() if self.agreement else None,
            "agreement_of_two": [
                {"judges": list(judges), **found._asdict()} for judges, found in self.by_judges.items()
            ],
        }

    def text(self) -> str:
        """Tables for people."""
        return "\n".join([*self._systems(), "", *self._pairs(), "", *self._agreement()])

    def _systems(self) -> list[str]:
        rows = [
            [each.name, *map(str, (count.wins, count.ties, count.losses)), f"{100 * count.share:.1f} %"]
            for each in self.systems
            for count in [each.judgements]
        ]
        return [
            *_table(["system", "preferred", "equal", "other preferred", "share"], rows),
            "share: a tie is half a win",
        ]

    def _pairs(self) -> list[str]:
        rows = []
        for pair in self.pairs:
            counts = [f"{count.wins} / {count.ties} / {count.losses}" for count in (pair.judgements, pair.bags)]
            rows.append([f"{pair.system} – {pair.other}", *counts, f"{pair.confidence:.3f}", p_text(pair.p)])
        head = ["first – second", "judgements", "bags", "confidence", "p"]
        return [
            *_table(head, rows),
            "first preferred / equal / second preferred; a bag by its most frequent verdict; confidence: the mean",
            "share of its judges with that verdict; p: two-sided exact binomial sign test on bags, ties left out",
        ]

    def _agreement(self) -> list[str]:
        shown = self.first
        lines = [
            f"judges: {', '.join(f'{name} {count}' for name, count in self.judges.items())} judgements",
            f"the order shown first was preferred {shown.wins} times, the second {shown.losses}"
            f" (sign test p {p_text(sign_test(shown.wins, shown.losses))})",
        ]
        if self.agreement is None:
            return [*lines, "agreement: no pair has two judges"]
        lines.append(f"agreement: {_told(self.agreement)}")
        if len(self.by_judges) > 1:
            lines += [f"  {one} and {other}: {_told(found)}" for (one, other), found in self.by_judges.items()]
        return lines


def tally(judgements: Sequence[Judgement]) -> Tally:
    """Count judgements; the order in which they are given decides nothing."""
    by_pair: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        by_pair[judgement.pair].append(judgement)
    names = sorted({name for pair in by_pair for name in pair})
    systems = [SystemCount(name, _count(name, [j for j in judgements if name in j.systems])) for name in names]
    verdicts = _verdicts(judgements)
    agreements = {
        pair: found
        for pair in combinations(verdicts, 2)
        if (found := measure_agreement({name: verdicts[name] for name in pair})) is not None
    }
    shown: Counter[str] = Counter(judgement.verdict for judgement in judgements)
    return Tally(
        systems=tuple(sorted(systems, key=lambda each: -each.judgements.share)),
        pairs=tuple(sorted((_pair_count(by_pair[pair]) for pair in sorted(by_pair)), key=lambda each: each.p)),
        judges={name: len(of_judge) for name, of_judge in verdicts.items()},
        first=Count(shown[FIRST], shown[EQUAL], shown[SECOND]),
        agreement=measure_agreement(verdicts),
        by_judges=agreements,
    )


def sign_test(wins: int, losses: int) -> float:
    """The two-sided exact binomial test.

    >>> sign_test(45, 14) < 0.0001, sign_test(3, 3), sign_test(0, 0), sign_test(5, 0)
    (True, 1.0, 1.0, 0.0625)
    """
    total = wins + losses
    tail = sum(comb(total, k) for k in range(min(wins, losses) + 1))
    return float(min(1.0, 2 * tail / 2**total))


def _verdicts(judgements: Sequence[Judgement]) -> dict[str, dict[object, str]]:
    """By judge and item: which order is better, the first shown or the second, or that none is.

    Where an item was shown in both ways, the verdict is told in that of the first page and judge.
    """
    found: dict[str, dict[object, str]] = defaultdict(dict)
    sides: dict[object, tuple[str, str]] = {}
    for each in sorted(judgements, key=lambda each: (each.page, each.judge, each.item)):
        shown = sides.setdefault(each.item, each.sides)
        found[each.judge][each.item] = EQUAL if each.winner is None else (FIRST, SECOND)[shown.index(each.winner)]
    return dict(sorted(found.items()))


def _count(name: str, judgements: Sequence[Judgement]) -> Count:
    wins = sum(judgement.winner == name for judgement in judgements)
    ties = sum(judgement.winner is None for judgement in judgements)
    return Count(wins, ties, len(judgements) - wins - ties)


def _pair_count(judgements: Sequence[Judgement]) -> PairCount:
    """Of the judgements of one pair of systems."""
    by_bag: dict[str, Counter[str | None]] = defaultdict(Counter)
    for judgement in judgements:
        by_bag[judgement.bag][judgement.winner] += 1
    chosen = {bag: _choice(counts) for bag, counts in by_bag.items()}
    won = Counter(chosen.values())
    system, other = sorted(judgements[0].pair, key=lambda name: (-won[name], -_count(name, judgements).wins, name))
    confidence = fmean(max(counts.values()) / counts.total() for counts in by_bag.values())
    return PairCount(
        system=system,
        other=other,
        judgements=_count(system, judgements),
        bags=Count(won[system], won[None], won[other]),
        confidence=confidence,
        p=sign_test(won[system], won[other]),
    )


def _choice(counts: Counter[str | None]) -> str | None:
    """The system that more judges of a bag prefer than any other verdict has; None for a tie."""
    best = max(counts.values())
    leading = [name for name, count in counts.items() if count == best]
    return leading[0] if len(leading) == 1 else None


def _told(agreement: Agreement) -> str:
    value = "not defined, only one verdict was given" if agreement.value is None else f"{agreement.value:.3f}"
    return (
        f"{agreement.coefficient} {value}; {100 * agreement.observed:.1f} % of pairs of judges say the same"
        f" ({agreement.items} items, {agreement.judges} judges)"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The first column to the left, the others to the right."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return [
        "  ".join([f"{line[0]:<{widths[0]}}", *(f"{cell:>{w}}" for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    ]
