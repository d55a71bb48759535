"""Typed relations from pages to answers: what the graph is told, and what questions find through it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kedge.core.errors import NotFoundError, UsageError
from kedge.core.ids import concept_id
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Predicate, Query, Scope
from kedge.engine.engine import Engine
from kedge.ingest.fitness import check_passages, check_vectors
from kedge.stores.graph.reads import CanMarkDocuments, CanReadTriples
from tests.services import need
from tests.support.passages import passage

SCOPE = Scope(DEFAULT_TENANT, "default")
MEMORY = {"catalog_url": "memory:", "vector_url": "memory:", "graph_url": "memory:"}
STORES = pytest.mark.parametrize("stores", ["sqlite", "memory", "neo4j"])
PAGES = {
    "dijkstra.md": """# Dijkstra's Algorithm

Dijkstra's Algorithm finds shortest paths. Dijkstra's Algorithm uses a Priority Queue. It requires knowledge of Graph
Theory.

Dijkstra's Algorithm is faster than Bellman-Ford when edges are non-negative. The Shortest Path Tree is part of
Dijkstra's Algorithm.
""",
    "graphs.md": "# Graph Theory\n\nGraph Theory speaks of vertices and what joins them. It began in Koenigsberg.\n",
    "heaps.md": """# Heaps

A Fibonacci Heap implements a Priority Queue. The Binary Heap is an example of a Priority Queue. The Binary Heap is
related to the Fibonacci Heap.
""",
    "search.md": "# Depth-First Search (DFS)\n\nDepth-First Search (DFS) walks a maze by going on until a wall.\n",
}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    for number in range(12):
        (folder / f"noise{number}.md").write_text(f"# Noise {number}\n\nPath {number} of a shop that knows edges.\n")
    return folder


def placed(stores: str) -> dict[str, str]:
    """Settings that put the graph there."""
    return {"memory": MEMORY, "neo4j": {"graph_url": need("neo4j")} if stores == "neo4j" else {}}.get(stores, {})


async def ingested(engine: Engine, folder: Path) -> CanReadTriples:
    await engine.stores.graph.drop(SCOPE)  # a server has one database for all tests
    await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
    graph = engine.stores.graph
    assert isinstance(graph, CanReadTriples)
    return graph


@STORES
@pytest.mark.req("D-21", "D-06", "D-07")
def test_an_ingest_of_ordinary_pages_gives_all_seven_predicates(run: Any, pages: Path, stores: str) -> None:
    async def scenario(engine: Engine) -> None:
        graph = await ingested(engine, pages)
        names = ("dijkstra algorithm", "priority queue", "binary heap")
        found = await graph.triples_of(SCOPE, [concept_id(SCOPE, name) for name in names])
        assert {one.predicate for one in found} == set(Predicate)
        (compared,) = [one for one in found if one.predicate is Predicate.COMPARED_TO]
        assert compared.comparison.startswith("Dijkstra's Algorithm is faster than")
        assert compared.use_case == "when edges are non-negative"
        live = await engine.stores.catalog.passages.live(SCOPE, [one.passage_id for one in found])
        assert live.keys() == {one.passage_id for one in found}

    run(scenario, **placed(stores))


@pytest.mark.req("D-21")
@pytest.mark.parametrize("folder", ["src/kedge/data/demo", "docs/how-to/models.md"])
def test_the_demo_and_the_documentation_state_relations(run: Any, folder: str) -> None:
    root = Path(__file__).parents[2]

    async def scenario(engine: Engine) -> None:
        graph = await ingested(engine, root / folder)
        keys = {concept_id(SCOPE, key) for key in ("anchor bend", "windlass", "sheet bend", "qwen3 embedding")}
        assert await graph.triples_of(SCOPE, sorted(keys))

    run(scenario, **MEMORY)


@STORES
@pytest.mark.req("D-22")
def test_what_must_be_known_before_is_found_along_the_relation(run: Any, pages: Path, stores: str) -> None:
    async def scenario(engine: Engine) -> None:
        await ingested(engine, pages)
        found = await engine.search(Query("What must I know before Dijkstra's Algorithm?", SCOPE, top_k=3))
        hit = next(hit for hit in found.hits if hit.passage.title == "Graph Theory")
        assert hit.path[:3] == ("Dijkstra's Algorithm", "PREREQUISITE", "Graph Theory")
        without = await engine.search(
            Query("What must I know before Dijkstra's Algorithm?", SCOPE, top_k=3, include_graph=False)
        )
        assert all(hit.passage.title != "Graph Theory" for hit in without.hits)

    run(scenario, **placed(stores))


@STORES
@pytest.mark.req("D-22")
def test_a_comparison_is_found_by_its_relation(run: Any, pages: Path, stores: str) -> None:
    async def scenario(engine: Engine) -> None:
        await ingested(engine, pages)
        found = await engine.search(Query("How does Dijkstra's Algorithm compare to Bellman-Ford?", SCOPE, top_k=3))
        assert "faster than Bellman-Ford" in found.hits[0].passage.text
        assert found.hits[0].path[1] == "COMPARED_TO"
        assert found.counts["concepts"] >= 1

    run(scenario, **placed(stores))


@STORES
@pytest.mark.req("D-23", "D-08")
@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What is DFS?", "Depth-First Search (DFS)"),
        ("What is Grapf Theory?", "Graph Theory"),
        ("walks a maze by going on until a wall", "Depth-First Search (DFS)"),
        ("Koenigsberg vertices", "Graph Theory"),
    ],
    ids=["alias", "misspelt", "description", "preview"],
)
def test_the_full_text_indexes_alone_find_it(run: Any, pages: Path, stores: str, question: str, title: str) -> None:
    """Without vectors and keywords, so that nothing else can."""

    async def scenario(engine: Engine) -> None:
        await ingested(engine, pages)
        found = await engine.search(Query(question, SCOPE, top_k=3))
        assert title in [hit.passage.title for hit in found.hits]

    run(scenario, channels=["graph"], **placed(stores))


@pytest.mark.req("D-34", "D-11")
def test_the_walk_from_named_concepts_does_not_wait(run: Any, pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vector and keyword search go on only when the walk has left the named passages: in turn, they wait for ever."""

    async def scenario(engine: Engine) -> None:
        await ingested(engine, pages)
        vectors, graph = engine.stores.vectors, engine.stores.graph
        walked = asyncio.Event()
        onward, search, keyword_search = graph.concepts_of, vectors.search, vectors.keyword_search  # type: ignore[attr-defined]

        async def walk(*args: Any) -> Any:
            walked.set()
            return await onward(*args)

        async def after(original: Any, *args: Any) -> Any:
            await walked.wait()
            return await original(*args)

        monkeypatch.setattr(graph, "concepts_of", walk)
        monkeypatch.setattr(vectors, "search", lambda *args: after(search, *args))
        monkeypatch.setattr(vectors, "keyword_search", lambda *args: after(keyword_search, *args))
        async with asyncio.timeout(60):
            assert (await engine.search(Query("What does Graph Theory speak of?", SCOPE))).hits

    run(scenario)


