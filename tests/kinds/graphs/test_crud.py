"""Nodes and edges are created, changed, read and deleted; the index follows, or reconciling makes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge import Kedge
from kedge.core.errors import ConflictError, NotFoundError, UsageError
from kedge.stores.graph.nodes import Edge, Node

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
    assert len(hit.passage.text) == 8000


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
