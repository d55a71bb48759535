"""Attempts at the ports of the stores themselves, behind every surface.

Each attempt runs twice: on the store that also holds the owner's data, and on a memory store that never saw it. The two
must say the same. Afterwards the owner's data must be as it was.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar
from uuid import UUID

import numpy as np

from kedge.core.errors import KedgeError
from kedge.core.values import IngestMode, Job, Scope
from kedge.core.values.filters import Eq, Not
from kedge.stores.catalog.ports import Catalog
from kedge.stores.graph.nodes import Edge, Node, NodeStore
from kedge.stores.ports import CanKeywordSearch, CanReadPoints, GraphStore, IndexSpec, Point, VectorStore
from kedge.testing.catalog import sample as catalog_sample
from kedge.testing.graph import sample as graph_sample
from kedge.testing.nodes.contract import observe as observe_nodes

S = TypeVar("S")
OWNER = Scope("acme", "notes")
OTHERS = tuple(
    Scope(tenant, collection)
    for tenant, collection in (
        ("Acme", "notes"), ("acm", "enotes"), ("acmen", "otes"), ("notes", "acme"), ("acme.", "notes"),
        ("acme_", "notes"), ("a_me", "notes"), ("ac%", "notes"), ("%", "notes"), ("ａcme", "notes"),
        ("acme-notes", "notes"), ("äcme", "notes"),
        ("acme' OR 'a'='a", "notes"), ("acme\" || true", "notes"), ("*", "notes"), ("acme}) RETURN n //", "notes"),
    )
)  # fmt: skip
"""Scopes that are easily taken for the owner's: by case, joined names, wildcards, look-alikes and injections."""


class Port(Generic[S]):
    """One store with the owner's data, beside a memory store without it."""

    def __init__(self, store: S, alone: S, seed: int) -> None:
        self.store = store
        self.alone = alone
        self.rng = random.Random(seed)

    async def plant(self) -> None:
        """Write the owner's data, and make what the others need."""
        raise NotImplementedError

    def calls(self, scope: Scope) -> list[Callable[[S], Awaitable[Any]]]:
        """What somebody else can do; every choice is made here, so that both stores get the same."""
        raise NotImplementedError

    async def owned(self) -> Any:
        """All of the owner's data."""
        raise NotImplementedError

    def same(self, now: Any, before: Any) -> bool:
        """Whether the owner's data is what it was."""
        return bool(now == before)

    async def run(self, attempts: int) -> list[str]:
        """Make the attempts; returns what was wrong."""
        await self.plant()
        before, wrong = await self.owned(), []
        for _ in range(attempts):
            scope = self.rng.choice(OTHERS)
            call = self.rng.choice(self.calls(scope))
            said, expected = await _said(call, self.store), await _said(call, self.alone)
            if said != expected:
                wrong.append(f"{type(self).__name__} as {scope}: {said[:300]} instead of {expected[:300]}")
        if not self.same(await self.owned(), before):
            wrong.append(f"{type(self).__name__}: the owner's data changed")
        return wrong

    def some(self, values: Sequence[Any]) -> list[Any]:
        return self.rng.sample(list(values), self.rng.randint(1, min(4, len(values))))


async def _said(call: Callable[[Any], Awaitable[Any]], store: Any) -> str:
    try:
        return repr(await call(store))
    except KedgeError as error:
        return type(error).__name__


DIMENSION = 8
INDEX = "shared_v1"
IDS = [str(UUID(int=n * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 128))) for n in range(1, 13)]
OWNED, FREE = IDS[:8], IDS[8:]


def _vector(seed: str) -> Any:
    made = np.random.default_rng(sum(seed.encode()) * 7919 + len(seed)).standard_normal(DIMENSION).astype(np.float32)
    return made / np.linalg.norm(made)


def _point(id: str, who: str) -> Point:
    return Point(id, _vector(id + who), f"{who} harbour ledger", {"tenant": who, "topic": who})


