"""What a question names in the concept graph, and where that leads: the half of the walk that waits for nothing.

Concepts are found by their key, by an alias or a misspelt name, and by words of their description; passages by words
of their preview (D-23). From the named concepts the walk follows their mentions and their typed relations (D-22), and
reads what it will need next, all while the other channels search (D-34).
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rapidfuzz.distance import OSA

from kedge.core.values import Concept, Role, Scope
from kedge.retrieve.channels.pool import (
    ConceptEdge,
    ConceptGraph,
    ConceptNode,
    FeatureReader,
    PassageFeatures,
    Traversal,
)
from kedge.retrieve.channels.related import Lead, relations_of
from kedge.stores.graph.reads import CanSearchMeant, CanSearchPreviews, search_terms
from kedge.text.concepts import candidate_keys, concept_key, link, mentions

FOUND = 12
"""Concepts, and passages, that the full-text indexes are asked for."""
AHEAD = 24
"""Passages that are read on from before the other channels have answered."""
MISSPELT = 0.2
"""Share of a name's letters that may be wrong."""
LEAST_LETTERS = 5
"""Of a name that may be misspelt."""
COVERED = 0.6
"""Share of the question's words that a description must hold."""
LEAST_WORDS = 3

Beyond = tuple[Sequence[ConceptNode], Sequence[ConceptEdge]]


@dataclass(frozen=True, slots=True)
class NamedConcepts:
    """What the question names, as the graph knows it."""

    concepts: Mapping[str, ConceptNode]
    """By id."""
    edges: Sequence[ConceptEdge]
    """To the passages of documents that are called so, and to passages that mention them."""
    leads: Sequence[Lead] = ()
    """Passages that typed relations lead to."""
    features: Mapping[str, PassageFeatures] = field(default_factory=dict)
    """Of passages, read ahead."""
    ahead: Mapping[str, Beyond] = field(default_factory=dict)
    """Concepts of passages, read ahead: passage id → concepts and edges."""


async def read_question(
    graph: ConceptGraph,
    scope: Scope,
    text: str,
    how: Traversal = Traversal(),  # noqa: B008 (frozen value)
    reader: FeatureReader | None = None,
) -> NamedConcepts:
    """The first half of the channel: it needs the question's words alone, so it can run beside the other channels."""
    keys = sorted(candidate_keys(text))
    exact, meant = await asyncio.gather(graph.concepts_by_key(scope, keys), _meant(graph, scope, text, frozenset(keys)))
    found = {node.key: node for node in exact}
    linked = [*link(text, lambda wanted: {key for key in wanted if key in found}), *mentions(text)]
    concepts = {found[mention.key].id: found[mention.key] for mention in linked if mention.key in found}
    others = await graph.concepts_by_key(scope, [one.key for one in meant]) if meant else []
    concepts |= {node.id: node for node in others}
    common = [node.id for node in concepts.values() if node.degree <= how.max_degree]
    edges, related = await asyncio.gather(
        passages_of(graph, scope, list(concepts), common, how), relations_of(graph, scope, text, concepts, how)
    )
    features, ahead = await _read_ahead(graph, scope, edges, reader)
    return NamedConcepts(concepts, edges, related, features, ahead)


async def _meant(graph: ConceptGraph, scope: Scope, text: str, keys: frozenset[str]) -> Sequence[Concept]:
    """Of the concepts that share words with the question those that it means by another name; `keys`: its own names."""

    by_words: dict[int, list[str]] = {}
    for key in keys:
        by_words.setdefault(key.count(" "), []).append(key)

    def means(one: Concept) -> bool:
        return one.key not in keys and _means(one, keys, by_words)

    if isinstance(graph, CanSearchMeant):
        return await graph.search_meant(scope, text, FOUND, means)
    return [one for one in await graph.search_concepts(scope, text, FOUND) if means(one)]


