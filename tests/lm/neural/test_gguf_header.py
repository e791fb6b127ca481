"""The head of GGUF files, against the reader of the package gguf."""

from __future__ import annotations

import struct
from pathlib import Path

import gguf
import numpy as np
import pytest

from gyro.errors import InputError
from lm.neural.gguf_header import field, read_header
from tests.lm.neural.tiny import FAMILIES, tiny_model, write_gguf


@pytest.mark.parametrize("kind", FAMILIES)
def test_facts_and_tensors_are_those_that_the_package_reads(kind: str, tmp_path: Path) -> None:
    path = write_gguf(tiny_model(kind), tmp_path / "tiny.gguf", "Q8_0")
    header, theirs = read_header(path, memoryview(path.read_bytes())), gguf.GGUFReader(path)
    facts = {name: one.contents() for name, one in theirs.fields.items() if not name.startswith("GGUF.")}
    ours = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in header.facts.items()}
    assert ours == facts
    assert [(one.name, one.shape[::-1], one.kind, one.offset) for one in header.tensors.values()] == [
        (one.name, tuple(one.shape.tolist()), one.tensor_type.value, one.data_offset) for one in theirs.tensors
    ]
    assert [one.items for one in header.tensors.values()] == [one.n_elements for one in theirs.tensors]


def test_a_file_cut_off_in_its_head_is_refused_wherever_it_ends(tmp_path: Path) -> None:
    path = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf", "Q8_0")
    data = path.read_bytes()
    header = read_header(path, memoryview(data))
    begin = min(tensor.offset for tensor in header.tensors.values())
    # Between the end of the head and the numbers is padding of less than 32 bytes.
    for size in [*range(200), *range(200, begin - 32, 97)]:
        with pytest.raises(InputError, match=r"tiny\.gguf: (found|the head)"):
            read_header(path, memoryview(data[:size]))


def _fact(name: bytes, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + value


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "found no GGUF file"),
        (b"PK\3\4" + bytes(100), "found no GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "found version 1 of GGUF; 2 and 3"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "found version 50331648"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0), f"a count of {1 << 60} tensors in 24 bytes"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 40), f"a count of {1 << 40} facts in 24 bytes"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 50) + bytes(90), f"{1 << 50} bytes asked"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + _fact(b"a", 9, struct.pack("<IQ", 4, 1 << 33)), "8589934592 values"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + _fact(b"a", 9, struct.pack("<IQ", 9, 2) + bytes(9)), "of type 9"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + _fact(b"a", 77, bytes(9)), "a value of type 77"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + _fact(b"\xff", 7, b"\1"), "not UTF-8"),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + _fact(b"general.alignment", 4, struct.pack("<I", 0)),
            "the alignment 0",
        ),
        (b"GGUF" + struct.pack("<IQQQ", 3, 1, 0, 1) + b"t" + struct.pack("<I", 9) + bytes(99), "found 9 dimensions"),
    ],
)
def test_what_is_no_head_is_refused_before_memory_is_taken(data: bytes, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_header(Path("model.gguf"), memoryview(data))
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_an_array_longer_than_any_vocabulary_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lm.neural.gguf_header.MOST_ITEMS", 4)
    array = struct.pack("<IQ", 0, 5) + bytes(5)
    with pytest.raises(InputError, match="an array of 5 values; up to 4 are read"):
        read_header(
            Path("m.gguf"), memoryview(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + _fact(b"a", 9, array) + bytes(9))
        )


def test_facts_have_their_types(tmp_path: Path) -> None:
    path = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf")
    header = read_header(path, memoryview(path.read_bytes()))
    assert field(header, "llama.block_count", int) == 2
    assert field(header, "llama.block_count", float) == 2.0
    assert field(header, "nothing.there", int, 7) == 7
    with pytest.raises(
        InputError, match=r"tiny\.gguf: found text as general\.architecture; a whole number is read there"
    ):
        field(header, "general.architecture", int)
    with pytest.raises(InputError, match=r"found nothing as llama\.width"):
        field(header, "llama.width", int)
