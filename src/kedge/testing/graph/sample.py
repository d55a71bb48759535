"""Made-up graph contents and what can be observed of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kedge.core.ids import concept_id, sha256
from kedge.core.values import (
    DEFAULT_TENANT,
    Concept,
    GraphBatch,
    GraphChunk,
    GraphDocument,
    MentionKind,
    PassageConcept,
    Predicate,
    Role,
    Scope,
    Triple,
)
from kedge.stores.graph.reads import CanReadTriples, CanSearchPreviews
from kedge.stores.ports import GraphStore

HERE = Scope(DEFAULT_TENANT, "notes")
THERE = Scope("acme", "notes")


def chunk(passage: str, document: str = "d1", index: int = 0, preview: str = "some words") -> GraphChunk:
    """A chunk in short."""
    return GraphChunk(passage, document, sha256(passage), preview, index, 10, False, False, False)


def titled(document: str, *keys: str, mentions: Sequence[tuple[str, int, float]] = ()) -> GraphDocument:
    """A document about these keys."""
    return GraphDocument(
        document, f"/{document}.md", document, "markdown", keys, chunk_count=1, mentions=tuple(mentions)
    )


def mention(
    passage: str,
    key: str,
    frequency: int = 1,
    kind: MentionKind = MentionKind.DISCUSSES,
    role: Role = Role.MENTION,
) -> PassageConcept:
    """An edge in short."""
    return PassageConcept(passage, key, kind, frequency, role)


def triple(subject: str, target: str, passage: str = "p1", confidence: float = 0.8, **fields: Any) -> Triple:
    """A relation in short."""
    return Triple(subject, fields.pop("predicate", Predicate.USES), target, confidence, passage, **fields)


def library() -> GraphBatch:
    """Two documents of two passages each about tries and trees."""
    return GraphBatch(
        documents=(titled("d1", "trie", mentions=(("trie", 3, 0.9), ("tree", 1, 0.2))), titled("d2", "tree")),
        chunks=(
            chunk("p1", "d1", 0, "A trie stores strings by prefix."),
            chunk("p2", "d1", 1, "Tries are trees."),
            chunk("p3", "d2", 0, "A tree has no cycles."),
            chunk("p4", "d2", 1, "Roots and leaves."),
        ),
        concepts=(
            Concept("trie", "Trie", ("prefix tree",), "Stores strings by prefix.", "data-structure", "", ("strings",)),
            Concept("tree", "Tree", (), "A graph without cycles.", "data-structure"),
            Concept("leaf", "Leaf"),
        ),
        mentions=(
            mention("p1", "trie", 2),
            mention("p2", "trie", 1),
            mention("p2", "trie", 4, MentionKind.CODE_EXAMPLE_FOR),
            mention("p2", "tree", 1),
            mention("p3", "tree", 3),
            mention("p4", "leaf", 1),
        ),
        triples=(triple("trie", "tree", "p2", 0.9, predicate=Predicate.PART_OF),),
    )


def ids(*keys: str, scope: Scope = HERE) -> list[str]:
    """Ids of concepts by key."""
    return [concept_id(scope, key) for key in keys]


async def chunk_ids(graph: GraphStore, scope: Scope = HERE) -> list[str]:
    """All chunks of the scope, sorted."""
    return sorted([passage async for batch in graph.passage_ids(scope) for passage in batch])


async def observe(graph: GraphStore, keys: Sequence[str], passages: Sequence[str], words: str) -> dict[str, object]:
    """All that the port tells of these in both scopes. What is ranked by a store's own lights is told as a set."""
    seen: dict[str, object] = {}
    for scope in (HERE, THERE):
        concepts = ids(*keys, scope=scope)
        seen[f"concepts in {scope}"] = await graph.concepts_by_key(scope, keys)
        seen[f"concepts of passages in {scope}"] = await graph.concepts_of(scope, passages)
        for limit in (1, 100):
            seen[f"{limit} passages in {scope}"] = await graph.passages_of(scope, concepts, limit)
        seen[f"about in {scope}"] = await graph.about(scope, concepts)
        seen[f"chunks in {scope}"] = await chunk_ids(graph, scope)
        seen[f"words in {scope}"] = sorted(await graph.search_concepts(scope, words, 100), key=lambda c: c.key)
        if isinstance(graph, CanSearchPreviews):
            seen[f"previews in {scope}"] = sorted(await graph.search_chunks(scope, words, 100))
        if isinstance(graph, CanReadTriples):
            seen[f"triples in {scope}"] = await graph.triples_of(scope, concepts)
    return seen