class VectorPort(Port[VectorStore]):
    """Points of all tenants in one index."""

    async def plant(self) -> None:
        for store in (self.store, self.alone):
            await store.drop(INDEX)
            await store.create(IndexSpec(INDEX, DIMENSION, {"topic": "keyword"}))
        await self.store.upsert(INDEX, OWNER.tenant, [_point(id, "acme") for id in OWNED])

    def calls(self, scope: Scope) -> list[Callable[[VectorStore], Awaitable[Any]]]:
        ids, tenant = self.some(IDS), scope.tenant
        points = [_point(id, "eve") for id in ids]
        target = _vector(self.rng.choice(OWNED) + "acme")
        where = self.rng.choice(
            [None, Eq("tenant", "acme"), Not(Eq("tenant", "eve")), Eq("topic", "acme"), Eq("topic", "eve")]
        )

        async def search(store: VectorStore) -> Any:
            found = await store.search(INDEX, tenant, target, 20, where)
            return sorted((hit.id, round(float(hit.score), 2)) for hit in found)

        async def keywords(store: VectorStore) -> Any:
            assert isinstance(store, CanKeywordSearch)
            return sorted(hit.id for hit in await store.keyword_search(INDEX, tenant, "acme ledger", 20, where))

        async def read(store: VectorStore) -> Any:
            assert isinstance(store, CanReadPoints)
            kept = await store.read(INDEX, tenant, IDS)
            return sorted((id, np.round(one.vector, 2).tolist(), len(one.terms)) for id, one in kept.items())

        async def listed(store: VectorStore) -> Any:
            return sorted([id async for batch in store.ids(INDEX, tenant) for id in batch])

        return [
            search,
            search,
            keywords,
            read,
            listed,
            lambda store: store.count(INDEX, tenant, where),
            lambda store: store.delete(INDEX, tenant, ids),
            lambda store: store.upsert(INDEX, tenant, points),
        ]

    async def owned(self) -> Any:
        tenant = OWNER.tenant
        assert isinstance(self.store, CanReadPoints)
        kept = await self.store.read(INDEX, tenant, IDS)
        found = await self.store.search(INDEX, tenant, _vector(OWNED[0] + "acme"), 20)
        ids = sorted([id async for batch in self.store.ids(INDEX, tenant) for id in batch])
        return (ids, [hit.id for hit in found]), np.array([kept[id].vector for id in sorted(kept)])

    def same(self, now: Any, before: Any) -> bool:
        """A store may round the last bit of a vector."""
        return bool(now[0] == before[0] and np.allclose(now[1], before[1], atol=1e-5))


class NodePort(Port[NodeStore]):
    """Users' own graphs of the same name."""

    NODES = ("ada", "byron", "london")

    async def plant(self) -> None:
        for scope in (OWNER, *OTHERS):
            await self.store.drop(scope)
        nodes = [Node(id, "Secret", f"title {id}", "of acme", (f"alias {id}",), {"p": "acme"}) for id in self.NODES]
        await self.store.put(OWNER, nodes, [Edge("e1", "ada", "byron", "father"), Edge("e2", "ada", "london", "born")])

    def calls(self, scope: Scope) -> list[Callable[[NodeStore], Awaitable[Any]]]:
        ids, one = self.some(self.NODES), self.rng.choice(self.NODES)
        other = self.rng.choice(self.NODES)

        async def nodes(store: NodeStore) -> Any:
            return sorted((node.id, node.title) for node in (await store.nodes(scope, list(self.NODES))).values())

        async def edges(store: NodeStore) -> Any:
            return sorted((edge.id, edge.type) for edge in (await store.edges(scope, ["e1", "e2"])).values())

        async def pages(store: NodeStore) -> Any:
            found = [node.id for node in await store.page(scope, type=self_type, limit=9)]
            return found, [edge.id for edge in await store.edge_page(scope, node=one, limit=9)]

        async def relations(store: NodeStore) -> Any:
            return sorted(map(repr, await store.relations(scope, list(self.NODES))))

        self_type = self.rng.choice([None, "Secret", "Eve"])
        return [
            nodes,
            edges,
            pages,
            relations,
            lambda store: store.named(scope, ["ada", "alias ada", "title byron"], 5),
            lambda store: store.follow(scope, ids, "father", outgoing=True, limit=9),
            lambda store: store.count(scope),
            lambda store: store.remove(scope, ids, ["e1"]),
            lambda store: store.put(scope, [Node(id, "Eve", "Eve") for id in ids]),
            lambda store: store.put(scope, [], [Edge("e1", one, other, "father")]),
            lambda store: store.drop(scope),
        ]

    async def owned(self) -> Any:
        return await observe_nodes(self.store, OWNER)


