"""Weights in a file: large matrices in bytes with a scale for each row, all else as it is."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray


def packed(state: dict[str, NDArray[np.float32]]) -> dict[str, NDArray[Any]]:
    """Large matrices in bytes, with a scale for each row."""
    out: dict[str, NDArray[Any]] = {}
    for name, value in state.items():
        if value.ndim == 2 and value.size > 100_000:
            scale = np.abs(value).max(1, keepdims=True) / 127
            scale[scale == 0] = 1
            out[f"{name}|q"], out[f"{name}|s"] = np.round(value / scale).astype(np.int8), scale.astype(np.float32)
        else:
            out[name] = value.astype(np.float32)
    return out


def save(state: dict[str, NDArray[np.float32]], path: Path) -> None:
    """Write them packed, as a `.npz` file."""
    held: dict[str, Any] = packed(state)
    np.savez_compressed(path, **held)


def unpacked(path: Path | IO[bytes]) -> dict[str, NDArray[np.float32]]:
    """What `save` wrote."""
    with np.load(path) as file:
        return {
            name.removesuffix("|q"): (
                file[name].astype(np.float32) * file[f"{name.removesuffix('|q')}|s"]
                if name.endswith("|q")
                else file[name]
            ).astype(np.float32)
            for name in file.files
            if not name.endswith("|s")
        }
