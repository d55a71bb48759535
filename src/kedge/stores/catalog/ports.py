"""The catalog port: the truth about collections, documents, versions, passages, jobs and queries.

Rules that every implementation keeps (`kedge.testing.catalog` checks them):
- A document is visible through its `live_version` alone. `Documents.switch` changes it in one transaction, for
  all given versions at once; a reader sees all of the old or all of the new.
- Every method is one transaction: it happens whole or not at all, and is durable when it returns.
- Everything is idempotent: running a step again after a kill leads to the same state.
- Nothing of another tenant is ever returned; asking for it looks like asking for what is not there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from collections.abc import Collection as Collection_
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, runtime_checkable

from kedge.core.values import ApiKey, Collection, Document, DocumentStatus, Job, Metadata, Passage, Scope


@dataclass(frozen=True, slots=True)
class DeadPassages:
    """Passages of one version that readers no longer see and that the indexes may still hold."""

    scope: Scope
    document_id: str
    version_id: str
    passage_ids: tuple[str, ...]
    """Only ids that no live or staged version shares: safe to delete from the indexes."""
    document_gone: bool
    """The document has no live version and none being built: its graph node goes too."""


class IndexState(StrEnum):
    """What becomes of an index that is not the one in use."""

    BUILDING = "building"
    """Filled by a re-index that has not switched to it yet."""
    KEPT = "kept"
    """Was in use before; a rollback can return to it."""
    DROPPING = "dropping"
    """Nobody needs it any more; the vector store may still hold it."""


@dataclass(frozen=True, slots=True)
class SpareIndex:
    """A physical index of a collection beside the one in use."""

    scope: Scope
    index_name: str
    generation: int
    embedder: str
    dimension: int
    state: IndexState


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """What is kept of one query: hashes, times and counts, and its words only where a setting says so (D-16, D-17)."""

    query_id: str
    tenant: str
    session_id: str | None
    """Analytics session; created on first use."""
    user_hash: str
    query_hash: str
    strategy_used: str
    """vector_only, keyword_only, graph_only or hybrid."""
    execution_time_ms: float
    vector_hits: int
    graph_hits: int
    metrics: Mapping[str, float | int | bool | None]
    """The columns of `retrieval_metrics`."""
    created_at: datetime
    words: str | None = None
    """The question itself, where the setting `keep_questions` wants it kept."""


class Collections(Protocol):
    """Named collections and the physical index each points to."""

    async def get(self, scope: Scope) -> Collection | None:
        """The collection with its live document and passage counts."""

    async def all(self, tenant: str) -> list[Collection]:
        """All of the tenant, by name."""

    async def everywhere(self) -> list[Collection]:
        """All of all tenants: for checks and upkeep only."""

    async def put(self, collection: Collection) -> None:
        """Insert, or replace what may change (generation, index_name, embedder, dimension): the alias switch."""

    async def delete(self, scope: Scope) -> None:
        """Forget the collection with all its documents, versions and passages. Jobs stay as history."""


class Documents(Protocol):
    """Documents, their versions and the one visible switch."""

    async def get(self, tenant: str, document_id: str) -> Document | None:
        """The document, archived ones too."""

    async def find(self, scope: Scope, urls: Sequence[str]) -> dict[str, Document]:
        """By url; unknown urls are left out."""

    async def page(
        self, scope: Scope, *, status: DocumentStatus | None = None, limit: int = 100, offset: int = 0
    ) -> list[Document]:
        """Ordered by url. Archived ones only when asked for by status."""

    async def begin(self, versions: Sequence[tuple[Document, str]]) -> None:
        """Register versions about to be built, as (document, version id): insert the document (pending) if new, refresh
        its descriptive fields if nothing of it is live, and remember the version with these fields for the switch."""

    async def set_status(self, version_ids: Sequence[str], status: DocumentStatus) -> None:
        """Move versions in building on; documents without a live version show the same status."""

    async def switch(self, version_ids: Sequence[str]) -> None:
        """Make these versions live and their documents active, at once; what was live before is dead."""

    async def fail(self, version_id: str, message: str) -> None:
        """The version is dead. The document keeps its live version if it has one, else it is failed; says why."""

    async def retire(self, scope: Scope, document_ids: Sequence[str]) -> list[str]:
        """First step of a delete: nothing of these is visible any more. Returns the ids that were visible."""

    async def archive(self, scope: Scope, document_ids: Sequence[str]) -> None:
        """Last step of a delete: status archived."""

    async def retired(self, scope: Scope) -> list[str]:
        """Documents whose delete was begun and not finished."""


class Passages(Protocol):
    """Passages by version; readers see those of live versions alone."""

    async def stage(self, passages: Sequence[Passage], index_name: str) -> list[str]:
        """Write passages of versions in building. One whose id is known as indexed in `index_name` stays so.

        Returns the ids that are not marked as indexed there yet, in the order given.
        """

    async def staged(self, scope: Scope) -> list[str]:
        """Ids of passages of versions in building in this scope."""

    async def mark_indexed(
        self, passage_ids: Sequence[str], index_name: str, *, kept: Collection_[str] = ()
    ) -> list[str]:
        """Vectors of these are in the index. Returns the marked ones: those that a live or staged version holds.

        They were made now, but for those of `kept`, whose time stays (C-17).
        """

    async def live(self, scope: Scope, passage_ids: Sequence[str]) -> dict[str, Passage]:
        """Those of the ids that are visible now."""

    async def of_document(
        self, tenant: str, document_id: str, *, first: int = 0, last: int | None = None
    ) -> list[Passage]:
        """Live passages of one document, by position, from `first` to `last` inclusive.

        Each knows when its vector in the collection's index was made, and by which model.
        """

    def scan(self, scope: Scope, batch: int = 1000) -> AsyncIterator[list[Passage]]:
        """All live passages of the scope, in batches, by document and position."""

    async def dead(self, limit: int, scope: Scope | None = None, document_id: str | None = None) -> list[DeadPassages]:
        """Dead versions whose passages have not been swept, oldest first: of any tenant, a scope, or one document."""

    async def forget(self, version_ids: Sequence[str]) -> None:
        """Remove swept versions and their passages."""


class Indexes(Protocol):
    """The indexes of a collection beside the one in use, and which live passages each lacks (D-19)."""

    async def spare(self, scope: Scope) -> list[SpareIndex]:
        """All of the scope, by generation."""

    async def put(self, spare: SpareIndex) -> None:
        """Insert, or change the state. One that is being dropped holds no passage any more."""

    async def switch(self, spare: SpareIndex, *, keep: bool) -> None:
        """Let the collection use this one, in one transaction: from now on it is no spare one.

        What was in use becomes `kept`, or `dropping` without `keep`; what was kept before is `dropping`.
        ConflictError, and nothing is changed, if it is not there or is being dropped.
        """

    async def forget(self, scope: Scope, index_name: str) -> None:
        """The vector store does not hold it any more. The one in use stays."""

    async def unmark(self, index_name: str) -> None:
        """Forget which passages the index holds."""

    def missing(self, scope: Scope, index_name: str, batch: int) -> AsyncIterator[list[Passage]]:
        """Live passages that are not marked as indexed there, in batches, by document and position."""


class Uploads(Protocol):
    """Uploaded bytes, kept where every worker can read them until their job has run."""

    async def append(self, upload_id: str, number: int, piece: bytes) -> None:
        """Keep the piece with this number, counted from 0."""

    def read(self, upload_id: str) -> AsyncIterator[bytes]:
        """The pieces in order; none for an unknown id."""

    async def delete(self, upload_ids: Sequence[str]) -> None:
        """Forget them. Unknown ids are ignored."""


@runtime_checkable
class CanKeepUploads(Protocol):
    """A catalog that can also keep uploads."""

    @property
    def uploads(self) -> Uploads: ...


class Jobs(Protocol):
    """Ingestion jobs across restarts."""

    async def put(self, job: Job) -> None:
        """Insert or replace."""

    async def get(self, tenant: str, job_id: str) -> Job | None:
        """The job."""

    async def recent(self, tenant: str, *, limit: int = 50) -> list[Job]:
        """Newest first."""

    async def unfinished(self) -> list[Job]:
        """Jobs of all tenants that have not ended, oldest first: what a restart takes up again."""

    async def waiting(self) -> tuple[int, datetime | None]:
        """How many jobs of all tenants have not ended, and when the oldest of them was made."""

    async def building(self, scope: Scope) -> list[tuple[str, str]]:
        """(document id, version id) of versions that are being built in the scope."""


class Keys(Protocol):
    """Credentials of the HTTP API, of all tenants."""

    async def put(self, key: ApiKey) -> None:
        """Insert or replace."""

    async def get(self, key_id: str) -> ApiKey | None:
        """The key, of whichever tenant, valid or not."""

    async def all(self) -> list[ApiKey]:
        """Every key, oldest first."""

    async def exist(self) -> bool:
        """Whether any key was ever made and not deleted; revoked and expired ones count."""


class Analytics(Protocol):
    """Queries, their metrics, feedback. Hashes only."""

    async def record(self, query: QueryRecord) -> None:
        """Keep one query with its metrics, and its session if it has one."""

    async def feedback(
        self, tenant: str, query_id: str, rating: int, comment: str | None, *, binary: bool = False
    ) -> str:
        """Keep a rating 1–5, or no and yes as 0 and 1 (`binary`, or a 0); returns its id.

        UsageError for another rating; NotFoundError for an unknown query of this tenant.
        """

    async def sweep(self, before: datetime) -> int:
        """Forget queries older than that with all that belongs to them, of all tenants; returns how many."""

    async def erase(self, tenant: str, user_hash: str) -> tuple[int, list[str]]:
        """Forget a user: queries with metrics, feedback and sessions. Returns how many, and the ids of the sessions."""

    async def summary(self, tenant: str, since: datetime | None = None, top: int = 10) -> Metadata:
        """The members of `AnalyticsSummary`. `since`: when the period begins whose `top` most frequent questions and
        number of queries in a minute are told; None: `PERIOD_DAYS` ago."""


@runtime_checkable
class Catalog(Protocol):
    """The seven parts, one database."""

    @property
    def collections(self) -> Collections: ...
    @property
    def documents(self) -> Documents: ...
    @property
    def passages(self) -> Passages: ...
    @property
    def indexes(self) -> Indexes: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def keys(self) -> Keys: ...
    @property
    def analytics(self) -> Analytics: ...

    async def integrity(self) -> list[str]:
        """Faults in the database itself and in the rules above, as sentences; empty when sound."""

    async def close(self) -> None:
        """Release files and connections. Closing twice is fine."""
