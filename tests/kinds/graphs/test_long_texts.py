"""All of a node's text counts in semantic search, whatever the model's window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge import Kedge
from kedge.kinds.graphs.indexing import MAX_TEXT_CHARS, node_text
from kedge.kinds.graphs.pieces import pieces
from kedge.models.embed.hashed import HashEmbedder
from kedge.stores.graph.nodes import Edge, Node

FILLER = (
    "The harbour office keeps a register of berths. Each berth has a number, a depth and a length. "
    "Pilots book berths by telephone until noon. Fees are due on arrival and are paid at the counter. "
)
TAIL = "On its roof, beekeepers look after twelve hives and sell the honey in autumn."
LONG = Node("office", "Building", "Harbour office", FILLER * 18 + TAIL)
OTHERS = (
    Node("mill", "Building", "Old mill", "The mill grinds wheat with the force of the river."),
    Node("school", "Building", "School", "Children learn to read and to swim here."),
)


@pytest.fixture
def kedge(tmp_path: Path) -> Iterator[Kedge]:
    with Kedge(
        tmp_path / "home",
        embedder="minilm",
        channels=["vector"],
        reranker="none",
        node_threshold=0.2,
        collection="town",
    ) as opened:
        for node in (LONG, *OTHERS):
            opened.create_node(node)
        yield opened


def sound(kedge: Kedge) -> bool:
    return kedge.reconcile().ok and not kedge.run(kedge.engine.check()).problems


@pytest.mark.req("G-23")
def test_the_end_of_a_long_description_is_found_by_its_meaning(kedge: Kedge) -> None:
    assert len(LONG.description) > 3500
    found = kedge.search("Where do the bees live?", top_k=3)
    assert found.hits[0].passage.external_id == "office"
    assert found.hits[0].cosine is not None
    assert found.hits[0].cosine > 0.2  # one vector for the whole text has less than 0
    assert TAIL in found.hits[0].passage.text
    assert sorted(hit.passage.external_id for hit in found.hits) == ["mill", "office", "school"]
    assert [hit.rank for hit in found.hits] == [1, 2, 3]
    assert sound(kedge)


@pytest.mark.req("G-23")
def test_what_is_cited_stands_where_the_citation_says(kedge: Kedge) -> None:
    answer = kedge.ask("Who looks after the hives on the roof?")
    assert "beekeepers" in answer.answer
    citation = answer.citations[0]
    text = node_text(LONG)
    assert text[citation.start : citation.end] == citation.snippet
    told = kedge.ask("What is the Harbour office?")
    assert told.citations[0].start == 0
    assert told.answer.startswith("The harbour office keeps a register of berths.")


@pytest.mark.req("G-23", "G-09")
def test_changes_and_deletes_leave_no_piece_behind(kedge: Kedge) -> None:
    (before,) = kedge.collections()
    assert before.documents == 3
    assert before.passages > 5
    kedge.update_node("office", description="A small house. " + TAIL)
    (after,) = kedge.collections()
    assert after.passages == 3
    assert sound(kedge)
    kedge.update_node("office", description=LONG.description)
    assert kedge.collections()[0].passages == before.passages
    assert sound(kedge)
    kedge.run(kedge.engine.reindex(kedge.scope("town"), "minilm"))
    assert sound(kedge)
    assert kedge.search("Where do the bees live?", top_k=1).hits[0].passage.external_id == "office"
    kedge.delete_node("office")
    assert kedge.collections()[0].passages == 2
    assert sound(kedge)


@pytest.mark.req("G-23")
def test_the_limit_counts_title_and_text_together() -> None:
    title = "T" * 500
    text = node_text(Node("n", title=title, description="word " * 3000))
    assert len(title) + 1 + len(text) == MAX_TEXT_CHARS


@pytest.mark.req("G-23")
@pytest.mark.parametrize("window", [16, 64, 256, 8192])
@pytest.mark.parametrize("text", [LONG.description, "x" * 4000, "name: value\n" * 500, "Short.", "東京。" * 900])
def test_pieces_cover_the_text_and_fit_the_window(window: int, text: str) -> None:
    model = HashEmbedder(64, window)
    spans = pieces("Title", text, model)
    joined = "".join(text[start:end] for start, end in spans)
    assert "".join(joined.split()) == "".join(text.split())
    assert spans == sorted(spans)
    if len(spans) > 1:
        assert all(count <= window for count in model.count_tokens([text[start:end] for start, end in spans]))
    assert (len(spans) == 1) == (model.count_tokens([f"Title\n{text}"])[0] <= window - 8)


@pytest.mark.req("G-23")
def test_a_path_cites_the_piece_that_holds_the_value(kedge: Kedge) -> None:
    kedge.update_node("office", properties={"architect": "Ilse Brandt"})
    kedge.create_edge(Edge("", "mill", "office", "beside"))
    answer = kedge.ask("Who is the architect of the Harbour office?")
    citation = answer.citations[0]
    assert citation.snippet == "architect: Ilse Brandt"
    hits = kedge.search("architect Ilse Brandt", top_k=3).hits
    assert citation.passage_id in {hit.passage.id for hit in hits}
