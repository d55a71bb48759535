"""The store ports. A port is small; its docstrings are the contract that `kedge.testing` checks on every backend.

Every call carries a `Scope` or an index name together with the tenant, so no store can mix tenants up.
An optional power is a protocol of its own: callers ask `isinstance(store, CanKeywordSearch)`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from kedge.core.values import Concept, GraphBatch, Json, Role, Scope, Scored
from kedge.core.values.filters import Filter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Vector: TypeAlias = "npt.NDArray[np.float32]"


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """A physical vector index."""

    name: str
    """Unique in the store."""
    dimension: int
    payload_indexes: Mapping[str, str] = field(default_factory=dict)
    """Payload field → keyword | integer | float | bool | datetime | tenant: fields that filters use often.

    `tenant` is a keyword that parts the data and that nearly every filter names, such as `book_id` (C-06).
    """


@dataclass(frozen=True, slots=True)
class Point:
    """A passage as the vector store holds it."""

    id: str
    vector: Vector
    text: str
    """What keyword search sees: title, section path, text, and what else its document is called."""
    payload: Mapping[str, Json]
    """Fields that filters can name; values are scalars or lists of scalars."""


@runtime_checkable
class VectorStore(Protocol):
    """Vectors by id, found by cosine similarity, filtered by payload.

    Ids are UUID strings; the same id under two tenants is two points. Among equal ids in one call the last wins.
    An id that is no UUID, or a vector that is not finite, raises `UsageError`; a limit below 1 raises `QueryError`.
    Writes are durable (survive a kill) when the call returns. Calls for an index that was
    not created raise `NotFoundError`; a vector of another length raises `DimensionMismatchError` and writes nothing
    of the call; an unreachable or failing server raises `StoreError`.
    """

    async def create(self, spec: IndexSpec) -> None:
        """Create the index, or do nothing if it exists with the same dimension; else DimensionMismatchError."""

    async def drop(self, index: str) -> None:
        """Remove the index with all its points. Unknown names are ignored."""

    async def upsert(self, index: str, tenant: str, points: Sequence[Point]) -> None:
        """Write the points of this tenant; an existing id is replaced whole."""

    async def delete(self, index: str, tenant: str, ids: Sequence[str]) -> None:
        """Remove these points of this tenant. Unknown ids, and ids of other tenants, are ignored."""

    async def search(
        self, index: str, tenant: str, vector: Vector, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        """At most `limit` points of this tenant that pass `where`, by cosine similarity, best first.

        Scores are in [-1, 1]. Ties are broken by id, so that equal data gives equal answers; a store
        may follow a tie across the limit for 1,000 hits only.
        """

    def ids(self, index: str, tenant: str) -> AsyncIterator[list[str]]:
        """All ids of this tenant, in batches, each once, in no promised order."""

    async def count(self, index: str, tenant: str, where: Filter | None = None) -> int:
        """How many points of this tenant pass `where`; exact, and sees all earlier writes."""

    async def close(self) -> None:
        """Release files and connections. Closing twice is fine."""


@runtime_checkable
class CanKeywordSearch(Protocol):
    """A vector store that also ranks by BM25 over `Point.text`, analysed by `kedge.text.analyze`."""

    async def keyword_search(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        """At most `limit` points that share a term with the query, best first; scores above 0, no promised scale."""


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """What a store holds of a point beside its payload."""

    vector: Vector
    """Of norm 1."""
    terms: Mapping[int, float]
    """Term id → weight, as `SparseTerms.term_weights` made them of the point's text."""


@runtime_checkable
class CanReadPoints(Protocol):
    """A store that gives back what it holds: for the graph's walk and the reranker."""

    async def read(self, index: str, tenant: str, ids: Sequence[str]) -> dict[str, StoredPoint]:
        """The points of this tenant with these ids; unknown ids are left out."""


@runtime_checkable
class CanWeighTerms(Protocol):
    """A store that can say how rare a term is in an index."""

    async def term_idf(self, index: str, term_ids: Sequence[int]) -> list[float]:
        """`ln(1 + (N - n + 0.5) / (n + 0.5))` for each term id, as keyword search weighs it; 0 for one not there."""


@runtime_checkable
class CanWeighWithin(Protocol):
    """A store that can take the statistics of its keyword search from a part of a tenant's points alone.

    With it, what somebody finds who may read a part is ranked as if the rest were not there.
    """

    async def keyword_search_within(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None, *, within: Filter
    ) -> list[Scored]:
        """Like `keyword_search`, of points that pass `within` too, weighed by how rare terms are among these."""

    async def term_idf_within(self, index: str, tenant: str, term_ids: Sequence[int], within: Filter) -> list[float]:
        """Like `term_idf`, among the tenant's points that pass `within`."""


