"""The embedders that are always there keep the contract of embedders."""

from __future__ import annotations

from kedge.core.settings import load_settings
from kedge.models.ports import Embedder
from kedge.models.registry import open_embedder
from kedge.testing import EmbedderContract


class TestHash(EmbedderContract):
    async def open_embedder(self) -> Embedder:
        return open_embedder("hash:256", load_settings(environ={}))


class TestMiniLM(EmbedderContract):
    async def open_embedder(self) -> Embedder:
        return open_embedder("minilm", load_settings(environ={}, threads=1))


class TestMiniLMInBytes(EmbedderContract):
    async def open_embedder(self) -> Embedder:
        return open_embedder("minilm:int8", load_settings(environ={}))
