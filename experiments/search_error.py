"""How often a search without a proof finds what the exact search proves to be the best.

search_errors   for each run of another algorithm with the same rules and model: how many of its bags have the best cost
errors_by_size  the same by the size of bags
Errors          the counts of one run, of all bags or of those of one size

A bag that was cut is compared piece by piece, because each piece was searched by itself. Where the other algorithm came
down to other fallback rules, its strings are of another language, and the costs tell nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gyro.report.data import Member
from gyro.run.outcome import PRUNED_LESS, RULES, TWO_GRAM_PRUNED_LESS, TWO_GRAM_RULES, Search
from gyro.score.evaluation import SIZES, size_classes

# Costs are written with four decimals, and summed up in single precision by OpenFst.
TOLERANCE = 2e-3
_EXACT = "exact"
_SAME = ("index", "model", "rules", "overlap", "phrase_cost", "max_tokens")


class Errors(NamedTuple):
    """What became of the bags and pieces of bags that a search ordered: best, dearer, or by other rules."""

    name: str
    best: int
    dearer: int
    other_rules: int


def search_errors(members: Sequence[Member]) -> list[Errors]:
    """One line for each run that can be compared; its bags may be some of those of the exact search."""
    return [_errors(member.name, [kind for _, kind in found]) for member, found in _all_compared(members)]


def errors_by_size(members: Sequence[Member]) -> dict[str, dict[str, Errors]]:
    """For each run that can be compared, and each class of sizes (of bags, or of the pieces of cut ones)."""
    return {
        member.name: {
            size: _errors(member.name, [kind for (_, kind), is_in in zip(found, which, strict=True) if is_in])
            for size, which in size_classes(np.array([tokens for tokens, _ in found]), SIZES).items()
        }
        for member, found in _all_compared(members)
    }


def _errors(name: str, kinds: Sequence[str]) -> Errors:
    return Errors(name, *(kinds.count(kind) for kind in Errors._fields[1:]))


def _all_compared(members: Sequence[Member]) -> list[tuple[Member, list[tuple[int, str]]]]:
    exact = {_key(member): member for member in members if member.settings.get("algorithm") == _EXACT}
    others = [member for member in members if member.settings.get("algorithm") not in (_EXACT, None)]
    return [(member, _compared(member, exact[_key(member)])) for member in others if _key(member) in exact]


def _key(member: Member) -> tuple[object, ...]:
    return tuple(str(member.settings.get(name)) for name in _SAME)


def _compared(member: Member, exact: Member) -> list[tuple[int, str]]:
    """The size and what became of each bag or piece whose optimum is proved."""
    proved = {entry.outcome.id: entry.outcome for entry in exact.entries}
    found = []
    for outcome in (entry.outcome for entry in member.entries if entry.ok):
        for search, best in zip(outcome.searches, proved[outcome.id].searches, strict=True):
            if not best.proved or search.cost is None or best.cost is None:
                continue
            if _rules(search) != _rules(best):
                kind = "other_rules"
            else:
                kind = "best" if search.cost <= best.cost + TOLERANCE else "dearer"
            found.append((best.tokens or 0, kind))
    return found


def _rules(search: Search) -> str | None:
    """The rules that an order was made by; those of a wider β are the ones that were asked for."""
    return {PRUNED_LESS: RULES, TWO_GRAM_PRUNED_LESS: TWO_GRAM_RULES}.get(str(search.rung), search.rung)
