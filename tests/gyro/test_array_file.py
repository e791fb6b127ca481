from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from gyro.array_file import map_array, read_arrays
from gyro.errors import InputError


def npz(**arrays: object) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def test_arrays_come_back(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(npz(x=np.arange(3), y=np.zeros(2, np.float32)))
    x, y = read_arrays(tmp_path / "a.npz", "numbers", x=np.int64, y=np.float32)
    assert x.tolist() == [0, 1, 2]
    assert y.dtype == np.float32


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not numbers"),
        (b"PK\x03\x04", "not numbers"),
        (npz(y=np.arange(3)), "not numbers: .*x"),
        (npz(x=np.zeros(3)), "not numbers: found float64 × .*a row of int64 is needed"),
        (npz(x=np.zeros((2, 2), np.int64)), "not numbers: .*a row of int64 is needed"),
        (npz(x=np.arange(3))[:-30], "not numbers"),
        # A size that no memory holds.
        (npz(x=np.arange(3)).replace(b"(3,), ", b"(99999999999999,), ")[:5000], "not numbers"),
    ],
)
def test_damage_is_one_line(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(InputError, match=rf"a\.npz: {message}") as caught:
        read_arrays(tmp_path / "a.npz", "numbers", x=np.int64)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("old", "new"), [(b"(3,), }", b"(3,), ("), (b"'descr'", b"}descr'"), (b"(3,)", b"(9,)")])
def test_a_damaged_header_is_one_line(tmp_path: Path, old: bytes, new: bytes) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    assert map_array(tmp_path / "a.npy", "numbers").tolist() == [0, 1, 2]
    data = (tmp_path / "a.npy").read_bytes()
    assert old in data
    (tmp_path / "a.npy").write_bytes(data.replace(old, new))
    with pytest.raises(InputError, match=r"a\.npy: not numbers"):
        map_array(tmp_path / "a.npy", "numbers")
