from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp

from gyro.errors import InputError
from lm.neural import runtime
from lm.neural.graph import write_head
from lm.neural.onnx_graph import TensorFile, to_eight_bits
from lm.neural.runtime import Session


def make_session(folder: Path) -> Session:
    with TensorFile(folder / "head.bin") as tensors:
        write_head(folder / "head.onnx", np.eye(3, 32, dtype=np.float32), tensors, eight_bits=True)
    return Session(folder / "head.onnx")


def test_a_session_starts_no_threads(tmp_path: Path) -> None:
    """Threads do not survive a fork, and workers are forked."""

    def threads() -> int:
        return len(list(Path("/proc/self/task").iterdir()))

    if not Path("/proc/self/task").exists():
        pytest.skip("this system does not list threads in /proc")
    before = threads()
    session = make_session(tmp_path)
    session.run(["normaliser"], {"hidden": np.ones((5, 32), np.float32)})
    assert threads() == before >= threading.active_count()


def test_a_graph_has_the_outputs_of_its_names(tmp_path: Path) -> None:
    assert make_session(tmp_path).output_names() == ["normaliser"]


@pytest.mark.parametrize("content", [None, b"", b"not a graph"])
def test_what_is_no_graph_is_refused_in_one_line(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "some.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match="the runtime cannot load this graph") as error:
        Session(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("overflow", [True, runtime._bytes_overflow()])
def test_sums_of_bytes_are_not_clipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overflow: bool) -> None:
    """Neither on this processor, nor the way in which those without the instructions for them are used."""
    dice = np.random.default_rng(0)
    head = dice.uniform(2, 3, (100, 64)).astype(np.float32)  # sums of two products do not fit into 16 bits
    hidden = dice.uniform(2, 3, (16, 64)).astype(np.float32)
    with TensorFile(tmp_path / "head.bin") as tensors:
        write_head(tmp_path / "head.onnx", head, tensors, eight_bits=True)
    monkeypatch.setattr(runtime, "_bytes_overflow", lambda: overflow)
    [found] = Session(tmp_path / "head.onnx").run(["normaliser"], {"hidden": hidden})
    (scale, rows), (hidden_scale, hidden_rows) = to_eight_bits(head), to_eight_bits(hidden)
    logits = (hidden_rows.astype(int) @ rows.T.astype(int)) * np.outer(hidden_scale, scale).astype(np.float64)
    np.testing.assert_allclose(found, logsumexp(logits, axis=1), rtol=1e-6)