@STORES
@pytest.mark.req("D-26", "D-05")
def test_the_graphs_documents_follow_the_catalog(
    run: Any, pages: Path, stores: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(engine: Engine) -> None:
        graph = engine.stores.graph
        assert isinstance(graph, CanMarkDocuments)
        building: list[str] = []
        write = graph.write

        async def watched(scope: Scope, batch: Any) -> None:
            await write(scope, batch)
            keys = [one.document_id for one in batch.documents]
            building.extend(one.status for one in (await graph.document_states(scope, keys)).values())

        monkeypatch.setattr(graph, "write", watched)
        await ingested(engine, pages)
        assert set(building) == {"pending"}
        documents = await engine.stores.catalog.documents.page(SCOPE, limit=100, offset=0)
        states = await graph.document_states(SCOPE, [one.id for one in documents])
        assert {key: state.status for key, state in states.items()} == {one.id: "active" for one in documents}
        assert {key: state.chunk_count for key, state in states.items()} == {
            one.id: one.chunk_count for one in documents
        }
        assert all(state.ingested_at is not None for state in states.values())
        marked: list[str] = []
        mark = graph.mark_documents

        async def told(scope: Scope, keys: Any, status: str) -> None:
            marked.append(status)
            await mark(scope, keys, status)

        monkeypatch.setattr(graph, "mark_documents", told)
        await engine.delete_document(DEFAULT_TENANT, documents[0].id)
        assert marked == ["archived"]
        assert documents[0].id not in await graph.document_states(SCOPE, [documents[0].id])

    run(scenario, **placed(stores))


@pytest.mark.req("D-39")
@pytest.mark.parametrize(
    ("text", "tokens", "documents", "message"),
    [
        (" \n", 1, {"d-p1"}, "Chunk content cannot be empty"),
        ("A text.", 2001, {"d-p1"}, "Chunk must be 100-2000 tokens"),
        ("A text.", 2, {"other"}, "Document not found"),
    ],
)
def test_passages_that_break_the_rules_are_refused(text: str, tokens: int, documents: set[str], message: str) -> None:
    with pytest.raises((UsageError, NotFoundError), match=message):
        check_passages([passage(text, token_count=tokens)], documents)
    check_passages([passage("A short document.", token_count=4)], {"d-p1"})


@pytest.mark.req("D-39")
def test_vectors_of_another_length_are_refused_before_the_store(run: Any, pages: Path) -> None:
    with pytest.raises(UsageError, match="Embedding must be 384 dimensions"):
        check_vectors(np.zeros((2, 8), dtype=np.float32), 384)
    check_vectors(np.zeros((0, 0), dtype=np.float32), 384)


@pytest.mark.req("D-39")
def test_nothing_is_written_of_a_batch_with_such_a_passage(
    run: Any, pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(engine: Engine) -> None:
        monkeypatch.setattr("kedge.ingest.fitness.MOST_TOKENS", 1)
        with pytest.raises(UsageError, match="tokens"):
            await engine.ingest(IngestRequest(SCOPE, (str(pages),)))
        assert [batch async for batch in engine.stores.graph.passage_ids(SCOPE)] == []
        assert await engine.stores.catalog.passages.staged(SCOPE) == []

    run(scenario)
