"""What is remembered for one tenant tells another nothing, not even by the time that an answer takes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from tests.support.surfaces import EMBEDDER, QUESTION, write_corpus


@pytest.mark.parametrize("kept", ["in memory", "in a file"])
def test_a_question_is_embedded_again_for_another_tenant(tmp_path: Path, kept: str) -> None:
    cache = tmp_path / "cache.db" if kept == "in a file" else None
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER, embed_cache=cache)
    corpus = str(write_corpus(tmp_path / "corpus"))
    embedded: list[float] = []

    async def calls(engine: Engine, tenant: str) -> int:
        """How often the model worked for a search."""
        embedded.clear()
        await engine.search(Query(QUESTION, Scope(tenant, "default")))
        return len(embedded)

    async def taken_in(engine: Engine, tenant: str) -> int:
        embedded.clear()
        await engine.ingest(IngestRequest(Scope(tenant, "default"), (corpus,)))
        return len(embedded)

    async def body() -> None:
        async with Engine.open(settings) as engine:
            engine._keeper.on_embed = lambda seconds, _worked: embedded.append(seconds)
            first = await taken_in(engine, "one")
            assert await taken_in(engine, "two") == first > 0
            assert [await calls(engine, tenant) for tenant in ("one", "one", "two", "two")] == [1, 0, 1, 0]

    asyncio.run(body())
