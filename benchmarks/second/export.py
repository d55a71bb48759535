"""The chain reader's file from what training wrote: `python -m benchmarks.second.export six-16.npz`.

The words' vectors stay in the reader's file; here they are only named. Prints the digest for `carried/files.py`.
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
from benchmarks.reader.export import EPSILON, HEADS, as_kept, embedded
from benchmarks.reader.needs import stop
from kedge.models.read.chain import WORDS

Tensors: TypeAlias = Mapping[str, NDArray[Any]]
SHORT = ("q", "k", "v", "ao", "fi", "fo")
VOCABULARY = 30522


def layout(state: Tensors) -> dict[str, NDArray[Any]]:
    """The tensors of the file from those of the network (`train.py`)."""
    layers = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))
    out: dict[str, NDArray[Any]] = {}
    for number in range(layers):
        for short in SHORT:
            name = f"layers.{number}.{short}"
            out[f"l{number}.{short}.w"], out[f"l{number}.{short}.s"] = (
                state[f"{name}.weight"],
                state[f"{name}.weight.s"],
            )
            out[f"l{number}.{short}.b"] = state[f"{name}.bias"]
        for short in ("aln", "oln"):
            out[f"l{number}.{short}.w"] = state[f"layers.{number}.{short}.weight"]
            out[f"l{number}.{short}.b"] = state[f"layers.{number}.{short}.bias"]
    plain = {
        "places.weight": "emb.place", "kinds.weight": "emb.kind",
        "norm.weight": "emb.norm.w", "norm.bias": "emb.norm.b",
    }  # fmt: skip
    heads = {name: name.replace("weight", "w").replace("bias", "b") for name in state if name.startswith("head.")}
    return out | {short: state[long] for long, short in (plain | heads).items()}


def write_chain(tensors: Tensors, path: Path) -> str:
    """Write the file; returns its SHA-256.

    Takes `ids` and `kinds` (1, tokens) and `opens` (passages): where each opens. Gives `scores` (passages).
    """
    g = Graph("chain reader")
    each = (1, "tokens")
    ids, kinds = g.given("ids", "int64", each), g.given("kinds", "int64", each)
    opens = g.given("opens", "int64", ("passages",))
    width, wide = tensors["l0.q.w"].shape[1], len(tensors["l0.fi.w"])
    g.outside(WORDS[0], "int8", (VOCABULARY, width))
    g.outside(WORDS[1], "float32", (VOCABULARY,))
    for name, values in tensors.items():
        g.tensor(name, as_kept(name, values))
    count = sum(name.endswith(".q.w") for name in tensors)
    layers = EncoderLayers(g, Sizes(count, HEADS, width, wide, EPSILON))
    opening = layers.last_of(layers.after(embedded(g, ids, kinds), layers=range(count - 1)), opens)
    pooled = g.node("Tanh", g.node("Gemm", opening, "head.pool.w", "head.pool.b", transB=1))
    scores = g.node("Gemm", pooled, "head.out.w", "head.out.b", transB=1)
    g.result("scores", g.node("Squeeze", scores, g.tensor("lone", np.array([1]))), "float32", ("passages",))
    return g.write(path)


def read_state(path: Path) -> dict[str, NDArray[Any]]:
    """The network's tensors as `train` wrote them."""
    with np.load(path) as file:
        return {
            name: file[name] if file[name].dtype == np.int8 else file[name].astype(np.float32) for name in file.files
        }


def main() -> None:
    from kedge.models.carried.files import FOLDER
    from kedge.models.read.chain import FILE

    parser = argparse.ArgumentParser(prog="python -m benchmarks.second.export", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, default=FOLDER / FILE, help="file to write (%(default)s)")
    given = parser.parse_args()
    if not given.file.is_file():
        stop(f"Not there: {given.file}")
    tensors = layout(read_state(given.file))
    print(f"{given.out}: sha256 {write_chain(tensors, given.out)}")


if __name__ == "__main__":
    main()
