"""Judgements that several tests share.

said      one judgement
as_lines  judgements as the text of a file
"""

from __future__ import annotations

from collections.abc import Iterable

from gyro.judge.judgement import EQUAL, FIRST, SECOND, Judgement

SYSTEMS = ("exact", "beam")


def said(
    judge: str, bag: object, winner: str | None, systems: tuple[str, str] = SYSTEMS, turned: bool = False
) -> Judgement:
    """What a judge says of a pair that was shown in the order of the systems, or turned round."""
    sides = (systems[1], systems[0]) if turned else systems
    verdict = EQUAL if winner is None else (FIRST, SECOND)[sides.index(winner)]
    orders = tuple(f"{system} on {bag}" for system in systems)
    return Judgement.model_validate(
        {
            "judge": judge,
            "bag": str(bag),
            "systems": systems,
            "sides": sides,
            "orders": orders,
            "verdict": verdict,
            "reference": True,
            "seed": 1,
            "page": "0123456789abcdef",
            "gyro": "0.1.0",
        }
    )


def as_lines(judgements: Iterable[Judgement]) -> str:
    return "".join(judgement.model_dump_json() + "\n" for judgement in judgements)
