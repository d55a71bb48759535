"""The trained weights as the file that Kedge carries (`kedge.models.reader_file` reads it)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader.tokens import WINDOW

Tensors: TypeAlias = Mapping[str, NDArray[Any]]

LAYERS = 12
STEPS = 63
"""Seven of eight bits, see `kedge.models.encoder_graph`."""
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


def layout(state: Tensors, layers: int = LAYERS) -> dict[str, NDArray[Any]]:
    """The tensors of the file from those of `model.Reader`."""
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
    for long, short in PLAIN.items():
        out[short] = state[long].astype(np.float16)
    return out


def write_weights(state: Tensors, path: Path, layers: int = LAYERS) -> None:
    """Write the file."""
    tensors: dict[str, Any] = {**layout(state, layers)}
    np.savez_compressed(path, **tensors)
