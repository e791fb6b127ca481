from __future__ import annotations

from pathlib import Path

import pytest

from gyro.errors import InputError
from lm.kenlm.sidecar import SAMPLES, fingerprint, read_sidecar, sidecar_path, write_sidecar


def test_what_is_written_is_read(tmp_path: Path) -> None:
    model = tmp_path / "m.lm"
    model.write_bytes(b"model")
    assert read_sidecar(model) is None
    write_sidecar(model, model, {"order": 3})
    facts = read_sidecar(model)
    assert facts is not None
    assert facts["order"] == 3
    assert facts["size"] == 5
    assert sidecar_path(model).name == "m.lm.json"


@pytest.mark.parametrize("size", [0, 1, 100, 5_000_000])
def test_a_fingerprint_depends_on_contents_alone(tmp_path: Path, size: int) -> None:
    (tmp_path / "a").write_bytes(bytes(size))
    (tmp_path / "b").write_bytes(bytes(size))
    assert fingerprint(tmp_path / "a") == fingerprint(tmp_path / "b")
    (tmp_path / "b").write_bytes(bytes(size) + b"\0")
    assert fingerprint(tmp_path / "a") != fingerprint(tmp_path / "b")


@pytest.mark.parametrize("sample", [0, 1, SAMPLES // 2, SAMPLES])
def test_a_fingerprint_sees_the_middle_of_a_file(tmp_path: Path, sample: int) -> None:
    data = bytearray(8_000_000)
    (tmp_path / "a").write_bytes(data)
    data[len(data) * sample // (SAMPLES + 1)] = 1
    (tmp_path / "b").write_bytes(data)
    assert fingerprint(tmp_path / "a") != fingerprint(tmp_path / "b")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        fingerprint(tmp_path / "none")
