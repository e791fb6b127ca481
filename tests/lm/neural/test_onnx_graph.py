from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm.neural.onnx_graph import Graph, TensorFile, to_eight_bits
from lm.neural.runtime import Session


@given(st.lists(st.lists(st.floats(-1e4, 1e4, width=32), min_size=3, max_size=3), min_size=1, max_size=4))
def test_bytes_are_half_a_step_off_at_most(rows: list[list[float]]) -> None:
    matrix = np.array(rows, np.float32)
    scale, eight = to_eight_bits(matrix)
    assert np.all(np.abs(eight.astype(int)) <= 127)
    assert np.all(np.abs(eight * scale[:, None] - matrix) <= 0.5001 * scale[:, None])


def test_tensors_are_aligned_and_shared(tmp_path: Path) -> None:
    arrays = [np.arange(5, dtype=np.float32), np.arange(6, dtype=np.int8).reshape(2, 3)]
    with TensorFile(tmp_path / "some.bin") as tensors:
        protos = [tensors.add(f"t{number}", array) for number, array in enumerate(arrays)]
    data = (tmp_path / "some.bin").read_bytes()
    for proto, array in zip(protos, arrays, strict=True):
        place = {entry.key: entry.value for entry in proto.external_data}
        offset = int(place["offset"])
        assert place["location"] == "some.bin"
        assert offset % 4096 == 0
        assert data[offset : offset + int(place["length"])] == array.tobytes()


@pytest.mark.parametrize("eight_bits", [False, True])
def test_products_are_those_of_numpy(tmp_path: Path, eight_bits: bool) -> None:
    dice = np.random.default_rng(3)
    rows, matrix, bias = (dice.normal(size=size).astype(np.float32) for size in ((5, 16), (7, 16), (7,)))
    with TensorFile(tmp_path / "t.bin") as tensors:
        graph = Graph(tensors, eight_bits=eight_bits)
        graph.rename(graph.product(graph.prepare("rows", "seen"), matrix, bias), "product")
        graph.save(tmp_path / "g.onnx", {"rows": (np.float32, ("N", 16))}, {"product": ("N", 7)})
        seen = dict.fromkeys(graph.observe())
        graph.save(tmp_path / "o.onnx", {"rows": (np.float32, ("N", 16))}, {"product": ("N", 7), **seen})
    [found] = Session(tmp_path / "g.onnx").run(["product"], {"rows": rows})
    np.testing.assert_allclose(found, rows @ matrix.T + bias, atol=0.15 if eight_bits else 1e-5)
    same, largest = Session(tmp_path / "o.onnx").run(["product", "seen"], {"rows": rows})
    assert (same == found).all()
    assert (largest == np.abs(rows).max(axis=0)).all()
