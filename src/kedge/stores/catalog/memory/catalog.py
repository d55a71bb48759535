"""The catalog in dictionaries: nothing is kept, everything is recomputed. The oracle for the SQL one."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from collections.abc import Collection as AbstractCollection
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from kedge.core.acting import acting_as, actor
from kedge.core.errors import ConflictError, HeldError, NotFoundError, UsageError
from kedge.core.ids import new_id
from kedge.core.settings import Settings
from kedge.core.values import (
    PERIOD_DAYS,
    ApiKey,
    Collection,
    Document,
    DocumentStatus,
    Job,
    Json,
    Metadata,
    Passage,
    Scope,
)
from kedge.stores.catalog.memory.conversations import MemoryConversations
from kedge.stores.catalog.memory.indexes import MemoryIndexes
from kedge.stores.catalog.memory.past import MemoryPast, part_from_past
from kedge.stores.catalog.memory.rights import MemoryAuditLog, MemoryRights
from kedge.stores.catalog.memory.sources import MemorySources
from kedge.stores.catalog.memory.state import State, Version
from kedge.stores.catalog.ports import DeadPassages, QueryRecord


class MemoryCollections:
    """The `Collections` port."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def get(self, scope: Scope) -> Collection | None:
        found = self._state.collections.get(scope)
        if found is None:
            return None
        who = actor()
        rule = self._state.rules.get((scope, ""))
        if who is not None and not who.may_read(rule):
            return None
        live = [d for d in self._state.seen(scope) if d.live_version is not None]
        if (
            who is not None
            and rule is None
            and not live
            and len(self._state.seen(scope)) < len(self._state.within(scope))
        ):
            return None  # nothing is shown, and something is kept from them
        return replace(found, documents=len(live), passages=sum(len(self._state.visible(d)) for d in live))

    async def all(self, tenant: str) -> list[Collection]:
        scopes = sorted(s.collection for s in self._state.collections if s.tenant == tenant)
        found = [await self.get(Scope(tenant, name)) for name in scopes]
        return [collection for collection in found if collection is not None]

    async def everywhere(self) -> list[Collection]:
        tenants = sorted({scope.tenant for scope in self._state.collections})
        with acting_as(None):
            return [collection for tenant in tenants for collection in await self.all(tenant)]

    async def put(self, collection: Collection) -> None:
        old = self._state.collections.get(collection.scope, collection)
        kept = replace(collection, kind=old.kind, created_at=old.created_at)
        self._state.collections[collection.scope] = kept

    async def delete(self, scope: Scope) -> None:
        state = self._state
        for hold in state.holds.values():
            if hold.scope == scope:
                raise HeldError(hold.document_id, hold.reason)
        gone = {document.id for document in state.within(scope)}
        state.rules = {key: value for key, value in state.rules.items() if key[0] != scope}
        state.unsettled -= gone
        state.given -= gone
        state.collections.pop(scope, None)
        state.documents = {key: value for key, value in state.documents.items() if key not in gone}
        state.versions = {key: value for key, value in state.versions.items() if value.document.id not in gone}
        state.retired -= gone
        state.spare = {key: value for key, value in state.spare.items() if key[0] != scope}
        state.kill(())


