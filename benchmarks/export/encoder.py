"""The layers of a BERT-like encoder in int8, for onnxruntime.

Each token's values are quantised by themselves, so a text's vector is the same alone and in any batch. Weights take 7
of the 8 bits: on processors without VNNI, products of two full bytes would overflow their 16-bit sums.

A layer's tensors, here of layer 0: `l0.q`, `l0.k`, `l0.v`, `l0.ao` (attention), `l0.fi`, `l0.fo` (in and out of the
wide part) are matrices (inputs, outputs) `.w` in steps of `.s`, one for each output, with a bias `.b`; the norms
`l0.aln` and `l0.oln` have `.w` and `.b`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from benchmarks.export.graph import OWN, Graph

Gelu: TypeAlias = Literal["BiasGelu", "FastGelu"]
VALUE_LEVELS = 127
SMALLEST = 1e-9
"""Scale of a token whose values are all zero."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large an encoder is."""

    layers: int
    heads: int
    width: int
    wide: int
    epsilon: float

    def tensors(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Type and shape of every tensor of the layers, by name."""
        width, wide = self.width, self.wide
        found: dict[str, tuple[str, tuple[int, ...]]] = {}
        for layer in range(self.layers):
            matrices = dict.fromkeys(("q", "k", "v", "ao"), (width, width))
            for name, shape in (matrices | {"fi": (width, wide), "fo": (wide, width)}).items():
                at = f"l{layer}.{name}"
                found |= {f"{at}.w": ("int8", shape), f"{at}.s": ("float32", shape[1:])}
                found |= {f"{at}.b": ("float32", shape[1:])}
            for name in ("aln", "oln"):
                found |= {f"l{layer}.{name}.{part}": ("float32", (width,)) for part in ("w", "b")}
        return found


class EncoderLayers:
    """Adds the layers to a graph; their tensors are added by whoever knows them.

    Between the layers the tokens of all texts are rows of one matrix.
    """

    def __init__(self, graph: Graph, sizes: Sizes, gelu: Gelu = "BiasGelu") -> None:
        """`gelu`: `FastGelu` takes a hyperbolic tangent for the error function."""
        self._graph, self._sizes, self._gelu = graph, sizes, gelu
        g = graph
        self._flat = g.tensor("flat", np.array([-1, sizes.width], dtype=np.int64))
        self._axis = g.tensor("axis", np.array([1], dtype=np.int64))
        self._one = g.tensor("one", np.array(1, dtype=np.float32))
        self._smallest = g.tensor("smallest", np.array(SMALLEST, dtype=np.float32))
        self._level = g.tensor("level", np.array(1 / VALUE_LEVELS, dtype=np.float32))
        self._middle = g.tensor("middle", np.array(VALUE_LEVELS + 1, dtype=np.uint8))

    def after(self, hidden: str, mask: str = "", layers: range | None = None) -> str:
        """The last layer's vectors of embedded tokens (texts, tokens, width), in the same shape; or those of some
        `layers`, of what the one before them gave.

        Without a mask every token counts, so all texts of a run must be of one length; attention is then faster.
        """
        g = self._graph
        shape = g.node("Shape", hidden)
        rows = g.node("Reshape", hidden, self._flat)
        middles = self._middles(rows)
        for number in layers or range(self._sizes.layers):
            rows = self._layer(rows, f"l{number}.", shape=shape, mask=mask, middles=middles)
        return g.node("Reshape", rows, shape)

    def last_of(self, hidden: str, places: str) -> str:
        """The last layer's vectors of the tokens at some `places` of one text (1, tokens, width), as rows.

        What the layer would make of the other tokens nobody asks for, so it is not computed. Every token counts.
        """
        g = self._graph
        at = f"l{self._sizes.layers - 1}."
        rows = g.node("Reshape", hidden, self._flat)
        few = g.node("Gather", rows, places, axis=0)
        alone = g.tensor("alone", np.array([1, -1, self._sizes.width], dtype=np.int64))
        (asking,) = self._dense(few, self._middles(few), f"{at}q")
        split = [asking, *self._dense(rows, self._middles(rows), f"{at}k", f"{at}v")]
        mixed = self._mixed([g.node("Reshape", one, alone) for one in split], at)
        return self._made_of(few, mixed, at, self._middles(few))

    def _layer(self, rows: str, at: str, *, shape: str, mask: str, middles: str) -> str:
        g = self._graph
        split = [g.node("Reshape", one, shape) for one in self._dense(rows, middles, f"{at}q", f"{at}k", f"{at}v")]
        return self._made_of(rows, self._mixed(split, at, *([mask] if mask else [])), at, middles)

    def _middles(self, rows: str) -> str:
        return self._graph.node("Expand", self._middle, self._graph.node("Shape", rows, start=0, end=1))

    def _mixed(self, split: Sequence[str], at: str, *masks: str) -> str:
        g = self._graph
        bias = g.node("Concat", f"{at}q.b", f"{at}k.b", f"{at}v.b", axis=0)
        return g.node("MultiHeadAttention", *split, bias, *masks, domain=OWN, num_heads=self._sizes.heads)

    def _made_of(self, rows: str, mixed: str, at: str, middles: str) -> str:
        g = self._graph
        (out,) = self._dense(g.node("Reshape", mixed, self._flat), middles, f"{at}ao")
        rows = self._normed(rows, out, f"{at}ao.b", f"{at}aln")
        (wide,) = self._dense(rows, middles, f"{at}fi")
        wide = g.node(self._gelu, wide, f"{at}fi.b", domain=OWN)
        (out,) = self._dense(wide, middles, f"{at}fo")
        return self._normed(rows, out, f"{at}fo.b", f"{at}oln")

    def _dense(self, rows: str, middles: str, *names: str) -> list[str]:
        """The rows times each of the matrices, without bias. The rows are quantised once."""
        g = self._graph
        most = g.node("ReduceMax", g.node("Abs", rows), self._axis, keepdims=1)
        scale = g.node("Max", g.node("Mul", most, self._level), self._smallest)
        small = g.node("QuantizeLinear", rows, g.node("Squeeze", scale, self._axis), middles, axis=0)
        products = []
        for name in names:
            taken = (small, f"{name}.w", self._one, f"{name}.s", self._middle)
            products.append(g.node("Mul", g.node("MatMulIntegerToFloat", *taken, domain=OWN), scale))
        return products

    def _normed(self, rows: str, added: str, bias: str, at: str) -> str:
        g = self._graph
        total = g.node("Add", g.node("Add", added, bias), rows)
        return g.node("LayerNormalization", total, f"{at}.w", f"{at}.b", axis=1, epsilon=self._sizes.epsilon)
