from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from gyro.cli.output import open_output, write_line
from gyro.errors import InputError


def test_standard_output_stays_open(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("one\n", "two\n"):
        with open_output("-") as file:
            file.write(text)
    assert capsys.readouterr().out == "one\ntwo\n"


def test_a_file_has_its_name_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with open_output(str(path)) as file:
        file.write("half")
        assert not path.exists()
        file.write(" and half")
    assert path.read_text() == "half and half"
    with pytest.raises(InputError, match="cannot write"):
        open_output(str(tmp_path / "no" / "out")).__enter__()


def test_a_line_is_json_with_letters_as_they_are() -> None:
    file = io.StringIO()
    write_line(file, {"tokens": ["é", "\n"]})
    assert file.getvalue().count("\n") == 1
    assert "é" in file.getvalue()
    assert json.loads(file.getvalue()) == {"tokens": ["é", "\n"]}
