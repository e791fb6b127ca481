from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from experiments.search_error import Errors, errors_by_size, search_errors
from gyro.report.data import Member
from gyro.run.folder import Entry, Run
from gyro.run.outcome import Outcome


def member(name: str, results: list[dict[str, Any]], **settings: object) -> Member:
    chosen = {"index": "i", "model": "m", "rules": "3-5", "phrase_cost": "", "max_tokens": 20, **settings}
    common = {"status": "ok", "reason": None, "rung": "rules"}
    entries = tuple(Entry(Outcome(**{**common, **result}), 0.1, 0) for result in results)
    return Member(name, Path(name), (), cast(Run, SimpleNamespace(settings=chosen)), {}, entries)


EXACT = member(
    "exact",
    [
        {"id": "1", "cost": 10.0, "proved": True},
        {"id": "2", "cost": 20.0, "proved": True},
        {"id": "3", "cost": 30.0, "proved": True, "rung": "2-gram rules"},
        {"id": "4", "cost": 40.0, "proved": False},
        {
            "id": "5",
            "cost": 70.0,
            "proved": False,
            "runs": [{"cost": 50.0, "proved": True, "rung": "rules"}, {"cost": 20.0, "proved": True, "rung": "rules"}],
        },
        {"id": "6", "cost": 60.0, "proved": True},
    ],
    algorithm="exact",
)


def test_each_bag_is_counted_once_and_each_piece_of_a_cut_one() -> None:
    runs = [{"cost": 50.0, "rung": "pruned less"}, {"cost": 21.0, "rung": "rules"}]
    beam = member(
        "beam",
        [
            {"id": "1", "cost": 10.0001},
            {"id": "2", "cost": 20.5},
            {"id": "3", "cost": 25.0, "rung": "1-gram rules"},
            {"id": "4", "cost": 40.0},
            {"id": "5", "cost": 71.0, "runs": runs},
            {"id": "6", "cost": None, "status": "failed"},
        ],
        algorithm="beam",
    )
    assert search_errors([EXACT, beam]) == [Errors("beam", best=2, dearer=2, other_rules=1)]


def test_runs_with_other_rules_or_models_are_left_out() -> None:
    results = [{"id": "1", "cost": 10.0}]
    others = [
        member("rules", results, algorithm="full", rules="1-5"),
        member("model", results, algorithm="full", model="other"),
        member("rescored", results),
        member("some", results, algorithm="full"),
    ]
    assert search_errors([*others, EXACT]) == [Errors("some", best=1, dearer=0, other_rules=0)]
    assert search_errors(others) == []


def test_errors_are_told_by_size_and_a_wider_beam_has_the_rules_that_were_asked_for() -> None:
    exact = member(
        "exact",
        [
            {"id": "1", "cost": 10.0, "proved": True, "tokens": 4},
            {"id": "2", "cost": 20.0, "proved": True, "tokens": 7, "rung": "2-gram rules"},
            {"id": "3", "cost": 30.0, "proved": True, "tokens": 8},
        ],
        algorithm="exact",
    )
    results = [
        {"id": "1", "cost": 10.0, "tokens": 4},
        {"id": "2", "cost": 21.0, "tokens": 7, "rung": "2-gram rules, pruned less"},
        {"id": "3", "cost": 30.0, "tokens": 8},
    ]
    parsing = member("parsing", results, algorithm="pruned-parsing")
    overlapping = member("other", results, algorithm="pruned-parsing", overlap=1)
    assert errors_by_size([exact, parsing, overlapping]) == {
        "parsing": {"1-5": Errors("parsing", 1, 0, 0), "6-10": Errors("parsing", 1, 1, 0)}
    }
