"""How often a search without a proof finds what the exact search proves to be the best.

search_errors  for each run of another algorithm with the same rules and model: how many of its bags have the best cost
Errors         the counts of one run

A bag that was cut is compared run by run, because each of its runs was searched by itself. Where the other algorithm
came down to other fallback rules, its strings are of another language, and the costs tell nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gyro.report_data import Member

# Costs are written with four decimals, and summed up in single precision by OpenFst.
TOLERANCE = 2e-3
_EXACT = "exact"
_SAME = ("index", "model", "rules", "phrase_cost", "max_tokens")
_LOOSER_PRUNING = "pruned less"  # the rules are those that were asked for


class Errors(NamedTuple):
    """What became of the bags and runs of cut bags that a search ordered: best, dearer, or by other rules."""

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
    proved = {entry.result["id"]: entry.result for entry in exact.entries}
    counts = {"best": 0, "dearer": 0, "other_rules": 0}
    for result in member.records():
        for found, best in zip(_parts(result), _parts(proved[result["id"]]), strict=True):
            if not best.get("proved"):
                continue
            if _rules(found) != _rules(best):
                counts["other_rules"] += 1
            else:
                counts["best" if found["cost"] <= best["cost"] + TOLERANCE else "dearer"] += 1
    return Errors(member.name, **counts)


def _parts(result: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return result.get("runs") or [result]


def _rules(part: Mapping[str, Any]) -> str:
    rung = str(part.get("rung"))
    return "rules" if rung == _LOOSER_PRUNING else rung
