"""A multilingual embedder: Google's universal-sentence-encoder-multilingual, int8, from the package `nanoranker`.

Sixteen languages in one space of 512 dimensions, about 3 ms a passage on one core. Its tokenizer is an operator inside
the ONNX graph, so it needs onnxruntime-extensions; sentencepiece counts tokens with the same vocabulary.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnxruntime_extensions import get_library_path
from sentencepiece import SentencePieceProcessor

from kedge.core.errors import MissingExtraError, ModelError
from kedge.core.settings import Settings
from kedge.models.carried.packages import folder_of, verify
from kedge.models.embed.onnx import FAILURES, open_session
from kedge.models.ports import Vectors

NAME = "use-multilingual"
PACKAGE, VERSION = "nanoranker", "1.2"
FILE = "universal-sentence-encoder-multilingual.onnx"
DIGESTS = {FILE: "b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7"}
VOCABULARY = slice(482, 482 + 2_527_207)
"""Where in the file the vocabulary lies; the digest says that it is this file."""
WINDOW = 256
"""The model reads on, but the meaning of a longer text is blurred: measured with passages of about this length."""


class UseEmbedder:
    """One text a run: the quantisation is over a whole batch, so that only then equal texts get equal vectors."""

    def __init__(self, model: Path, threads: int = 0) -> None:
        self._session = open_session(model, threads, get_library_path())
        self._pieces = SentencePieceProcessor(model_proto=model.read_bytes()[VOCABULARY])
        self._dimension = int(self._row("").shape[0])

    @property
    def name(self) -> str:
        return NAME

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def window(self) -> int:
        return WINDOW

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await asyncio.to_thread(self._rows, list(texts))

    async def embed_query(self, text: str) -> Vectors:
        return await asyncio.to_thread(self._row, text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in self._pieces.encode(list(texts))]

    async def close(self) -> None:
        """Nothing to release: the session goes with the object."""

    def _rows(self, texts: list[str]) -> Vectors:
        rows = [self._row(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self._dimension), dtype=np.float32)

    def _row(self, text: str) -> Vectors:
        try:
            row: Vectors = self._session.run(["outputs"], {"inputs": np.array([text], dtype=object)})[0][0]
        except FAILURES as error:
            raise ModelError(f"The embedding model {NAME} failed: {error}") from error
        return row / np.linalg.norm(row)


def open_embedder(_name: str, settings: Settings) -> UseEmbedder:
    """Find, check and load the weights."""
    folder = folder_of(PACKAGE, f"{PACKAGE}/resources")
    if folder is None:
        raise MissingExtraError(f"The embedder {NAME!r}", "multilingual")
    verify(folder, DIGESTS, f"{PACKAGE}=={VERSION}")
    return UseEmbedder(folder / FILE, settings.threads)
