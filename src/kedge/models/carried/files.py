"""Files of models that Kedge itself carries, in `data/`, checked against known digests.

`python -m benchmarks.reader.export` writes the reader from what `python -m benchmarks.reader.train` trained,
`python -m benchmarks.export.e5` the graph of the multilingual embedder; both print the digest of what they wrote.
"""

from __future__ import annotations

from pathlib import Path

from kedge._version import __version__
from kedge.models.carried.packages import verify

FOLDER = Path(__file__).parent / "data"
DIGESTS = {
    "e5-multilingual.onnx": "64e9c400e907d90a3c49a61e55608e6ea9356dce85a5aeca60763724fb7921c7",
    "reader.onnx": "79d4733f18622d6e2e30ad9cb5fea92fbfc64b8a82909e58f2c34c1b3eea1968",
}


def carried(name: str) -> Path:
    """The file in `data/`. Raises ModelError when it is missing or is not the one that belongs to this version."""
    verify(FOLDER, {name: DIGESTS[name]}, f"kedge=={__version__}")
    return FOLDER / name
