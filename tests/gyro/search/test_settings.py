"""Settings of generation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gyro.errors import InputError
from gyro.search.settings import Settings


@pytest.mark.parametrize(
    "wrong",
    [
        {"algorithm": "magic"},
        {"rules": "0-3"},
        {"rules": "5-3"},
        {"beta": -1.0},
        {"beam": 0},
        {"time_limit": 0.0},
        {"time_limit": float("nan")},
        {"beta": float("nan")},
        {"steps": 0},
        {"memory_limit": "much"},
        {"grammar": "ternary"},
        {"grammar": "binary"},
        {"algorithm": "full", "cell_start": "anywhere"},
        {"algorithm": "full", "grammar": "binary", "cell_start": "middle"},
        {"overlap": -1},
        {"joints": "glued"},
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        Settings(**wrong)  # type: ignore[arg-type]


def test_rules_follow_the_algorithm_unless_given() -> None:
    assert Settings().rule_lengths == (1, 5)
    assert replace(Settings(), algorithm="pruned-parsing").rule_lengths == (3, 5)
    assert Settings(rules="2-4").to_json()["rules"] == "2-4"
