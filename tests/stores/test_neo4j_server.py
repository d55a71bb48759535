"""The graph in Neo4j beyond the contract, on a real server: schema, model, hostile text, failures, a whole engine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import neo4j
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.core.errors import StoreError, UsageError
from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, Concept, GraphBatch, IngestRequest, MentionKind, Predicate, Query, Scope
from kedge.engine.engine import Engine
from kedge.stores.graph.memory.concepts import MemoryGraph
from kedge.stores.graph.neo4j import Neo4jGraph, open_graph, schema
from kedge.stores.graph.neo4j.address import parse
from kedge.stores.queries import filled, load_queries
from kedge.testing.graph.sample import HERE, THERE, chunk, chunk_ids, ids, library, mention, observe, titled, triple
from tests.services import need

pytestmark = pytest.mark.store("graph", "neo4j")
ENGINE = Scope(DEFAULT_TENANT, "neo4j-engine")


def on_server(work: Callable[[Neo4jGraph], Awaitable[None]], *scopes: Scope) -> None:
    """Run `work` on an empty graph."""

    async def body() -> None:
        graph = open_graph(need("neo4j"), Settings())
        try:
            for scope in scopes or (HERE, THERE):
                await graph.drop(scope)
            await work(graph)
        finally:
            await graph.close()

    asyncio.run(body())


async def ask(statement: str, **values: Any) -> list[list[Any]]:
    """Ask the server itself, past the store."""
    address = parse(need("neo4j"))
    async with neo4j.AsyncGraphDatabase.driver(address.uri, auth=address.auth) as driver:
        result = await driver.execute_query(statement, values, database_=address.database)  # type: ignore[arg-type]
        return [record.values() for record in result.records]


# ---------------------------------------------------------------- schema and model


@pytest.mark.req("D-05", "D-08")
def test_the_server_knows_constraints_and_indexes() -> None:
    async def body(_: Neo4jGraph) -> None:
        unique = await ask("SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties")
        scope = ["tenant", "collection"]
        for name, label, fields in (
            ("concept_name_unique", "Concept", [*scope, "key"]),
            ("document_url_unique", "Document", [*scope, "url"]),
            ("chunk_id_unique", "Chunk", [*scope, "chunk_id"]),
        ):
            assert [name, "UNIQUENESS", [label], fields] in unique
        indexes = await ask("SHOW INDEXES YIELD name, type, labelsOrTypes, properties, state")
        words = ["scope", "name_terms", "alias_terms", "description_terms"]
        assert ["conceptNameIndex", "FULLTEXT", ["Concept"], words, "ONLINE"] in indexes
        assert ["chunkPreviewIndex", "FULLTEXT", ["Chunk"], ["scope", "preview_terms"], "ONLINE"] in indexes
        assert ["chunk_hash", "RANGE", ["Chunk"], [*scope, "hash"], "ONLINE"] in indexes

    on_server(body)


@pytest.mark.req("D-05", "D-06")
def test_nodes_and_edges_are_those_of_the_model() -> None:
    first = replace(chunk("p1"), next_passage_id="p2", has_code=True)
    batch = GraphBatch(
        documents=(titled("d1", "trie", mentions=[("trie", 3, 0.9)]),),
        chunks=(first, chunk("p2", index=1)),
        concepts=(Concept("trie", "Trie", ("prefix tree",), "Stores strings.", "data-structure", "easy", ("a",)),),
        mentions=tuple(mention("p1", "trie", 2, kind) for kind in MentionKind),
        triples=tuple(triple("trie", "tree", predicate=each, comparison="c", use_case="u") for each in Predicate),
    )

    async def body(graph: Neo4jGraph) -> None:
        await graph.write(HERE, batch)
        within = "MATCH (a {tenant: $tenant, collection: $collection})"
        scope = {"tenant": HERE.tenant, "collection": HERE.collection}
        edges = await ask(f"{within}-[r]->(b) RETURN labels(a), type(r), labels(b), properties(r)", **scope)
        kinds = {(start[0], kind, end[0]) for start, kind, end, _ in edges}
        assert kinds == {
            *(("Concept", predicate.value, "Concept") for predicate in Predicate),
            *(("Chunk", kind.value, "Concept") for kind in MentionKind),
            ("Document", "MENTIONS", "Concept"),
            ("Document", "TITLED", "Title"),
            ("Chunk", "FROM_DOCUMENT", "Document"),
            ("Chunk", "NEXT_CHUNK", "Chunk"),
        }
        by_kind = {kind: fields for _, kind, _, fields in edges}
        assert by_kind["MENTIONS"] == {"frequency": 3, "relevance": 0.9}
        assert by_kind["DISCUSSES"] == {"frequency": 2, "role": "mention"}
        compared = {"comparison": "c", "use_case": "u", "confidence": 0.8, "passage_id": "p1"}
        assert by_kind["COMPARED_TO"] == compared
        ((concept,),) = await ask(f"{within} WHERE a:Concept AND a.key = 'trie' RETURN properties(a)", **scope)
        assert {"name", "aliases", "description", "category", "difficulty", "tags", "created_at"} <= concept.keys()
        ((stored,),) = await ask(f"{within} WHERE a:Chunk AND a.chunk_id = 'p1' RETURN properties(a)", **scope)
        assert (stored["hash"], stored["preview"], stored["has_code"]) == (first.hash, first.preview, True)
        ((count,),) = await ask("MATCH (n) WHERE n.tenant IS NULL OR n.collection IS NULL RETURN count(n)")
        assert count == 0, "every node says whose it is"

    on_server(body)


def statements() -> list[str]:
    """All that is asked for nodes by id, and all ids of a scope.

    Not the merge of an edge with a property, which takes no hint: 2,000 take as long among 14,000 as among none.
    """
    types = {"mentions": schema.MENTIONS, "predicates": schema.PREDICATES, "kind": "DISCUSSES", "predicate": "USES"}
    found = []
    for file in ("concepts.cypher", "nodes.cypher"):
        named = load_queries("kedge.stores.graph.neo4j", file)
        for name, statement in named.statements.items():
            whole = statement.replace("{said}", named["said_by_passage"]) if "{said}" in statement else statement
            if "MATCH (" in whole and "$tenant" in whole and name not in ("said_by_passage", "relate_concepts"):
                found.append(filled(whole, **{name: type for name, type in types.items() if f"{{{name}}}" in whole}))
    return found


def test_nothing_is_scanned_even_by_plans_made_on_an_empty_graph() -> None:
    """The server keeps such plans; a scan in one would be repeated for every id when the graph is large."""

    async def body(_: Neo4jGraph) -> None:
        address = parse(need("neo4j"))
        given: dict[str, Any] = {"tenant": "", "collection": "", "ids": [], "rows": [], "places": {}, "now": 0}
        given |= {"after": "", "limit": 1, "index": "", "query": "", "terms": [], "candidates": 1}
        given |= {"type": "", "node": "", "keys": [], "end": ""}
        async with neo4j.AsyncGraphDatabase.driver(address.uri, auth=address.auth) as driver:
            for statement in statements():
                told = await driver.execute_query(f"EXPLAIN {statement}", given, database_=address.database)  # type: ignore[arg-type]
                assert "Scan" not in str(told.summary.plan), statement

    assert len(statements()) > 40
    on_server(body)


def test_links_are_made_whichever_end_comes_first() -> None:
    async def body(graph: Neo4jGraph) -> None:
        await graph.write(HERE, GraphBatch(chunks=(replace(chunk("p1", "d1"), next_passage_id="p2"),)))
        await graph.write(HERE, GraphBatch(chunks=(chunk("p2", "d1", 1),)))
        await graph.write(HERE, GraphBatch(documents=(titled("d1", "trie"),), concepts=(Concept("trie", "Trie"),)))
        assert [edge.passage_id for edge in await graph.about(HERE, ids("trie"))] == ["p1", "p2"]
        pairs = "MATCH (a:Chunk {tenant: $tenant})-[:NEXT_CHUNK]->(b:Chunk) RETURN a.chunk_id, b.chunk_id"
        assert await ask(pairs, tenant=HERE.tenant) == [["p1", "p2"]]

    on_server(body)


def test_several_processes_make_the_schema_at_once() -> None:
    async def body(_: Neo4jGraph) -> None:
        for name, owned in await ask(
            "SHOW INDEXES YIELD name, labelsOrTypes, owningConstraint RETURN name, owningConstraint"
        ):
            if owned:
                await ask(f"DROP CONSTRAINT {owned} IF EXISTS")
            elif not name.startswith("index_"):
                await ask(f"DROP INDEX {name} IF EXISTS")
        graphs = [open_graph(need("neo4j"), Settings()) for _ in range(4)]
        try:
            assert await asyncio.gather(*(graph.concepts_by_key(HERE, ["a"]) for graph in graphs)) == [[]] * 4
        finally:
            for graph in graphs:
                await graph.close()
        ((count,),) = await ask("SHOW INDEXES YIELD name, state WHERE state = 'ONLINE' RETURN count(*)")
        assert count >= 18

    on_server(body)


def test_writers_of_one_collection_take_turns() -> None:
    async def body(graph: Neo4jGraph) -> None:
        other = open_graph(need("neo4j"), Settings())
        edges = [tuple(mention(f"p{n + part}", key) for key in ("x", "y")) for n in range(6) for part in (0, 1)]
        try:
            stores = (graph, other)
            writes = [stores[n % 2].write(HERE, GraphBatch(mentions=batch)) for n, batch in enumerate(edges)]
            await asyncio.gather(*writes)
        finally:
            await other.close()
        assert [hit.degree for hit in await graph.concepts_by_key(HERE, ["x", "y"])] == [7, 7]

    on_server(body)


# ---------------------------------------------------------------- text is data

HOSTILE = (
    "'}) DETACH DELETE n //",
    '") RETURN 1 UNION MATCH (n) DETACH DELETE n //',
    "`]->() DELETE r",
    "$tenant",
    "\\u0027 OR 1=1",
    "name:* OR scope:*",
    "+*:* -tenant:x^9~ [a TO z]",
    "\x00\x1f\n",
    "x" * 20_000,
)
hostile = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@pytest.mark.req("D-05")
@settings(max_examples=12, deadline=None)
@given(st.lists(hostile, min_size=1, max_size=4, unique=True))
def test_hostile_text_stays_text(texts: Sequence[str]) -> None:
    async def body(graph: Neo4jGraph) -> None:
        oracle = MemoryGraph()
        await graph.write(THERE, library())
        batch = GraphBatch(
            documents=tuple(titled(text, text, mentions=[(text, 1, 0.5)]) for text in texts if len(text) < 1000),
            chunks=tuple(chunk(f"p{n}", text, n, text) for n, text in enumerate(texts) if len(text) < 1000),
            concepts=tuple(Concept(text, text, (text,), text, text, text, (text,)) for text in texts),
            mentions=tuple(mention(f"p{n}", text) for n, text in enumerate(texts)),
        )
        for store in (graph, oracle):
            await store.write(HERE, batch)
        await oracle.write(THERE, library())
        for words in (*texts, " ".join(texts)):
            passages = [f"p{n}" for n in range(len(texts))]
            assert await observe(graph, texts, passages, words) == await observe(oracle, texts, passages, words)
        await graph.remove(HERE, list(texts), list(texts))
        assert len(await chunk_ids(graph, THERE)) == 4

    on_server(body)


def test_text_that_is_no_unicode_is_refused() -> None:
    async def body(graph: Neo4jGraph) -> None:
        with pytest.raises(UsageError, match="cannot be stored"):
            await graph.write(HERE, GraphBatch(concepts=(Concept("a", "\ud800"),)))

    on_server(body)


@pytest.mark.req("D-08")
@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(("tree", "suffix", "C++", "东京", "heap")), max_size=3), min_size=2, max_size=6)
)
def test_words_rank_as_in_the_oracle(texts: Sequence[Sequence[str]]) -> None:
    async def body(graph: Neo4jGraph) -> None:
        oracle = MemoryGraph()
        lines = [" ".join(words) for words in texts]
        batch = GraphBatch(
            concepts=tuple(Concept(f"k{n}", line, tuple(texts[n - 1]), lines[n - 2]) for n, line in enumerate(lines)),
            chunks=tuple(chunk(f"p{n}", preview=line) for n, line in enumerate(lines)),
        )
        for store in (graph, oracle):
            await store.write(HERE, batch)
        for limit in (1, 3, 100):
            for words in ("trees", "suffix C++", "东京 heaps tree"):
                assert await graph.search_concepts(HERE, words, limit) == await oracle.search_concepts(
                    HERE, words, limit
                )
                assert await graph.search_chunks(HERE, words, limit) == await oracle.search_chunks(HERE, words, limit)

    on_server(body)


# ---------------------------------------------------------------- failures


@pytest.mark.req("G-01")
@pytest.mark.parametrize(
    ("change", "said", "hint"),
    [
        (lambda url: url.replace(f":{parse(url).auth[1]}@", ":wrong@"), "refused the connection", "user and password"),
        (lambda url: url.rpartition("/")[0] + "/nowhere?timeout=1", "nowhere", "name another one"),
    ],
)
def test_a_server_that_refuses(change: Callable[[str], str], said: str, hint: str) -> None:
    async def body() -> None:
        graph = open_graph(change(need("neo4j")), Settings())
        try:
            with pytest.raises(StoreError, match=said) as caught:
                await graph.concepts_by_key(HERE, ["a"])
            assert hint in caught.value.hint
        finally:
            await graph.close()

    if parse(need("neo4j")).auth is None:
        pytest.skip("the server has no passwords")
    asyncio.run(body())


class Relay:
    """A way to the server that can be shut."""

    def __init__(self) -> None:
        parts = urlsplit(need("neo4j"))
        self._target = parts.hostname or "", parts.port or 7687
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def shut(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection(*self._target)
        self._writers += [writer, there_writer]
        for source, target in ((reader, there_writer), (there_reader, writer)):
            task = asyncio.create_task(self._pump(source, target))
            self._tasks.add(task)

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(1 << 16):
            target.write(data)
        target.close()


@pytest.mark.req("G-01")
def test_a_server_that_goes_away_and_comes_back() -> None:
    async def body() -> None:
        relay = Relay()
        await relay.open()
        parts = urlsplit(need("neo4j"))
        place = parts.netloc.rpartition("@")[0]
        url = f"neo4j://{place}{'@' if place else ''}127.0.0.1:{relay.port}{parts.path}?direct=true&timeout=0.5"
        graph = open_graph(url, Settings())
        try:
            await graph.drop(HERE)
            await graph.write(HERE, library())
            await relay.shut()
            with pytest.raises(StoreError, match="cannot be reached"):
                await graph.concepts_by_key(HERE, ["trie"])
            with pytest.raises(StoreError, match="cannot be reached"):
                await graph.write(HERE, library())
            await relay.open()
            assert [hit.degree for hit in await graph.concepts_by_key(HERE, ["trie"])] == [2]
        finally:
            await graph.close()
            await relay.shut()

    asyncio.run(body())


# ---------------------------------------------------------------- the whole engine


@pytest.mark.req("D-18", "G-01", "G-09")
def test_an_engine_on_neo4j(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "lighthouse.md").write_text("# Pharos\n\nThe lighthouse Pharos was designed by Sostratus of Cnidus.\n")
    (folder / "architect.md").write_text("# Sostratus of Cnidus\n\nHe was born in Caria, on the shore of Anatolia.\n")
    (folder / "other.md").write_text("# Harbours\n\nHarbours shelter ships from storms.\n")
    options = {"home": tmp_path / "home", "embedder": "hash", "graph_url": need("neo4j")}

    async def body(graph: Neo4jGraph) -> None:
        async with Engine.open(load_settings(environ={}, **options)) as engine:
            job = await engine.ingest(IngestRequest(ENGINE, (str(folder),)))
            assert not job.errors
            result = await engine.search(Query("Where was the designer of Pharos born?", ENGINE, top_k=5))
            paths = {hit.passage.title: hit.path for hit in result.hits}
            assert "Sostratus of Cnidus" in paths["Sostratus of Cnidus"], "the way led along the name"
            assert (await engine.check()).problems == ()

            (folder / "lighthouse.md").write_text("# Pharos\n\nThe lighthouse Pharos was paid for by Ptolemy Soter.\n")
            await engine.ingest(IngestRequest(ENGINE, (str(folder),)))
            assert await graph.concepts_by_key(ENGINE, ["ptolemy soter"])
            assert (await engine.check()).problems == ()

            documents = await engine.documents(ENGINE)
            gone = next(document for document in documents if document.title == "Pharos")
            await engine.delete_document(ENGINE.tenant, gone.id)
            assert await graph.concepts_by_key(ENGINE, ["ptolemy soter", "pharos"]) == []
            assert (await engine.check()).problems == ()

            (left,) = [batch async for batch in graph.passage_ids(ENGINE)]
            await graph.remove(ENGINE, left[:1], [])
            assert [problem.kind for problem in (await engine.check(repair=True)).problems] == ["missing_graph"]
            assert (await engine.check()).problems == ()
            await engine.delete_collection(ENGINE)
            assert await chunk_ids(graph, ENGINE) == []

    on_server(body, ENGINE)
