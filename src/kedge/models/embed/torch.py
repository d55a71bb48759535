"""Embedders from a folder of safetensors, run by sentence-transformers on torch.

`st:/path/to/folder`, optionally `?dim=256`. Needs the extra `torch`. The folder's own prompts and pooling are used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

from kedge.core.errors import ConfigError, ModelError
from kedge.core.settings import Settings
from kedge.models.http import number, options
from kedge.models.known import KnownModel, find
from kedge.models.ports import Vectors


class TorchEmbedder:
    """A SentenceTransformer behind the port."""

    def __init__(self, name: str, model: SentenceTransformer, known: KnownModel) -> None:
        self._name = name
        self._model = model
        prompts = model.prompts or {}
        self._query_prefix = prompts.get("query") or known.query_prefix
        self._text_prefix = prompts.get("document") or prompts.get("passage") or known.text_prefix

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        return int(self._model.get_sentence_embedding_dimension())

    @property
    def window(self) -> int:
        return int(self._model.max_seq_length or 512)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return await asyncio.to_thread(self._encode, [self._text_prefix + text for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        row: Vectors = (await asyncio.to_thread(self._encode, [self._query_prefix + text]))[0]
        return row

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        encoded = self._model.tokenizer(list(texts), add_special_tokens=False, truncation=False)
        return [len(ids) for ids in encoded["input_ids"]]

    async def close(self) -> None:
        """Nothing to release: the model goes with the object."""

    def _encode(self, texts: list[str]) -> Vectors:
        try:
            rows = self._model.encode(texts, prompt="", normalize_embeddings=True, show_progress_bar=False)
        except RuntimeError as error:  # torch's, out of memory included
            raise ModelError(f"The embedding model {self._name} failed: {error}") from error
        return np.asarray(rows, dtype=np.float32)


def open_embedder(url: str, _settings: Settings) -> TorchEmbedder:
    """Load the folder; nothing is fetched from a hub."""
    place, _, query = url.removeprefix("st:").partition("?")
    given = options(query, ("dim",), "An st: embedder")
    if not (Path(place) / "config.json").is_file():
        raise ConfigError(f"{place} holds no model.", hint="Name a folder with config.json and model.safetensors.")
    dimension = number(given, "dim", 0) or None
    try:
        model = SentenceTransformer(place, truncate_dim=dimension, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ModelError(f"{place} cannot be loaded: {error}") from error
    return TorchEmbedder(url, model, find(Path(place).name) or KnownModel((), 0, 512))
