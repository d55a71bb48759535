"""Writes a small cross-encoder as an ONNX file.

Its logit is the number of the text's tokens that are also in the query, minus three (one of them is the separator).
Without `pairs` it knows no token types: it counts the tokens that stand twice, minus three.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

BERT_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OPERATORS, FORMAT = 18, 8
"""Versions of the standard's operators and of the file format."""


class Graph:
    """Operators in the order in which they run."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._tensors: list[onnx.TensorProto] = []

    def tensor(self, name: str, values: NDArray[Any]) -> str:
        """A constant."""
        self._tensors.append(onnx.numpy_helper.from_array(values, name))
        return name

    def node(self, operator: str, *inputs: str, **attributes: int) -> str:
        """An operator with one output, whose name is returned."""
        output = f"{operator}_{len(self._nodes)}"
        self._nodes.append(onnx.helper.make_node(operator, inputs, [output], **attributes))
        return output

    def real(self, value: str) -> str:
        """The value as real numbers."""
        return self.node("Cast", value, to=onnx.TensorProto.FLOAT)

    def write(self, path: Path, logits: str, outputs: int) -> None:
        """Write the file, with these logits as its output."""
        given = [
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ("batch", "tokens"))
            for name in BERT_INPUTS
        ]
        self._nodes.append(onnx.helper.make_node("Identity", [logits], ["logits"]))
        result = onnx.helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ("batch", outputs))
        graph = onnx.helper.make_graph(self._nodes, "overlap", given, [result], self._tensors)
        sets = [onnx.helper.make_opsetid("", OPERATORS)]
        onnx.save(onnx.helper.make_model(graph, ir_version=FORMAT, opset_imports=sets), str(path))


def write_cross_encoder(path: Path, outputs: int = 1, *, pairs: bool = True) -> None:
    """With two outputs, the logit is the second one's lead over the first; with more it is no reranker."""
    g = Graph()
    ids, mask, kinds = BERT_INPUTS
    one, three = (g.tensor(f"{value}", np.array([value], dtype=np.float32)) for value in (1, 3))
    first, last = (g.tensor(f"axis_{axis}", np.array([axis], dtype=np.int64)) for axis in (1, 2))
    seen = g.real(mask)
    text = g.node("Mul", seen, g.real(kinds))
    query = g.node("Sub", seen, text) if pairs else seen
    same = g.node("Equal", g.node("Unsqueeze", ids, last), g.node("Unsqueeze", ids, first))
    hits = g.node("MatMul", g.real(same), g.node("Unsqueeze", query, last))
    hits = g.node("Squeeze", hits, last)
    hit = g.node("Min", hits, one) if pairs else g.node("Sub", hits, one)
    counted = g.node("Mul", hit, text if pairs else seen)
    lead = g.node("Sub", g.node("ReduceSum", counted, first, keepdims=1), three)
    logits = lead if outputs == 1 else g.node("Concat", *[g.node("Sub", lead, lead)] * (outputs - 1), lead, axis=1)
    g.write(path, logits, outputs)
