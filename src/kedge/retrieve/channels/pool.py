"""What the graph's walk works with: what it reads, how far it goes, and the passages read for one question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kedge.core.values import Concept, Role, Scope
from kedge.retrieve.parameters import PARAMETERS
from kedge.text.analyze import SparseTerms

Array = NDArray[np.float32]
_GRAPH = PARAMETERS["graph"]


class ConceptNode(Protocol):
    """A concept as a graph read returns it."""

    @property
    def id(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def degree(self) -> int:
        """Number of passages that mention it."""


class ConceptEdge(Protocol):
    """An edge between a passage and a concept, as a graph read returns it."""

    @property
    def passage_id(self) -> str: ...
    @property
    def concept_id(self) -> str: ...
    @property
    def role(self) -> Role: ...


class ConceptGraph(Protocol):
    """What traversal reads from a graph store; each call is one round trip for the whole batch."""

    async def concepts_by_key(self, scope: Scope, keys: Sequence[str]) -> Sequence[ConceptNode]:
        """The concepts with these keys; unknown keys are left out."""

    async def concepts_of(
        self, scope: Scope, passage_ids: Sequence[str]
    ) -> tuple[Sequence[ConceptNode], Sequence[ConceptEdge]]:
        """The concepts that these passages mention, with the edges."""

    async def passages_of(self, scope: Scope, concept_ids: Sequence[str], limit: int) -> Sequence[ConceptEdge]:
        """Edges to passages that mention these concepts, at most `limit` for each."""

    async def about(self, scope: Scope, concept_ids: Sequence[str]) -> Sequence[ConceptEdge]:
        """Edges, in the role `title`, to passages of the documents that are called so."""

    async def search_concepts(self, scope: Scope, text: str, limit: int) -> Sequence[Concept]:
        """Full-text search over name, aliases and description, best first."""


@dataclass(frozen=True, slots=True)
class PassageFeatures:
    """What is compared with a question: stored with every passage."""

    vector: Array
    """Unit vector of the passage."""
    terms: Mapping[int, float]
    """`SparseTerms.term_weights` of the passage, at least for the question's terms."""


class FeatureReader(Protocol):
    """Reads stored vectors and term weights by passage id."""

    async def features(self, scope: Scope, passage_ids: Sequence[str]) -> Mapping[str, PassageFeatures]:
        """Features of these passages; those that are not live are left out."""


@dataclass(frozen=True, slots=True)
class TraversalQuestion:
    """The question as traversal needs it."""

    text: str
    vector: Array
    """Unit vector of the question."""
    idf: Mapping[int, float]
    """Weight of each of the question's terms, by term id (`SparseTerms.query_weights` times the store's idf)."""


@dataclass(frozen=True, slots=True)
class Traversal:
    """How far to walk and what counts how much. Passage scores are shares from 0 to 1."""

    seeds: int = _GRAPH["seeds"]
    """Best passages of the other channels to start from, besides those the question names."""
    hops: int = _GRAPH["hops"]
    """Passages in a chain: 2 reads neighbours of the seeds (four round trips), 3 also theirs (six)."""
    beam: int = _GRAPH["beam"]
    """Passages from which a third hop starts."""
    max_degree: int = _GRAPH["max_degree"]
    """A concept that more passages mention is too common to walk along (its titled document is still reached)."""
    named: float = _GRAPH["named"]
    """For a passage whose document or lead the question names."""
    mentioned: float = _GRAPH["mentioned"]
    """For a passage that mentions a concept of the question."""
    from_seed: float = _GRAPH["from_seed"]
    """For a step from a seed, times the fourth power of its score: only seeds close to the best lead on."""
    from_named: float = _GRAPH["from_named"]
    """For a step from a passage that the question names."""
    gain: float = _GRAPH["gain"]
    """For what the pair covers beyond its first passage; given to both."""
    roles: Mapping[Role, float] = field(
        default_factory=lambda: {Role(name): weight for name, weight in _GRAPH["roles"].items()}
    )
    """How sure a step is, by how the passage it leads to speaks of the concept."""
    usual: int = _GRAPH["usual"]
    """Passages under one title from which on it says less about each of them."""
    incoming: float = _GRAPH["incoming"]
    """How sure a step is from a document to a passage that names it, divided by the number of passages that do."""
    statement: float = _GRAPH["statement"]
    """What is left of steps from seeds where the text asks nothing: a claim names what it is about."""
    generic: float = _GRAPH["generic"]
    """Factor for a step that starts at a lower-case mention of a title."""
    open_share: float = _GRAPH["open_share"]
    """A passage that lacks less than this share of the question's words leads on less: it may be the whole answer."""
    least: float = _GRAPH["least"]
    """What is left of a step from a passage that holds all words of the question."""
    crowded: int = _GRAPH["crowded"]
    """A passage that names more concepts than this (a list of links, an index) leads to each less surely."""
    asked_relation: float = _GRAPH["asked_relation"]
    """For a passage that states a relation which the question asks for, and half of it for what it leads to."""
    relation: float = _GRAPH["relation"]
    """The same for other relations of what the question names."""
    described: float = _GRAPH["described"]
    """For a passage about a concept that the question describes, where no other channel found anything."""
    preview: float = _GRAPH["preview"]
    """The same for a passage whose beginning shares words with the question."""