class MemoryDocuments:
    """The `Documents` port."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def get(self, tenant: str, document_id: str) -> Document | None:
        found = self._state.documents.get(document_id)
        if found is None or found.scope.tenant != tenant:
            return None
        return found if found in self._state.seen(found.scope) else None

    async def find(self, scope: Scope, urls: Sequence[str]) -> dict[str, Document]:
        return {document.url: document for document in self._state.seen(scope) if document.url in set(urls)}

    async def page(
        self, scope: Scope, *, status: DocumentStatus | None = None, limit: int = 100, offset: int = 0
    ) -> list[Document]:
        documents = self._state.seen(scope)
        if status is None:
            found = [document for document in documents if document.status != DocumentStatus.ARCHIVED]
        else:
            found = [document for document in documents if document.status == status]
        return found[offset : offset + limit]

    async def begin(self, versions: Sequence[tuple[Document, str]]) -> None:
        for document, _ in versions:
            if document.scope not in self._state.collections:
                raise NotFoundError(f"There is no collection {document.scope.collection!r}.", hint="Create it first.")
        for document, version_id in versions:
            self._begin(document, version_id)

    def _begin(self, document: Document, version_id: str) -> None:
        state = self._state
        known = state.documents.get(document.id)
        if known is None or known.live_version is None:
            state.retired.discard(document.id)
            state.documents[document.id] = replace(
                document,
                metadata=dict(document.metadata),
                status=DocumentStatus.PENDING,
                error_message=None,
                live_version=None,
                chunk_count=0,
                created_at=known.created_at if known else document.created_at or datetime.now(UTC),
                readers=known.readers if known is not None and document.id in state.given else document.readers,
            )
            if known is not None and document.readers is None:
                state.documents[document.id] = replace(state.documents[document.id], readers=known.readers)
            elif known is not None and document.id not in state.given:
                state.unsettled.add(document.id)  # points of an earlier version may name others
        state.kill(v for v in state.of(document.id) if v.state == "building" and v.id != version_id)
        part_from_past(state, version_id)
        version = state.versions.setdefault(version_id, Version(version_id, document))
        version.document = document
        if version.state == "dead":
            version.state, version.died = "building", 0

    async def set_status(self, version_ids: Sequence[str], status: DocumentStatus) -> None:
        if status in (DocumentStatus.ACTIVE, DocumentStatus.FAILED, DocumentStatus.ARCHIVED):
            raise UsageError(f"A version in building cannot be {status.value}.", hint="Use switch, fail or archive.")
        for version in map(self._state.versions.get, version_ids):
            if version is not None and version.state == "building":
                document = self._state.documents[version.document.id]
                if document.live_version is None:
                    self._state.documents[document.id] = replace(document, status=status)

    async def switch(self, version_ids: Sequence[str]) -> None:
        versions = [self._state.versions.get(version_id) for version_id in version_ids]
        ready = [version for version in versions if version is not None and version.state != "dead"]
        if len(ready) < len(versions):
            raise ConflictError(
                "A version that is no longer being built cannot be switched to.", hint="Ingest it again."
            )
        if any(sorted(version.passages) != list(range(len(version.passages))) for version in ready):
            raise ConflictError("A version lacks some of its passages; nothing was switched.", hint="Ingest it again.")
        now = datetime.now(UTC)
        for version in ready:
            held = self._state.holds.get(version.document.id)
            if held is not None and self._state.documents[held.document_id].live_version not in (None, version.id):
                raise HeldError(held.document_id, held.reason)
        for version in sorted(ready, key=lambda version: version.state == "building"):
            self._show(version, now)
        shown = {document.live_version for document in self._state.documents.values()}
        self._state.kill((v for v in self._state.versions.values() if v.state == "live" and v.id not in shown), now)

    def _show(self, version: Version, now: datetime) -> None:
        version.state, version.live_from = "live", version.live_from or now
        old = self._state.documents[version.document.id]
        self._state.retired.discard(old.id)
        self._state.documents[old.id] = replace(
            version.document,
            metadata=dict(version.document.metadata),
            status=DocumentStatus.ACTIVE,
            error_message=None,
            live_version=version.id,
            chunk_count=len(version.passages),
            created_at=old.created_at,
            ingested_at=version.document.ingested_at or datetime.now(UTC),
            readers=(readers := self._state.said(version)),
        )
        if readers != old.readers:
            self._state.unsettled.add(old.id)

    async def fail(self, version_id: str, message: str) -> None:
        version = self._state.versions.get(version_id)
        if version is None or version.state == "dead":
            return
        if version.state == "building":
            self._state.kill([version])
        document = self._state.documents[version.document.id]
        status = DocumentStatus.FAILED if document.live_version is None else document.status
        self._state.documents[document.id] = replace(document, status=status, error_message=message)

    async def retire(self, scope: Scope, document_ids: Sequence[str], *, erase: bool = True) -> list[str]:
        visible: list[str] = []
        for held in (self._state.holds.get(one.id) for one in self._in_scope(scope, document_ids)):
            if held is not None:
                raise HeldError(held.document_id, held.reason)
        for document in self._in_scope(scope, document_ids):
            if document.status == DocumentStatus.ARCHIVED:
                continue
            if document.live_version is not None:
                visible.append(document.id)
            self._state.retired.add(document.id)
            self._state.documents[document.id] = replace(
                document, live_version=None, chunk_count=0, status=DocumentStatus.PENDING
            )
        touched = set(document_ids) & self._state.retired
        self._state.kill(v for v in self._state.versions.values() if v.document.id in touched)
        if erase:
            self._state.forget_past(document.id for document in self._in_scope(scope, document_ids))
        return visible

    def _in_scope(self, scope: Scope, document_ids: Sequence[str]) -> list[Document]:
        known = {document.id: document for document in self._state.within(scope)}
        return [known[document_id] for document_id in dict.fromkeys(document_ids) if document_id in known]

    async def archive(self, scope: Scope, document_ids: Sequence[str]) -> None:
        for document in self._in_scope(scope, document_ids):
            if document.id in self._state.retired:
                self._state.retired.discard(document.id)
                self._state.documents[document.id] = replace(document, status=DocumentStatus.ARCHIVED)

    async def retired(self, scope: Scope) -> list[str]:
        return sorted(d.id for d in self._state.within(scope) if d.id in self._state.retired)


class MemoryPassages:
    """The `Passages` port."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def stage(self, passages: Sequence[Passage], index_name: str) -> list[str]:
        versions = {p.version_id: self._state.versions.get(p.version_id) for p in passages}
        if any(version is None or version.state == "dead" for version in versions.values()):
            raise ConflictError(
                "Passages of a version that is no longer being built cannot be staged.", hint="Ingest it again."
            )
        for passage in passages:
            version = versions[passage.version_id]
            if version is not None and version.state == "building":
                version.passages[passage.index] = replace(passage, metadata=dict(passage.metadata))
        ids = dict.fromkeys(passage.id for passage in passages)
        return [passage_id for passage_id in ids if (passage_id, index_name) not in self._state.indexed]

    async def staged(self, scope: Scope) -> list[str]:
        documents = {document.id for document in self._state.within(scope)}
        building = [v for v in self._state.versions.values() if v.state == "building" and v.document.id in documents]
        building.sort(key=lambda version: version.document.id)
        return [passage.id for version in building for _, passage in sorted(version.passages.items())]

    async def mark_indexed(
        self, passage_ids: Sequence[str], index_name: str, *, kept: AbstractCollection[str] = ()
    ) -> list[str]:
        held, now = self._state.held(), datetime.now(UTC)
        marked = [passage_id for passage_id in dict.fromkeys(passage_ids) if passage_id in held]
        for key in marked:
            if key not in kept or (key, index_name) not in self._state.indexed:
                self._state.indexed[key, index_name] = now
        return marked

    async def live(self, scope: Scope, passage_ids: Sequence[str]) -> dict[str, Passage]:
        wanted = set(passage_ids)
        visible = (p for document in self._state.seen(scope) for p in self._state.visible(document))
        return {passage.id: passage for passage in visible if passage.id in wanted}

    async def visible(self, scope: Scope, passage_ids: Sequence[str]) -> set[str]:
        return set(await self.live(scope, passage_ids))

    async def of_document(
        self, tenant: str, document_id: str, *, first: int = 0, last: int | None = None
    ) -> list[Passage]:
        document = self._state.documents.get(document_id)
        if document is None or document.scope.tenant != tenant or document not in self._state.seen(document.scope):
            return []
        visible = self._state.visible(document)
        collection = self._state.collections.get(document.scope)
        model, index = (collection.embedder, collection.index_name) if collection is not None else (None, "")
        return [
            replace(p, embedded_at=self._state.indexed.get((p.id, index)), embedding_model=model)
            for p in visible
            if p.index >= first and (last is None or p.index <= last)
        ]

    async def scan(self, scope: Scope, batch: int = 1000) -> AsyncIterator[list[Passage]]:
        documents = sorted(self._state.seen(scope), key=lambda document: document.id)
        everything = [passage for document in documents for passage in self._state.visible(document)]
        for start in range(0, len(everything), batch):
            yield everything[start : start + batch]

    async def dead(self, limit: int, scope: Scope | None = None, document_id: str | None = None) -> list[DeadPassages]:
        dead = [
            version
            for version in self._state.versions.values()
            if version.state == "dead"
            and not version.kept
            and scope in (None, version.document.scope)
            and document_id in (None, version.document.id)
        ]
        held = self._state.held()
        return [
            DeadPassages(
                scope=self._state.documents[version.document.id].scope,
                document_id=version.document.id,
                version_id=version.id,
                passage_ids=tuple(p.id for _, p in sorted(version.passages.items()) if p.id not in held),
                document_gone=all(other.state == "dead" for other in self._state.of(version.document.id)),
                was_live=version.span,
            )
            for version in sorted(dead, key=lambda version: (version.died, version.id))[:limit]
        ]

    async def forget(self, version_ids: Sequence[str]) -> None:
        for version_id in version_ids:
            version = self._state.versions.get(version_id)
            if version is not None and version.state == "dead" and not version.kept:
                del self._state.versions[version_id]


