"""ONNX Runtime: the one module that touches it.

Session  a graph on the disk, ready to run on one thread
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        # What a batch took is given back in pieces: batches differ in size, and an arena would keep the largest of all.
        options.enable_cpu_mem_arena = True
        options.enable_mem_pattern = False
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its errors have no common class that could be named
            raise InputError(f"the runtime cannot load this graph: {error!s:.200}", path=path) from error

    def run(self, outputs: Sequence[str], inputs: Mapping[str, Array]) -> list[Array]:
        """The outputs of these names."""
        return list(self._session.run(list(outputs), dict(inputs)))

    def output_names(self) -> list[str]:
        return [output.name for output in self._session.get_outputs()]
