"""`kedge check`: compares the indexes with the catalog, which is the truth, and repairs what differs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from kedge.core.outside import outside
from kedge.core.values import Collection, Document, Passage, Scope
from kedge.ingest.batch import as_points
from kedge.ingest.extract.claims import RelationJudge
from kedge.ingest.extract.concepts import extract
from kedge.ingest.extract.titles import TitleIndex
from kedge.ingest.ports import CheckedKind
from kedge.ingest.write.past import fill_past, kept_since, missing_past
from kedge.ingest.write.remove import sweep
from kedge.models.ports import Embedder
from kedge.stores.bundle import Stores
from kedge.stores.ports import CanReadPoints, IndexSpec, StoredPoint
from kedge.text.analyze import SparseTerms

BATCH = 256
SHOWN_IDS = 20
WORDS = SparseTerms()

EmbedderOf = Callable[[Collection], Awaitable[Embedder]]
Writing = Callable[[Scope], AbstractAsyncContextManager[None]]
"""Keeps others from writing to the collection."""


@outside()
@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of difference in one collection."""

    kind: str
    """missing, orphaned or stale `_vectors`, missing or orphaned `_graph`, `missing_past`, unswept, unfinished,
    integrity."""
    collection: str
    tenant: str
    count: int
    detail: str
    ids: tuple[str, ...] = ()
    """The first few, to look at."""
    repaired: bool = False

    def __str__(self) -> str:
        done = "repaired" if self.repaired else "found"
        return f"{done} {self.kind} in {self.collection or 'the catalog'}: {self.count}"