class MemoryJobs:
    """The `Jobs` port."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def put(self, job: Job) -> None:
        if not 0 <= job.progress <= 100:
            raise UsageError(f"The progress of a job is 0 to 100, not {job.progress}.", hint="Give it in percent.")
        old = self._state.jobs.get(job.id)
        created = job.created_at or (old.created_at if old else datetime.now(UTC))
        self._state.jobs[job.id] = replace(job, created_at=created, request=dict(job.request))

    async def get(self, tenant: str, job_id: str) -> Job | None:
        job = self._state.jobs.get(job_id)
        return job if job is not None and job.scope.tenant == tenant else None

    async def recent(self, tenant: str, *, limit: int = 50) -> list[Job]:
        mine = [job for job in self._state.jobs.values() if job.scope.tenant == tenant]
        return sorted(mine, key=_age, reverse=True)[:limit]

    async def unfinished(self) -> list[Job]:
        return sorted((job for job in self._state.jobs.values() if not job.status.ended), key=_age)

    async def waiting(self) -> tuple[int, datetime | None]:
        found = await self.unfinished()
        return len(found), found[0].created_at if found else None

    async def building(self, scope: Scope) -> list[tuple[str, str]]:
        documents = {document.id for document in self._state.within(scope)}
        versions = self._state.versions.values()
        return sorted((v.document.id, v.id) for v in versions if v.state == "building" and v.document.id in documents)


def _age(job: Job) -> tuple[datetime, str]:
    return (job.created_at or datetime.min.replace(tzinfo=UTC), job.id)


class MemoryKeys:
    """The `Keys` port."""

    def __init__(self) -> None:
        self._keys: dict[str, ApiKey] = {}

    async def put(self, key: ApiKey) -> None:
        self._keys[key.id] = key

    async def get(self, key_id: str) -> ApiKey | None:
        return self._keys.get(key_id)

    async def all(self) -> list[ApiKey]:
        return sorted(self._keys.values(), key=lambda key: (key.created_at, key.id))

    async def exist(self) -> bool:
        return bool(self._keys)


def _belongs(query: QueryRecord, tenant: str, user_hash: str) -> bool:
    return query.tenant == tenant and query.user_hash == user_hash


class MemoryAnalytics:
    """The `Analytics` port."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def record(self, query: QueryRecord) -> None:
        self._state.queries.setdefault(query.query_id, query)

    async def feedback(
        self,
        tenant: str,
        query_id: str,
        rating: int,
        comment: str | None,  # noqa: ARG002
        *,
        binary: bool = False,
    ) -> str:
        scale = "binary" if binary or rating == 0 else "five"
        if rating not in ((0, 1) if scale == "binary" else range(1, 6)):
            raise UsageError(
                f"The rating {rating} is neither from 1 to 5 nor a binary 0 or 1.", hint="Give 1 to 5, or 0 or 1."
            )
        query = self._state.queries.get(query_id)
        if query is None or query.tenant != tenant:
            raise NotFoundError(f"There is no query {query_id!r}.", hint="Use the query_id of an answer.")
        self._state.ratings.append((query_id, rating, scale))
        return new_id()

    async def sweep(self, before: datetime) -> int:
        return self._forget([one for one in self._state.queries.values() if one.created_at < before])

    async def erase(self, tenant: str, user_hash: str) -> tuple[int, list[str]]:
        found = [one for one in self._state.queries.values() if _belongs(one, tenant, user_hash)]
        sessions = sorted({one.session_id for one in found if one.session_id is not None})
        return self._forget(found), sessions

    def _forget(self, queries: list[QueryRecord]) -> int:
        gone = {query.query_id for query in queries}
        for query_id in gone:
            del self._state.queries[query_id]
        self._state.ratings[:] = [one for one in self._state.ratings if one[0] not in gone]
        return len(gone)

    async def summary(self, tenant: str, since: datetime | None = None, top: int = 10) -> Metadata:
        queries = [query for query in self._state.queries.values() if query.tenant == tenant]
        ratings = [one for one in self._state.ratings if self._state.queries[one[0]].tenant == tenant]
        used = sorted(query.strategy_used for query in queries)
        strategies: dict[str, Json] = {strategy: used.count(strategy) for strategy in used}
        times = ("vector_search_ms", "graph_traversal_ms", "fusion_ms", "rerank_ms")
        return {
            "queries": len(queries),
            "sessions": len({query.session_id for query in queries if query.session_id is not None}),
            "refusals": sum(query.metrics.get("confidence_threshold_met") is False for query in queries),
            "strategies": strategies,
            "mean_execution_time_ms": _mean(query.execution_time_ms for query in queries),
            **{f"mean_{name}": _mean(query.metrics.get(name) for query in queries) for name in times},
            "feedback": len(ratings),
            "mean_rating": _mean(rating for _, rating, scale in ratings if scale == "five"),
            "yes_share": _mean(rating for _, rating, scale in ratings if scale == "binary"),
            **_period(queries, since or datetime.now(UTC) - timedelta(days=PERIOD_DAYS), top),
        }


