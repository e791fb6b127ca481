from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.index.build import build_index
from gyro.index.reader import HEADER, file_names, header_checksum, open_index
from tests.gyro.index.small_text import SPLIT, TEXT


@pytest.mark.parametrize(
    ("ngram", "count"),
    [
        ("", 14),
        ("the", 5),
        ("cow", 0),
        ("aaa", 0),
        ("zzz", 0),
        ("\ud800", 0),
        ("the dog", 3),
        ("saw the", 2),
        ("dog the", 0),
        ("the cow", 0),
        ("cow the dog", 0),
        ("the dog slept why", 0),
        ("the dog saw the cat", 1),
        ("<s>", 4),
        ("</s>", 4),
        ("<s> the", 3),
        ("dog </s>", 1),
        ("<s> why </s>", 1),
        ("<s> </s>", 0),
        ("</s> <s>", 0),
        ("<unk>", 0),
    ],
)
def test_counts_of_a_small_text(index_path: Path, ngram: str, count: int) -> None:
    assert open_index(index_path).count(ngram.split()) == count


def test_too_long_ngrams_have_no_count(index_path: Path) -> None:
    with pytest.raises(ValueError, match="an n-gram of 6 words"):
        open_index(index_path).count(["the"] * 6)


def test_info_tells_what_is_in_it(index_path: Path) -> None:
    index = open_index(str(index_path))
    info = index.info()
    for part in (str(index_path), index.signature, "tokenizer none", "sentences      4", "tokens         14"):
        assert part in info
    assert "5-grams        7" in info
    assert index.normalisation == SPLIT


def test_signatures_tell_texts_apart(index_path: Path, tmp_path: Path) -> None:
    build_index(TEXT[::-1], tmp_path / "same", normalisation=SPLIT)
    build_index(TEXT[1:], tmp_path / "other", normalisation=SPLIT)
    assert open_index(tmp_path / "same").signature == open_index(index_path).signature
    assert open_index(tmp_path / "other").signature != open_index(index_path).signature


@pytest.mark.parametrize("name", file_names(5))
@pytest.mark.parametrize("damage", ["missing", "empty", "truncated", "longer"])
def test_files_of_the_wrong_size_are_refused(index_path: Path, name: str, damage: str) -> None:
    path = index_path / name
    data = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes({"empty": b"", "truncated": data[:-1], "longer": data + b"\0"}[damage])
    with pytest.raises(InputError, match=f"{name}: ") as caught:
        open_index(index_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", file_names(5))
def test_a_changed_byte_is_found_by_verify(index_path: Path, name: str) -> None:
    path = index_path / name
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=f"{name}: the file is damaged"):
        open_index(index_path).verify()


@pytest.mark.parametrize("name", file_names(5))
@pytest.mark.parametrize("change", [b"\x94NUMPY", b"other"])
def test_files_of_the_right_size_that_are_no_arrays_are_refused(index_path: Path, name: str, change: bytes) -> None:
    path = index_path / name
    path.write_bytes(change + path.read_bytes()[len(change) :])
    with pytest.raises(InputError, match=f"{name}: "):
        open_index(index_path)


def test_arrays_of_another_type_or_length_are_refused(index_path: Path) -> None:
    path = index_path / "keys.3.npy"
    data = path.read_bytes()
    for old, new in ((b"'<u8'", b"'<i8'"), (b"'<u8'", b"'<u4'")):
        path.write_bytes(data.replace(old, new))
        with pytest.raises(InputError, match=r"keys\.3\.npy: "):
            open_index(index_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "arpa"}, "found the format 'arpa'; 'gyro-text-index' is allowed"),
        ({"format": None}, "found the format None"),
        ({"version": 1}, "found version 1 of the format; 2 is allowed: build the index anew"),
        ({"tokens": 15}, "the header is damaged: its checksum is wrong"),
        ({"checksum": "0"}, "the header is damaged"),
        ({"extra": 1}, "the header is damaged"),
    ],
)
def test_changed_headers_are_refused(index_path: Path, change: dict[str, object], message: str) -> None:
    header = json.loads((index_path / HEADER).read_text())
    (index_path / HEADER).write_text(json.dumps(header | change))
    with pytest.raises(InputError, match=message):
        open_index(index_path)


def test_a_header_without_its_files_is_refused(index_path: Path) -> None:
    header = json.loads((index_path / HEADER).read_text())
    del header["files"]["words.npy"]
    (index_path / HEADER).write_text(json.dumps(header | {"checksum": header_checksum(header)}))
    with pytest.raises(InputError, match="does not list the files"):
        open_index(index_path)


@pytest.mark.parametrize("text", ["", "{", "[1]", "no json", '{"a": 1}'])
def test_foreign_headers_are_refused(index_path: Path, text: str) -> None:
    (index_path / HEADER).write_text(text)
    with pytest.raises(InputError, match=HEADER):
        open_index(index_path)


def test_truncated_headers_are_refused(index_path: Path) -> None:
    data = (index_path / HEADER).read_bytes()
    for size in range(0, len(data) - 2, 97):
        (index_path / HEADER).write_bytes(data[:size])
        with pytest.raises(InputError, match=HEADER):
            open_index(index_path)


def test_folders_that_are_no_index_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing: no such folder"):
        open_index(tmp_path / "missing")
    with pytest.raises(InputError, match=r"the folder has no index\.json"):
        open_index(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="file: no such folder"):
        open_index(tmp_path / "file")


def test_an_index_of_an_older_version_is_verified_by_its_own_checksums(index_path: Path) -> None:
    header = json.loads((index_path / HEADER).read_text())
    for name, facts in header["files"].items():
        del facts["xxh128"]
        facts["sha256"] = hashlib.sha256((index_path / name).read_bytes()).hexdigest()
    (index_path / HEADER).write_text(json.dumps(header | {"checksum": header_checksum(header)}))
    open_index(index_path).verify()
    data = bytearray((index_path / "words.npy").read_bytes())
    data[-1] ^= 1
    (index_path / "words.npy").write_bytes(data)
    with pytest.raises(InputError, match=r"words\.npy: the file is damaged"):
        open_index(index_path).verify()
