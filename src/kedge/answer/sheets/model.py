"""The learned weights as they ship: one file of arrays, made by `python -m benchmarks.table_plans`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kedge.answer.sheets.choice import Trees
from kedge.answer.sheets.weigher import SLOTS

FILE = "readings.npz"
_STEPS = 127


@dataclass(frozen=True, slots=True)
class ReadingModel:
    """Everything that was learned."""

    weights: NDArray[np.float32]
    """Of the first weighing, by slot."""
    vocabulary: dict[str, int]
    common: frozenset[str]
    """Words that many questions have."""
    words: Sequence[str]
    """Those that the second weighing sees."""
    trees: Trees
    sure: float
    """From this chance on a reading is the answer."""
    mixed: Trees | None = None
    """Weighs what the trees say beside what the reader says; None where no reader was there to learn it by."""
    sure_read: float = 1.0
    """The threshold of those chances."""
    reader: str = ""
    """Digest of the reader that `mixed` was learned with: what another one says means something else."""


def save_model(path: Path, model: ReadingModel, smallest: float) -> int:
    """Write the weights that are not smaller than this, in 255 steps each; returns the file's size."""
    kept = np.flatnonzero(np.abs(model.weights) >= smallest)
    scale = float(np.abs(model.weights).max()) / _STEPS
    # Half of the steps for small weights, which are most: the root spreads them.
    rooted = np.sign(model.weights[kept]) * np.sqrt(np.abs(model.weights[kept]) / (scale * _STEPS))
    grams = [""] * (max(model.vocabulary.values(), default=0) + 1)
    for gram, number in model.vocabulary.items():
        grams[number] = gram
    arrays: dict[str, Any] = _mixed(model)
    np.savez_compressed(
        path,
        gaps=np.diff(kept, prepend=0).astype(np.uint32),
        values=np.rint(rooted * _STEPS).astype(np.int8),
        highest=np.array([scale * _STEPS]),
        vocabulary=_packed(grams),
        common=_packed(sorted(model.common)),
        words=_packed(model.words),
        columns=model.trees.columns,
        limits=model.trees.limits,
        leaves=model.trees.leaves.astype(np.float16),
        numbers=np.array([model.trees.base, model.sure]),
        **arrays,
    )
    return path.stat().st_size


def _mixed(model: ReadingModel) -> dict[str, NDArray[Any]]:
    trees = model.mixed
    if trees is None:
        return {}
    return {
        "mixed_columns": trees.columns,
        "mixed_limits": trees.limits,
        "mixed_leaves": trees.leaves,
        "mixed_numbers": np.array([trees.base, model.sure_read]),
        "mixed_reader": _packed([model.reader]),
    }


def read_model(path: Path) -> ReadingModel:
    """The weights of a file. ValueError, OSError."""
    with np.load(path, allow_pickle=False) as kept:
        weights = np.zeros(SLOTS, dtype=np.float32)
        rooted = kept["values"].astype(np.float32) / _STEPS
        weights[np.cumsum(kept["gaps"].astype(np.int64))] = np.sign(rooted) * rooted**2 * float(kept["highest"][0])
        base, sure = (float(number) for number in kept["numbers"])
        grams = _unpacked(kept["vocabulary"])
        return ReadingModel(
            weights,
            {gram: number for number, gram in enumerate(grams) if gram},
            frozenset(_unpacked(kept["common"])),
            _unpacked(kept["words"]),
            Trees(kept["columns"], kept["limits"], kept["leaves"].astype(np.float32), base),
            sure,
            *_read_mixed(kept),
        )


def _read_mixed(kept: Mapping[str, NDArray[Any]]) -> tuple[Trees | None, float, str]:
    if "mixed_columns" not in kept:
        return None, 1.0, ""
    base, sure = (float(number) for number in kept["mixed_numbers"])
    (reader,) = _unpacked(kept["mixed_reader"]) if "mixed_reader" in kept else ("",)
    return Trees(kept["mixed_columns"], kept["mixed_limits"], kept["mixed_leaves"], base), sure, reader


@cache
def shipped_model() -> ReadingModel:
    """The one that comes with Kedge, read at first use."""
    with as_file(files(__package__) / "data" / FILE) as path:
        return read_model(path)


def _packed(texts: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(texts).encode(), dtype=np.uint8)


def _unpacked(packed: NDArray[np.uint8]) -> list[str]:
    return packed.tobytes().decode().split("\n")
