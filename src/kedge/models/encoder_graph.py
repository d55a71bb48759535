"""BERT-like encoders as int8 graphs for onnxruntime, made from packed weights when the model is opened.

Each token's values are quantised by themselves, so a text's vector is the same alone and in any batch. Weights take 7
of the 8 bits: on processors without VNNI, products of two full bytes would overflow their 16-bit sums.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kedge.models.base import Vectors
from kedge.models.onnx_write import FLOAT, INT32, OWN, Graph

Small: TypeAlias = NDArray[np.int8]

VALUE_LEVELS, WEIGHT_LEVELS = 127, 63
SMALLEST = 1e-9
"""Scale of a token whose values are all zero."""


class EncoderWeights(Protocol):
    """Sizes and tensors. In layer 0: `l0.q`, `l0.k`, `l0.v`, `l0.ao` (attention), `l0.fi`, `l0.fo` (in and out of the
    wide part), each a matrix with a bias `.b`, and the norms `l0.aln` and `l0.oln` with `.w` and `.b`."""

    @property
    def width(self) -> int: ...
    @property
    def layers(self) -> int: ...
    @property
    def heads(self) -> int: ...
    @property
    def epsilon(self) -> float: ...

    def vector(self, name: str) -> Vectors:
        """A bias or norm."""
        ...

    def quantised(self, name: str) -> tuple[Small, Vectors]:
        """A matrix (outputs, inputs) in steps of a scale for each of its outputs; see `quantise`."""
        ...


def quantise(matrix: Vectors) -> tuple[Small, Vectors]:
    """The matrix in whole steps, and the step of each of its rows."""
    scales: Vectors = np.abs(matrix).max(axis=1) / WEIGHT_LEVELS
    return np.round(matrix / np.maximum(scales, SMALLEST)[:, None]).astype(np.int8), scales


def write_graph(weights: EncoderWeights, name: str) -> bytes:
    """Embedded tokens `hidden` (texts, tokens, width) and `mask` (texts, tokens) to the last layer's vectors."""
    return _EncoderGraph(weights, name).written()


class _EncoderGraph:
    """Between the layers the tokens of all texts are rows of one matrix."""

    def __init__(self, weights: EncoderWeights, name: str) -> None:
        self._weights = weights
        self._graph = g = Graph(name)
        hidden = g.given("hidden", FLOAT, ("texts", "tokens", weights.width))
        self._mask = g.given("mask", INT32, ("texts", "tokens"))
        self._shape = g.node("Shape", hidden)
        self._flat = g.tensor("flat", np.array([-1, weights.width], dtype=np.int64))
        self._axis = g.tensor("axis", np.array([1], dtype=np.int64))
        self._one = g.tensor("one", np.array(1, dtype=np.float32))
        self._smallest = g.tensor("smallest", np.array(SMALLEST, dtype=np.float32))
        self._level = g.tensor("level", np.array(1 / VALUE_LEVELS, dtype=np.float32))
        self._middle = g.tensor("middle", np.array(VALUE_LEVELS + 1, dtype=np.uint8))
        self._rows = g.node("Reshape", hidden, self._flat)
        self._middles = g.node("Expand", self._middle, g.node("Shape", self._rows, start=0, end=1))

    def written(self) -> bytes:
        g, rows = self._graph, self._rows
        for number in range(self._weights.layers):
            rows = self._layer(rows, f"l{number}.")
        g.result(g.node("Reshape", rows, self._shape), FLOAT, ("texts", "tokens", self._weights.width))
        return g.to_bytes()

    def _layer(self, rows: str, at: str) -> str:
        g = self._graph
        split = [g.node("Reshape", row, self._shape) for row in self._dense(rows, f"{at}q", f"{at}k", f"{at}v")]
        bias = g.tensor(f"{at}qkv.b", np.concatenate([self._weights.vector(f"{at}{one}.b") for one in "qkv"]))
        heads = self._weights.heads
        mixed = g.node("MultiHeadAttention", *split, bias, self._mask, domain=OWN, num_heads=heads)
        (out,) = self._dense(g.node("Reshape", mixed, self._flat), f"{at}ao")
        rows = self._normed(rows, out, f"{at}ao.b", f"{at}aln")
        (wide,) = self._dense(rows, f"{at}fi")
        wide = g.node("BiasGelu", wide, self._constant(f"{at}fi.b"), domain=OWN)
        (out,) = self._dense(wide, f"{at}fo")
        return self._normed(rows, out, f"{at}fo.b", f"{at}oln")

    def _dense(self, rows: str, *names: str) -> list[str]:
        """The rows times each of the matrices, without bias. The rows are quantised once."""
        g = self._graph
        most = g.node("ReduceMax", g.node("Abs", rows), self._axis, keepdims=1)
        scale = g.node("Max", g.node("Mul", most, self._level), self._smallest)
        small = g.node("QuantizeLinear", rows, g.node("Squeeze", scale, self._axis), self._middles, axis=0)
        products = []
        for name in names:
            matrix, scales = self._quantised(name)
            product = g.node("MatMulIntegerToFloat", small, matrix, self._one, scales, self._middle, domain=OWN)
            products.append(g.node("Mul", product, scale))
        return products

    def _quantised(self, name: str) -> tuple[str, str]:
        small, scales = self._weights.quantised(name)
        return self._graph.tensor(f"{name}.w", small.T), self._graph.tensor(f"{name}.s", scales)

    def _normed(self, rows: str, added: str, bias: str, at: str) -> str:
        g = self._graph
        total = g.node("Add", g.node("Add", added, self._constant(bias)), rows)
        norm = (self._constant(f"{at}.w"), self._constant(f"{at}.b"))
        return g.node("LayerNormalization", total, *norm, axis=1, epsilon=float(self._weights.epsilon))

    def _constant(self, name: str) -> str:
        return self._graph.tensor(name, self._weights.vector(name))
