from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gyro.errors import InputError
from gyro.run.record import FORMAT, JournalLine, parse_journal, read_run

RUN = {"format": FORMAT, "gyro": "1.0", "settings": {}, "bags": 2, "bags_sha256": "0", "nbest": 5, "limits": {}}
LINE: dict[str, Any] = {"bag": 1, "result": {"id": "1"}, "seconds": 0.5, "memory": 7}


def test_what_is_right_is_read(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(RUN | {"more": 1}))
    assert read_run(tmp_path / "run.json") == RUN | {"more": 1}
    assert parse_journal(LINE, "journal", 1) == JournalLine(1, {"id": "1"}, 0.5, 7)


@pytest.mark.parametrize("change", [{"settings": []}, {"bags": "2"}, {"nbest": None}, {"format": 1}, {"limits": 3}])
def test_a_run_of_wrong_types_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    (tmp_path / "run.json").write_text(json.dumps(RUN | change))
    with pytest.raises(InputError, match=rf"run\.json: found (no run: {next(iter(change))}|the format 1)"):
        read_run(tmp_path / "run.json")


@pytest.mark.parametrize("change", [{"bag": []}, {"bag": None}, {"result": []}, {"seconds": "1"}, {"memory": 1.5}])
def test_a_line_of_wrong_types_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="journal:3: found a line that is no result of a bag"):
        parse_journal(LINE | change, "journal", 3)
