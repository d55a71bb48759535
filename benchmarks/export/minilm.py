"""The graph of all-MiniLM-L6-v2 in bytes for `kedge.models.embed.minilm_int8`: its form alone, without any weight.

Run: python -m benchmarks.export.minilm [FILE]. It writes the carried file unless another is named, and prints the
digest that belongs in `kedge.models.carried.files`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.export.encoder import EncoderLayers, Sizes
from benchmarks.export.graph import Graph
from kedge.models.carried.files import FOLDER
from kedge.models.embed.minilm_int8 import GRAPH, NAME

SIZES = Sizes(layers=6, heads=12, width=384, wide=1536, epsilon=1e-12)


def write_minilm(path: Path) -> str:
    """Embedded tokens `hidden` (texts, tokens, width), all texts of one length, to the last layer's `vectors`.

    Returns the file's SHA-256.
    """
    g = Graph(NAME)
    shape = ("texts", "tokens", SIZES.width)
    hidden = g.given("hidden", "float32", shape)
    for name, (dtype, size) in SIZES.tensors().items():
        g.outside(name, dtype, size)
    g.result("vectors", EncoderLayers(g, SIZES, gelu="FastGelu").after(hidden), "float32", shape)
    return g.write(path)


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / GRAPH
    print(f"{path}: sha256 {write_minilm(path)}")
