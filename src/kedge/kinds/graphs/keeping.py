"""Graphs that users write: nodes and edges with hooks that index on create and update and un-index on delete (G-02).

The node store is the truth. A node is written there first and indexed after; a delete hides it first. Killed between
the two, `reconcile` finds what is missing, orphaned or stale and puts it right (G-09).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

from kedge.core.acting import acting_as, actor
from kedge.core.errors import ConflictError, NotFoundError, UsageError
from kedge.core.ids import new_id
from kedge.core.values import Collection, Document, Scope
from kedge.ingest.batch import Target
from kedge.ingest.check import Checker, Problem
from kedge.ingest.extract.judge import reader_judge
from kedge.kinds.graphs.files.values import edge_id
from kedge.kinds.graphs.indexing import fingerprint, index, node_of, node_url, unindex
from kedge.kinds.graphs.values import Reconciled
from kedge.kinds.ports import OpenKind, Parts
from kedge.models.ports import Embedder
from kedge.stores.graph.nodes import Counts, Edge, Node

log = logging.getLogger(__name__)
PAGE = 512
SHOWN_IDS = 20
NODE_FIELDS = frozenset(("type", "title", "description", "aliases", "properties"))
EDGE_FIELDS = frozenset(("source", "target", "type", "properties"))


class NodeKeeper:
    """Creates, changes, reads and deletes nodes and edges, and keeps the index like them."""

    def __init__(self, parts: Parts, graphs: OpenKind) -> None:
        self._settings = parts.settings
        self._stores = parts.stores
        self._collections = parts.collections
        self._locks = parts.locks
        self._on_step = parts.on_step
        self._graphs = graphs

    # ------------------------------------------------------------ nodes

    async def create(self, scope: Scope, node: Node) -> Node:
        """Add a node and make it findable. ConflictError when its id is taken; an empty id is made up."""
        made = replace(node, id=node.id or new_id(), title=node.title or node.id)
        async with self._locks.writing(scope):
            target = await self._target(scope)
            if made.id in await self._stores.nodes.nodes(scope, [made.id]):
                raise ConflictError(f"There is a node {made.id!r} already.", hint="Update it, or choose another id.")
            return await self._put(target, made)

    async def update(self, scope: Scope, node_id: str, changes: Mapping[str, Any]) -> Node:
        """Change the given fields of a node, `properties` as a whole, and index it anew. NotFoundError."""
        _known(changes, NODE_FIELDS, "node")
        async with self._locks.writing(scope):
            target = await self._existing(scope)
            return await self._put(target, replace(await self.node(scope, node_id), **changes))

    async def delete(self, scope: Scope, node_id: str) -> list[str]:
        """Take a node out with its edges, and out of the index; returns the ids of edges to be seen. NotFoundError."""
        async with self._locks.writing(scope):
            await self.node(scope, node_id)
            seen = await self._edges_of(scope, node_id)
            await unindex(self._stores, scope, [node_id])  # also while the hooks are off: what is gone is not found
            self._on_step("unindexed")
            gone = (await self._stores.nodes.remove(scope, [node_id])).edges
            return [one for one in gone if one in seen]

    async def _edges_of(self, scope: Scope, node_id: str) -> set[str]:
        """Ids of a node's edges, as far as the actor in force may read what is at their other ends."""
        found: set[str] = set()
        after = ""
        while page := await self._stores.nodes.edge_page(scope, node=node_id, after=after, limit=PAGE):
            after = page[-1].id
            found.update(edge.id for edge in page)
        return found

    async def node(self, scope: Scope, node_id: str) -> Node:
        """One node. NotFoundError."""
        found = (await self._stores.nodes.nodes(scope, [node_id])).get(node_id)
        if found is None:
            hint = f"`kedge graph node list --collection {scope.collection}` shows all."
            raise NotFoundError(f"There is no node {node_id!r}.", hint=hint)
        return found

    async def nodes(self, scope: Scope, *, type: str | None = None, after: str = "", limit: int = 100) -> list[Node]:
        """Nodes by id."""
        await self._of_kind(scope)
        return await self._stores.nodes.page(scope, type=type, after=after, limit=limit)

    # ------------------------------------------------------------ edges

    async def create_edge(self, scope: Scope, edge: Edge) -> Edge:
        """Add an edge between nodes that are there. ConflictError when its id is taken, NotFoundError for its ends."""
        made = replace(edge, id=edge.id or edge_id(edge.source, edge.type, edge.target))
        async with self._locks.writing(scope):
            await self._existing(scope)
            if made.id in await self._stores.nodes.edges(scope, [made.id]):
                hint = "Update it, or give the second edge an id of its own."
                raise ConflictError(f"There is an edge {made.id!r} already.", hint=hint)
            await self._stores.nodes.put(scope, [], [made])
            return await self.edge(scope, made.id)

    async def update_edge(self, scope: Scope, edge_id: str, changes: Mapping[str, Any]) -> Edge:
        """Change the given fields of an edge. NotFoundError."""
        _known(changes, EDGE_FIELDS, "edge")
        async with self._locks.writing(scope):
            await self._stores.nodes.put(scope, [], [replace(await self.edge(scope, edge_id), **changes)])
            return await self.edge(scope, edge_id)

    async def delete_edge(self, scope: Scope, edge_id: str) -> None:
        """Take an edge out. NotFoundError."""
        async with self._locks.writing(scope):
            await self.edge(scope, edge_id)
            await self._stores.nodes.remove(scope, [], [edge_id])

    async def edge(self, scope: Scope, edge_id: str) -> Edge:
        """One edge. NotFoundError."""
        found = (await self._stores.nodes.edges(scope, [edge_id])).get(edge_id)
        if found is None:
            hint = f"`kedge graph edge list --collection {scope.collection}` shows all."
            raise NotFoundError(f"There is no edge {edge_id!r}.", hint=hint)
        return found

    async def edges(
        self, scope: Scope, *, type: str | None = None, node: str | None = None, after: str = "", limit: int = 100
    ) -> list[Edge]:
        """Edges by id; those of one node on either side, if named."""
        await self._of_kind(scope)
        return await self._stores.nodes.edge_page(scope, type=type, node=node, after=after, limit=limit)

    # ------------------------------------------------------------ index

    async def count(self, scope: Scope) -> Counts:
        """Nodes and edges of the graph."""
        await self._of_kind(scope)
        return await self._stores.nodes.count(scope)

    async def reconcile(self, scope: Scope, *, repair: bool) -> Reconciled:
        """Compare the graph with its index, and with `repair` make the index like the graph."""
        collection = await self._of_kind(scope)
        with acting_as(None):  # the index has all nodes, and is compared with all
            told = await self._reconciled(collection, repair=repair)
        return told if actor() is None else await self._as_seen(scope, told)

    async def _as_seen(self, scope: Scope, told: Reconciled) -> Reconciled:
        """Without what the actor in force may not read; what is no node any more is nobody's."""
        seen = await self._stores.nodes.nodes(scope, [*told.missing, *told.stale])
        missing, stale = (tuple(one for one in ids if one in seen) for ids in (told.missing, told.stale))
        nodes = (await self._stores.nodes.count(scope)).nodes
        return replace(told, nodes=nodes, missing=missing, orphaned=(), stale=stale)

    async def _reconciled(self, collection: Collection, *, repair: bool) -> Reconciled:
        scope = collection.scope
        async with self._locks.writing(scope):
            target = await self._existing(scope)
            found = await self._differences(scope, target.embedder)
            if repair:
                await unindex(self._stores, scope, found.orphaned)
                changed = sorted({*found.missing, *found.stale})
                for start in range(0, len(changed), PAGE):
                    nodes = await self._stores.nodes.nodes(scope, changed[start : start + PAGE])
                    await index(target, list(nodes.values()))
        vectors = await self._vectors(collection, repair=repair)
        missing = {*found.missing, *vectors["missing_vectors"]}
        orphaned = {*found.orphaned, *vectors["orphaned_vectors"]}
        stale = {*found.stale, *vectors["stale_vectors"]}
        told = Reconciled(found.nodes, _sorted(missing), _sorted(orphaned), _sorted(stale), repair)
        _log_differences(scope, told)
        return told

    async def problems(self, collection: Collection, *, repair: bool) -> list[Problem]:
        """What `kedge check` says of a graph: how its passages differ from its nodes."""
        if not self._settings.enable_rag_search:
            return []
        scope = collection.scope
        async with self._locks.writing(scope):
            found = await self._differences(scope, await self._collections.embedder_of(collection))
        if repair and not found.ok:
            await self.reconcile(scope, repair=True)
        parts = (
            ("missing_nodes", found.missing, "Nodes of the graph that are not indexed."),
            ("orphaned_nodes", found.orphaned, "Indexed nodes that the graph does not hold."),
            ("stale_nodes", found.stale, "Nodes that changed after they were indexed."),
        )
        return [
            Problem(kind, scope.collection, scope.tenant, len(ids), detail, ids[:SHOWN_IDS], repaired=repair)
            for kind, ids, detail in parts
            if ids
        ]

    # ------------------------------------------------------------ parts

    async def _put(self, target: Target, node: Node) -> Node:
        scope = target.collection.scope
        await self._stores.nodes.put(scope, [node])
        self._on_step("node written")
        kept = await self.node(scope, node.id)
        if self._settings.enable_rag_search:
            await index(target, [kept])
        return kept

    async def _target(self, scope: Scope, *, make: bool = True) -> Target:
        collection, embedder = await self._collections.ensure(scope, self._graphs.kind, make=make)
        return Target(self._stores, collection, embedder, self._settings, self._on_step)

    async def _existing(self, scope: Scope) -> Target:
        await self._of_kind(scope)
        return await self._target(scope, make=False)

    async def _of_kind(self, scope: Scope) -> Collection:
        collection = await self._stores.catalog.collections.get(scope)
        if collection is None:
            raise NotFoundError(
                f"There is no graph {scope.collection!r}.",
                hint=f"Make it with: kedge ingest FILE --kind graph --collection {scope.collection}, or create a node.",
            )
        if collection.kind != self._graphs.kind.name:
            raise UsageError(
                f"Collection {scope.collection!r} holds {collection.kind}, not a graph.",
                hint="Name another collection.",
            )
        return collection

    async def _differences(self, scope: Scope, embedder: Embedder) -> Reconciled:
        missing: list[str] = []
        stale: list[str] = []
        ids: set[str] = set()
        after = ""
        while page := await self._stores.nodes.page(scope, after=after, limit=PAGE):
            after = page[-1].id
            ids.update(node.id for node in page)
            known = await self._stores.catalog.documents.find(scope, [node_url(node.id) for node in page])
            for node in page:
                document = known.get(node_url(node.id))
                if document is None or document.live_version is None:
                    missing.append(node.id)
                elif document.file_hash != fingerprint(node, embedder):
                    stale.append(node.id)
        orphaned = [node for node in await self._indexed(scope) if node not in ids]
        return Reconciled(len(ids), tuple(missing), tuple(sorted(orphaned)), tuple(stale), False)

    async def _indexed(self, scope: Scope) -> list[str]:
        found: list[str] = []
        seen = 0
        documents: list[Document]
        while documents := await self._stores.catalog.documents.page(scope, limit=1000, offset=seen):
            seen += len(documents)
            found += [node_of(document.url) for document in documents if document.live_version is not None]
        return found

    async def _vectors(self, collection: Collection, *, repair: bool) -> dict[str, list[str]]:
        """Passages without vectors, as their nodes, and vectors without passages."""

        def writing(scope: Scope) -> AbstractAsyncContextManager[None]:
            return self._locks.writing(scope)

        checker = Checker(
            self._stores,
            self._collections.embedder_of,
            writing,
            lambda _name: self._graphs,
            shown=None,
            judge=reader_judge(self._settings),
        )
        report = await checker.run([collection.scope], repair=False)
        ids: dict[str, list[str]] = {problem.kind: list(problem.ids) for problem in report.problems}
        if repair and report.problems:
            await checker.run([collection.scope], repair=True)
        named: dict[str, list[str]] = {"orphaned_vectors": ids.get("orphaned_vectors", [])}
        for kind in ("missing_vectors", "stale_vectors"):
            live = await self._stores.catalog.passages.live(collection.scope, ids.get(kind, []))
            named[kind] = [passage.external_id for passage in live.values()]
        return named


def _sorted(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(ids))


def _log_differences(scope: Scope, told: Reconciled) -> None:
    """Counts of all, and the first few by name; at info where there are none."""
    kinds = {"missing": told.missing, "orphaned": told.orphaned, "stale": told.stale}
    found = [f"{len(ids)} {kind} ({', '.join(ids[:SHOWN_IDS])})" for kind, ids in kinds.items() if ids]
    done = "repaired" if told.repaired else "found"
    level = logging.WARNING if found else logging.INFO
    log.log(level, "graph %s, %d nodes: %s %s", scope.collection, told.nodes, done, "; ".join(found) or "no difference")


def _known(changes: Mapping[str, Any], fields: frozenset[str], what: str) -> None:
    wrong = sorted(changes.keys() - fields)
    if wrong:
        raise UsageError(f"A {what} has no {', '.join(wrong)}.", hint=f"It has {', '.join(sorted(fields))}.")
    if not changes:
        raise UsageError("There is nothing to change.", hint=f"Give one of {', '.join(sorted(fields))}.")
