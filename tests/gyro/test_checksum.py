from __future__ import annotations

from pathlib import Path

import pytest

from gyro.checksum import check_file, file_checksum
from gyro.errors import InputError


def test_checksums_are_the_published_ones(tmp_path: Path) -> None:
    """XXH128 of no bytes, from xxHash's own test vectors, and SHA-256 of "abc", from FIPS 180."""
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "abc").write_bytes(b"abc")
    assert file_checksum(tmp_path / "empty") == "99aa06d3014798d86001c324468d497f"
    assert file_checksum(tmp_path / "abc", "sha256").startswith("ba7816bf8f01cfea414140de5dae2223")


def test_a_changed_bit_is_found_anywhere(tmp_path: Path) -> None:
    file = tmp_path / "file"
    data = bytearray(3 << 20)
    file.write_bytes(data)
    noted = file_checksum(file)
    check_file(file, noted)
    for place in (0, 1 << 20, len(data) - 1):
        data[place] ^= 1
        file.write_bytes(data)
        with pytest.raises(InputError, match="file: the file is damaged or was changed"):
            check_file(file, noted)
        data[place] ^= 1


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    for name in ("missing", "a\0b"):
        with pytest.raises(InputError, match="cannot read"):
            file_checksum(tmp_path / name)
