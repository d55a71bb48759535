"""An ONNX file being written: operators, inputs, outputs and tensors, each named once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

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

Shape: TypeAlias = Sequence[str | int]
"""A size that is a name may differ from run to run."""
Branch: TypeAlias = Callable[[], Sequence[str]]
"""Makes the nodes of a branch and names what it gives."""


class Graph:
    """Operators in the order in which they run. The same calls write the same bytes."""

    def __init__(self, name: str) -> None:
        self._onnx = need("onnx", ["onnx"])
        self._name = name
        self._nodes: list[Any] = []
        self._made = 0
        self._tensors: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def given(self, name: str, dtype: str, shape: Shape) -> str:
        """An input."""
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, self._kind(dtype), shape))
        return name

    def result(self, name: str, value: str, dtype: str, shape: Shape) -> None:
        """An output, of what `node` returned."""
        self._add(self._onnx.helper.make_node("Identity", [value], [name], name))
        self._outputs.append(self._onnx.helper.make_tensor_value_info(name, self._kind(dtype), shape))

    def tensor(self, name: str, values: NDArray[Any]) -> str:
        """A constant, written into the file; once, however often it is asked for."""
        if any(one.name == name for one in self._tensors):
            return name
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
        output = f"{operator}_{self._made}"
        self._add(self._onnx.helper.make_node(operator, inputs, [output], output, domain=domain, **attributes))
        return output

    def chosen(self, condition: str, then: Branch, otherwise: Branch, dtype: str, shapes: Sequence[Shape]) -> list[str]:
        """What one of two branches gives; only that one runs. Both may use all that was made before.

        `shapes` are those of what a branch gives, all of one type.
        """
        branches = {
            "then_branch": self._branch(then, dtype, shapes),
            "else_branch": self._branch(otherwise, dtype, shapes),
        }
        outputs = [f"If_{self._made}_{number}" for number in range(len(shapes))]
        self._add(self._onnx.helper.make_node("If", [condition], outputs, f"If_{self._made}", **branches))
        return outputs

    def _branch(self, make: Branch, dtype: str, shapes: Sequence[Shape]) -> Any:
        helper, outside, self._nodes = self._onnx.helper, self._nodes, []
        given = [self.node("Identity", value) for value in make()]
        outputs = [
            helper.make_tensor_value_info(name, self._kind(dtype), shape)
            for name, shape in zip(given, shapes, strict=True)
        ]
        made = helper.make_graph(self._nodes, f"branch {self._made}", [], outputs)
        self._nodes = outside
        return made

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

    def _add(self, node: Any) -> None:
        self._nodes.append(node)
        self._made += 1

    def _kind(self, dtype: str) -> int:
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
