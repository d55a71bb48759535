"""An ONNX file being written: operators, inputs, outputs and tensors, each named once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader.needs import need

OPERATORS, OWN = "", "com.microsoft"
VERSIONS = {OPERATORS: 18, OWN: 1}
"""Sets of operators: the standard's and onnxruntime's own."""
FORMAT = 8
"""Version of the file format that goes with these."""
ELSEWHERE = "weights"
"""What stands for the file of tensors that are given when the graph is opened; there is no such file."""

Shape = Sequence[str | int]
"""A size that is a name may differ from run to run."""


class Graph:
    """Operators in the order in which they run. The same calls write the same bytes."""

    def __init__(self, name: str) -> None:
        self._onnx = need("onnx", ["onnx"])
        self._name = name
        self._nodes: list[Any] = []
        self._tensors: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def given(self, name: str, dtype: str, shape: Shape) -> str:
        """An input."""
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, self._kind(dtype), shape))
        return name

    def result(self, name: str, value: str, dtype: str, shape: Shape) -> None:
        """An output, of what `node` returned."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name], name))
        self._outputs.append(self._onnx.helper.make_tensor_value_info(name, self._kind(dtype), shape))

    def tensor(self, name: str, values: NDArray[Any]) -> str:
        """A constant, written into the file."""
        self._tensors.append(self._onnx.numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def outside(self, name: str, dtype: str, shape: Sequence[int]) -> str:
        """A constant that is given when the graph is opened (`SessionOptions.add_external_initializers`)."""
        proto = self._onnx.TensorProto
        place = self._onnx.StringStringEntryProto(key="location", value=ELSEWHERE)
        self._tensors.append(
            proto(
                name=name,
                data_type=self._kind(dtype),
                dims=shape,
                data_location=proto.EXTERNAL,
                external_data=[place],
            )
        )
        return name

    def node(
        self, operator: str, *inputs: str, domain: str = OPERATORS, **attributes: float | str | Sequence[int]
    ) -> str:
        """An operator with one output, whose name is returned."""
        output = f"{operator}_{len(self._nodes)}"
        made = self._onnx.helper.make_node(operator, inputs, [output], output, domain=domain, **attributes)
        self._nodes.append(made)
        return output

    def cast(self, value: str, dtype: str) -> str:
        """The value in another type."""
        return self.node("Cast", value, to=self._kind(dtype))

    def write(self, path: Path) -> str:
        """Write the file. Returns its SHA-256."""
        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, self._name, self._inputs, self._outputs, self._tensors)
        sets = [helper.make_opsetid(domain, version) for domain, version in VERSIONS.items()]
        raw = helper.make_model(graph, ir_version=FORMAT, opset_imports=sets).SerializeToString(deterministic=True)
        path.write_bytes(raw)
        return hashlib.sha256(raw).hexdigest()

    def _kind(self, dtype: str) -> int:
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
