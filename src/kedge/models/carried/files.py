"""Files of models that Kedge itself carries, in `data/`, checked against known digests.

`python -m benchmarks.reader.export` writes the reader from what `python -m benchmarks.reader.train` trained,
`python -m benchmarks.second.export` the chain reader, `python -m benchmarks.export.e5` the graph of the multilingual
embedder and `python -m benchmarks.export.minilm` that of `minilm:int8` and `granite`; each prints the digest of what it
wrote.
"""

from __future__ import annotations

from pathlib import Path

from kedge._version import __version__
from kedge.models.carried.packages import verify

FOLDER = Path(__file__).parent / "data"
DIGESTS = {
    "chain.onnx": "b53e7793509473e25278bb01bb74f6e6a8742adc3d8169f34ad52eb3739f2e4a",
    "e5-multilingual.onnx": "64e9c400e907d90a3c49a61e55608e6ea9356dce85a5aeca60763724fb7921c7",
    "minilm-int8.onnx": "3ed4185ddd311404059da5b2d0cf3981a66530078239b76a1182c9bc362b379e",
    "reader.onnx": "c0bf0dfff839390a041b61e29d7cc4f306cb5115230f762b3e83900808fd8775",
}


def carried(name: str) -> Path:
    """The file in `data/`. Raises ModelError when it is missing or is not the one that belongs to this version."""
    verify(FOLDER, {name: DIGESTS[name]}, f"kedge=={__version__}")
    return FOLDER / name
