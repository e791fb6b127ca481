"""ONNX graphs, written node by node: the one module that touches onnx.

Graph          nodes and tensors as they are added, in float32 or in eight bits
TensorFile     the file beside the graphs that holds their matrices; the runtime maps it
to_eight_bits  a matrix in whole numbers, with a scale for each row

In eight bits, each row of activations has a scale of its own (a scale of the whole batch would make scores depend on
what else is in it), and each output of a matrix has one. Sums are in whole numbers, so they are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from onnx import helper as make
from onnx.numpy_helper import from_array

from gyro.files import write_atomically
from lm.neural.weights import Matrix

ROW = np.array([-1], np.int64)  # the axis along a row
_ALIGNMENT = 4096  # of mapped tensors
_SMALL = 1024  # bytes: smaller tensors are in the graph itself
_MIDDLE = 128  # the zero of unsigned bytes
_MOST = 127.0

Array = NDArray[Any]
Sizes = Sequence[str | int]  # of a tensor; names stand for sizes that are known when the graph runs


class TensorFile:
    """Matrices one after the other; several graphs may use one of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._context = write_atomically(path)
        self._size = 0
        self._file: IO[bytes]

    def __enter__(self) -> Self:
        self._file = self._context.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._context.__exit__(kind, error, trace)

    def add(self, name: str, array: Array) -> TensorProto:
        """Write a matrix, and give the tensor that stands for it in graphs."""
        array = np.ascontiguousarray(array)
        self._file.write(b"\0" * (-self._size % _ALIGNMENT))
        offset = self._size + (-self._size % _ALIGNMENT)
        self._file.write(array.data)
        self._size = offset + array.nbytes
        tensor = TensorProto(
            name=name,
            dims=array.shape,
            data_type=make.np_dtype_to_tensor_dtype(array.dtype),
            data_location=TensorProto.EXTERNAL,
        )
        for key, value in (("location", self._path.name), ("offset", offset), ("length", array.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
        return tensor


class Graph:
    """Nodes and tensors as they are added."""

    def __init__(self, tensors: TensorFile, *, eight_bits: bool) -> None:
        self.eight_bits = eight_bits
        self._tensors = tensors
        self._nodes: list[Any] = []
        self._observed: dict[str, str] = {}  # what goes into the products, by their names
        self._initializers: list[TensorProto] = []
        self._small: dict[tuple[bytes, str, tuple[int, ...]], str] = {}

    def op(self, kind: str, inputs: Sequence[str], outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
        names = [f"t{len(self._nodes)}.{k}" for k in range(outputs)]
        self._nodes.append(make.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value: Any, dtype: Any = None) -> str:
        array = np.asarray(value, dtype)
        key = (array.tobytes(), str(array.dtype), array.shape) if array.nbytes <= _SMALL else None
        if key in self._small:
            return self._small[key]
        name = f"c{len(self._initializers)}"
        tensor = from_array(array, name) if key else self._tensors.add(name, array)
        self._initializers.append(tensor)
        if key:
            self._small[key] = name
        return name

    def multiply(self, a: str, b: str) -> str:
        return str(self.op("MatMul", [a, b]))

    def parts(self, name: str, axis: int, width: int, most: int) -> list[str]:
        """The tensor cut along an axis of this width into parts of `most` at most."""
        if width <= most:
            return [name]
        sizes = [min(most, width - begin) for begin in range(0, width, most)]
        return list(self.op("Split", [name, self.constant(sizes, np.int64)], len(sizes), axis=axis))

    def filled(self, sizes: str, value: np.generic) -> str:
        """A tensor of these sizes that has one value throughout."""
        return str(self.op("ConstantOfShape", [sizes], value=from_array(np.array([value]))))

    def rename(self, name: str, output: str) -> None:
        self._nodes.append(make.make_node("Identity", [name], [output]))

    def prepare(self, rows: str, name: str = "") -> str | tuple[str, str]:
        """The rows as a product takes them: as they are, or as bytes with a scale for each row."""
        if name:
            self._observed[name] = rows
        if not self.eight_bits:
            return rows
        largest = self.op("ReduceMax", [self.op("Abs", [rows]), self.constant(ROW)], keepdims=1)
        scale = self.op("Mul", [self.op("Max", [largest, self.constant(1e-8, np.float32)]), self._f32(1 / _MOST)])
        flat = self.op("Squeeze", [scale, self.constant(ROW)])
        zero = self.filled(self.op("Shape", [flat]), np.uint8(_MIDDLE))
        return self.op("QuantizeLinear", [rows, flat, zero], axis=0), scale

    def product(self, rows: str | tuple[str, str], matrix: Matrix, bias: Matrix | None = None) -> str:
        """rows · matrixᵀ + bias."""
        if isinstance(rows, str):
            result = self.op("MatMul", [rows, self.constant(np.ascontiguousarray(matrix.T))])
        else:
            scale, eight = to_eight_bits(matrix)
            result = self.op(
                "MatMulIntegerToFloat",
                [
                    rows[0],
                    self.constant(np.ascontiguousarray(eight.T)),
                    self.constant([1.0], np.float32),
                    self.constant(scale),
                    self.constant(_MIDDLE, np.uint8),
                ],
                domain="com.microsoft",
            )
            result = self.op("Mul", [result, rows[1]])
        return result if bias is None else str(self.op("Add", [result, self.constant(bias)]))

    def norm(self, rows: str, weight: Matrix, epsilon: float) -> str:
        return str(
            self.op(
                "SimplifiedLayerNormalization", [rows, self.constant(weight)], axis=-1, epsilon=epsilon, stash_type=1
            )
        )

    def _f32(self, value: float) -> str:
        return self.constant(value, np.float32)

    def observe(self) -> list[str]:
        """Give the largest sizes of what goes into each product as outputs, and their names."""
        for name, rows in self._observed.items():
            largest = self.op("ReduceMax", [self.op("Abs", [rows]), self.constant([0], np.int64)], keepdims=0)
            self.rename(largest, name)
        return list(self._observed)

    def save(
        self, path: Path, inputs: Mapping[str, tuple[type[np.generic], Sizes]], outputs: Mapping[str, Sizes | None]
    ) -> None:
        """Write the graph; inputs have types and sizes, outputs are float32."""
        given = [_value(name, kind, sizes) for name, (kind, sizes) in inputs.items()]
        made = [_value(name, np.float32, sizes) for name, sizes in outputs.items()]
        graph = make.make_graph(self._nodes, "gyro", given, made, self._initializers)
        opsets = [make.make_opsetid("", 18), make.make_opsetid("com.microsoft", 1)]
        with write_atomically(path) as file:
            file.write(make.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString())


def _value(name: str, kind: type[np.generic], sizes: Sizes | None) -> Any:
    number = make.np_dtype_to_tensor_dtype(np.dtype(kind))
    return make.make_tensor_value_info(name, number, None if sizes is None else list(sizes))


def to_eight_bits(matrix: Matrix) -> tuple[Matrix, NDArray[np.int8]]:
    """The scale of each row, and the row in whole numbers from -127 to 127."""
    scale = np.maximum(np.abs(matrix).max(axis=1), 1e-12).astype(np.float32) / np.float32(_MOST)
    return scale, np.clip(np.round(matrix / scale[:, None]), -_MOST, _MOST).astype(np.int8)
