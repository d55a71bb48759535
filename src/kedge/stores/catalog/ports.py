"""The catalog port: the truth about collections, documents, versions, passages, jobs, queries and rights.

Rules that every implementation keeps (`kedge.testing.catalog` checks them):
- A document is visible through its `live_version` alone. `Documents.switch` changes it in one transaction, for
  all given versions at once; a reader sees all of the old or all of the new.
- Every method is one transaction: it happens whole or not at all, and is durable when it returns.
- Everything is idempotent: running a step again after a kill leads to the same state.
- Nothing of another tenant is ever returned; asking for it looks like asking for what is not there.
- Nothing is returned that the actor in force (`kedge.core.acting`) may not read: the reads of `Collections`,
  `Documents` and `Passages` answer, and count, as if it were not there. With no actor in force all is seen. What only
  ingestion and upkeep ask (`staged`, `dead`, `retired`, `everywhere`) is not narrowed, nor are writes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from collections.abc import Collection as Collection_
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol, runtime_checkable

from kedge.core.values import (
    ApiKey,
    AuditEntry,
    Collection,
    ConnectedSource,
    Document,
    DocumentStatus,
    Hold,
    Job,
    KeptConversation,
    KeptTurn,
    Metadata,
    Narrowed,
    Passage,
    Readers,
    Scope,
    SourceItem,
)


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
    was_live: tuple[datetime, datetime] | None = field(default=None, compare=False)
    """Since when and until when readers saw it; None where they never did, or where it must not be kept."""


@dataclass(frozen=True, slots=True)
class PastPassage:
    """A passage that readers saw before."""

    passage: Passage
    since: datetime
    until: datetime
    """The first and the last instant of it; between them there may be times at which it was not there."""


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
    """Named collections and the physical index each points to.

    For the actor in force one is not there that has other readers as a whole. Nor is one without readers as a whole
    that shows them nothing while a document of it (shown, in work or gone) is kept from them: names are secrets too.
    """

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

    async def retire(self, scope: Scope, document_ids: Sequence[str], *, erase: bool = True) -> list[str]:
        """First step of a delete: nothing of these is visible any more. Returns the ids that were visible.

        Nor as of any time, with `erase`; without it, their versions may be kept (`Past`).
        """

    async def archive(self, scope: Scope, document_ids: Sequence[str]) -> None:
        """Last step of a delete: status archived."""

    async def retired(self, scope: Scope) -> list[str]:
        """Documents whose delete was begun and not finished."""


class ReadPassages(Protocol):
    """What readers see of passages: those that are live, or those that were at some instant."""

    async def live(self, scope: Scope, passage_ids: Sequence[str]) -> dict[str, Passage]:
        """Those of the ids that are visible."""

    async def of_document(
        self, tenant: str, document_id: str, *, first: int = 0, last: int | None = None
    ) -> list[Passage]:
        """Passages of one document, by position, from `first` to `last` inclusive."""


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

    async def visible(self, scope: Scope, passage_ids: Sequence[str]) -> set[str]:
        """Those of the ids that `live` would give, without reading them."""

    async def of_document(
        self, tenant: str, document_id: str, *, first: int = 0, last: int | None = None
    ) -> list[Passage]:
        """Live passages of one document, by position, from `first` to `last` inclusive.

        Each knows when its vector in the collection's index was made, and by which model.
        """

    def scan(self, scope: Scope, batch: int = 1000) -> AsyncIterator[list[Passage]]:
        """All live passages of the scope, in batches, by document and position."""

    async def dead(self, limit: int, scope: Scope | None = None, document_id: str | None = None) -> list[DeadPassages]:
        """Dead versions whose passages have not been swept, oldest first: of any tenant, a scope, or one document.

        Those that are kept (`Past`) are not among them.
        """

    async def forget(self, version_ids: Sequence[str]) -> None:
        """Remove swept versions and their passages."""


class Past(Protocol):
    """Versions that readers saw before, for questions as of a time. An instant belongs to the version that began then.

    What was live is known from the switch on; a version that is kept stays readable behind the sweep. Begun again, a
    version that was live leaves its past behind under an id of its own.
    """

    async def keep(self, version_ids: Sequence[str]) -> None:
        """Swept, but not to be forgotten. Versions that live, or that were never live, are ignored."""

    async def release(self, scope: Scope, before: datetime) -> int:
        """Versions superseded by then are kept no longer, but among the dead again; returns how many."""

    async def live(self, scope: Scope, passage_ids: Sequence[str], at: datetime) -> dict[str, Passage]:
        """Those of the ids that were visible at that instant, as they were, as far as their versions are there."""

    async def of_document(
        self, tenant: str, document_id: str, at: datetime, *, first: int = 0, last: int | None = None
    ) -> list[Passage]:
        """Passages of one document that were visible then, by position, from `first` to `last` inclusive."""

    async def of_versions(self, version_ids: Sequence[str]) -> dict[str, list[PastPassage]]:
        """Passages of dead versions that were live, by position; other versions are left out."""

    async def held(self, passage_ids: Sequence[str]) -> set[str]:
        """Those of the ids that a kept version holds."""

    def scan(self, scope: Scope, batch: int = 1000) -> AsyncIterator[list[PastPassage]]:
        """All passages of kept versions of the scope, each id once, in batches, by id."""


@runtime_checkable
class CanKeepPast(Protocol):
    """A catalog that can also keep superseded versions."""

    @property
    def past(self) -> Past: ...


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


class Conversations(Protocol):
    """Conversations of users with their questions and answers. Nobody sees those of another user."""

    async def put(self, conversation: KeptConversation) -> None:
        """Insert, or replace name and time."""

    async def get(self, tenant: str, user_hash: str, conversation_id: str) -> KeptConversation | None:
        """The conversation, with the number of its turns."""

    async def page(self, tenant: str, user_hash: str, *, limit: int = 100, offset: int = 0) -> list[KeptConversation]:
        """Those of the user, the one used last first."""

    async def delete(self, tenant: str, user_hash: str, conversation_id: str | None = None) -> list[str]:
        """Forget one with its turns, or all of the user; returns the ids of those that were there, in their order."""

    async def turns(self, conversation: KeptConversation) -> list[KeptTurn]:
        """Oldest first; none of one that is not there."""

    async def put_turn(self, conversation: KeptConversation, turn: KeptTurn) -> bool:
        """Insert or replace a turn, and the conversation's name and time; False, and nothing is kept, where the
        conversation is gone."""

    async def delete_turn(self, conversation: KeptConversation, turn_id: str) -> bool:
        """Forget a turn; whether it was there."""

    async def sweep(self, before: datetime) -> int:
        """Forget conversations of all users that were last used before that; returns how many."""


@runtime_checkable
class CanKeepConversations(Protocol):
    """A catalog that can also keep conversations."""

    @property
    def conversations(self) -> Conversations: ...


class Sources(Protocol):
    """Sources that collections stay in step with, and what is remembered of their entries."""

    async def put(self, source: ConnectedSource) -> None:
        """Insert or replace. ConflictError where the tenant has another one of that name."""

    async def begin(self, source_id: str, at: datetime, before: datetime | None) -> bool:
        """Say that a run is asked for at this time, if the last one was at `before`; whether it was so: of several that
        ask at once, one gets it."""

    async def get(self, tenant: str, name: str) -> ConnectedSource | None:
        """The source of that name."""

    async def everywhere(self) -> list[ConnectedSource]:
        """All of all tenants, by tenant and name: for lists of one tenant and for whoever runs those that are due."""

    async def delete(self, source_id: str) -> None:
        """Forget it with all that is remembered of its entries."""

    async def items(self, source_id: str) -> dict[str, SourceItem]:
        """What is remembered, by key and in its order."""

    async def remember(self, source_id: str, found: Sequence[SourceItem]) -> None:
        """Insert or replace by key; of two with one key the last counts. Nothing for a source that is not there."""

    async def forget(self, source_id: str, keys: Sequence[str]) -> None:
        """Unknown keys are ignored."""

    async def elsewhere(self, source: ConnectedSource, urls: Sequence[str]) -> set[str]:
        """Which of the urls other sources of the same collection have remembered too."""


@runtime_checkable
class CanKeepSources(Protocol):
    """A catalog that can also keep connected sources."""

    @property
    def sources(self) -> Sources: ...


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


class Rights(Protocol):
    """Who may read what, and what must not be deleted. None of it is narrowed to the actor in force."""

    async def give(self, tenant: str, document_ids: Sequence[str], readers: Readers | None) -> list[str]:
        """These documents have these readers from now on (None: nobody is named, everybody may), at once for all.

        What was given so holds whatever sources say later; after None it is the sources that say it again.

        Returns the ids of those whose readers changed; each is unsettled until `settled`. Unknown ids are ignored.
        """

    async def readers(self, document_ids: Sequence[str]) -> dict[str, Readers]:
        """By document: who was named; those of which nobody was named are left out."""

    async def expected(self, version_ids: Sequence[str]) -> dict[str, Readers]:
        """By document: who will have been named once these versions are switched to."""

    async def narrowed(self, scope: Scope) -> Narrowed | None:
        """What indexes are asked for on behalf of the actor in force; None where it sees the collection whole."""

    async def restricted(self, tenant: str | None = None) -> bool:
        """Whether anything of the tenant, or of any, is or was not for everybody."""

    async def restricted_documents(self, tenant: str) -> int:
        """How many live documents of the tenant are not for everybody."""

    async def unsettled(self, scope: Scope) -> list[str]:
        """Documents whose points may name former readers, by id."""

    async def settled(self, document_ids: Sequence[str]) -> None:
        """The points of these name their readers."""

    async def rules(self, scope: Scope) -> dict[str, Readers]:
        """Readers of the whole collection (under the empty label) and of labels in it; none: everybody."""

    async def rule(self, scope: Scope, label: str, readers: Readers | None) -> None:
        """Set one of the rules; None, or `public`: there is none."""

    async def hold(self, hold: Hold) -> None:
        """Keep it as it is: `Documents.retire`, `Documents.switch` to another version and `Collections.delete`
        raise HeldError."""

    async def release(self, tenant: str, document_id: str) -> bool:
        """End a hold; whether there was one."""

    async def holds(self, tenant: str, document_ids: Sequence[str] | None = None) -> list[Hold]:
        """Holds of the tenant, or of these documents of it, by document."""


class AuditLog(Protocol):
    """Who asked, when, and which documents were cited."""

    async def record(self, entry: AuditEntry) -> None:
        """Keep the entry."""

    async def recent(
        self, tenant: str, *, who: str | None = None, document_id: str | None = None, limit: int = 100
    ) -> list[AuditEntry]:
        """Newest first; of one asker, or of those that name one document."""

    async def count(self, tenant: str) -> int:
        """How many entries there are."""

    async def sweep(self, before: datetime) -> int:
        """Forget entries older than that, of all tenants; returns how many."""

    async def traces(self, tenant: str, document_id: str, *, erase: bool = False) -> tuple[int, int, int]:
        """How many entries, analytics queries and turns of conversations hold something of this document.

        `erase`: and forget them, in the same transaction. An entry that names other documents too keeps those, without
        words.
        """


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
    """The nine parts, one database."""

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
    @property
    def rights(self) -> Rights: ...
    @property
    def audit(self) -> AuditLog: ...

    async def integrity(self) -> list[str]:
        """Faults in the database itself and in the rules above, as sentences; empty when sound."""

    async def close(self) -> None:
        """Release files and connections. Closing twice is fine."""