def _period(queries: Iterable[QueryRecord], since: datetime, top: int) -> dict[str, Json]:
    kept = [query for query in queries if query.created_at >= since]
    counted = Counter(query.query_hash for query in kept)
    minutes = (datetime.now(UTC) - since).total_seconds() / 60
    often: list[Json] = []
    for query_hash, count in sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:top]:
        own = [query for query in kept if query.query_hash == query_hash]
        met = [query.metrics.get("confidence_threshold_met") for query in own]
        known = [1.0 - bool(one) for one in met if one is not None]
        often.append(
            {
                "query_hash": query_hash,
                "count": count,
                "refusal_share": _mean(known) or 0.0,
                "mean_execution_time_ms": _mean(query.execution_time_ms for query in own),
                "words": next((query.words for query in own if query.words is not None), None),
            }
        )
    return {"queries_per_minute": len(kept) / minutes if minutes > 0 else 0.0, "top_queries": often}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


class MemoryCatalog:
    """The `Catalog` port."""

    def __init__(self) -> None:
        state = State()
        self.collections = MemoryCollections(state)
        self.documents = MemoryDocuments(state)
        self.passages = MemoryPassages(state)
        self.past = MemoryPast(state)
        self.indexes = MemoryIndexes(state)
        self.jobs = MemoryJobs(state)
        self.keys = MemoryKeys()
        self.conversations = MemoryConversations()
        self.sources = MemorySources()
        self.analytics = MemoryAnalytics(state)
        self.rights = MemoryRights(state)
        self.audit = MemoryAuditLog(state, self.conversations)

    async def integrity(self) -> list[str]:
        return []

    async def close(self) -> None:
        """Nothing to release."""


def open_catalog(_url: str, _settings: Settings) -> MemoryCatalog:
    """A catalog that lives as long as the object."""
    return MemoryCatalog()
