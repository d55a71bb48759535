"""Embedders keep the contract of `kedge.models.ports.Embedder`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kedge.core.errors import ConfigError, ModelError
from kedge.core.settings import load_settings
from kedge.models.embed import minilm
from kedge.models.ports import Embedder
from kedge.models.registry import open_embedder
from kedge.models.wrappers.cached import CachedEmbedder
from kedge.stores.cache.file import FileCache

SETTINGS = load_settings(environ={})


@pytest.fixture(scope="module", params=["granite", "minilm", "minilm:int8", "hash", "hash:128"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return open_embedder(request.param, SETTINGS)


@pytest.mark.req("Q-02")
def test_rows_are_unit_vectors_in_order(embedder: Embedder) -> None:
    texts = ["an anchor", "", "a much longer text " * 200, "an anchor"]
    rows = asyncio.run(embedder.embed(texts))
    assert rows.shape == (4, embedder.dimension)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert np.allclose(rows[0], rows[3], atol=1e-5)
    assert not np.allclose(rows[0], rows[2], atol=1e-2)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert asyncio.run(embedder.embed([])).shape == (0, embedder.dimension)


def test_tokens_are_counted_without_truncation(embedder: Embedder) -> None:
    short, half, long = embedder.count_tokens(["anchor", "anchor " * 500, "anchor " * 1000])
    assert 1 <= short < 500 <= half
    assert long == pytest.approx(2 * half, abs=2)


@pytest.mark.req("Q-02", "D-19")
def test_minilm_has_384_dimensions_and_knows_meaning() -> None:
    model = open_embedder("minilm", SETTINGS)
    assert model.dimension == 384
    question = asyncio.run(model.embed_query("How do I moor a boat?"))
    near, far = asyncio.run(model.embed(["Ways to make a ship fast to the quay.", "Interest rates rose in March."]))
    assert question @ near > question @ far + 0.2


@pytest.mark.req("Q-02")
def test_minilm_in_bytes_is_near_the_whole_model_and_the_same_in_any_batch() -> None:
    texts = ["an anchor", "The warp is hauled in by the capstan.", "kedge " * 300, "two words", "an oar"]
    whole, small = (open_embedder(name, SETTINGS) for name in ("minilm", "minilm:int8"))
    together = asyncio.run(small.embed(texts))
    alone = np.concatenate([asyncio.run(small.embed([text])) for text in texts])
    assert np.allclose(together, alone, atol=1e-6)
    assert (together * asyncio.run(whole.embed(texts))).sum(axis=1).min() > 0.98


def test_another_form_of_minilm_is_refused() -> None:
    with pytest.raises(ConfigError, match="minilm:int4"):
        open_embedder("minilm:int4", SETTINGS)


def test_damaged_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(minilm.DIGESTS, "tokenizer.json", "0" * 64)
    with pytest.raises(ModelError, match="not the file"):
        open_embedder("minilm", SETTINGS)


@pytest.mark.req("D-19")
def test_a_local_folder_can_be_cut_to_fewer_dimensions() -> None:
    folder = minilm.carrier_folder()
    model = open_embedder(f"onnx:{folder}?dim=128", SETTINGS)
    row = asyncio.run(model.embed_query("anchor"))
    assert row.shape == (128,)
    assert np.isclose(np.linalg.norm(row), 1.0, atol=1e-5)


def test_a_folder_without_a_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no embedding model"):
        open_embedder(f"onnx:{tmp_path}", SETTINGS)


def test_an_unknown_embedder_lists_the_known() -> None:
    with pytest.raises(ConfigError, match="minilm"):
        open_embedder("nothing", SETTINGS)


class Counting:
    """Passes through and counts what it embeds."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.texts: list[str] = []
        self.count_tokens: Callable[..., list[int]] = inner.count_tokens

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    @property
    def window(self) -> int:
        return self._inner.window

    async def embed(self, texts: list[str]) -> np.ndarray:
        self.texts += texts
        return await self._inner.embed(texts)

    async def embed_query(self, text: str) -> np.ndarray:
        self.texts.append(text)
        return await self._inner.embed_query(text)

    async def close(self) -> None:
        await self._inner.close()


@pytest.mark.req("G-08")
def test_a_cached_embedder_embeds_each_text_once_even_after_a_restart(tmp_path: Path) -> None:
    async def scenario() -> None:
        inner = Counting(open_embedder("hash", SETTINGS))
        first = CachedEmbedder(inner, FileCache(tmp_path / "cache.db"))
        plain = await inner._inner.embed(["a b", "c", "a b"])
        assert np.allclose(await first.embed(["a b", "c"]), plain[:2])
        await first.close()
        second = CachedEmbedder(inner, FileCache(tmp_path / "cache.db"))
        assert np.allclose(await second.embed(["c", "a b"]), plain[[1, 0]])
        assert inner.texts == ["a b", "c"]
        await second.embed_query("q")
        await second.embed_query("q")
        assert inner.texts == ["a b", "c", "q"]
        await second.close()

    asyncio.run(scenario())