class GraphPort(Port[GraphStore]):
    """Concepts, chunks and documents under the same keys and ids."""

    KEYS = ("trie", "tree", "leaf")
    PASSAGES = ("p1", "p2", "p3", "p4")

    async def plant(self) -> None:
        for scope in (OWNER, *OTHERS):
            await self.store.drop(scope)
        await self.store.write(OWNER, graph_sample.library())

    def calls(self, scope: Scope) -> list[Callable[[GraphStore], Awaitable[Any]]]:
        passages, keys = self.some(self.PASSAGES), self.some(self.KEYS)
        foreign = graph_sample.ids(*keys, scope=OWNER) + graph_sample.ids(*keys, scope=scope)

        async def by_key(store: GraphStore) -> Any:
            return sorted((hit.id, hit.degree) for hit in await store.concepts_by_key(scope, list(self.KEYS)))

        async def concepts(store: GraphStore) -> Any:
            found, edges = await store.concepts_of(scope, list(self.PASSAGES))
            return sorted(hit.id for hit in found), sorted((edge.passage_id, edge.concept_id) for edge in edges)

        async def edges(store: GraphStore) -> Any:
            found = [*await store.passages_of(scope, foreign, 9), *await store.about(scope, foreign)]
            return sorted((edge.passage_id, edge.concept_id) for edge in found)

        async def words(store: GraphStore) -> Any:
            return sorted(concept.key for concept in await store.search_concepts(scope, "prefix tree trie leaf", 9))

        async def listed(store: GraphStore) -> Any:
            return sorted([id async for batch in store.passage_ids(scope) for id in batch])

        return [
            by_key,
            concepts,
            edges,
            words,
            listed,
            lambda store: store.remove(scope, passages, ["d1"]),
            lambda store: store.write(scope, graph_sample.library()),
            lambda store: store.drop(scope),
        ]

    async def owned(self) -> Any:
        found = await self.store.concepts_by_key(OWNER, list(self.KEYS))
        concepts, edges = await self.store.concepts_of(OWNER, list(self.PASSAGES))
        listed = sorted([id async for batch in self.store.passage_ids(OWNER) for id in batch])
        return sorted(map(repr, found)), sorted(map(repr, concepts)), sorted(map(repr, edges)), listed


class CatalogPort(Port[Catalog]):
    """The truth about collections, documents, jobs and queries."""

    async def plant(self) -> None:
        for scope in OTHERS[:4]:
            for catalog in (self.store, self.alone):
                await catalog.collections.put(catalog_sample.collection(scope, index_name=f"of-{scope.tenant}"))
        await self.store.collections.put(catalog_sample.collection(OWNER))
        self._document = catalog_sample.document("one", OWNER)
        self._passages = await catalog_sample.publish(self.store, self._document, "1", ["a", "b"])
        self._job = Job(
            "j1", OWNER, "documents", IngestMode.INCREMENTAL, {"sources": ["x"]}, created_at=catalog_sample.THEN
        )
        await self.store.jobs.put(self._job)

    def calls(self, scope: Scope) -> list[Callable[[Catalog], Awaitable[Any]]]:
        tenant, document = scope.tenant, self._document
        ids = [passage.id for passage in self._passages]

        async def scanned(catalog: Catalog) -> Any:
            return [passage.id async for batch in catalog.passages.scan(scope) for passage in batch]

        async def missing(catalog: Catalog) -> Any:
            found = catalog.indexes.missing(scope, catalog_sample.INDEX, 9)
            return [passage.id async for batch in found for passage in batch]

        return [
            scanned,
            missing,
            lambda catalog: catalog.collections.get(scope),
            lambda catalog: catalog.collections.all(tenant),
            lambda catalog: catalog.collections.delete(scope),
            lambda catalog: catalog.documents.get(tenant, document.id),
            lambda catalog: catalog.documents.find(scope, [document.url]),
            lambda catalog: catalog.documents.page(scope),
            lambda catalog: catalog.documents.retire(scope, [document.id]),
            lambda catalog: catalog.documents.archive(scope, [document.id]),
            lambda catalog: catalog.documents.retired(scope),
            lambda catalog: catalog.passages.live(scope, ids),
            lambda catalog: catalog.passages.staged(scope),
            lambda catalog: catalog.passages.of_document(tenant, document.id),
            lambda catalog: catalog.passages.dead(9, scope),
            lambda catalog: catalog.indexes.spare(scope),
            lambda catalog: catalog.indexes.forget(scope, catalog_sample.INDEX),
            lambda catalog: catalog.jobs.get(tenant, "j1"),
            lambda catalog: catalog.jobs.recent(tenant),
            lambda catalog: catalog.jobs.building(scope),
            lambda catalog: catalog.analytics.feedback(tenant, "q1", 1, "Eve"),
            lambda catalog: catalog.analytics.summary(tenant),
        ]

    async def owned(self) -> Any:
        catalog, tenant = self.store, OWNER.tenant
        return (
            await catalog.collections.all(tenant),
            await catalog.documents.get(tenant, self._document.id),
            await catalog.passages.of_document(tenant, self._document.id),
            await catalog.jobs.recent(tenant),
            await catalog.analytics.summary(tenant),
            await catalog.integrity(),
        )
