"""The trained weights as the file that Kedge carries: `reader.onnx`, opened by `kedge.models.read.reader`.

    python -m benchmarks.reader.export reader.npz.0 reader.npz.1 … [--out FILE]
    python -m benchmarks.reader.export FOLDER FOLDER … [--out FILE]

The parts are what `benchmarks.reader.train` wrote; of several folders with such parts the mean of their weights is
taken, which reads better than each where all went on from one reader; `--with` that reader, half of the way is gone.
A `reader.onnx` in their place is written again, for a graph of another form. Needs no torch. Prints the digest that
belongs in `kedge.models.carried.files`.
"""

from __future__ import annotations

import argparse
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.export.encoder import EncoderLayers, Sizes
from benchmarks.export.graph import Graph
from benchmarks.reader.needs import FILES, need, stop
from benchmarks.reader.weights import unpacked
from kedge.models.read.window import WINDOW

Tensors: TypeAlias = Mapping[str, NDArray[Any]]

HEADS = 12
EPSILON = 1e-12
LAYER = re.compile(r"(?:(?:bert\.)?encoder\.layer\.|l)(\d+)\.")
"""A tensor of a layer, in the network and in the file."""
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
    "bert.embeddings.LayerNorm.weight": "emb.norm.w", "bert.embeddings.LayerNorm.bias": "emb.norm.b",
    "span.weight": "span.w", "span.bias": "span.b", "support.weight": "support.w", "support.bias": "support.b",
    "pool.weight": "pool.w", "pool.bias": "pool.b", "out.weight": "out.w", "out.bias": "out.b",
}  # fmt: skip
EARLY = "early."
"""Before the names of the heads half way up."""
PLAIN |= {f"{EARLY}{long}": f"{EARLY}{short}" for long, short in PLAIN.items() if not long.startswith("bert.")}
"""Tensors that stay as they are, by their name in the network."""


