"""The trained weights as an ONNX file: `python -m benchmarks.statement_reader.export PART… --out reader.onnx`."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.export.encoder import EncoderLayers, Sizes
from benchmarks.export.graph import Graph
from benchmarks.reader.export import EPSILON, HEADS, LAYERS, as_kept, embedded, layout, spans_of
from benchmarks.statement_reader.weights import unpacked

PLAIN = {
    "bert.embeddings.token_type_embeddings.weight": "emb.kind",
    "bert.embeddings.LayerNorm.weight": "emb.norm.w", "bert.embeddings.LayerNorm.bias": "emb.norm.b",
    "span.weight": "span.w", "span.bias": "span.b", "support.weight": "support.w", "support.bias": "support.b",
    "pool.weight": "pool.w", "pool.bias": "pool.b", "out.weight": "out.w", "out.bias": "out.b",
}  # fmt: skip
"""Tensors that stay as they are, by their name in the network."""


def write_reader(state: dict[str, NDArray[Any]], path: Path) -> str:
    """Write the network. Returns the file's SHA-256.

    Takes `ids`, `kinds` (0: question, 1: passage), `mask` and `inside` (is the token part of a statement?), all (texts,
    tokens). Gives `spans` (texts, 2, tokens), `support` (texts, tokens) and `heads` (texts, 4): about, trick, no, yes.
    """
    g = Graph("statement reader")
    each = ("texts", "tokens")
    ids, kinds, mask = g.given("ids", "int64", each), g.given("kinds", "int64", each), g.given("mask", "int32", each)
    inside = g.given("inside", "bool", each)
    tensors = layout(state, plain=PLAIN)
    for name, values in tensors.items():
        g.tensor(name, as_kept(name, values))
    width, wide = tensors["emb.word.w"].shape[1], len(tensors["l0.fi.w"])
    hidden = EncoderLayers(g, Sizes(LAYERS, HEADS, width, wide, EPSILON)).after(embedded(g, ids, kinds), mask)
    spans = spans_of(g, hidden, inside)
    g.result("spans", spans, "float32", ("texts", 2, "tokens"))
    turned = g.node("Transpose", "support.w", perm=[1, 0])
    support = g.node(
        "Squeeze", g.node("Add", g.node("MatMul", hidden, turned), "support.b"), g.tensor("each", np.array([-1]))
    )
    g.result("support", support, "float32", each)
    g.result("heads", _heads(g, hidden, spans, support, inside), "float32", ("texts", 4))
    return g.write(path)


def _heads(g: Graph, hidden: str, spans: str, support: str, inside: str) -> str:
    """From the opening token, the mean where the answer may stand, and the mean of what supports it."""
    likely = g.node("ReduceMean", g.node("Softmax", spans, axis=-1), "second", keepdims=1)
    place = g.node("Squeeze", g.node("MatMul", likely, hidden), "second")
    weight = g.node("Mul", g.node("Sigmoid", support), g.cast(inside, "float32"))
    tiny = g.tensor("tiny", np.array(1e-3, dtype=np.float32))
    total = g.node("Add", g.node("ReduceSum", weight, "second", keepdims=1), tiny)
    share = g.node("Unsqueeze", g.node("Div", weight, total), "second")
    held = g.node("Squeeze", g.node("MatMul", share, hidden), "second")
    opening = g.node("Gather", hidden, g.tensor("opening", np.array(0)), axis=1)
    pooled = g.node("Gemm", g.node("Concat", opening, place, held, axis=1), "pool.w", "pool.b", transB=1)
    return g.node("Gemm", g.node("Tanh", pooled), "out.w", "out.b", transB=1)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.statement_reader.export", description=__doc__)
    parser.add_argument("parts", type=Path, nargs="+", help="reader.npz.0, reader.npz.1, … as training wrote them")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "reader.npz"
        whole.write_bytes(b"".join(part.read_bytes() for part in sorted(given.parts)))
        print(f"{given.out}: sha256 {write_reader(unpacked(whole), given.out)}")


if __name__ == "__main__":
    main()
