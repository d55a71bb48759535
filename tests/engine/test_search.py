"""The way out, through the engine."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kedge.core.errors import ConfigError, NotFoundError, QueryError
from kedge.core.outside import to_json
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.core.values.filters import Eq, parse_terms
from kedge.engine.engine import Engine
from kedge.models.registry import open_embedder

SCOPE = Scope(DEFAULT_TENANT, "default")


async def filled(engine: Engine, folder: Path) -> Engine:
    await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
    return engine


@pytest.mark.req("D-15", "Q-03")
@pytest.mark.parametrize(
    ("query", "message"),
    [
        (Query("  ", SCOPE), "Query cannot be empty"),
        (Query("x" * 2001, SCOPE), "Query exceeds maximum length"),
        (Query("x", SCOPE, top_k=0), "top_k must be positive integer, got 0"),
        (Query("x", SCOPE, top_k=21), "top_k must be between 1 and 20"),
    ],
)
def test_queries_that_cannot_be(run: Any, folder: Path, query: Query, message: str) -> None:
    async def scenario(engine: Engine) -> None:
        await filled(engine, folder)
        for call in (engine.search, engine.ask):
            with pytest.raises(QueryError) as caught:
                await call(query)
            assert caught.value.message == message
        assert (await engine.search(Query("x" * 2000, SCOPE, top_k=20))) is not None

    run(scenario)


@pytest.mark.req("D-12", "Q-04")
def test_hits_know_their_channels_and_come_in_order(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await filled(engine, folder)
        result = await engine.search(Query("What is a kedge anchor used for?", SCOPE, top_k=3))
        assert 1 <= len(result.hits) <= 3
        assert [hit.rank for hit in result.hits] == list(range(1, len(result.hits) + 1))
        scores = [hit.score for hit in result.hits]
        assert scores == sorted(scores, reverse=True)
        assert all(0.0 <= score <= 1.0 for score in scores)
        best = result.hits[0]
        assert best.passage.title == "Anchors"
        assert best.vector_rank is not None
        assert best.keyword_rank is not None
        assert {"embed", "vector", "keyword", "graph", "fuse", "total"} <= result.timings_ms.keys()

    run(scenario)


@pytest.mark.req("D-11")
def test_channels_run_at_the_same_time(run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the three waits until all have begun: run one after the other, they would wait for ever."""

    async def scenario(engine: Engine) -> None:
        await filled(engine, folder)
        vectors, graph = engine.stores.vectors, engine.stores.graph
        everyone = asyncio.Barrier(3)

        def meeting(store: Any, name: str) -> None:
            original, met = getattr(store, name), []

            async def call(*args: Any, **options: Any) -> Any:
                if not met:  # what follows from the hits may look again
                    met.append(name)
                    await everyone.wait()
                return await original(*args, **options)

            monkeypatch.setattr(store, name, call)

        meeting(vectors, "search")
        meeting(vectors, "keyword_search")
        meeting(graph, "concepts_by_key")
        async with asyncio.timeout(120):
            assert (await engine.search(Query("kedge", SCOPE))).hits

    run(scenario)


@pytest.mark.req("D-11", "D-06")
def test_the_graph_brings_what_no_word_shares_and_says_how(run: Any, tmp_path: Path) -> None:
    docs = tmp_path / "films"
    docs.mkdir()
    (docs / "film.md").write_text("# The Long Reef\n\nThe Long Reef is a film directed by Mira Holt.\n")
    (docs / "person.md").write_text("# Mira Holt\n\nMira Holt was born in Tromsø and studied in Oslo.\n")
    for number in range(30):
        (docs / f"noise{number}.md").write_text(f"# Noise {number}\n\nA film about place {number}, born of a reef.\n")

    async def scenario(engine: Engine) -> None:
        await filled(engine, docs)
        question = Query("In which town was the director of The Long Reef born?", SCOPE, top_k=3)
        with_graph = await engine.search(question)
        hit = next(hit for hit in with_graph.hits if hit.passage.title == "Mira Holt")
        assert hit.graph_rank is not None
        assert "Mira Holt" in hit.path
        assert "The Long Reef" in hit.path

    run(scenario)


