"""The trained weights as the file that Kedge carries: `reader.onnx`, opened by `kedge.models.read.reader`.

Training writes it at its end. From weights that are there already (a `reader.onnx`, for a graph of another form, or
the `reader.npz` that training wrote before), without torch: python -m benchmarks.reader.export WEIGHTS [--out FILE].
It prints the digest that belongs in `kedge.models.carried.files`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.export.encoder import EncoderLayers, Sizes
from benchmarks.export.graph import Graph
from benchmarks.reader.needs import need, stop
from benchmarks.reader.tokens import WINDOW

Tensors: TypeAlias = Mapping[str, NDArray[Any]]

LAYERS, HEADS = 12, 12
EPSILON = 1e-12
NEVER = -1e4
"""Score of a token that no answer may hold."""
STEPS = 63
"""Seven of eight bits, see `benchmarks.export.encoder`."""
MATRICES = {
    "attention.self.query": "q", "attention.self.key": "k", "attention.self.value": "v",
    "attention.output.dense": "ao", "intermediate.dense": "fi", "output.dense": "fo",
}  # fmt: skip
NORMS = {"attention.output.LayerNorm": "aln", "output.LayerNorm": "oln"}
PLAIN = {
    "bert.embeddings.token_type_embeddings.weight": "emb.kind",
    "bert.embeddings.LayerNorm.weight": "emb.norm.w",
    "bert.embeddings.LayerNorm.bias": "emb.norm.b",
    "span.weight": "span.w", "span.bias": "span.b", "cls.0.weight": "head.0.w", "cls.0.bias": "head.0.b",
    "cls.3.weight": "head.1.w", "cls.3.bias": "head.1.b",
}  # fmt: skip


def quantised(matrix: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """A matrix in bytes, and for each row the size of a step."""
    full = matrix.astype(np.float32)
    scale = (np.abs(full).max(axis=1) / STEPS).astype(np.float16)
    scale = np.maximum(scale, np.finfo(np.float16).smallest_subnormal)  # a row of zeros
    steps = np.round(full / scale.astype(np.float32)[:, None])
    return np.clip(steps, -STEPS - 1, STEPS + 1).astype(np.int8), scale


def layout(state: Tensors, layers: int = LAYERS, plain: Mapping[str, str] = PLAIN) -> dict[str, NDArray[Any]]:
    """The tensors of the file from those of `model.Reader`; in half precision, which a wheel packs into half."""
    out: dict[str, NDArray[Any]] = {}
    for layer in range(layers):
        for long, short in MATRICES.items():
            name = f"bert.encoder.layer.{layer}.{long}"
            out[f"l{layer}.{short}.w"], out[f"l{layer}.{short}.s"] = quantised(state[f"{name}.weight"])
            out[f"l{layer}.{short}.b"] = state[f"{name}.bias"].astype(np.float16)
        for long, short in NORMS.items():
            name = f"bert.encoder.layer.{layer}.{long}"
            out[f"l{layer}.{short}.w"] = state[f"{name}.weight"].astype(np.float16)
            out[f"l{layer}.{short}.b"] = state[f"{name}.bias"].astype(np.float16)
    out["emb.word.w"], out["emb.word.s"] = quantised(state["bert.embeddings.word_embeddings.weight"])
    out["emb.place"] = state["bert.embeddings.position_embeddings.weight"][:WINDOW].astype(np.float16)
    for long, short in plain.items():
        out[short] = state[long].astype(np.float16)
    return out


def write_reader(tensors: Tensors, path: Path, *, layers: int = LAYERS, heads: int = HEADS) -> str:
    """Write the tensors of `layout` and what is computed with them, as in `model.Reader`. Returns the file's SHA-256.

    Takes `ids`, `kinds` (0: question, 1: passage), `mask` and `inside` (may an answer hold this token?), all
    (texts, tokens). Gives `spans` (texts, 2, tokens), scores of each token as the answer's first and as its last, and
    `odds` (texts), the log-odds that there is an answer.
    """
    g = Graph("reader")
    each = ("texts", "tokens")
    ids, kinds, mask = g.given("ids", "int64", each), g.given("kinds", "int64", each), g.given("mask", "int32", each)
    inside = g.given("inside", "bool", each)
    for name, values in tensors.items():
        g.tensor(name, as_kept(name, values))
    width, wide = tensors["emb.word.w"].shape[1], len(tensors["l0.fi.w"])
    encoder = EncoderLayers(g, Sizes(layers, heads, width, wide, EPSILON))
    vectors = encoder.after(embedded(g, ids, kinds), mask)
    spans = spans_of(g, vectors, inside)
    g.result("spans", spans, "float32", ("texts", 2, "tokens"))
    g.result("odds", _odds(g, vectors, spans), "float32", ("texts",))
    return g.write(path)


def embedded(g: Graph, ids: str, kinds: str) -> str:
    """Word, place and kind of each token. The words stay in bytes: only those at hand are unpacked."""
    last, start = g.tensor("last", np.array([-1])), g.tensor("start", np.array([0]))
    steps = g.node("Unsqueeze", g.node("Gather", "emb.word.s", ids), last)
    words = g.node("Mul", g.cast(g.node("Gather", "emb.word.w", ids), "float32"), steps)
    places = g.node("Slice", "emb.place", start, g.node("Shape", ids, start=1, end=2))
    total = g.node("Add", g.node("Add", words, places), g.node("Gather", "emb.kind", kinds))
    return g.node("LayerNormalization", total, "emb.norm.w", "emb.norm.b", axis=-1, epsilon=EPSILON)


def spans_of(g: Graph, vectors: str, inside: str) -> str:
    turned = g.node("Transpose", "span.w", perm=[1, 0])
    scores = g.node("Transpose", g.node("Add", g.node("MatMul", vectors, turned), "span.b"), perm=[0, 2, 1])
    never = g.tensor("never", np.array(NEVER, dtype=np.float32))
    return g.node("Where", g.node("Unsqueeze", inside, g.tensor("second", np.array([1]))), scores, never)


def _odds(g: Graph, vectors: str, spans: str) -> str:
    """From the vector of the opening token and the mean of those where the answer may begin or end."""
    likely = g.node("ReduceMean", g.node("Softmax", spans, axis=-1), "second", keepdims=1)
    place = g.node("Squeeze", g.node("MatMul", likely, vectors), "second")
    opening = g.node("Gather", vectors, g.tensor("opening", np.array(0)), axis=1)
    both = g.node("Concat", opening, place, axis=1)
    hidden = g.node("Tanh", g.node("Gemm", both, "head.0.w", "head.0.b", transB=1))
    return g.node("Squeeze", g.node("Gemm", hidden, "head.1.w", "head.1.b", transB=1), "second")


def as_kept(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """In the file, the layers' matrices have their outputs as columns, and what is no byte is float32."""
    if values.dtype != np.int8:
        return values.astype(np.float32)
    return values if name.startswith("emb.") else values.T


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of `layout` from a `.onnx` or `.npz` file of the reader."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    onnx = need("onnx", ["onnx"])
    held = {one.name: onnx.numpy_helper.to_array(one) for one in onnx.load(str(path)).graph.initializer}
    return {
        name: values.T if values.dtype == np.int8 and not name.startswith("emb.") else values
        for name, values in held.items()
        if "." in name  # the others are constants of the graph
    }


def main() -> None:
    from kedge.models.carried.files import FOLDER
    from kedge.models.read.reader import FILE

    parser = argparse.ArgumentParser(prog="python -m benchmarks.reader.export", description=__doc__)
    parser.add_argument("weights", type=Path, help="reader.onnx or reader.npz")
    parser.add_argument("--out", type=Path, default=FOLDER / FILE, help="file to write (%(default)s)")
    given = parser.parse_args()
    if not given.weights.is_file():
        stop(f"{given.weights} is not there.")
    print(f"{given.out}: sha256 {write_reader(read_tensors(given.weights), given.out)}")


if __name__ == "__main__":
    main()
