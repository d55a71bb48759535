"""Nodes and edges are created, changed, read and deleted; the index follows, or reconciling makes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kedge import Kedge
from kedge.core.errors import ConflictError, NotFoundError, UsageError
from kedge.stores.graph.nodes import Edge, Node
from kedge.stores.ports import Point

ADA = Node("ada", "Person", "Ada Lovelace", "Wrote the first program for the analytical engine.", properties={"n": 1})


def found(kedge: Kedge, text: str) -> list[str]:
    return [hit.passage.external_id for hit in kedge.search(text, top_k=5).hits]


@pytest.mark.req("G-01", "G-02")
def test_a_node_is_found_as_soon_as_it_is_there_and_never_after(kedge: Kedge) -> None:
    made = kedge.create_node(ADA)
    assert (made.id, made.title) == ("ada", "Ada Lovelace")
    assert made.created_at is not None
    kedge.create_node(Node("bob", title="Bob"))
    assert found(kedge, "first program analytical engine")[0] == "ada"
    kedge.update_node("ada", description="Tamed a crocodile.")
    assert found(kedge, "crocodile")[0] == "ada"
    hits = kedge.search("analytical engine", top_k=5).hits
    assert all("analytical" not in hit.passage.text for hit in hits)
    kedge.create_edge(Edge("", "ada", "bob", "knows"))
    (edge,) = kedge.edges(node="bob")
    assert kedge.delete_node("ada") == [edge.id]
    assert "ada" not in found(kedge, "crocodile")
    assert kedge.edges() == []
    with pytest.raises(NotFoundError):
        kedge.node("ada")
    kedge.create_node(ADA)
    assert found(kedge, "analytical engine")[0] == "ada"


def test_payload_names_node_and_type_for_filters(kedge: Kedge) -> None:
    kedge.create_node(ADA)
    kedge.create_node(Node("engine", "Machine", "Analytical engine", "A program runs on it."))
    (hit,) = kedge.search("program", where={"node_type": "Machine"}).hits
    assert hit.passage.metadata["node_id"] == "engine"
    (hit,) = kedge.search("program", where={"n": 1}).hits
    assert hit.passage.external_id == "ada"


def test_an_index_is_called_graph_nodes(kedge: Kedge) -> None:
    kedge.create_node(ADA)
    (collection,) = kedge.collections()
    assert collection.kind == "graph"
    assert collection.index_name.startswith("graph_nodes_")


def test_edges_have_a_life_of_their_own(kedge: Kedge) -> None:
    kedge.create_node(ADA)
    kedge.create_node(Node("bob"))
    edge = kedge.create_edge(Edge("", "ada", "bob", "knows", {"since": 1830}))
    assert edge.id
    with pytest.raises(ConflictError):
        kedge.create_edge(Edge("", "ada", "bob", "knows"))
    changed = kedge.update_edge(edge.id, type="likes")
    assert (changed.type, dict(changed.properties)) == ("likes", {"since": 1830})
    with pytest.raises(NotFoundError):
        kedge.create_edge(Edge("", "ada", "carol", "knows"))
    kedge.delete_edge(edge.id)
    with pytest.raises(NotFoundError):
        kedge.delete_edge(edge.id)


def test_what_cannot_be_is_refused(kedge: Kedge, tmp_path: Path) -> None:
    kedge.create_node(ADA)
    with pytest.raises(ConflictError):
        kedge.create_node(ADA)
    with pytest.raises(UsageError, match="no colour"):
        kedge.update_node("ada", colour="red")
    with pytest.raises(NotFoundError):
        kedge.update_node("bob", title="x")
    with pytest.raises(NotFoundError):
        kedge.nodes("nowhere")
    note = tmp_path / "note.md"
    note.write_text("# Note\n\nWords.", "utf-8")
    kedge.ingest(note, collection="notes")
    with pytest.raises(UsageError, match="documents"):
        kedge.create_node(ADA, collection="notes")


@pytest.mark.req("G-02")
def test_long_texts_are_cut_at_8000_characters(kedge: Kedge) -> None:
    kedge.create_node(Node("long", title="Long", description="word " * 5000))
    (hit,) = kedge.search("word", top_k=1).hits
    _, passages = kedge.document(hit.passage.document_id)
    assert passages[-1].end == len(("word " * 5000)[: 8000 - len("Long\n")].rstrip())


@pytest.mark.req("G-11")
def test_the_switch_stops_the_hooks_and_keeps_the_data(tmp_path: Path, family: Path) -> None:
    home = tmp_path / "home"
    with Kedge(home, embedder="hash:64", collection="g", enable_rag_search=False) as kedge:
        kedge.create_node(ADA)
        job = kedge.ingest(family, kind="graph")
        assert any("ENABLE_RAG_SEARCH" in warning for warning in job.warnings)
        assert kedge.search("program").hits == ()
        assert kedge.node("ada") is not None
        assert kedge.collections()[0].passages == 0
    with Kedge(home, embedder="hash:64", collection="g") as kedge:
        assert len(kedge.reconcile().missing) == 14
        assert kedge.reconcile(repair=True).repaired
        assert found(kedge, "lord byron")[0] == "lord_byron"


@pytest.mark.req("G-11")
def test_the_switch_is_read_by_its_own_name() -> None:
    from kedge.core.settings import load_settings

    assert load_settings(environ={"ENABLE_RAG_SEARCH": "false"}).enable_rag_search is False
    assert load_settings(environ={"KEDGE_ENABLE_RAG_SEARCH": "false"}).enable_rag_search is False
    assert load_settings(environ={}).enable_rag_search is True


def test_a_deleted_collection_takes_its_nodes_along(kedge: Kedge) -> None:
    kedge.create_node(ADA)
    kedge.delete_collection("g")
    kedge.create_node(Node("bob"))
    assert [node.id for node in kedge.nodes()] == ["bob"]


@pytest.mark.req("G-24", "G-09")
def test_reconciling_names_and_counts_every_difference(kedge: Kedge, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(60):
        kedge.create_node(Node(f"n{number:02}", title=f"Node {number}", description=f"It is number {number}."))
    engine = kedge._engine
    scope = kedge.scope("g")

    async def spoil() -> list[str]:
        index = (await engine.collection(scope)).index_name
        live = [one async for page in engine.stores.catalog.passages.scan(scope) for one in page]
        by_node = {one.external_id: one.id for one in live}
        vectors: Any = engine.stores.vectors
        await vectors.delete(index, scope.tenant, [by_node[f"n{number:02}"] for number in range(25)])
        other = [by_node[f"n{number:02}"] for number in range(30, 55)]
        held = await vectors.read(index, scope.tenant, other)
        await vectors.upsert(index, scope.tenant, [Point(key, held[key].vector, "another text", {}) for key in other])
        strays = [str(UUID(int=number)) for number in range(1, 26)]
        await vectors.upsert(index, scope.tenant, [Point(key, held[other[0]].vector, "stray", {}) for key in strays])
        return strays

    strays = kedge.run(spoil())
    with caplog.at_level("WARNING", logger="kedge.kinds.graphs"):
        told = kedge.reconcile()
    assert told.missing == tuple(f"n{number:02}" for number in range(25))
    assert told.stale == tuple(f"n{number:02}" for number in range(30, 55))
    assert told.orphaned == tuple(strays)
    assert "25 missing" in caplog.text
    assert "25 orphaned" in caplog.text
    assert "25 stale" in caplog.text
    assert kedge.reconcile(repair=True).repaired
    again = kedge.reconcile()
    assert (again.missing, again.orphaned, again.stale) == ((), (), ())


@pytest.mark.req("G-25", "G-11")
def test_what_is_deleted_while_switched_off_is_found_by_nobody(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Kedge(home, embedder="hash:64", collection="g") as kedge:
        kedge.create_node(ADA)
        kedge.create_node(Node("bob", title="Bob", description="Bob builds bridges."))
    with Kedge(home, embedder="hash:64", collection="g", enable_rag_search=False) as kedge:
        kedge.delete_node("bob")
        assert "bob" not in {hit.passage.external_id for hit in kedge.search("Who builds bridges?").hits}
        assert kedge.search("ada").hits  # what is kept can still be searched
        with pytest.raises(NotFoundError, match="switched off"):
            kedge.ask("Who is Ada?")
        with pytest.raises(NotFoundError, match="switched off"):
            list(kedge.stream("Who is Ada?"))


@pytest.mark.req("G-22")
def test_filters_can_name_when_a_node_was_made_and_changed(kedge: Kedge) -> None:
    made = kedge.create_node(ADA)
    kedge.update_node("ada", description="She wrote the first program.")
    kedge.create_node(Node("bob", title="Bob"))
    assert made.created_at is not None
    assert len(kedge.search("ada bob", where={"created_at": {"gte": made.created_at.isoformat()}}).hits) == 2
    assert not kedge.search("ada bob", where={"created_at": {"gt": "2100-01-01"}}).hits
    changed = kedge.node("ada").updated_at
    assert changed is not None
    found = kedge.search("ada bob", where={"updated_at": {"lte": changed.timestamp()}}).hits
    assert [hit.passage.external_id for hit in found] == ["ada"]
    assert found[0].passage.metadata["created_at"] == made.created_at.timestamp()
