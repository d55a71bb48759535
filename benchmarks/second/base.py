"""The reader's tensors, which the chain reader starts from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader.export import read_tensors


def tensors_of(path: Path) -> dict[str, NDArray[Any]]:
    """Those of `reader.onnx` by name, or of an `.npz` file with some of them."""
    if path.suffix != ".npz":
        return read_tensors(path)
    with np.load(path) as file:
        return {name: file[name] for name in file.files}
