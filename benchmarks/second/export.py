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
NEVER = -20.0
"""What is added to the log-odds of a passage that is not read on."""


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
    heads = {name: name.replace("weight", "w").replace("bias", "b") for name in state if name[:5] in ("head.", "first")}
    return out | {short: state[long] for long, short in (plain | heads).items()}


def odds(g: Graph, opening: str, at: str) -> str:
    """The log-odds of each row, by the head of that name."""
    pooled = g.node("Tanh", g.node("Gemm", opening, f"{at}.pool.w", f"{at}.pool.b", transB=1))
    scores = g.node("Gemm", pooled, f"{at}.out.w", f"{at}.out.b", transB=1)
    return g.node("Squeeze", scores, g.tensor("second", np.array([1])))


def write_chain(tensors: Tensors, path: Path, early: int = 0, kept: int = 0) -> str:
    """Write the file; returns its SHA-256.

    Takes `ids` and `kinds` (1, tokens) and `opens` (passages): where each opens. Gives `scores` (passages). With
    `early`, after so many layers only the `kept` likeliest passages are read on; then it takes `owner` (tokens) too: 0
    of a token of the question, else the number of its passage, from 1 on.
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
    hidden = embedded(g, ids, kinds)
    if not early:
        scores = odds(g, layers.last_of(layers.after(hidden, layers=range(count - 1)), opens), "head")
    else:
        owner = g.given("owner", "int64", ("tokens",))
        hidden = layers.after(hidden, layers=range(early))
        rows = g.node("Squeeze", hidden, g.tensor("first", np.array([0])))
        first = odds(g, g.node("Gather", rows, opens), "first")
        best = likeliest(g, first, kept)
        stays = staying(g, best, owner, opens)
        rows = g.node(
            "Gather", hidden, g.node("Squeeze", g.node("NonZero", stays), g.tensor("first", np.array([0]))), axis=1
        )
        place = g.node("Sub", g.node("CumSum", stays, g.tensor("none", np.array(0))), g.tensor("unit", np.array(1)))
        there = g.node("Gather", place, g.node("Gather", opens, best))
        last = odds(g, layers.last_of(layers.after(rows, layers=range(early, count - 1)), there), "head")
        dropped = g.node("Add", first, g.tensor("never", np.array(NEVER, dtype=np.float32)))
        scores = g.node("ScatterElements", dropped, best, last)
    g.result("scores", scores, "float32", ("passages",))
    return g.write(path)


def likeliest(g: Graph, first: str, kept: int) -> str:
    """Numbers of the passages with the highest log-odds, from 0."""
    there = g.node("Min", g.node("Shape", first), g.tensor("kept", np.array([kept])))
    return g.nodes("TopK", 2, first, there)[1]


def staying(g: Graph, best: str, owner: str, opens: str) -> str:
    """1 for each token of the question or of one of these passages, else 0."""
    one = g.tensor("unit", np.array(1))
    size = g.node("Add", g.node("Shape", opens), g.tensor("lone", np.array([1])))
    flags = g.node("Expand", g.tensor("none", np.array(0)), size)
    chosen = g.node("Concat", g.tensor("zero", np.array([0])), g.node("Add", best, one), axis=0)
    ones = g.node("Expand", one, g.node("Shape", chosen))
    return g.node("Gather", g.node("ScatterElements", flags, chosen, ones), owner)


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
    parser.add_argument("--early", type=int, default=0)
    parser.add_argument("--kept", type=int, default=0)
    parser.add_argument("--out", type=Path, default=FOLDER / FILE, help="file to write (%(default)s)")
    given = parser.parse_args()
    if not given.file.is_file():
        stop(f"Not there: {given.file}")
    tensors = layout(read_state(given.file))
    print(f"{given.out}: sha256 {write_chain(tensors, given.out, given.early, given.kept)}")


if __name__ == "__main__":
    main()
