"""The graph of multilingual-e5-small for `kedge.models.embed.e5`: its form alone, 56 kB without any weight.

Run: python -m benchmarks.export.e5 [FILE]. It writes the carried file unless another is named, and prints the digest
that belongs in `kedge.models.carried.files`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.export.encoder import EncoderLayers, Sizes
from benchmarks.export.graph import Graph
from kedge.models.carried.files import FOLDER
from kedge.models.embed.e5 import GRAPH, NAME

SIZES = Sizes(layers=12, heads=12, width=384, wide=1536, epsilon=1e-12)


def write_e5(path: Path) -> str:
    """Embedded tokens `hidden` (texts, tokens, width) and `mask` (texts, tokens) to the last layer's `vectors`.

    Returns the file's SHA-256.
    """
    g = Graph(NAME)
    shape = ("texts", "tokens", SIZES.width)
    hidden, mask = g.given("hidden", "float32", shape), g.given("mask", "int32", shape[:2])
    for name, (dtype, size) in SIZES.tensors().items():
        g.outside(name, dtype, size)
    g.result("vectors", EncoderLayers(g, SIZES).after(hidden, mask), "float32", shape)
    return g.write(path)


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / GRAPH
    print(f"{path}: sha256 {write_e5(path)}")
