"""The weights of the reader that Kedge carries (`data/reader.npz`), written by `python -m benchmarks.reader`.

It is ms-marco-MiniLM-L-12-v2 (Apache-2.0), trained further to tell whether a passage answers a question.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kedge.errors import ModelError
from kedge.models.base import Vectors

FILE = Path(__file__).parent / "data" / "reader.npz"
LAYERS, HEADS = 12, 12
EPSILON = 1e-12


@dataclass(frozen=True, slots=True)
class ReaderWeights:
    """Matrices as bytes with a scale for each row (`NAME.w`, `NAME.s`), all else as it is."""

    tensors: Mapping[str, NDArray[Any]]

    @property
    def width(self) -> int:
        return int(self.tensors["emb.word.w"].shape[1])

    @property
    def layers(self) -> int:
        return LAYERS

    @property
    def heads(self) -> int:
        return HEADS

    @property
    def epsilon(self) -> float:
        return EPSILON

    def vector(self, name: str) -> Vectors:
        """A bias, a norm, or a small matrix."""
        return self.tensors[name].astype(np.float32)

    def quantised(self, name: str) -> tuple[NDArray[np.int8], Vectors]:
        """A matrix (outputs, inputs) in steps of a scale for each of its outputs."""
        return self.tensors[f"{name}.w"], self.vector(f"{name}.s")

    def words(self, ids: NDArray[np.int64]) -> Vectors:
        """Word vectors of these tokens, shape (…, width)."""
        out: Vectors = self.tensors["emb.word.w"][ids] * self.tensors["emb.word.s"][ids].astype(np.float32)[..., None]
        return out


def read_weights(path: Path = FILE) -> ReaderWeights:
    """All tensors of the file. Raises ModelError when it is not whole."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return ReaderWeights({name: file[name] for name in file.files})
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path} is not a whole file of the reader's weights.", hint="Reinstall Kedge.") from error