async def hints(graph: ConceptGraph, scope: Scope, text: str, question: NamedConcepts, how: Traversal) -> list[Lead]:
    """Passages that descriptions and previews lead to, by words that keyword search finds in the passages too."""
    searched = await graph.search_concepts(scope, text, FOUND)
    described = [one.key for one in searched if _describes(one, text)]
    nodes = await graph.concepts_by_key(scope, described) if described else []
    hinted = {node.id: node for node in nodes if node.id not in question.concepts}
    about = await graph.about(scope, list(hinted)) if hinted else []
    previews = await graph.search_chunks(scope, text, FOUND) if isinstance(graph, CanSearchPreviews) else []
    found = [Lead(edge.passage_id, how.described, (hinted[edge.concept_id].name,)) for edge in about]
    return [*found, *(Lead(passage, how.preview / rank) for rank, passage in enumerate(previews, 1))]


def _means(concept: Concept, keys: Collection[str], by_words: Mapping[int, Sequence[str]]) -> bool:
    """Whether the question has one of its aliases, or its name with a few wrong letters.

    `by_words`: the keys by the number of spaces in them.
    """
    if any(concept_key(alias) in keys for alias in concept.aliases):
        return True
    letters = len(concept.key)
    if letters < LEAST_LETTERS:
        return False
    words = concept.key.count(" ")
    most = max(1, int(MISSPELT * letters / (words + 1)))
    alike = (key for key in by_words.get(words, ()) if abs(len(key) - letters) <= 2)
    return any(OSA.distance(key, concept.key, score_cutoff=most) <= most for key in alike)


def _describes(concept: Concept, text: str) -> bool:
    """Whether its description has most of the question's words."""
    wanted = set(search_terms(text))
    held = wanted & set(search_terms(concept.description)) if concept.description else set()
    return len(held) >= max(LEAST_WORDS, COVERED * len(wanted))


async def passages_of(
    graph: ConceptGraph, scope: Scope, titled: Sequence[str], mentioned: Sequence[str], how: Traversal
) -> list[ConceptEdge]:
    """Edges to the titled documents' passages and to the passages that mention; a title edge hides a mention."""
    if not titled:
        return []
    about, other = await asyncio.gather(graph.about(scope, titled), graph.passages_of(scope, mentioned, how.max_degree))
    titles = {(edge.concept_id, edge.passage_id) for edge in about}
    return [*about, *(edge for edge in other if (edge.concept_id, edge.passage_id) not in titles)]


async def _read_ahead(
    graph: ConceptGraph, scope: Scope, edges: Sequence[ConceptEdge], reader: FeatureReader | None
) -> tuple[Mapping[str, PassageFeatures], Mapping[str, Beyond]]:
    """Features of the named passages, and what those that are titled or begin so speak of."""
    if reader is None or not edges:
        return {}, {}
    named = list(dict.fromkeys(edge.passage_id for edge in edges if edge.role in (Role.TITLE, Role.LEAD)))[:AHEAD]
    every = list(dict.fromkeys(edge.passage_id for edge in edges))
    features, beyond_them = await asyncio.gather(
        reader.features(scope, every), graph.concepts_of(scope, named) if named else _no_concepts()
    )
    nodes = {node.id: node for node in beyond_them[0]}
    ahead: dict[str, Beyond] = {}
    for passage in named:
        own = [edge for edge in beyond_them[1] if edge.passage_id == passage]
        ahead[passage] = ([nodes[edge.concept_id] for edge in own], own)
    return features, ahead


async def _no_concepts() -> Beyond:
    return [], []


async def beyond(graph: ConceptGraph, scope: Scope, passages: Sequence[str], ahead: Mapping[str, Beyond]) -> Beyond:
    """The concepts of these passages with the edges, by passage; only what was not read ahead is asked for."""
    wanted = [passage for passage in passages if passage not in ahead]
    fresh: Beyond = await graph.concepts_of(scope, wanted) if wanted else ([], [])
    known = {node.id: node for node in fresh[0]}
    known |= {node.id: node for passage in passages if passage in ahead for node in ahead[passage][0]}
    by_passage: dict[str, list[ConceptEdge]] = {passage: [] for passage in passages}
    for edge in fresh[1]:
        by_passage[edge.passage_id].append(edge)
    for passage in passages:
        if passage in ahead:
            by_passage[passage] = list(ahead[passage][1])
    edges = [edge for passage in by_passage for edge in by_passage[passage]]
    return [known[key] for key in dict.fromkeys(edge.concept_id for edge in edges)], edges
