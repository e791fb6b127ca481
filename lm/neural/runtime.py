"""ONNX Runtime: the one module that touches it.

Session  a graph on the disk, ready to run on one thread
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import onnxruntime
from numpy.typing import NDArray

from gyro.errors import InputError

Array = NDArray[Any]


class Session:
    """A graph. It has no threads of its own, so a process that was forked from this one may use it too.

    Matrices are laid out for the processor when the graph is loaded; forked processes share what that takes.
    """

    def __init__(self, path: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = 4
        options.enable_mem_pattern = False  # it would plan the memory of each size of a batch, and they all differ
        if _bytes_overflow():
            options.add_session_config_entry("session.x64quantprecision", "1")
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its errors have no common class that could be named
            raise InputError(f"the runtime cannot load this graph: {error!s:.200}", path=path) from error

    def run(self, outputs: Sequence[str], inputs: Mapping[str, Array]) -> list[Array]:
        """The outputs of these names."""
        return list(self._session.run(list(outputs), dict(inputs)))

    def output_names(self) -> list[str]:
        return [output.name for output in self._session.get_outputs()]


@cache
def _bytes_overflow() -> bool:
    """Would sums of products of bytes be clipped? On x86 without VNNI; there the runtime has exact ones, but slower."""
    try:
        return "vnni" not in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return True