def quantised(matrix: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """A matrix in bytes, and for each row the size of a step."""
    full = matrix.astype(np.float32)
    scale = (np.abs(full).max(axis=1) / STEPS).astype(np.float16)
    scale = np.maximum(scale, np.finfo(np.float16).smallest_subnormal)  # a row of zeros
    steps = np.round(full / scale.astype(np.float32)[:, None])
    return np.clip(steps, -STEPS - 1, STEPS + 1).astype(np.int8), scale


def layers_of(tensors: Tensors) -> int:
    """How many layers a reader has, in the names of the network or of the file."""
    return 1 + max(int(match[1]) for match in map(LAYER.match, tensors) if match)


def layout(state: Tensors) -> dict[str, NDArray[Any]]:
    """The tensors of the file from those of the network; in half precision, which a wheel packs into half."""
    out: dict[str, NDArray[Any]] = {}
    for layer in range(layers_of(state)):
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
    for long, short in PLAIN.items():
        if long in state:
            out[short] = state[long].astype(np.float16)
    return out


def network_state(tensors: Tensors) -> dict[str, NDArray[np.float32]]:
    """The network's tensors from those of the file, as near as bytes are: what `layout` was given."""

    def full(name: str) -> NDArray[np.float32]:
        steps: NDArray[np.float32] = tensors[f"{name}.w"].astype(np.float32)
        return steps * tensors[f"{name}.s"].astype(np.float32)[:, None]

    out = {long: tensors[short].astype(np.float32) for long, short in PLAIN.items() if short in tensors}
    out["bert.embeddings.word_embeddings.weight"] = full("emb.word")
    out["bert.embeddings.position_embeddings.weight"] = tensors["emb.place"].astype(np.float32)
    for layer in range(layers_of(tensors)):
        for long, short in MATRICES.items():
            name = f"bert.encoder.layer.{layer}.{long}"
            out[f"{name}.weight"] = full(f"l{layer}.{short}")
            out[f"{name}.bias"] = tensors[f"l{layer}.{short}.b"].astype(np.float32)
        for long, short in NORMS.items():
            name = f"bert.encoder.layer.{layer}.{long}"
            for part, kept in (("weight", "w"), ("bias", "b")):
                out[f"{name}.{part}"] = tensors[f"l{layer}.{short}.{kept}"].astype(np.float32)
    return out


def write_reader(tensors: Tensors, path: Path, *, heads: int = HEADS) -> str:
    """Write the tensors of `layout` and what is computed with them, as in `network`. Returns the file's SHA-256.

    Takes `ids`, `kinds` (0: question, 1: passage), `mask` and `inside` (is the token part of a statement?), all (texts,
    tokens), and `least`: where the reading half way up finds that texts answer with log-odds below it, that reading is
    given and the other layers do not run. Gives `spans` (texts, 2, tokens), scores of each token as the answer's first
    and as its last, `support` (texts, tokens), log-odds that it carries the answer, and `heads` (texts, 4): about,
    trick, no, yes.
    """
    g = Graph("statement reader")
    each = ("texts", "tokens")
    ids, kinds, mask = g.given("ids", "int64", each), g.given("kinds", "int64", each), g.given("mask", "int32", each)
    inside, least = g.given("inside", "bool", each), g.given("least", "float32", ())
    for name, values in tensors.items():
        g.tensor(name, as_kept(name, values))
    width, wide = tensors["emb.word.w"].shape[1], len(tensors["l0.fi.w"])
    sizes = Sizes(layers_of(tensors), heads, width, wide, EPSILON)
    layers, half = EncoderLayers(g, sizes), sizes.layers // 2
    between = layers.after(embedded(g, ids, kinds), mask, range(half))
    early = Heads(g, inside, EARLY).reading(between)
    about = g.node("Gather", early[2], g.tensor("opening", np.array(0)), axis=1)
    shapes = {"spans": ("texts", 2, "tokens"), "support": each, "heads": ("texts", 4)}
    found = g.chosen(
        g.node("GreaterOrEqual", g.node("ReduceMax", about, keepdims=0), least),
        lambda: Heads(g, inside).reading(layers.after(between, mask, range(half, sizes.layers))),
        lambda: early,
        "float32",
        list(shapes.values()),
    )
    for (name, shape), value in zip(shapes.items(), found, strict=True):
        g.result(name, value, "float32", shape)
    return g.write(path)


def embedded(g: Graph, ids: str, kinds: str) -> str:
    """Word, place and kind of each token. The words stay in bytes: only those at hand are unpacked."""
    last, start = g.tensor("last", np.array([-1])), g.tensor("start", np.array([0]))
    steps = g.node("Unsqueeze", g.node("Gather", "emb.word.s", ids), last)
    words = g.node("Mul", g.cast(g.node("Gather", "emb.word.w", ids), "float32"), steps)
    places = g.node("Slice", "emb.place", start, g.node("Shape", ids, start=1, end=2))
    total = g.node("Add", g.node("Add", words, places), g.node("Gather", "emb.kind", kinds))
    return g.node("LayerNormalization", total, "emb.norm.w", "emb.norm.b", axis=-1, epsilon=EPSILON)


@dataclass(frozen=True, slots=True)
class Heads:
    """The heads in a graph, by the tensors whose names begin with `at`."""

    graph: Graph
    inside: str
    at: str = ""

    def reading(self, hidden: str) -> list[str]:
        """Spans, support and verdicts."""
        spans, support = self._spans(hidden), self._support(hidden)
        return [spans, support, self._verdicts(hidden, spans, support)]

    def _spans(self, hidden: str) -> str:
        """Scores as first and last token of the answer; those of tokens outside of statements are never chosen."""
        g = self.graph
        turned = g.node("Transpose", f"{self.at}span.w", perm=[1, 0])
        scores = g.node(
            "Transpose", g.node("Add", g.node("MatMul", hidden, turned), f"{self.at}span.b"), perm=[0, 2, 1]
        )
        never = g.tensor("never", np.array(NEVER, dtype=np.float32))
        return g.node("Where", g.node("Unsqueeze", self.inside, g.tensor("second", np.array([1]))), scores, never)

    def _support(self, hidden: str) -> str:
        """For each token the log-odds that it carries the answer."""
        g = self.graph
        turned = g.node("Transpose", f"{self.at}support.w", perm=[1, 0])
        scores = g.node("Add", g.node("MatMul", hidden, turned), f"{self.at}support.b")
        return g.node("Squeeze", scores, g.tensor("each", np.array([-1])))

    def _verdicts(self, hidden: str, spans: str, support: str) -> str:
        """From the opening token, the mean where the answer may stand, and the mean of what supports it."""
        g, at = self.graph, self.at
        likely = g.node("ReduceMean", g.node("Softmax", spans, axis=-1), "second", keepdims=1)
        place = g.node("Squeeze", g.node("MatMul", likely, hidden), "second")
        weight = g.node("Mul", g.node("Sigmoid", support), g.cast(self.inside, "float32"))
        tiny = g.tensor("tiny", np.array(1e-3, dtype=np.float32))
        total = g.node("Add", g.node("ReduceSum", weight, "second", keepdims=1), tiny)
        share = g.node("Unsqueeze", g.node("Div", weight, total), "second")
        held = g.node("Squeeze", g.node("MatMul", share, hidden), "second")
        opening = g.node("Gather", hidden, g.tensor("opening", np.array(0)), axis=1)
        pooled = g.node("Gemm", g.node("Concat", opening, place, held, axis=1), f"{at}pool.w", f"{at}pool.b", transB=1)
        return g.node("Gemm", g.node("Tanh", pooled), f"{at}out.w", f"{at}out.b", transB=1)


def as_kept(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """In the file, the layers' matrices have their outputs as columns, and what is no byte is float32."""
    if values.dtype != np.int8:
        return values.astype(np.float32)
    return values if name.startswith("emb.") else values.T


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of `layout` from a reader's ONNX file."""
    onnx = need("onnx", FILES)
    held = {one.name: onnx.numpy_helper.to_array(one) for one in onnx.load(str(path)).graph.initializer}
    return {
        name: values.T if values.dtype == np.int8 and not name.startswith("emb.") else values
        for name, values in held.items()
        if "." in name  # the others are constants of the graph
    }


def read_parts(parts: Sequence[Path]) -> dict[str, NDArray[np.float32]]:
    """The network's tensors from what training wrote: one `.npz` file, cut into numbered parts."""
    in_order = sorted(parts, key=lambda part: (len(part.name), part.name))
    return unpacked(io.BytesIO(b"".join(part.read_bytes() for part in in_order)))


def mean_of(folders: Sequence[Path]) -> dict[str, NDArray[np.float32]]:
    """The mean of the weights of several trainings that started from the same reader."""
    states = [read_parts(sorted(folder.glob("reader.npz.*"))) for folder in folders]
    return {name: np.mean([one[name] for one in states], axis=0) for name in states[0]}


def half_way(one: Tensors, other: Tensors) -> dict[str, NDArray[np.float32]]:
    """The mean of two readers, one trained further from the other: it keeps more of what the other could.

    What only the one has stays as it is."""
    return {name: 0.5 * (value + other.get(name, value)) for name, value in one.items()}


def main() -> None:
    from kedge.models.carried.files import FOLDER
    from kedge.models.read.reader import FILE

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reader.export", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "weights", type=Path, nargs="+", help="all of reader.npz.*, folders of them, or one reader.onnx"
    )
    parser.add_argument("--with", type=Path, dest="beside", help="a reader.onnx: half way between it and the mean")
    parser.add_argument("--out", type=Path, default=FOLDER / FILE, help="file to write (%(default)s)")
    given = parser.parse_args()
    folders = [path for path in given.weights if path.is_dir()]
    missing = [str(path) for path in given.weights if not path.exists()]
    missing += [f"{path}/reader.npz.*" for path in folders if not list(path.glob("reader.npz.*"))]
    if missing:
        stop(f"Not there: {', '.join(missing)}")
    if folders and len(folders) < len(given.weights):
        stop("Folders of parts and parts are not given together.")
    whole = given.weights[0].suffix == ".onnx"
    if whole and len(given.weights) > 1:
        stop("A reader.onnx is given alone.")
    if whole:
        tensors = read_tensors(given.weights[0])
    else:
        state = mean_of(folders) if folders else read_parts(given.weights)
        tensors = layout(half_way(state, network_state(read_tensors(given.beside))) if given.beside else state)
    print(f"{given.out}: sha256 {write_reader(tensors, given.out)}")


if __name__ == "__main__":
    main()