@runtime_checkable
class CanOptimize(Protocol):
    """A store whose index is improved by a background step (HNSW build, segment merge)."""

    async def optimize(self, index: str) -> bool:
        """Improve the index; True when anything was done. Search and writes keep working meanwhile."""


@runtime_checkable
class CanTellVersion(Protocol):
    """A store on a server that says what it is."""

    async def version(self) -> str:
        """Name and version of the server, such as `Qdrant 1.19.2`. StoreError when it does not answer."""


@runtime_checkable
class TellsFailures(Protocol):
    """What goes on without its server, and says when it had to."""

    on_failure: Callable[[], None]
    """Called for every call that the server failed."""


@runtime_checkable
class CanAlias(Protocol):
    """A store on a server that can let a second name lead to an index, for other programs."""

    async def alias(self, name: str, index: str) -> None:
        """Let the name lead to this index, in one step if it led to another before.

        StoreError when an index has that name itself; NotFoundError for an unknown index.
        """

    async def aliased(self, name: str) -> str | None:
        """The server's own name of the index that it leads to; None when it leads nowhere."""


@dataclass(frozen=True, slots=True)
class ForeignRow:
    """A text that another program keeps beside its vector."""

    id: str
    text: str
    metadata: Mapping[str, Json]
    created_at: datetime | None
    vector: Vector | None = None
    """As stored, of any length; None where the row has none, or it was not asked for."""


@runtime_checkable
class ForeignTable(Protocol):
    """Texts with vectors that another program fills, read where they are. Nothing here writes.

    A table that is not there raises `NotFoundError`; an unreachable or failing server raises `StoreError`.
    """

    @property
    def shown(self) -> str:
        """Its address with the user and without the password: what a collection keeps, and opens it by again."""

    async def count(self) -> tuple[int, int]:
        """How many rows there are, and how many of them have a vector."""

    async def sample(self, limit: int) -> list[ForeignRow]:
        """Some rows that have a vector, with it, in no promised order."""

    async def nearest(self, vector: Vector, limit: int, *, unit: bool) -> list[Scored]:
        """At most `limit` rows by cosine similarity, best first. `unit`: stored vectors are known to be of length 1."""

    async def rows(self, ids: Sequence[str], *, vectors: bool = False) -> dict[str, ForeignRow]:
        """The rows with these ids; unknown ids are left out."""

    async def close(self) -> None:
        """Release connections. Closing twice is fine."""


@dataclass(frozen=True, slots=True)
class ConceptHit:
    """A concept as a graph read returns it."""

    id: str
    key: str
    name: str
    degree: int
    """Number of passages that mention it."""


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """One edge between a passage and a concept, as a graph read returns it."""

    passage_id: str
    concept_id: str
    weight: float
    """Frequency of the mention in the passage, at least 1; 1 for title edges."""
    role: Role = Role.MENTION
    """How the passage speaks of the concept; of several edges between the two, the strongest role."""


@runtime_checkable
class GraphStore(Protocol):
    """Concepts, documents and chunks with their edges. An index like the vectors: it can be rebuilt.

    Reads may return passages that the catalog no longer knows as live; callers drop those.
    """

    async def write(self, scope: Scope, batch: GraphBatch) -> None:
        """Add the batch. Writing the same batch twice changes nothing; concepts are merged by key."""

    async def remove(self, scope: Scope, passage_ids: Sequence[str], document_ids: Sequence[str]) -> None:
        """Remove chunks and documents with their edges, and concepts that nothing names any more."""

    async def concepts_by_key(self, scope: Scope, keys: Sequence[str]) -> list[ConceptHit]:
        """The concepts with these keys; unknown keys are left out."""

    async def concepts_of(self, scope: Scope, passage_ids: Sequence[str]) -> tuple[list[ConceptHit], list[GraphEdge]]:
        """The concepts that these passages mention, with the edges."""

    async def passages_of(self, scope: Scope, concept_ids: Sequence[str], limit: int) -> list[GraphEdge]:
        """Edges to passages that mention these concepts, at most `limit` for each, heaviest first, then by id."""

    async def about(self, scope: Scope, concept_ids: Sequence[str]) -> list[GraphEdge]:
        """Edges in the role `title` to passages of documents that one of these concepts names, by position."""

    async def search_concepts(self, scope: Scope, text: str, limit: int) -> list[Concept]:
        """Full-text search over name, aliases and description, best first (D-08)."""

    def passage_ids(self, scope: Scope) -> AsyncIterator[list[str]]:
        """All chunks of the scope, in batches, for reconciliation."""

    async def drop(self, scope: Scope) -> None:
        """Remove everything of this scope."""

    async def close(self) -> None:
        """Release connections. Closing twice is fine."""
