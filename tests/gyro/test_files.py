"""Files appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.files import read_json, write_atomically, write_json, write_text


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_text(file, "old")

    def fail() -> None:
        with write_atomically(file, "w") as f:
            f.write("half")
            raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        fail()
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_json_bytes_depend_on_the_value_alone(tmp_path: Path) -> None:
    write_json(tmp_path / "a", {"x": 1, "é": [2]})
    write_json(tmp_path / "b", {"é": [2], "x": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert read_json(tmp_path / "a") == {"x": 1, "é": [2]}


@pytest.mark.parametrize(("text", "message"), [("{", "not a JSON file"), ("[1]", "not an object")])
def test_json_that_cannot_be_used_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "file.json"
    file.write_text(text)
    with pytest.raises(InputError, match=f"file.json: .*{message}"):
        read_json(file)


def test_a_folder_that_is_missing_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write: No such file"):
        write_text(tmp_path / "no" / "file", "x")
