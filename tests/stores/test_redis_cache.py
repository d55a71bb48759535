"""Embeddings in Redis, on the real server: found again, never mixed, expiring, and never in the way."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from redis.asyncio import Redis

from kedge.core.errors import ConfigError, MissingExtraError, StoreError
from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from kedge.models.embed.hashed import HashEmbedder
from kedge.models.wrappers.cached import CachedEmbedder
from kedge.stores import registry
from kedge.stores.cache.redis import EXPIRE_SECONDS, REST_SECONDS, RedisCache
from tests.models.counting import Counting
from tests.services import Unavailable, need
from tests.services import redis as server

pytestmark = [pytest.mark.store("cache", "redis"), pytest.mark.req("G-08")]
NOBODY = "redis://user:s3cret@127.0.0.1:1/0"


@pytest.fixture
def url() -> str:
    return need("redis")


@pytest.fixture
def name() -> str:
    """A model that no other test has embedded with."""
    return f"model-{uuid4()}"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Path]:
    """Folder of a server that this test alone may kill; started."""
    need("redis")
    try:
        server.start(tmp_path)
    except Unavailable as error:
        pytest.skip(f"redis: {error}")
    yield tmp_path
    server.stop(tmp_path)


async def keys_of(url: str) -> set[bytes]:
    async with Redis.from_url(url) as client:
        return set(await client.keys("embed:*"))


def test_texts_and_questions_are_found_again_by_another_process(url: str, name: str) -> None:
    async def scenario() -> None:
        first = Counting(name)
        embedder = CachedEmbedder(first, shared=RedisCache(url))
        rows, question = await embedder.embed(["a b", "c", "a b"]), await embedder.embed_query("a b")
        await embedder.close()
        second = Counting(name)
        embedder = CachedEmbedder(second, shared=RedisCache(url))
        assert np.array_equal(await embedder.embed(["c", "new", "a b"]), [rows[1], await _of("new"), rows[0]])
        assert np.array_equal(await embedder.embed_query("a b"), question)
        assert np.array_equal(await embedder.embed_query("a b"), question)
        await embedder.close()
        assert second.texts == ["new"]
        assert not np.array_equal(question, rows[0]), "a question is not taken for a text"

    asyncio.run(scenario())


async def _of(text: str) -> np.ndarray:
    return (await HashEmbedder(16).embed([text]))[0]


def test_entries_expire_after_a_day_and_show_no_words(url: str, name: str) -> None:
    async def scenario() -> None:
        before = await keys_of(url)
        embedder = CachedEmbedder(Counting(name), shared=RedisCache(url))
        await embedder.embed(["a kedge"])
        await embedder.embed_query("an anchor")
        await embedder.close()
        async with Redis.from_url(url) as client:
            made = await keys_of(url) - before
            assert len(made) == 2
            for key in made:
                assert len(key) == len("embed:") + 64
                assert EXPIRE_SECONDS - 60 < await client.ttl(key) <= EXPIRE_SECONDS == 86_400
                assert len(await client.get(key)) == 4 * 16

    asyncio.run(scenario())


@pytest.mark.req("D-19")
def test_models_and_dimensions_are_never_mixed(url: str, name: str) -> None:
    async def scenario() -> None:
        cache = RedisCache(url)
        for inner in (Counting(name), Counting(name, 32), Counting(f"{name}-2")):
            rows = await CachedEmbedder(inner, shared=cache).embed(["same text"])
            assert rows.shape == (1, inner.dimension)
            assert inner.texts == ["same text"]
        await cache.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("junk", [b"", b"short", b"\xff" * 64, b"\x00" * 65])
def test_what_somebody_else_wrote_there_is_not_believed(url: str, name: str, junk: bytes) -> None:
    async def scenario() -> None:
        cache = RedisCache(url)
        inner = Counting(name)
        embedder = CachedEmbedder(inner, shared=cache)
        await cache.put({embedder._key("text"): junk})
        assert np.array_equal((await embedder.embed(["text"]))[0], await _of("text"))
        await embedder.close()

    asyncio.run(scenario())


def test_many_texts_at_once(url: str, name: str) -> None:
    async def scenario() -> None:
        texts = [f"text {number}" for number in range(1203)]
        inner = Counting(name)
        embedder = CachedEmbedder(inner, shared=RedisCache(url))
        rows = await embedder.embed(texts)
        assert np.array_equal(await embedder.embed(texts), rows)
        assert inner.texts == texts
        assert (await embedder.embed([])).shape == (0, 16)
        await embedder.close()

    asyncio.run(scenario())


def test_a_server_that_goes_away_and_comes_back(own: Path, caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    address = server.start(own)
    caplog.set_level(logging.INFO, "kedge.stores.cache.redis")

    def told() -> list[str]:
        return [record.levelname for record in caplog.records]

    async def scenario() -> None:
        nonlocal now
        inner = Counting()
        embedder = CachedEmbedder(inner, shared=RedisCache(address, clock=lambda: now))
        await embedder.embed(["kept"])
        server.stop(own)
        for _ in range(3):
            assert np.array_equal((await embedder.embed(["kept"]))[0], await _of("kept"))
            await embedder.embed_query(f"question {now}")
            now += REST_SECONDS[1]  # long enough for another try, which fails too
        assert inner.texts.count("kept") == 4
        assert told() == ["WARNING"], "one warning for the whole outage"
        server.start(own)
        await embedder.embed(["early"])
        assert told() == ["WARNING", "INFO"], "used again, and said so"
        inner.texts.clear()
        await embedder.embed(["early"])
        assert inner.texts == []
        server.stop(own)
        await embedder.embed(["late"])
        assert told() == ["WARNING", "INFO", "WARNING"], "a new outage is news"
        await embedder.close()

    asyncio.run(scenario())


def test_it_rests_longer_after_each_failure() -> None:
    now, tries = 0.0, []

    async def scenario() -> None:
        nonlocal now
        cache = RedisCache(NOBODY, clock=lambda: now)
        failed = cache._failed
        cache._failed = lambda error: (tries.append(now), failed(error))[1]  # type: ignore[method-assign]
        for second in range(130):
            now = float(second)
            assert await asyncio.gather(*(cache.get([b"key"]) for _ in range(3))) == [[None]] * 3
        await cache.close()

    asyncio.run(scenario())
    assert tries == [0, 1, 3, 7, 15, 31, 63, 123]


def test_nobody_waits_for_a_server_that_takes_connections_and_says_nothing() -> None:
    asked = 0

    async def say_nothing(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        await reader.read()

    async def scenario() -> None:
        silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
        async with silent:
            port = silent.sockets[0].getsockname()[1]
            cache = RedisCache(f"redis://127.0.0.1:{port}", clock=lambda: 0.0)
            embedder = CachedEmbedder(Counting(), shared=cache)
            for text in ("a", "b", "c"):
                await embedder.embed([text])
                await embedder.embed_query(text)
            await embedder.close()

    asyncio.run(scenario())
    assert asked == 1  # then it is left alone for as long as its rest lasts


def test_passwords_are_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        cache = RedisCache(NOBODY)
        await cache.get([b"key"])
        with pytest.raises(StoreError, match="Kedge works without it") as caught:
            await cache.version()
        await cache.close()
        assert "s3cret" not in f"{caught.value} {caplog.text} {cache.shown}"
        assert "127.0.0.1:1" in caplog.text

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "address",
    ["redis://", "redis://host:x3cret/0", "redis://host/x", "redis://host?fly=1", "redis://[::1", "memcached://host"],
)
def test_addresses_that_cannot_be(address: str) -> None:
    with pytest.raises(ConfigError) as caught:
        registry.open_cache(load_settings(environ={}, cache_url=address))
    assert caught.value.hint


def test_a_missing_driver_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    monkeypatch.delitem(sys.modules, "kedge.stores.cache.redis")
    with pytest.raises(MissingExtraError, match=r"kedge\[redis\]"):
        registry.open_cache(load_settings(environ={}, cache_url=NOBODY))


def test_an_engine_uses_it_and_goes_on_without_it(own: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    address, scope = server.start(own), Scope(DEFAULT_TENANT, "default")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "anchors.md").write_text("# Anchors\n\nA kedge is a light anchor.\n")

    async def used(settings: Settings) -> None:
        async with Engine.open(settings) as engine:
            await engine.ingest(IngestRequest(scope, (str(docs),)))
            assert (await engine.search(Query("light anchor", scope))).hits

    for home in ("one", "two"):
        asyncio.run(used(load_settings(environ={}, home=tmp_path / home, embedder="hash", cache_url=address)))
    assert len(asyncio.run(keys_of(address))) == 2, "the passage and the question"
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    server.stop(own)
    asyncio.run(used(load_settings(environ={}, home=tmp_path / "three", embedder="hash", cache_url=address)))
    assert [record.levelname for record in caplog.records if record.levelno >= logging.WARNING] == ["WARNING"]
