from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gyro.errors import InputError
from gyro.run.record import FORMAT, read_run

RUN = {"format": FORMAT, "gyro": "1.0", "settings": {}, "bags": 2, "bags_sha256": "0", "nbest": 5, "limits": {}}


def test_what_is_right_is_read(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(RUN | {"more": 1}))
    assert read_run(tmp_path / "run.json") == RUN | {"more": 1}


@pytest.mark.parametrize("change", [{"settings": []}, {"bags": "2"}, {"nbest": None}, {"format": 1}, {"limits": 3}])
def test_a_run_of_wrong_types_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    (tmp_path / "run.json").write_text(json.dumps(RUN | change))
    with pytest.raises(InputError, match=rf"run\.json: found (no run: {next(iter(change))}|the format 1)"):
        read_run(tmp_path / "run.json")
