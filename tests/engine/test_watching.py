"""What is told of the work: failures of stores, slow and failing models, similarities, a line for every query."""

from __future__ import annotations

import asyncio
import logging
import re
from pathlib import Path
from typing import Any

import pytest

from kedge.core.errors import ModelError, StoreError
from kedge.core.settings import Settings, load_settings
from kedge.core.stages import watched
from kedge.core.telemetry import Metrics
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from kedge.engine.tracing import Watch
from kedge.engine.watching import watch_stores
from kedge.models.embed.hashed import HashEmbedder
from kedge.models.wrappers.timed import WatchedEmbedder
from kedge.stores.cache.redis import RedisCache
from kedge.stores.graph.nodes import Node
from kedge.stores.ports import CanKeywordSearch
from kedge.stores.registry import open_vectors
from kedge.testing.vectors.opened import spec

SCOPE = Scope(DEFAULT_TENANT, "default")


@pytest.mark.req("G-29")
def test_every_failure_of_a_store_is_told_by_its_name_and_once() -> None:
    async def scenario() -> list[str]:
        told: list[str] = []
        store = open_vectors(Settings(vector_url="milvus://127.0.0.1:1?timeout=0.3"))
        watch_stores({"vectors": store}, told.append)
        assert isinstance(store, CanKeywordSearch)
        with pytest.raises(StoreError):
            await store.create(spec())
        assert told == ["vectors"]
        with pytest.raises(StoreError):
            assert [page async for page in store.ids("x", "t")]
        assert told == ["vectors", "vectors"]
        cache = RedisCache("redis://127.0.0.1:1")
        cache.on_failure = lambda: told.append("cache")
        assert await cache.get([b"key"]) == [None]  # it goes on without
        await cache.close()
        await store.close()
        return told

    assert asyncio.run(scenario())[2:] == ["cache"]


@pytest.mark.req("G-29", "G-13")
def test_an_engine_tells_failures_of_its_stores(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        told: list[str] = []
        engine.on_store_failure = told.append
        await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
        assert told == []
        await engine.stores.vectors.close()
        with pytest.raises(StoreError):
            await engine.search(Query("kedge", SCOPE))
        assert set(told) == {"vectors"}

    run(scenario)


class Failing(HashEmbedder):
    async def embed(self, texts: Any) -> Any:
        raise ModelError("The model is away.")


@pytest.mark.req("G-27", "G-13")
@pytest.mark.parametrize("words", [False, True])
def test_a_failed_embedding_is_logged_without_its_words_unless_they_may_be(
    words: bool, caplog: pytest.LogCaptureFixture
) -> None:
    counted: list[bool] = []
    model = WatchedEmbedder(Failing(64), lambda _seconds, worked: counted.append(worked), words=words)
    with caplog.at_level(logging.WARNING, logger="kedge.models"), pytest.raises(ModelError):
        asyncio.run(model.embed(["a secret thought", "another"]))
    assert counted == [False]
    assert "embedding by hash:64 in 0.0" in caplog.text
    assert "2 texts, 23 characters" in caplog.text
    assert "The model is away." in caplog.text
    assert ("secret" in caplog.text) is words


@pytest.mark.req("G-27")
def test_a_slow_embedding_is_logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kedge.models.wrappers.timed.SLOW_SECONDS", -1.0)
    model = WatchedEmbedder(HashEmbedder(64), lambda _seconds, _worked: None)
    with caplog.at_level(logging.INFO, logger="kedge.models"):
        asyncio.run(model.embed_query("why"))
    assert "of 1 texts, 3 characters" in caplog.text
    assert "was slow" in caplog.text


@pytest.mark.req("G-28", "G-30")
def test_similarities_are_measured_and_every_query_is_logged(
    run: Any, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    metrics = Metrics()
    question = "What is a kedge used for?"

    async def scenario(engine: Engine) -> None:
        await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
        with caplog.at_level(logging.INFO, logger="kedge"), watched(Watch(metrics)):
            await engine.search(Query(question, SCOPE))
            answer = await engine.ask(Query(question, SCOPE))
            async for event in engine.stream(Query(question, SCOPE)):
                last = event
        assert last.type == "done"
        lines = [one.getMessage() for one in caplog.records if one.name == "kedge.queries"]
        assert len(lines) == 3
        assert lines[0].startswith("search kind=documents ms=")
        assert lines[1].startswith(f"query {answer.query_id} kind=documents confidence={answer.confidence} ms=")
        assert "hits=" in lines[2]
        assert "best similarities in default (documents): 0." in caplog.text
        assert "kedge used" not in caplog.text

    run(scenario)
    text = metrics.render()
    assert 'kedge_similarity_count{kind="documents"}' in text
    assert 'kedge_similarity_bucket{kind="documents",le="0.65"}' in text


@pytest.mark.req("G-28")
def test_similarities_near_the_threshold_are_kept_for_each_kind(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Those of the documents' threshold, and of the nodes' own; what is far from it is not among them."""
    metrics = Metrics()
    (tmp_path / "a.md").write_text("# Kedge\n\nA kedge is a light anchor.\n", "utf-8")
    settings = load_settings(environ={}, home=tmp_path / "home", embedder="hash:64", threshold=0.6, node_threshold=0.8)
    graph = Scope(DEFAULT_TENANT, "graph")
    scores: dict[str, list[float]] = {}

    async def scenario() -> None:
        async with Engine.open(settings) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(tmp_path / "a.md"),)))
            nodes: Any = engine.kinds.named("graph")
            await nodes.nodes.create(graph, Node("k", "Anchor", "Kedge", "A kedge is a light anchor of a ship."))
            with caplog.at_level(logging.INFO, logger="kedge"), watched(Watch(metrics)):
                for scope, kind in ((SCOPE, "documents"), (graph, "graph")):
                    for text in ("What is a light anchor of a ship?", "kedge a light anchor", "harbour dues in winter"):
                        await engine.ask(Query(text, scope))
                        found = await engine.search(Query(text, scope))
                        scores.setdefault(kind, []).extend(hit.cosine or 0.0 for hit in found.hits)

    asyncio.run(scenario())
    text = metrics.render()
    lines = [one for one in caplog.messages if one.startswith("best similarities in")]
    assert all("near the threshold 0." in one for one in lines)
    for kind, threshold in (("documents", 0.6), ("graph", 0.8)):
        count = re.search(rf'kedge_similarity_near_threshold_count{{kind="{kind}"}} (\d+)', text)
        about = sum(f"({kind})" in one and f"threshold {threshold:.2f}: none" not in one for one in lines)
        assert int(count[1] if count else 0) >= about > 0, (kind, scores[kind], lines)


@pytest.mark.req("G-12")
def test_what_the_targets_of_graphs_are_about_is_measured_with_every_question(run: Any, tmp_path: Path) -> None:
    """The targets themselves are checked by `benchmarks.graph_nodes`, which fails where one is missed."""
    metrics = Metrics()
    (tmp_path / "family.tsv").write_text("ada\tfather\tlord byron\nlord byron\tplace of birth\tlondon\n", "utf-8")

    async def scenario(engine: Engine) -> None:
        graph = Scope(DEFAULT_TENANT, "g")
        await engine.ingest(IngestRequest(graph, (str(tmp_path / "family.tsv"),), kind="graph"))
        with watched(Watch(metrics)):
            await engine.ask(Query("where was the father of ada born ?", graph))

    run(scenario)
    text = metrics.render()
    for stage in ("embed", "vectors"):
        assert f'kedge_stage_seconds_count{{stage="{stage}"}} 1' in text