@dataclass(frozen=True, slots=True)
class GraphHit:
    """A passage that the graph channel speaks for."""

    passage_id: str
    bonus: float
    """To be added to the passage's blended score, which is on the scale 0 to 2."""
    path: tuple[str, ...]
    """What led here: names of concepts and ids of passages in turn, this passage last."""


@dataclass(frozen=True, slots=True)
class GraphResult:
    """The graph channel's answer."""

    hits: tuple[GraphHit, ...]
    """Best first."""
    base: Mapping[str, float]
    """Exact blended score (0 to 2) of every passage that was read, also of those the other channels missed."""


class PassagePool:
    """The passages read for one question, as rows of arrays."""

    def __init__(self, asked: TraversalQuestion) -> None:
        self.asked = asked
        self.terms = list(asked.idf)
        self._weights = np.array(list(asked.idf.values()), dtype=np.float64)
        self.idf: Array = self._weights.astype(np.float32)
        self.rows: dict[str, int] = {}
        self.ids: list[str] = []
        self.cover: Array = np.zeros((0, len(self.terms)), dtype=np.float32)
        self.vectors: Array = np.zeros((0, len(asked.vector)), dtype=np.float32)
        self.best_cover = 0.0
        self.best_similarity = 0.0

    def add(self, features: Mapping[str, PassageFeatures]) -> None:
        fresh = [(passage, item) for passage, item in features.items() if passage not in self.rows]
        if not fresh:
            return
        none = (0.0,) * len(self.terms)
        held = np.array([[*map(item.terms.get, self.terms, none)] for _, item in fresh], dtype=np.float64)
        cover = held.reshape(len(fresh), len(self.terms)) * self._weights
        self.cover = np.vstack([self.cover, cover.astype(np.float32)])
        self.vectors = np.vstack([self.vectors, np.stack([item.vector for _, item in fresh]).astype(np.float32)])
        for passage, _ in fresh:
            self.rows[passage] = len(self.ids)
            self.ids.append(passage)

    def calibrate(self) -> None:
        """Fix what counts as full cover and full similarity: the best among the passages read so far."""
        self.best_cover = float(self.cover.sum(axis=1).max(initial=0.0))
        self.best_similarity = float((self.vectors @ self.asked.vector).max(initial=0.0))

    def value(self, cover: Array, similarity: Array) -> Array:
        """Mean of the two shares; one value per row of `cover`."""
        lexical = cover.sum(axis=1) / self.best_cover if self.best_cover > 0 else np.zeros(len(cover), dtype=np.float32)
        dense = similarity / self.best_similarity if self.best_similarity > 0 else np.zeros_like(similarity)
        return np.asarray((lexical + dense) / 2, dtype=np.float32)

    def scores(self) -> Array:
        return self.value(self.cover, self.vectors @ self.asked.vector)


def weigh_question(text: str, sparse: SparseTerms, idf: Mapping[int, float]) -> dict[int, float]:
    """`TraversalQuestion.idf`: each known term's weight in the question times its idf in the collection."""
    return {term: weight * idf[term] for term, weight in sparse.query_weights(text).items() if idf.get(term)}