@pytest.mark.req("D-04", "D-15", "C-07")
def test_topic_and_metadata_filters(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        for name, topic in (("anchors.md", "gear"), ("tides.md", "water")):
            await engine.ingest(IngestRequest(SCOPE, (str(folder / name),), topic=topic, metadata={"shelf": topic}))
        for query in (
            Query("anchors and tides", SCOPE, topic_filter="water"),
            Query("anchors and tides", SCOPE, where=Eq("shelf", "water")),
        ):
            hits = (await engine.search(query)).hits
            assert {hit.passage.topic_tag for hit in hits} == {"water"}

    run(scenario)


@pytest.mark.req("Q-05")
def test_nothing_found_although_there_is_something_is_explained(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await filled(engine, folder)
        result = await engine.search(Query("anchor", SCOPE, topic_filter="no such topic"))
        assert result.hits == ()
        assert "0 pass the filter" in result.warnings[0]

    run(scenario)


def test_an_unknown_collection_says_how_to_make_it(run: Any) -> None:
    async def scenario(engine: Engine) -> None:
        with pytest.raises(NotFoundError, match="kedge ingest"):
            await engine.search(Query("x", Scope(DEFAULT_TENANT, "none")))

    run(scenario)


@pytest.mark.req("C-06")
def test_tenants_do_not_see_each_other(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await filled(engine, folder)
        other = Scope("other", "default")
        (folder / "secret.md").write_text("# Secret\n\nThe kedge of the other tenant.\n")
        await engine.ingest(IngestRequest(other, (str(folder / "secret.md"),)))
        mine = (await engine.search(Query("kedge of the other tenant", SCOPE, top_k=20))).hits
        theirs = (await engine.search(Query("kedge", other, top_k=20))).hits
        assert all(hit.passage.title != "Secret" for hit in mine)
        assert {hit.passage.title for hit in theirs} == {"Secret"}
        with pytest.raises(NotFoundError):
            await engine.document(DEFAULT_TENANT, theirs[0].passage.document_id)

    run(scenario)


@pytest.mark.req("D-13", "D-14", "D-16", "D-17")
def test_an_answer_cites_spans_that_exist_and_is_recorded(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await filled(engine, folder)
        answer = await engine.ask(Query("What is a kedge?", SCOPE, session_id="8c7c2f1e-0000-4000-8000-000000000001"))
        for citation in answer.citations:
            text = Path(citation.url).read_text()
            assert text[citation.start : citation.end] == citation.snippet
            assert citation.id in answer.answer
        assert 0.0 <= answer.evidence_probability <= 1.0
        await engine.feedback(DEFAULT_TENANT, answer.query_id, 5, "good")
        with pytest.raises(NotFoundError):
            await engine.feedback("other", answer.query_id, 5, None)
        summary = await engine.stores.catalog.analytics.summary(DEFAULT_TENANT)
        assert summary["queries"] == 1
        events = [event async for event in engine.stream(Query("What is a kedge?", SCOPE))]
        assert [event.type for event in events[-2:]] == ["metadata", "done"]
        streamed = "".join(event.content or "" for event in events if event.type == "token")
        assert streamed == answer.answer
        assert [event.citation.id for event in events if event.citation] == [c.id for c in answer.citations]

    run(scenario)


@pytest.mark.req("D-17")
def test_no_word_of_a_query_is_stored(run: Any, folder: Path, tmp_path: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await filled(engine, folder)
        await engine.ask(Query("zanzibarquestionword about anchors", SCOPE, user="alice@example.org"))

    run(scenario)
    for path in (tmp_path / "home").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert b"zanzibarquestionword" not in content
            assert b"alice@example.org" not in content


def test_a_language_model_that_cannot_be_had_is_an_error_not_a_silent_default(run: Any) -> None:
    async def scenario(engine: Engine) -> None:
        raise AssertionError("the engine must not open")

    with pytest.raises(ConfigError, match="no language model named 'claude'"):
        run(scenario, llm="claude")


@pytest.mark.req("D-28", "Q-04", "D-12")
def test_every_hit_says_its_raw_scores_whichever_channel_found_it(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await filled(engine, folder)
        query = Query("What is a kedge anchor used for?", SCOPE, top_k=20)
        result = await engine.search(query)
        collection = await engine.stores.catalog.collections.get(SCOPE)
        assert collection is not None
        index = collection.index_name
        vector = await open_embedder("hash", engine.settings).embed_query(query.text)
        stored = await engine.stores.vectors.read(index, SCOPE.tenant, [hit.passage.id for hit in result.hits])  # type: ignore[attr-defined]
        assert len(result.hits) > 2
        for hit in result.hits:
            shown = to_json(hit)
            assert shown["vector_score"] == pytest.approx(float(stored[hit.passage.id].vector @ vector), abs=1e-5)
            assert shown["keyword_score"] == pytest.approx(hit.keyword_score or 0.0, abs=1e-4)
            assert shown["relevance_score"] == hit.score
            assert shown["fused_score"] is not None
            assert shown["above_threshold"] == (hit.score >= 0.6)
            assert shown["in_both"] is hit.in_both
        assert any(hit.keyword_rank is None and hit.bm25 == 0.0 for hit in result.hits)

    run(scenario)


@pytest.mark.req("D-29", "D-16")
def test_measures_are_of_the_channel_that_they_name(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await filled(engine, folder)
        collection = await engine.stores.catalog.collections.get(SCOPE)
        assert collection is not None
        query = Query("How is a ship pulled off a sandbank?", SCOPE, top_k=1)
        result = await engine.search(query)
        vector = await open_embedder("hash", engine.settings).embed_query(query.text)
        found = await engine.stores.vectors.search(collection.index_name, SCOPE.tenant, vector, 10)
        cosines = [hit.score for hit in found]
        assert len(cosines) > len(result.hits)
        assert result.measures["vector_top"] == pytest.approx(max(cosines), abs=1e-5)
        assert result.measures["vector_avg"] == pytest.approx(sum(cosines) / len(cosines), abs=1e-5)
        assert result.measures["fused_top"] >= (result.hits[0].fused_score or 0.0)
        assert result.measures["fused_top"] != result.measures["reranked_top"]
        assert result.strategy == "hybrid"
        assert (await engine.search(replace(query, include_graph=False))).strategy == "vector_only"

    run(scenario)

    async def without_graph(engine: Engine) -> None:
        assert (await engine.search(Query("kedge", SCOPE))).strategy == "vector_only"

    run(without_graph, channels=("vector", "keyword"))


@pytest.mark.req("D-27", "D-02")
def test_times_and_places_stand_beside_the_vector_and_can_be_filtered(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await filled(engine, folder)
        await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
        (folder / "anchors.md").write_text((folder / "anchors.md").read_text() + "\n## Chains\n\nChain is heavy.\n")
        await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
        collection = await engine.stores.catalog.collections.get(SCOPE)
        assert collection is not None

        async def count(*terms: str) -> int:
            where = parse_terms(terms)
            hits = (await engine.search(Query("anchors", SCOPE, top_k=20, where=where))).hits
            held = await engine.stores.vectors.count(collection.index_name, SCOPE.tenant, where)
            assert len(hits) == held  # the index and the catalog agree
            return held

        everything = await count()
        assert await count("ingested_at>=2026-01-01") == everything
        assert await count("ingested_at<2026-01-01") == 0
        assert await count("document_updated_at>2001-09-09T01:46:40Z", "token_count>=1") == everything
        assert await count("section_path=Anchors") + await count("section_path!=Anchors") == everything
        shown = to_json((await engine.search(Query("steel", SCOPE, top_k=1))).hits[0])
        assert {"section_path", "ingested_at", "document_updated_at", "token_count"} <= shown["metadata"].keys()
        assert datetime.fromisoformat(shown["metadata"]["ingested_at"]).tzinfo is not None

    run(scenario)
