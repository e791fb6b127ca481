from __future__ import annotations

import json
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.run.title import settings_title, system_names
from tests.gyro.report.samples import make_run


@pytest.mark.parametrize(
    ("settings", "title"),
    [
        ({"algorithm": "exact", "beam": 64, "rules": "1-5", "model_order": 4}, "exact, 4-gram"),
        ({"algorithm": "beam", "beam": 8, "rules": "3-5"}, "beam 8, rules 3-5"),
        ({"algorithm": "exact", "model_order": 3, "neural": {"weight": 2.5}}, "exact, 3-gram + neural search"),
        ({"command": "rescore", "models": [{"name": "SB5"}, {"name": "LM4"}]}, "+ SB5 + LM4"),
        ({"command": "rescore", "models": ["odd"]}, None),
        ({"command": "rescore", "neural_model": "f0", "budget": 0}, "+ neural model"),
        ({"command": "rescore", "neural_model": "f0", "budget": 300}, "+ neural search"),
        ({"command": "rescore", "dependency_model": "f0"}, "+ dependency LM"),
        ({"command": "mbr"}, "LMBR"),
        ({}, None),
    ],
)
def test_what_settings_say(settings: dict[str, object], title: str | None) -> None:
    assert settings_title(settings) == title


def test_names(tmp_path: Path) -> None:
    """Given names and those of folders that people named; settings where the program has named the folder."""
    facts = {"algorithm": "beam", "beam": 4, "model_order": 3}
    ours, theirs = (make_run(tmp_path / name / "generated", 1, **facts) for name in ("ours", "theirs"))
    mbr = make_run(tmp_path / "ours" / "mbr", 1)
    record = json.loads((mbr / "run.json").read_text())
    (mbr / "run.json").write_text(json.dumps({**record, "settings": {"command": "mbr"}}))
    plain = tmp_path / "generated"
    plain.write_text("a\n")

    def names(*named: tuple[Path, str | None]) -> list[str]:
        return system_names(named)

    assert names((ours, None)) == ["beam 4, 3-gram"]
    assert names((ours, "generated")) == ["generated"]
    assert names((ours, None), (theirs, None)) == ["ours: beam 4, 3-gram", "theirs: beam 4, 3-gram"]
    assert names((ours, None), (theirs, "beam 4, 3-gram")) == ["ours: beam 4, 3-gram", "beam 4, 3-gram"]
    assert names((plain, None)) == ["generated"]
    assert names((mbr, None)) == ["mbr"]
    (tmp_path / "ours" / "config.toml").write_text("")
    assert names((mbr, None)) == ["LMBR"]
    with pytest.raises(InputError, match="twice"):
        names((ours, "a"), (theirs, "a"))
