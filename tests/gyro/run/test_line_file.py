from __future__ import annotations

import os
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.run.line_file import LineFile, json_lines


@pytest.mark.parametrize("text", ["", "a\n", "a\n\nüß\n", "no end\nof the last line"])
def test_lines_by_number(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    lines = LineFile(path, lambda line, number: (number, line.rstrip("\n")))
    expected = list(enumerate(text.splitlines(), 1))
    assert list(lines) == expected
    assert [lines[number] for number in range(len(lines))] == expected
    assert lines[1:] == expected[1:]
    with pytest.raises(IndexError):
        lines[len(expected)]


def test_a_file_that_takes_the_name_later_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old\n")
    (tmp_path / "new").write_text("another\n")
    lines = LineFile(tmp_path / "file", lambda line, _number: line.strip())
    os.replace(tmp_path / "new", tmp_path / "file")
    assert lines[0] == "old"


def test_mistakes_have_their_place(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing: cannot read: No such file"):
        LineFile(tmp_path / "missing", lambda line, number: line)
    (tmp_path / "file").write_bytes(b'{"a": 1}\n[1]\n\xff\n')
    lines = json_lines(tmp_path / "file", lambda record, number: (record, number))
    assert lines[0] == ({"a": 1}, 1)
    for number, message in ((1, "file:2: found JSON that is not an object"), (2, "file:3: found a line that is not")):
        with pytest.raises(InputError, match=message):
            lines[number]