@outside({"ok": "ok"})
@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was found, and what was done about it."""

    problems: tuple[Problem, ...] = ()
    collections: int = 0
    passages: int = 0
    repaired: int = 0
    """Number of passages put right."""

    @property
    def ok(self) -> bool:
        return all(problem.repaired for problem in self.problems)


@dataclass(slots=True)
class _Differences:
    live: dict[str, Passage] = field(default_factory=dict)
    missing_vectors: list[str] = field(default_factory=list)
    orphaned_vectors: list[str] = field(default_factory=list)
    stale_vectors: list[str] = field(default_factory=list)
    missing_graph: list[str] = field(default_factory=list)
    orphaned_graph: list[str] = field(default_factory=list)


class Checker:
    """Checks every collection of every tenant that the catalog knows."""

    def __init__(
        self,
        stores: Stores,
        embedder_of: EmbedderOf,
        writing: Writing,
        kind_of: Callable[[str], CheckedKind | None],
        *,
        shown: int | None = SHOWN_IDS,
        version_days: float = 0,
        judge: RelationJudge | None = None,
    ) -> None:
        """`shown`: how many ids a problem names; None: all. `version_days`: as the settings have it. `judge`: as an
        ingest reads what sentences state."""
        self._judge = judge
        self._version_days = version_days
        self._shown = shown
        self._stores = stores
        self._kind_of = kind_of
        self._embedder_of = embedder_of
        self._writing = writing

    async def run(self, scopes: Sequence[Scope], *, repair: bool) -> CheckReport:
        """Look, and with `repair` put right: sweep the dead, delete orphans, rebuild what is missing.

        Each collection is looked at while nobody writes to it; one that is gone by then is passed over.
        """
        problems = [
            Problem("integrity", "", "", 1, fault, repaired=False) for fault in await self._stores.catalog.integrity()
        ]
        passages = repaired = 0
        for scope in scopes:
            async with self._writing(scope):
                collection = await self._stores.catalog.collections.get(scope)
                if collection is None:
                    continue
                problems += await self._abandoned(scope, repair=repair)
                problems += await self._unswept(collection, repair=repair)
                differences = await self._compare(collection)
                passages += len(differences.live)
                found = _problems(collection, differences, self._shown, repaired=repair)
                if repair and found:
                    await self._repair(collection, differences)
                    repaired += sum(problem.count for problem in found)
                problems += found
                problems += await self._lost_past(collection, repair=repair)
        return CheckReport(tuple(problems), len(scopes), passages, repaired)

    async def _abandoned(self, scope: Scope, *, repair: bool) -> list[Problem]:
        """Half-built versions that nobody goes on with: no writer is here now, and no job is left to be resumed."""
        built = await self._stores.catalog.jobs.building(scope)
        if not built or any(job.scope == scope for job in await self._stores.catalog.jobs.unfinished()):
            return []
        if repair:
            for _, version in built:
                await self._stores.catalog.documents.fail(version, "The ingestion was broken off.")
        detail = "Versions that a broken-off ingestion left half-built; no reader sees them."
        ids = tuple(version for _, version in built[:SHOWN_IDS])
        return [Problem("unfinished", scope.collection, scope.tenant, len(built), detail, ids, repaired=repair)]

    async def _unswept(self, collection: Collection, *, repair: bool) -> list[Problem]:
        scope, kind = collection.scope, self._kind_of(collection.kind)
        dead = await self._stores.catalog.passages.dead(1000, scope)
        if not dead:
            return []
        if repair:
            keeps = kind is not None and kind.keeps_past
            since = kept_since(self._stores, self._version_days) if keeps else None
            await sweep(self._stores, scope=scope, since=since)
        detail = "Dead versions whose passages still take up space in the indexes; no reader sees them."
        ids = tuple(item.version_id for item in dead[:SHOWN_IDS])
        return [Problem("unswept", scope.collection, scope.tenant, len(dead), detail, ids, repaired=repair)]

    async def _lost_past(self, collection: Collection, *, repair: bool) -> list[Problem]:
        missing = await missing_past(self._stores, collection)
        if not missing:
            return []
        if repair:
            await fill_past(self._stores, collection, await self._embedder_of(collection), missing)
        scope, ids = collection.scope, tuple(one.passage.id for one in missing[: self._shown])
        detail = "Passages of superseded versions without a vector: questions as of their time cannot find them."
        return [Problem("missing_past", scope.collection, scope.tenant, len(missing), detail, ids, repaired=repair)]

    async def _compare(self, collection: Collection) -> _Differences:
        scope = collection.scope
        found = _Differences()
        async for batch in self._stores.catalog.passages.scan(scope):
            found.live.update((passage.id, passage) for passage in batch)
        staged = await self._staged(scope)
        await self._stores.vectors.create(IndexSpec(collection.index_name, collection.dimension))
        in_vectors = await _all(self._stores.vectors.ids(collection.index_name, scope.tenant))
        in_graph = await _all(self._stores.graph.passage_ids(scope))
        found.missing_vectors = sorted(found.live.keys() - in_vectors)
        found.orphaned_vectors = sorted(in_vectors - found.live.keys() - staged)
        found.stale_vectors = await self._stale(collection, [found.live[key] for key in found.live.keys() & in_vectors])
        kind = self._kind_of(collection.kind)
        if kind is not None and kind.concepts:
            found.missing_graph = sorted(found.live.keys() - in_graph)
        found.orphaned_graph = sorted(in_graph - found.live.keys() - staged)
        return found

    async def _stale(self, collection: Collection, passages: Sequence[Passage]) -> list[str]:
        """Passages beside whose id the store holds the words of another text.

        An id follows the passage's content, so only what writes past Kedge, or an old backup, brings this about. Words
        are written together with the vector and can be had without the model; they stand for both.
        """
        store = self._stores.vectors
        if not isinstance(store, CanReadPoints):
            return []
        found: list[str] = []
        for start in range(0, len(passages), BATCH):
            part = passages[start : start + BATCH]
            held = await store.read(collection.index_name, collection.scope.tenant, [passage.id for passage in part])
            found += await asyncio.to_thread(_of_other_texts, part, held)
        return sorted(found)

    async def _staged(self, scope: Scope) -> set[str]:
        """Passages of versions that are being built right now are not orphans."""
        return set(await self._stores.catalog.passages.staged(scope))

    async def _repair(self, collection: Collection, found: _Differences) -> None:
        scope = collection.scope
        await self._stores.vectors.delete(collection.index_name, scope.tenant, found.orphaned_vectors)
        await self._stores.graph.remove(scope, found.orphaned_graph, [])
        await self._embed_again(collection, [found.live[key] for key in found.missing_vectors + found.stale_vectors])
        await self._extract_again(collection, [found.live[key] for key in found.missing_graph])

    async def _embed_again(self, collection: Collection, passages: Sequence[Passage]) -> None:
        if not passages:
            return
        embedder = await self._embedder_of(collection)
        for start in range(0, len(passages), BATCH):
            part = passages[start : start + BATCH]
            vectors = await embedder.embed([passage.embed_text for passage in part])
            readers = await self._stores.catalog.rights.readers([passage.document_id for passage in part])
            points = as_points(part, vectors, readers)
            await self._stores.vectors.upsert(collection.index_name, collection.scope.tenant, points)
            await self._stores.catalog.passages.mark_indexed([point.id for point in points], collection.index_name)

    async def _extract_again(self, collection: Collection, passages: Sequence[Passage]) -> None:
        if not passages:
            return
        scope, kind = collection.scope, self._kind_of(collection.kind)
        titles = await TitleIndex.load(self._stores, scope)
        documents: dict[str, Document] = {}
        whole: list[Passage] = []
        for key in dict.fromkeys(passage.document_id for passage in passages):
            document = await self._stores.catalog.documents.get(scope.tenant, key)
            if document is not None:
                documents[key] = document
                whole += await self._stores.catalog.passages.of_document(scope.tenant, key)
        await self._stores.graph.write(scope, extract(documents, whole, titles.known, judge=self._judge))
        if kind is not None and kind.relates is not None:
            versions = {key: one.live_version for key, one in documents.items() if one.live_version is not None}
            live = {key: documents[key] for key in versions}
            await self._stores.graph.write(scope, kind.relates.relations(live, versions))


def _problems(collection: Collection, found: _Differences, shown: int | None, *, repaired: bool) -> list[Problem]:
    scope = collection.scope
    parts = (
        ("missing_vectors", found.missing_vectors, "Live passages without a vector: they cannot be found by meaning."),
        ("orphaned_vectors", found.orphaned_vectors, "Vectors of passages that the catalog does not know as live."),
        ("stale_vectors", found.stale_vectors, "Vectors that were made of another text than their passage has."),
        ("missing_graph", found.missing_graph, "Live passages that the graph does not hold."),
        ("orphaned_graph", found.orphaned_graph, "Chunks in the graph that the catalog does not know as live."),
    )
    return [
        Problem(kind, scope.collection, scope.tenant, len(ids), detail, tuple(ids[:shown]), repaired=repaired)
        for kind, ids, detail in parts
        if ids
    ]


def _of_other_texts(passages: Sequence[Passage], held: Mapping[str, StoredPoint]) -> list[str]:
    return [
        passage.id
        for passage in passages
        if passage.id in held and held[passage.id].terms.keys() != WORDS.term_weights(passage.keyword_text).keys()
    ]


async def _all(batches: AsyncIterator[list[str]]) -> set[str]:
    found: set[str] = set()
    async for batch in batches:
        found.update(batch)
    return found
