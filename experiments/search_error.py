"""How often a search without a proof finds what the exact search proves to be the best.

search_errors  for each run of another algorithm with the same rules and model: how many of its bags have the best cost
Errors         the counts of one run

A bag that was cut is compared piece by piece, because each piece was searched by itself. Where the other algorithm came
down to other fallback rules, its strings are of another language, and the costs tell nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gyro.report.data import Member
from gyro.run.outcome import PRUNED_LESS, RULES, Search

# Costs are written with four decimals, and summed up in single precision by OpenFst.
TOLERANCE = 2e-3
_EXACT = "exact"
_SAME = ("index", "model", "rules", "phrase_cost", "max_tokens")


class Errors(NamedTuple):
    """What became of the bags and pieces of bags that a search ordered: best, dearer, or by other rules."""

    name: str
    best: int
    dearer: int
    other_rules: int


def search_errors(members: Sequence[Member]) -> list[Errors]:
    """One line for each run that can be compared; its bags may be some of those of the exact search."""
    exact = {_key(member): member for member in members if member.settings.get("algorithm") == _EXACT}
    others = [member for member in members if member.settings.get("algorithm") not in (_EXACT, None)]
    return [_count(member, exact[_key(member)]) for member in others if _key(member) in exact]


def _key(member: Member) -> tuple[object, ...]:
    return tuple(str(member.settings.get(name)) for name in _SAME)


def _count(member: Member, exact: Member) -> Errors:
    proved = {entry.outcome.id: entry.outcome for entry in exact.entries}
    counts = {"best": 0, "dearer": 0, "other_rules": 0}
    for outcome in (entry.outcome for entry in member.entries if entry.ok):
        for found, best in zip(outcome.searches, proved[outcome.id].searches, strict=True):
            if not best.proved or found.cost is None or best.cost is None:
                continue
            if _rules(found) != _rules(best):
                counts["other_rules"] += 1
            else:
                counts["best" if found.cost <= best.cost + TOLERANCE else "dearer"] += 1
    return Errors(member.name, **counts)


def _rules(search: Search) -> str | None:
    """The rules that an order was made by; those of a wider β are the ones that were asked for."""
    return RULES if search.rung == PRUNED_LESS else search.rung
