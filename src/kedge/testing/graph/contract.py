"""The contract of graph stores, written once. A backend binds it by saying how it is opened:

```python
class TestMine(GraphStoreContract):
    async def open_store(self, folder: Path) -> GraphStore:
        return MyGraph(folder)
```

`kedge.testing.graph.congruence` adds random sequences against the memory graph, which is the oracle.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kedge.core.errors import UsageError
from kedge.core.values import Concept, GraphBatch, GraphDocument, MentionKind, Predicate, Role
from kedge.stores.graph.reads import CanMarkDocuments, CanReadTriples, CanSearchPreviews
from kedge.stores.ports import ConceptHit, GraphEdge, GraphStore
from kedge.testing.graph.sample import HERE, THERE, chunk, chunk_ids, ids, library, mention, observe, titled, triple

KEYS = ("trie", "tree", "leaf", "none")
PASSAGES = ("p1", "p2", "p3", "p4")
WORDS = "prefix trees leaf cycles"
(TRIE, TREE, LEAF) = ids("trie", "tree", "leaf")


def on_graph(test: Callable[[Any, Any], Awaitable[None]]) -> Callable[[Any, Path], None]:
    """Turn `async def test_x(self, graph)` into a plain test on a graph that holds the library."""

    def run(self: GraphStoreContract, tmp_path: Path) -> None:
        async def body() -> None:
            graph = await self.open_store(tmp_path)
            try:
                await graph.write(HERE, library())
                await test(self, graph)
            finally:
                await graph.close()

        asyncio.run(body())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


async def degrees(graph: GraphStore) -> dict[str, int]:
    """Concepts that are there, with the number of passages that mention them."""
    return {hit.key: hit.degree for hit in await graph.concepts_by_key(HERE, KEYS)}


class GraphStoreContract(ABC):
    """What every graph store keeps."""

    @abstractmethod
    async def open_store(self, folder: Path) -> GraphStore:
        """A graph that keeps its files, if any, in the folder."""

    # ------------------------------------------------------------ reading

    @pytest.mark.req("D-05")
    @on_graph
    async def test_concepts_are_found_by_key(self, graph: GraphStore) -> None:
        assert await graph.concepts_by_key(HERE, ["none", "tree", "trie", "tree"]) == [
            ConceptHit(TREE, "tree", "Tree", 2),
            ConceptHit(TRIE, "trie", "Trie", 2),
        ]
        assert await graph.concepts_by_key(HERE, []) == []

    @pytest.mark.req("D-06")
    @on_graph
    async def test_passages_know_their_concepts(self, graph: GraphStore) -> None:
        concepts, edges = await graph.concepts_of(HERE, ["p3", "p2", "unknown"])
        assert edges == [GraphEdge("p3", TREE, 3.0), GraphEdge("p2", TRIE, 4.0), GraphEdge("p2", TREE, 1.0)]
        assert concepts == [ConceptHit(TREE, "tree", "Tree", 2), ConceptHit(TRIE, "trie", "Trie", 2)]

    @pytest.mark.req("D-06")
    @on_graph
    async def test_concepts_know_their_heaviest_passages(self, graph: GraphStore) -> None:
        assert await graph.passages_of(HERE, [TRIE, TREE, "unknown"], 10) == [
            GraphEdge("p2", TRIE, 4.0),
            GraphEdge("p3", TREE, 3.0),
            GraphEdge("p1", TRIE, 2.0),
            GraphEdge("p2", TREE, 1.0),
        ]
        assert await graph.passages_of(HERE, [TRIE, TREE], 1) == [
            GraphEdge("p2", TRIE, 4.0),
            GraphEdge("p3", TREE, 3.0),
        ]

    @on_graph
    async def test_equal_weights_are_ordered_by_id_and_cut_by_limit(self, graph: GraphStore) -> None:
        many = [f"q{n:03}" for n in range(40)]
        kinds = tuple(MentionKind)
        edges = tuple(mention(p, "hub", kind=kind) for p in reversed(many) for kind in kinds)
        await graph.write(HERE, GraphBatch(mentions=edges))
        found = await graph.passages_of(HERE, ids("hub"), 7)
        assert [edge.passage_id for edge in found] == many[:7]

    @on_graph
    async def test_about_goes_by_titles_and_position(self, graph: GraphStore) -> None:
        assert await graph.about(HERE, [TREE, TRIE, LEAF]) == [
            GraphEdge("p1", TRIE, 1.0, Role.TITLE),
            GraphEdge("p3", TREE, 1.0, Role.TITLE),
            GraphEdge("p2", TRIE, 1.0, Role.TITLE),
            GraphEdge("p4", TREE, 1.0, Role.TITLE),
        ]
        assert await graph.about(HERE, [LEAF]) == []

    @on_graph
    async def test_a_title_may_be_written_before_its_concept(self, graph: GraphStore) -> None:
        await graph.write(HERE, GraphBatch(documents=(titled("d3", "heap"),), chunks=(chunk("p5", "d3"),)))
        assert await graph.about(HERE, ids("heap")) == []
        await graph.write(HERE, GraphBatch(concepts=(Concept("heap", "Heap"),)))
        assert await graph.about(HERE, ids("heap")) == [GraphEdge("p5", ids("heap")[0], 1.0, Role.TITLE)]

    @pytest.mark.req("D-08")
    @on_graph
    async def test_concepts_are_found_by_their_words(self, graph: GraphStore) -> None:
        async def found(text: str, limit: int = 10) -> list[str]:
            return [concept.key for concept in await graph.search_concepts(HERE, text, limit)]

        assert await found("TREES") == ["tree", "trie"], "by name first, then by alias, whatever the inflection"
        assert await found("TREES", 1) == ["tree"]
        assert await found("cycles") == ["tree"], "by description"
        assert await found("a* OR NOT \"(' AND") == []
        assert await found("") == []
        (trie,) = await graph.search_concepts(HERE, "prefix", 5)
        assert trie == library().concepts[0]

    @pytest.mark.req("D-08")
    @on_graph
    async def test_odd_names_are_found_too(self, graph: GraphStore) -> None:
        names = {"c++": "C++", "who": "The Who", "东京": "东京", "strasse": "Straße"}
        await graph.write(HERE, GraphBatch(concepts=tuple(Concept(key, name) for key, name in names.items())))
        for key, name in names.items():
            assert [concept.key for concept in await graph.search_concepts(HERE, name, 1)] == [key]

    @pytest.mark.req("D-08")
    @on_graph
    async def test_chunks_are_found_by_their_preview(self, graph: GraphStore) -> None:
        if not isinstance(graph, CanSearchPreviews):
            pytest.skip("the store has no index over previews")
        assert await graph.search_chunks(HERE, "leaves", 5) == ["p4"]
        await graph.write(HERE, GraphBatch(chunks=(chunk("p4", "d2", 1, "Branches."),)))
        assert await graph.search_chunks(HERE, "leaves", 5) == []
        assert await graph.search_chunks(HERE, "branch", 5) == ["p4"]

    # ------------------------------------------------------------ writing

    @pytest.mark.req("D-18")
    @on_graph
    async def test_writing_twice_changes_nothing(self, graph: GraphStore) -> None:
        once = await observe(graph, KEYS, PASSAGES, WORDS)
        await graph.write(HERE, library())
        assert await observe(graph, KEYS, PASSAGES, WORDS) == once

    @pytest.mark.req("D-05")
    @on_graph
    async def test_concepts_are_merged_by_key(self, graph: GraphStore) -> None:
        again = Concept(
            "trie", "TRIES", ("radix tree", "prefix tree"), "Other.", "x", "advanced", ("strings", "search")
        )
        await graph.write(HERE, GraphBatch(concepts=(again, replace(again, aliases=("digital tree",)))))
        (merged,) = await graph.search_concepts(HERE, "radix", 5)
        assert merged == Concept(
            "trie",
            "Trie",
            ("prefix tree", "radix tree", "digital tree"),
            "Stores strings by prefix.",
            "data-structure",
            "advanced",
            ("strings", "search"),
        )

    @on_graph
    async def test_an_edge_to_an_undescribed_concept_makes_it(self, graph: GraphStore) -> None:
        """It may have been removed since it was looked up; the edge must not be lost."""
        await graph.write(HERE, GraphBatch(mentions=(mention("p1", "none"),)))
        assert (await degrees(graph))["none"] == 1
        await graph.write(HERE, GraphBatch(concepts=(Concept("none", "None", ("nil",)),)))
        assert [c.name for c in await graph.search_concepts(HERE, "nil", 5)] == ["none"]

    @on_graph
    async def test_a_document_written_again_has_new_titles(self, graph: GraphStore) -> None:
        await graph.write(HERE, GraphBatch(documents=(titled("d1", "leaf"),)))
        assert await graph.about(HERE, [TRIE]) == []
        assert [edge.passage_id for edge in await graph.about(HERE, [LEAF])] == ["p1", "p2"]

    @pytest.mark.req("D-07")
    @pytest.mark.parametrize(
        ("broken", "message"),
        [
            (triple("", "tree"), "Subject cannot be empty"),
            (triple("trie", " "), "Object cannot be empty"),
            (replace(triple("trie", "tree"), predicate="LIKES"), "Invalid predicate type"),  # type: ignore[arg-type]
            (triple("trie", "tree", confidence=0.49), "Triple confidence too low"),
            (triple("trie", "tree", confidence=float("nan")), "Triple confidence too low"),
            (triple("trie", "tree", ""), "Source passage cannot be empty"),
        ],
    )
    def test_an_invalid_triple_is_refused_with_its_batch(self, tmp_path: Path, broken: Any, message: str) -> None:
        async def body(_: GraphStoreContract, graph: GraphStore) -> None:
            before = await observe(graph, KEYS, PASSAGES, WORDS)
            batch = GraphBatch(mentions=(mention("p1", "none"),), triples=(triple("trie", "tree", "p1"), broken))
            with pytest.raises(UsageError, match=message):
                await graph.write(HERE, batch)
            assert await observe(graph, KEYS, PASSAGES, WORDS) == before

        on_graph(body)(self, tmp_path)

    @on_graph
    async def test_edges_of_nothing_are_refused(self, graph: GraphStore) -> None:
        for batch in (
            GraphBatch(mentions=(mention("p1", ""),)),
            GraphBatch(mentions=(mention("p1", "trie", 0),)),
            GraphBatch(concepts=(Concept("", "?"),)),
        ):
            with pytest.raises(UsageError):
                await graph.write(HERE, batch)

    @pytest.mark.req("D-06", "D-07")
    @on_graph
    async def test_relations_are_typed_and_know_their_passage(self, graph: GraphStore) -> None:
        if not isinstance(graph, CanReadTriples):
            pytest.skip("the store does not give relations back")
        compared = triple("tree", "leaf", "p3", 0.5, predicate=Predicate.COMPARED_TO, comparison="c", use_case="u")
        more = [triple("trie", "leaf", "p1", predicate=predicate) for predicate in Predicate]
        await graph.write(HERE, GraphBatch(triples=(compared, *more)))
        assert await graph.triples_of(HERE, [TREE]) == [library().triples[0], compared]
        assert {t.predicate for t in await graph.triples_of(HERE, [LEAF])} == set(Predicate)

    @pytest.mark.req("D-26")
    @on_graph
    async def test_documents_know_where_they_stand(self, graph: GraphStore) -> None:
        if not isinstance(graph, CanMarkDocuments):
            pytest.skip("the store does not say where documents stand")
        new = GraphDocument("d9", "/nine.md", "Nine", "markdown", ("nine",), chunk_count=3, status="pending")
        await graph.write(HERE, GraphBatch(documents=(new,)))
        (pending,) = (await graph.document_states(HERE, ["d9", "unknown"])).values()
        assert (pending.chunk_count, pending.status) == (3, "pending")
        await graph.mark_documents(THERE, ["d9"], "archived")
        await graph.mark_documents(HERE, ["d9", "unknown"], "active")
        states = await graph.document_states(HERE, ["d9", "unknown"])
        assert {key: state.status for key, state in states.items()} == {"d9": "active"}
        assert states["d9"].ingested_at == pending.ingested_at

    # ------------------------------------------------------------ removing

    @on_graph
    async def test_removed_passages_take_their_edges_along(self, graph: GraphStore) -> None:
        await graph.remove(HERE, ["p2", "unknown"], [])
        assert await degrees(graph) == {"trie": 1, "tree": 1, "leaf": 1}
        assert await chunk_ids(graph) == ["p1", "p3", "p4"]
        assert await graph.passages_of(HERE, [TRIE], 5) == [GraphEdge("p1", TRIE, 2.0)]
        assert [edge.passage_id for edge in await graph.about(HERE, [TRIE])] == ["p1"]
        if isinstance(graph, CanReadTriples):
            assert await graph.triples_of(HERE, [TRIE, TREE]) == []

    @on_graph
    async def test_concepts_go_with_the_last_that_names_them(self, graph: GraphStore) -> None:
        await graph.remove(HERE, ["p4"], [])
        assert "leaf" not in await degrees(graph)
        assert await graph.search_concepts(HERE, "leaf", 5) == []
        await graph.remove(HERE, ["p1", "p2"], [])
        assert (await degrees(graph))["trie"] == 0, "the title still names it"
        await graph.remove(HERE, [], ["d1"])
        assert await degrees(graph) == {"tree": 1}
        await graph.remove(HERE, ["p3"], ["d2"])
        assert await degrees(graph) == {}

    @on_graph
    async def test_a_relation_keeps_both_its_concepts(self, graph: GraphStore) -> None:
        await graph.write(HERE, GraphBatch(triples=(triple("none", "leaf", "p3"),)))
        await graph.remove(HERE, ["p4"], [])
        assert (await degrees(graph))["leaf"] == 0
        await graph.remove(HERE, ["p3"], [])
        assert (await degrees(graph)).keys() == {"trie", "tree"}

    @on_graph
    async def test_what_a_document_no_longer_mentions_can_go(self, graph: GraphStore) -> None:
        await graph.write(HERE, GraphBatch(documents=(titled("d2", "tree", mentions=[("leaf", 1, 0.1)]),)))
        await graph.write(HERE, GraphBatch(documents=(titled("d2", "tree"),)))
        await graph.remove(HERE, ["p4"], [])
        assert "leaf" not in await degrees(graph)

    @on_graph
    async def test_removing_twice_is_fine_and_writing_again_restores(self, graph: GraphStore) -> None:
        before = await observe(graph, KEYS, PASSAGES, WORDS)
        for _ in range(2):
            await graph.remove(HERE, PASSAGES, ["d1", "d2"])
        assert await chunk_ids(graph) == []
        await graph.write(HERE, library())
        assert await observe(graph, KEYS, PASSAGES, WORDS) == before

    # ------------------------------------------------------------ scopes

    @on_graph
    async def test_scopes_do_not_see_or_touch_each_other(self, graph: GraphStore) -> None:
        before = await observe(graph, KEYS, PASSAGES, WORDS)
        assert await graph.concepts_by_key(THERE, KEYS) == []
        assert await graph.concepts_of(THERE, PASSAGES) == ([], [])
        assert await graph.passages_of(THERE, [TRIE], 5) == []
        assert await graph.about(THERE, [TRIE]) == []
        assert await graph.search_concepts(THERE, WORDS, 5) == []
        await graph.write(THERE, library())
        await graph.remove(THERE, PASSAGES, ["d1", "d2"])
        await graph.write(THERE, library())
        await graph.drop(THERE)
        assert await observe(graph, KEYS, PASSAGES, WORDS) == before
        await graph.drop(HERE)
        assert await chunk_ids(graph) == []
        assert await degrees(graph) == {}

    @on_graph
    async def test_long_lists_of_ids_are_fine(self, graph: GraphStore) -> None:
        names = [f"n{n}" for n in range(1500)]
        chunks = tuple(chunk(name, "d3", n) for n, name in enumerate(names))
        await graph.write(HERE, GraphBatch(chunks=chunks, mentions=tuple(mention(name, name) for name in names)))
        many = names + [f"unknown {n}" for n in range(35_000)]
        assert len(await graph.concepts_by_key(HERE, many)) == 1500
        assert len((await graph.concepts_of(HERE, names))[0]) == 1500
        assert len(await graph.passages_of(HERE, ids(*many), 5)) == 1500
        assert len(await chunk_ids(graph)) == 1504
        await graph.remove(HERE, names, [])
        assert len(await chunk_ids(graph)) == 4

    def test_closing_twice_is_fine(self, tmp_path: Path) -> None:
        async def body() -> None:
            graph = await self.open_store(tmp_path)
            await graph.close()
            await graph.close()

        asyncio.run(body())
