"""Files appear whole or not at all."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.files import check_type, parse_json, read_json, write_atomically, write_json, write_text


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


# ---- temporary files


def test_a_file_has_the_permissions_that_others_would_have(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "file", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_temporary_names_cannot_be_guessed(tmp_path: Path) -> None:
    names = set()
    for _ in range(2):
        with write_atomically(tmp_path / "file", "w"):
            names.update(path.name for path in tmp_path.iterdir() if path.name != "file")
    assert len(names) == 2
    assert all(re.fullmatch(r"\.file\.[0-9a-f]{16}\.tmp", name) for name in names)


def test_a_link_under_the_name_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("theirs")
    (tmp_path / "file").symlink_to(tmp_path / "other")
    write_text(tmp_path / "file", "ours")
    assert (tmp_path / "other").read_text() == "theirs"
    assert not (tmp_path / "file").is_symlink()


def test_a_long_name_leaves_room_for_the_temporary_one(tmp_path: Path) -> None:
    write_text(tmp_path / ("é" * 127), "x")
    assert [path.name for path in tmp_path.iterdir()] == ["é" * 127]


WRITER = """
import sys, time
from pathlib import Path
from gyro.files import scratch_folder, write_atomically

target = Path(sys.argv[1])
with scratch_folder(target) as scratch, write_atomically(target, "w") as file:
    (scratch / "large").write_text("x")
    file.write("half")
    print("ready", flush=True)
    time.sleep(600)
"""


def test_only_what_dead_processes_left_is_removed(tmp_path: Path) -> None:
    living, dead = (
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / name)], stdout=subprocess.PIPE)
        for name in ("living", "dead")
    )
    try:
        for process in (living, dead):
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        dead.kill()
        dead.wait()
        (tmp_path / ".notes.tmp").write_text("somebody's own")
        assert len(list(tmp_path.glob(".dead.*"))) == 2
        write_text(tmp_path / "new", "x")
        names = sorted(re.sub("[0-9a-f]{16}", "#", path.name) for path in tmp_path.iterdir())
        assert names == [".living.#.scratch", ".living.#.tmp", ".notes.tmp", "new"]
    finally:
        for process in (living, dead):
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


# ---- JSON of others


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested too deep"),
        ('{"a": ' * 100_000, "nested too deep"),
        ("9" * 400, "too large"),
        ("9" * 5000, "too large"),
        ("9223372036854775808", "too large"),
        ("1" * 400 + ".5", "too large"),
        ("1e999", "too large"),
        (r'"\ud800"', "half of a surrogate pair"),
        ("{", "Expecting"),
    ],
)
def test_json_that_no_program_can_use_is_refused_in_words(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_json(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("1e300", 1e300),
        (r'"\ud83d\ude00"', "\U0001f600"),
        ('"12345678901234567890123"', "12345678901234567890123"),
        ("[1.25, null]", [1.25, None]),
    ],
)
def test_json_that_can_be_used_is_read(text: str, value: object) -> None:
    assert parse_json(text) == value


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(InputError, match=r"a\.json: not a JSON file: .*0xff"):
        read_json(tmp_path / "a.json")


@dataclass(frozen=True)
class Shape:
    sides: int
    names: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"sides": "3"}, "sides: Input should be a valid integer"),
        ({"sides": True}, "sides"),
        ({"names": ["a"]}, "sides: Field required"),
        ({"sides": 3, "names": [1]}, "names.0"),
        ([], "Input should be an object"),
    ],
)
def test_wrong_types_are_named(value: object, message: str) -> None:
    with pytest.raises(InputError, match=rf"^shapes:7: found no shape: .*{message}"):
        check_type(Shape, value, "shape", "shapes", 7)


def test_right_types_are_read() -> None:
    assert check_type(Shape, {"sides": 3, "names": ["a"]}, "shape", "shapes") == Shape(3, ("a",))
